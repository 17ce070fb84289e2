/* test_h5checkpoint.c - checkpoints: bits come back, two are kept, half of one is never seen. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log/h5checkpoint.h"
#include "log/h5util.h"
#include "support/tiny_log.h"

enum { N = 50 };

static void fill_checkpoint_reals(loom_real *a, int64_t step, int salt)
{
  for (int i = 0; i < 3 * N; ++i) a[i] = (loom_real)(1.0 / (double)(step * 7 + i + salt + 3));
}

static loom_status write_one(loom_err *err, const char *log_path, int64_t step)
{
  loom_real x[3 * N], v[3 * N];
  const uint64_t keys[3] = {UINT64_MAX, 1, (uint64_t)step};
  const uint8_t flag[1] = {1};
  h5checkpoint *c;
  fill_checkpoint_reals(x, step, 0);
  fill_checkpoint_reals(v, step, 1000);
  LOOM_TRY(h5checkpoint_begin(err, log_path, &c));
  loom_status s = h5checkpoint_put(c, err, "", "x", LOOM_REAL, 3 * N, x);
  if (s == LOOM_OK) s = h5checkpoint_put(c, err, "/", "v", LOOM_REAL, 3 * N, v);
  if (s == LOOM_OK) s = h5checkpoint_put(c, err, "contact.self", "keys", LOOM_U64, 3, keys);
  if (s == LOOM_OK) s = h5checkpoint_put(c, err, "solver", "warm", LOOM_U8, 1, flag);
  if (s == LOOM_OK) s = h5checkpoint_put(c, err, "solver", "empty", LOOM_I32, 0, NULL);
  if (s == LOOM_OK)
    s = h5checkpoint_put_scalars(c, err, step, 0.1 * (double)step, "0123456789abcdef");
  if (s != LOOM_OK) {
    h5checkpoint_abort(c);
    return s;
  }
  return h5checkpoint_commit(c, err);
}

static void expect_step(const char *log_path, int64_t ask, int64_t want)
{
  loom_err err = {0};
  loom_real x[3 * N], wanted[3 * N];
  uint64_t keys[3];
  int64_t step, count;
  double time;
  char hash[17];
  int type;
  h5checkpoint *c;
  cr_assert_eq(h5checkpoint_open(&err, log_path, ask, &c), LOOM_OK, "%s", err.text);
  h5checkpoint_scalars(c, &step, &time, hash);
  cr_assert_eq(step, want);
  cr_assert_eq(time, 0.1 * (double)want);
  cr_assert_str_eq(hash, "0123456789abcdef");
  cr_assert_eq(h5checkpoint_size(c, &err, "", "x", &type, &count), LOOM_OK, "%s", err.text);
  cr_assert(type == LOOM_REAL && count == 3 * N);
  cr_assert_eq(h5checkpoint_get(c, &err, "", "x", LOOM_REAL, 3 * N, x), LOOM_OK, "%s", err.text);
  fill_checkpoint_reals(wanted, want, 0);
  cr_assert_eq(memcmp(x, wanted, sizeof x), 0);
  cr_assert_eq(h5checkpoint_get(c, &err, "", "v", LOOM_REAL, 3 * N, x), LOOM_OK);
  fill_checkpoint_reals(wanted, want, 1000);
  cr_assert_eq(memcmp(x, wanted, sizeof x), 0);
  cr_assert_eq(h5checkpoint_get(c, &err, "contact.self", "keys", LOOM_U64, 3, keys), LOOM_OK);
  cr_assert(keys[0] == UINT64_MAX && keys[2] == (uint64_t)want);
  cr_assert_eq(h5checkpoint_size(c, &err, "solver", "warm", &type, &count), LOOM_OK);
  cr_assert(type == LOOM_U8 && count == 1);
  cr_assert_eq(h5checkpoint_size(c, &err, "solver", "empty", &type, &count), LOOM_OK);
  cr_assert(type == LOOM_I32 && count == 0);
  cr_assert_eq(h5checkpoint_get(c, &err, "solver", "empty", LOOM_I32, 0, NULL), LOOM_OK);
  h5checkpoint_close(c);
}

Test(h5checkpoint, the_last_two_are_kept)
{
  const char *const log = tiny_path(0, "run.h5");
  loom_err err = {0};
  h5checkpoint *c;
  for (int64_t s = 0; s < 5; ++s)
    cr_assert_eq(write_one(&err, log, s * 10), LOOM_OK, "%s", err.text);
  cr_assert_eq(access(tiny_path(1, "run.check.h5"), F_OK), 0);
  cr_assert_eq(access(tiny_path(1, "run.check.prev.h5"), F_OK), 0);
  cr_assert_neq(access(tiny_path(1, "run.check.h5.part"), F_OK), 0);
  expect_step(log, -1, 40);
  expect_step(log, 40, 40);
  expect_step(log, 30, 30);
  cr_assert_eq(h5checkpoint_open(&err, log, 20, &c), LOOM_E_IO);
  cr_assert(strstr(err.text, "only of 40 and 30") != NULL, "%s", err.text);
}

Test(h5checkpoint, a_damaged_newest_falls_back)
{
  const char *const log = tiny_path(0, "run.h5");
  loom_err err = {0};
  cr_assert_eq(write_one(&err, log, 1), LOOM_OK);
  cr_assert_eq(write_one(&err, log, 2), LOOM_OK);
  cr_assert_eq(truncate(tiny_path(1, "run.check.h5"), 700), 0);
  expect_step(log, -1, 1);
  cr_assert_eq(unlink(tiny_path(1, "run.check.h5")), 0);
  expect_step(log, -1, 1);
}

Test(h5checkpoint, errors_have_place_and_remedy)
{
  const char *const log = tiny_path(0, "run.h5");
  loom_err err = {0};
  loom_real x[3 * N];
  h5checkpoint *c;
  cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_E_IO);
  cr_assert(strstr(err.text, "run.check.h5: there is no readable checkpoint") != NULL, "%s",
            err.text);
  cr_assert_eq(h5checkpoint_begin(&err, tiny_path(1, "no/dir/run.h5"), &c), LOOM_E_IO);
  cr_assert(strstr(err.text, "no/dir does not exist; create it") != NULL, "%s", err.text);
  cr_assert_eq(write_one(&err, log, 3), LOOM_OK);
  cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_OK);
  cr_assert_eq(h5checkpoint_get(c, &err, "", "x", LOOM_REAL, 3 * N - 1, x), LOOM_E_IO);
  cr_assert(strstr(err.text, "another scene") != NULL, "%s", err.text);
  cr_assert_eq(h5checkpoint_get(c, &err, "", "x", LOOM_I32, 3 * N, x), LOOM_E_IO);
  cr_assert_eq(h5checkpoint_get(c, &err, "solver", "nothing", LOOM_I32, 1, x), LOOM_E_IO);
  cr_assert(strstr(err.text, "solver/nothing") != NULL, "%s", err.text);
  h5checkpoint_close(c);
}

Test(h5checkpoint, aborting_leaves_the_old_one)
{
  const char *const log = tiny_path(0, "run.h5");
  loom_err err = {0};
  h5checkpoint *c;
  cr_assert_eq(write_one(&err, log, 3), LOOM_OK);
  cr_assert_eq(h5checkpoint_begin(&err, log, &c), LOOM_OK);
  h5checkpoint_abort(c);
  cr_assert_neq(access(tiny_path(1, "run.check.h5.part"), F_OK), 0);
  expect_step(log, -1, 3);
}

/* Positions carry unit and shape, for readers that open the file with h5py. */
Test(h5checkpoint, x_and_v_are_described)
{
  const char *const log = tiny_path(0, "run.h5");
  loom_err err = {0};
  cr_assert_eq(write_one(&err, log, 3), LOOM_OK);
  const hid_t f = H5Fopen(tiny_path(1, "run.check.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  const char *const names[] = {"x", "v", "time", "step", "solver/warm", "contact.self/keys"};
  cr_assert_geq(f, 0);
  for (int i = 0; i < 6; ++i) {
    hsize_t dims[4];
    const hid_t d = H5Dopen2(f, names[i], H5P_DEFAULT), s = H5Dget_space(d);
    cr_assert(H5Aexists(d, "unit") > 0 && H5Aexists(d, "doc") > 0, "%s", names[i]);
    if (i < 2) {
      cr_assert_eq(H5Sget_simple_extent_ndims(s), 2);
      H5Sget_simple_extent_dims(s, dims, NULL);
      cr_assert(dims[0] == N && dims[1] == 3);
    }
    H5Sclose(s);
    H5Dclose(d);
  }
  H5Fclose(f);
}

/* Killed while writing checkpoints: there is always a whole one. */
Test(h5checkpoint, killed_while_writing)
{
  const char *const log = tiny_path(0, "run.h5");
  loom_err err = {0};
  cr_assert_eq(write_one(&err, log, 0), LOOM_OK);
  for (int round = 0; round < 20; ++round) {
    const pid_t pid = fork();
    if (pid == 0)
      for (int64_t s = 1;; ++s)
        if (write_one(&err, log, s) != LOOM_OK) _exit(1);
    const struct timespec moment = {0, (3000 + 1700 * round) * 1000L};
    nanosleep(&moment, NULL);
    kill(pid, SIGKILL);
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFSIGNALED(status));
    h5checkpoint *c;
    int64_t step;
    double time;
    char hash[17];
    cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_OK, "%s", err.text);
    h5checkpoint_scalars(c, &step, &time, hash);
    h5checkpoint_close(c);
    expect_step(log, -1, step);
  }
}

/* ---- files that are not as they were written ---- */

/* In place of a data set: `count` items of `type` (rank 1, not written where data is NULL). */
static void put_instead(const char *path, const char *name, hid_t type, hsize_t count,
                        const void *data)
{
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  cr_assert_geq(f, 0);
  cr_assert_geq(H5Ldelete(f, name, H5P_DEFAULT), 0);
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t d = H5Dcreate2(f, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert_geq(d, 0);
  if (data != NULL) cr_assert_geq(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
  H5Dclose(d);
  H5Sclose(space);
  H5Fclose(f);
}

/* As an attacker would who knows the format. */
static void seal_anew(const char *path)
{
  const int fd = open(path, O_RDWR);
  cr_assert(fd >= 0 && h5u_seal(fd) == 0);
  close(fd);
}

/* Every single bit counts, the seal's own as well. */
Test(h5checkpoint, any_flipped_bit_is_noticed)
{
  const char *const log = tiny_path(0, "run.h5"), *const path = tiny_path(1, "run.check.h5");
  loom_err err = {0};
  struct stat st;
  h5checkpoint *c;
  cr_assert_eq(write_one(&err, log, 1), LOOM_OK);
  const int fd = open(path, O_RDWR);
  cr_assert(fd >= 0 && fstat(fd, &st) == 0);
  for (off_t at = 0; at < st.st_size; at += 37) {
    unsigned char byte, other;
    cr_assert_eq(pread(fd, &byte, 1, at), 1);
    other = byte ^ (unsigned char)(1 << at % 8);
    cr_assert_eq(pwrite(fd, &other, 1, at), 1);
    cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_E_IO, "byte %lld", (long long)at);
    cr_assert(strstr(err.text, "start the run again") != NULL, "%s", err.text);
    cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
  }
  close(fd);
  expect_step(log, -1, 1);
}

Test(h5checkpoint, what_was_passed_over_is_told)
{
  const char *const log = tiny_path(0, "run.h5"), *const path = tiny_path(1, "run.check.h5");
  loom_err err = {0};
  h5checkpoint *c;
  cr_assert_eq(write_one(&err, log, 1), LOOM_OK);
  cr_assert_eq(write_one(&err, log, 2), LOOM_OK);
  cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_OK);
  cr_assert_str_empty(h5checkpoint_note(c));
  h5checkpoint_close(c);
  struct stat st;
  cr_assert_eq(stat(path, &st), 0);
  cr_assert_eq(truncate(path, st.st_size - 1), 0);
  cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_OK);
  cr_assert(strstr(h5checkpoint_note(c), "run.check.h5 is damaged: ") != NULL, "%s",
            h5checkpoint_note(c));
  cr_assert(strstr(h5checkpoint_note(c), "of step 1") != NULL, "%s", h5checkpoint_note(c));
  h5checkpoint_close(c);
  cr_assert_eq(h5checkpoint_open(&err, log, 2, &c), LOOM_E_IO);
  cr_assert(strstr(err.text, "no checkpoint of step 2, only of 1; it is damaged") != NULL, "%s",
            err.text);
}

/* The place for one number is not a place for many. */
Test(h5checkpoint, step_and_time_are_single_numbers)
{
  static double many[4000];
  const char *const log = tiny_path(0, "run.h5"), *const path = tiny_path(1, "run.check.h5");
  const char *const names[2] = {"step", "time"};
  const hsize_t counts[4] = {0, 2, 40, 4000};
  for (int i = 0; i < 8; ++i) {
    loom_err err = {0};
    h5checkpoint *c;
    cr_assert_eq(write_one(&err, log, 1), LOOM_OK);
    unlink(tiny_path(2, "run.check.prev.h5"));
    put_instead(path, names[i / 4], i < 4 ? H5T_STD_I64LE : H5T_IEEE_F64LE, counts[i % 4],
                counts[i % 4] > 0 ? many : NULL);
    seal_anew(path);
    cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_E_IO);
    cr_assert(strstr(err.text, "has no step, time and config_hash as they are written") != NULL,
              "%s", err.text);
  }
}

/* Data that HDF5 would convert, or make up, are refused. */
Test(h5checkpoint, other_types_and_sizes_are_refused)
{
  const char *const log = tiny_path(0, "run.h5"), *const path = tiny_path(1, "run.check.h5");
  const hsize_t huge = (hsize_t)1 << 40;
  loom_err err = {0};
  int type;
  int64_t count;
  h5checkpoint *c;
  const hid_t types[3] = {H5T_IEEE_F32LE, H5T_STD_I16LE, H5T_IEEE_F64LE};
  for (int i = 0; i < 3; ++i) {
    cr_assert_eq(write_one(&err, log, 1), LOOM_OK);
    put_instead(path, "x", types[i], i < 2 ? 3 * N : huge, NULL);
    seal_anew(path);
    cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5checkpoint_size(c, &err, "", "x", &type, &count), LOOM_E_IO, "%d", i);
    cr_assert(strstr(err.text, "no usable x") != NULL, "%s", err.text);
    h5checkpoint_close(c);
  }
}

/* A pipe in its place neither hangs nor is it taken for a checkpoint. */
Test(h5checkpoint, a_pipe_is_refused)
{
  loom_err err = {0};
  h5checkpoint *c;
  cr_assert_eq(mkfifo(tiny_path(1, "run.check.h5"), 0600), 0);
  cr_assert_eq(h5checkpoint_open(&err, tiny_path(0, "run.h5"), -1, &c), LOOM_E_IO);
  cr_assert(strstr(err.text, "not a regular file") != NULL, "%s", err.text);
}
