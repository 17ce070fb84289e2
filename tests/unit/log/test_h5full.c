/* test_h5full.c - a full disk: a clear error, finished steps kept, no crash. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5checkpoint.h"
#include "log/h5read.h"
#include "support/tiny_log.h"

static tiny_options big_frames(void) { return (tiny_options){.n = 20000}; } /* 0.96 MB a frame */

/* Steps until one fails; their number. */
static int64_t write_until_full(h5log *l, loom_err *err, const tiny_options *o)
{
  for (int64_t s = 0; s < 1000; ++s)
    if (tiny_step(l, err, o, s) != LOOM_OK) return s;
  return 1000;
}

static void fill_up(const char *path, const char *reason)
{
  const tiny_options o = big_frames();
  loom_err err = {0}, later = {0};
  h5log *l;
  h5read *r;
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_start(l, &err, &o), LOOM_OK, "%s", err.text);
  const int64_t steps = write_until_full(l, &err, &o);
  cr_assert(steps > 2 && steps < 1000, "%" PRId64 " steps", steps);
  cr_assert_eq(err.code, LOOM_E_IO);
  cr_assert(strstr(err.text, reason) != NULL, "%s", err.text);
  cr_assert(strstr(err.text, "run again: there is no checkpoint") != NULL, "%s", err.text);
  /* closing is orderly: the rest of the unfinished step may or may not fit */
  h5log_close(l, &later, "failed: disk full");
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_str_eq(h5read_attr(r, "status"), "failed: disk full");
  cr_assert_geq(h5read_num_steps(r), steps);
  h5read_close(r);
}

Test(h5full, file_size_limit)
{
  const char *const path = tiny_path(0, "f.h5");
  const tiny_options o = big_frames();
  struct rlimit limit = {30 << 20, RLIM_INFINITY};
  loom_err err = {0};
  h5log *l;
  signal(SIGXFSZ, SIG_IGN);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  fill_up(path, "file size limit");
  /* with room again, it continues */
  limit.rlim_cur = RLIM_INFINITY;
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  cr_assert_eq(tiny_resume(&err, path, &o, 9, &l), LOOM_OK, "%s", err.text);
  for (int64_t s = 10; s < 40; ++s)
    cr_assert_eq(tiny_step(l, &err, &o, s), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_check(&err, path, 40), 40, "%s", err.text);
}

/* A file system of 24 MiB; mounting needs root, and where that is refused (containers,
 * ordinary users) file_size_limit and write_errors_inside_hdf5 stand for it. */
Test(h5full, small_file_system)
{
  const char *const dir = tiny_path(1, "small");
  char path[600];
  loom_err err = {0};
  cr_assert_eq(mkdir(dir, 0755), 0);
  if (mount("tmpfs", dir, "tmpfs", 0, "size=24m") != 0)
    cr_skip_test("cannot mount a tmpfs: %s", strerror(errno));
  snprintf(path, sizeof path, "%s/f.h5", dir);
  fill_up(path, "no space left");
  /* nor does a checkpoint that does not fit harm anything */
  h5checkpoint *c;
  double *const state = calloc(8 << 20, sizeof *state);
  cr_assert_eq(h5checkpoint_begin(&err, path, &c), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5checkpoint_put(c, &err, "solver", "big", LOOM_I64, 8 << 20, state), LOOM_E_IO);
  cr_assert(strstr(err.text, "no space left") != NULL, "%s", err.text);
  h5checkpoint_abort(c);
  free(state);
  cr_assert_neq(tiny_check(&err, path, -1), 0);
  cr_assert_eq(umount(dir), 0);
}

/* Make every descriptor of this process that shows `path` refuse writes. */
static int make_writes_fail(const char *path)
{
  char link[64], target[1024];
  const int frozen = open(path, O_RDONLY);
  int count = 0;
  DIR *const d = opendir("/proc/self/fd");
  cr_assert(frozen >= 0 && d != NULL);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    snprintf(link, sizeof link, "/proc/self/fd/%.40s", e->d_name);
    const ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0) continue;
    target[n] = '\0';
    if (strcmp(target, path) == 0) {
      const int fd = atoi(e->d_name);
      if (fd != frozen) count += dup2(frozen, fd) >= 0;
    }
  }
  closedir(d);
  close(frozen);
  return count;
}

/* Errors that no reservation foresees, e.g. a broken disk: the driver notes them, HDF5
 * goes on as before, and the file is repaired at close. */
Test(h5full, write_errors_inside_hdf5)
{
  const char *const path = tiny_path(0, "f.h5");
  const tiny_options o = {0};
  for (int64_t at = 0; at < 12; at += 3) {
    loom_err err = {0};
    h5log *l;
    unlink(path);
    cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_OK, "%s", err.text);
    cr_assert_eq(tiny_start(l, &err, &o), LOOM_OK, "%s", err.text);
    for (int64_t s = 0; s < at; ++s) cr_assert_eq(tiny_step(l, &err, &o, s), LOOM_OK);
    cr_assert_gt(make_writes_fail(path), 0);
    cr_assert_eq(tiny_step(l, &err, &o, at), LOOM_E_IO);
    cr_assert(strstr(err.text, strerror(EBADF)) != NULL, "%s", err.text);
    cr_assert_eq(tiny_step(l, &err, &o, at + 1), LOOM_E_IO);
    cr_assert(strstr(err.text, "an earlier write failed") != NULL, "%s", err.text);
    cr_assert_eq(h5log_close(l, &err, "failed: write error"), LOOM_E_IO);
    cr_assert_eq(tiny_check(&err, path, at), at, "%s", err.text);
  }
}

/* A checkpoint that cannot be written leaves the one before it. */
Test(h5full, checkpoint_write_error)
{
  const char *const log = tiny_path(0, "run.h5");
  const double x[3] = {1, 2, 3};
  loom_err err = {0};
  h5checkpoint *c;
  for (int fail = 0; fail < 2; ++fail) {
    cr_assert_eq(h5checkpoint_begin(&err, log, &c), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5checkpoint_put(c, &err, "", "k", LOOM_I64, 3, x), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5checkpoint_put_scalars(c, &err, fail, 0.5, "0123456789abcdef"), LOOM_OK, "%s",
                 err.text);
    if (fail) cr_assert_gt(make_writes_fail(tiny_path(1, "run.check.h5.part")), 0);
    cr_assert_eq(h5checkpoint_commit(c, &err), fail ? LOOM_E_IO : LOOM_OK, "%s", err.text);
  }
  int64_t step;
  double time;
  char hash[17];
  cr_assert_eq(h5checkpoint_open(&err, log, -1, &c), LOOM_OK, "%s", err.text);
  h5checkpoint_scalars(c, &step, &time, hash);
  cr_assert_eq(step, 0);
  h5checkpoint_close(c);
}
