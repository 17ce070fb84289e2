/* test_h5lost.c - logs that cannot be continued: told at once, and kept; frames without a step. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/h5log_internal.h"
#include "log/h5read.h"
#include "support/bytes.h"
#include "support/tiny_log.h"

enum { STEPS = 5, SECONDS = 20 };

/* Ends like a process that hangs: with SIGALRM. */
static loom_status resume_with_alarm(loom_err *err, const char *path, int64_t last,
                                     const tiny_options *o, int *lost)
{
  h5log *l = NULL;
  alarm(SECONDS);
  const loom_status s = h5log_resume(err, path, "0123456789abcdef", last, &o->log, &l, lost);
  alarm(0);
  if (s == LOOM_OK) h5log_close(l, err, "finished");
  return s;
}

/* Every block of an index, one after the other, with a byte that is wrong. */
Test(h5lost, an_index_with_a_wrong_checksum_is_told_at_once)
{
  static const char *const kinds[] = {"EADB", "EAIB", "EAHD", "EASB"};
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = {.log = {.overwrite = 1, .state_chunk = 64}};
  loom_err err = {0};
  h5log *l;
  int64_t num = 0, num_lost = 0;
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_start(l, &err, &o), LOOM_OK);
  for (int64_t i = 0; i < STEPS; ++i) {
    cr_assert_eq(tiny_state(l, &err, i, i == 0 ? 64 * 600 : 64), LOOM_OK);
    cr_assert_eq(tiny_step(l, &err, &o, i), LOOM_OK);
  }
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
  const bytes whole = load_file_bytes(path);
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k)
    for (char *at = whole.data; at != NULL;) {
      at = memmem(at, whole.size - (size_t)(at - whole.data), kinds[k], 4);
      if (at == NULL) break;
      at += 5;
      *at ^= 0x40;
      store_file_bytes(path, &whole);
      *at ^= 0x40;
      int lost = -1;
      const loom_status s = resume_with_alarm(&err, path, STEPS - 1, &o, &lost);
      cr_assert_eq(lost, s != LOOM_OK, "%s at %td: %s", kinds[k], at - whole.data, err.text);
      num_lost += lost;
      ++num;
    }
  cr_assert(num > 20 && num_lost > num / 2, "%" PRId64 " of %" PRId64, num_lost, num);
  free(whole.data);
}

/* Which logs are lost, and which are not to be given up for that. */
Test(h5lost, what_is_lost)
{
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = {.log = {.overwrite = 1}};
  tiny_options f32 = o;
  loom_err err = {0};
  int lost;
  f32.log.frames_f32 = 1;
  cr_assert_eq(resume_with_alarm(&err, path, 2, &o, &lost), LOOM_E_IO);
  cr_assert(lost && strstr(err.text, "there is no such log") != NULL, "%s", err.text);
  cr_assert_eq(tiny_write(&err, path, &o, STEPS), LOOM_OK);
  bytes whole = load_file_bytes(path);
  cr_assert(resume_with_alarm(&err, path, STEPS, &o, &lost) != LOOM_OK && lost);
  cr_assert(resume_with_alarm(&err, path, 2, &f32, &lost) != LOOM_OK && !lost, "%s", err.text);
  h5log *l;
  cr_assert(h5log_resume(&err, path, "another", 2, &o.log, &l, &lost) != LOOM_OK && !lost);
  const size_t sizes[] = {0, 4096, whole.size / 2};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    const bytes part = {whole.data, sizes[i]};
    store_file_bytes(path, &part);
    cr_assert(resume_with_alarm(&err, path, 2, &o, &lost) != LOOM_OK && lost, "%zu", sizes[i]);
    bytes now = load_file_bytes(path);
    cr_assert(now.size == sizes[i] && memcmp(now.data, whole.data, now.size) == 0);
    free(now.data);
  }
  bytes text = {"a text of somebody's that is as long as a superblock of HDF5, and longer", 72};
  store_file_bytes(path, &text);
  cr_assert(resume_with_alarm(&err, path, 2, &o, &lost) != LOOM_OK && !lost);
  free(whole.data);
}

Test(h5lost, a_new_log_keeps_the_old_one)
{
  const char *const path = tiny_path(0, "k.h5");
  tiny_options o = {.log = {.overwrite = 1}};
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, STEPS), LOOM_OK);
  const bytes old = load_file_bytes(path);
  for (int i = 1; i <= 2; ++i) {
    char want[600];
    char *const spare = h5log_spare_name(path);
    snprintf(want, sizeof want, "%s/k.aside-%d.h5", tiny_dir(), i);
    cr_assert_str_eq(spare, want);
    o.log.keep_as = spare;
    store_file_bytes(path, &old);
    cr_assert_eq(tiny_write(&err, path, &o, 2), LOOM_OK, "%s", err.text);
    const bytes kept = load_file_bytes(want);
    cr_assert(kept.size == old.size && memcmp(kept.data, old.data, old.size) == 0);
    cr_assert_eq(tiny_check(&err, path, 2), 2, "%s", err.text);
    free(kept.data);
    free(spare);
  }
  free(old.data);
}

/* Killed before its initial frame, continued, and killed between a frame and the row of its step:
 * that frame is of no finished step, and is no initial one, either. */
Test(h5lost, a_first_frame_without_its_step)
{
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = {.log = {.overwrite = 1}};
  for (int64_t rows = 0; rows < 2; ++rows) {
    int status;
    const pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
      loom_err err = {0};
      h5log *l;
      h5log_step_row row;
      loom_real x[3 * TINY_N] = {0};
      if (tiny_create(&err, path, &o, &l) != LOOM_OK) _exit(2);
      for (int64_t i = 0; i < rows; ++i) {
        tiny_step_row(i, &row);
        if (h5log_step(l, &err, &row, NULL) != LOOM_OK || h5log_commit(l, &err) != LOOM_OK)
          _exit(2);
      }
      if (h5log_frame(l, &err, rows, 0.01, x, x, NULL, NULL) != LOOM_OK ||
          h5log_commit(l, &err) != LOOM_OK)
        _exit(2);
      raise(SIGKILL);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFSIGNALED(status));
    loom_err err = {0};
    h5read *r;
    cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5read_num_steps(r), rows);
    cr_assert_eq(h5read_num_frames(r), 0);
    h5read_close(r);
  }
}

/* Place and size in the file of the chunk of a data set that holds this row. */
static size_t chunk_of(const char *path, const char *name, hsize_t row, hsize_t *size)
{
  const hsize_t at[3] = {row, 0, 0};
  unsigned skipped = 0;
  haddr_t place = HADDR_UNDEF;
  const hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), d = H5Dopen2(f, name, H5P_DEFAULT);
  cr_assert_geq(H5Dget_chunk_info_by_coord(d, at, &skipped, &place, size), 0, "%s", name);
  H5Dclose(d);
  H5Fclose(f);
  return (size_t)place;
}

/* A power failure may lose a page of a frame, which is read as zeros then. */
Test(h5lost, a_page_of_a_frame)
{
  static const char *const names[] = {"/frames/x", "/frames/v"};
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = {.n = 3000, .log = {.overwrite = 1}};
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, STEPS), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_check(&err, path, STEPS), STEPS, "%s", err.text);
  bytes whole = load_file_bytes(path);
  for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
    char kept[4096];
    hsize_t size = 0;
    char *const page = whole.data + (chunk_of(path, names[k], 1, &size) / 4096 + 1) * 4096;
    cr_assert_gt(size, 3 * sizeof kept);
    memcpy(kept, page, sizeof kept);
    memset(page, 0, sizeof kept);
    cr_assert_neq(memcmp(kept, page, sizeof kept), 0);
    store_file_bytes(path, &whole);
    err.text[0] = '\0';
    cr_assert_eq(tiny_check(&err, path, STEPS), -1, "%s", names[k]);
    cr_assert(strstr(err.text, names[k]) != NULL, "%s", err.text);
    cr_assert(strstr(err.text, "differs") == NULL, "the file does not tell: %s", err.text);
    memcpy(page, kept, sizeof kept);
    store_file_bytes(path, &whole);
  }
  cr_assert_eq(tiny_check(&err, path, STEPS), STEPS, "%s", err.text);
  free(whole.data);
}
