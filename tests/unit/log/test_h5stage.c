/* test_h5stage.c - staged changes of a file against the same changes of an array, and commits that
 * are cut off. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5journal.h"
#include "support/tiny_log.h"

enum { MOST = 40000, PAGE = 4096 }; /* bytes */

/* In the place of the C library's: the disk is full from the given write on; -1: never. */
static int fail_from = -1;
static int num_writes;

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
  if (fail_from >= 0 && num_writes >= fail_from) {
    errno = ENOSPC;
    return -1;
  }
  ++num_writes;
  if (lseek(fd, offset, SEEK_SET) < 0) return -1;
  return write(fd, buffer, size);
}

static unsigned long draw_number_below(unsigned long *state, unsigned long below)
{
  *state = *state * 6364136223846793005ul + 1442695040888963407ul;
  return (*state >> 33) % below;
}

typedef struct model {
  unsigned char data[MOST];
  int64_t size;
} model;

static void store_model(const char *path, const model *m)
{
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  cr_assert(fd >= 0 && write(fd, m->data, (size_t)m->size) == (ssize_t)m->size);
  close(fd);
}

static int has_model_bytes(const char *path, const model *m)
{
  static unsigned char now[MOST + 1];
  const int fd = open(path, O_RDONLY);
  const ssize_t n = read(fd, now, sizeof now);
  close(fd);
  return n == (ssize_t)m->size && memcmp(now, m->data, (size_t)n) == 0;
}

static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* A page at least, which begins as a log does and keeps that. */
static void make_random(model *m, unsigned long *seed)
{
  memset(m, 0, sizeof *m);
  m->size = PAGE + (int64_t)draw_number_below(seed, MOST - PAGE);
  for (int64_t i = 0; i < m->size; ++i) m->data[i] = (unsigned char)draw_number_below(seed, 256);
  memcpy(m->data, hdf5, sizeof hdf5);
}

/* One change of both: bytes, or the size. */
static void apply_random_change(h5u_stage *s, int fd, model *m, unsigned long *seed)
{
  unsigned char bytes[3 * PAGE];
  if (draw_number_below(seed, 4) == 0) {
    const int64_t size = PAGE + (int64_t)draw_number_below(seed, MOST - PAGE);
    if (size < m->size) memset(m->data + size, 0, (size_t)(m->size - size));
    m->size = size;
    h5u_stage_resize(s, size);
    return;
  }
  const int64_t at = 8 + (int64_t)draw_number_below(seed, MOST - 8);
  int64_t n = (int64_t)draw_number_below(seed, draw_number_below(seed, 2) ? sizeof bytes : 40);
  if (n > MOST - at) n = MOST - at;
  for (int64_t i = 0; i < n; ++i) bytes[i] = (unsigned char)draw_number_below(seed, 256);
  if (at + n > h5u_stage_end(s)) h5u_stage_resize(s, at + n); /* as the driver does */
  if (at + n > m->size) m->size = at + n;
  cr_assert_eq(h5u_stage_write(s, fd, at, bytes, n), 0);
  memcpy(m->data + at, bytes, (size_t)n);
}

static void check_staged_read(const h5u_stage *s, int fd, const model *m, unsigned long *seed)
{
  unsigned char bytes[MOST];
  const int64_t at = (int64_t)draw_number_below(seed, MOST),
                n = (int64_t)draw_number_below(seed, (unsigned long)(MOST - at));
  cr_assert_eq(h5u_stage_read(s, fd, at, bytes, n), 0);
  cr_assert_eq(memcmp(bytes, m->data + at, (size_t)n), 0, "%ld bytes at %ld", (long)n, (long)at);
}

/* Some changes; the file itself stays as it was. */
static h5u_stage *make_stage(const char *path, const model *before, model *after,
                             unsigned long seed)
{
  loom_err err = {0};
  h5u_stage *s;
  store_model(path, before);
  *after = *before;
  const int fd = open(path, O_RDWR);
  cr_assert_eq(h5u_stage_begin(&err, path, fd, &s), LOOM_OK, "%s", err.text);
  for (int i = 0; i < 12; ++i) {
    apply_random_change(s, fd, after, &seed);
    check_staged_read(s, fd, after, &seed);
    cr_assert_eq(h5u_stage_end(s), after->size);
  }
  close(fd);
  cr_assert(has_model_bytes(path, before));
  return s;
}

static h5u_place open_stage_place(const char *path)
{
  loom_err err = {0};
  h5u_place place;
  cr_assert_eq(h5u_place_open(&err, path, &place), LOOM_OK, "%s", err.text);
  return place;
}

static int journal_exists(const char *path)
{
  h5u_place place = open_stage_place(path);
  const int there = h5u_journal_exists(&place);
  h5u_place_close(&place);
  return there;
}

/* Commits; writes fail from the given one on, -1: none. */
static loom_status commit_failing_stage(loom_err *err, const char *path, h5u_stage *s, int from)
{
  h5u_place place = open_stage_place(path);
  const int fd = open(path, O_RDWR);
  num_writes = 0;
  fail_from = from;
  const loom_status status = h5u_stage_commit(err, &place, fd, 0, 0, s);
  fail_from = -1;
  close(fd);
  h5u_place_close(&place);
  return status;
}

static loom_status commit_failing(loom_err *err, const char *path, h5u_stage *s, int from)
{
  const loom_status status = commit_failing_stage(err, path, s, from);
  h5u_stage_free(s);
  return status;
}

/* Finishes a change; writes fail from the given one on. */
static loom_status finish_failing_journal(loom_err *err, const char *path, int from, char *note)
{
  h5u_place place = open_stage_place(path);
  const int fd = open(path, O_RDWR);
  num_writes = 0;
  fail_from = from;
  const loom_status status = h5u_journal_finish(err, &place, fd, note);
  fail_from = -1;
  close(fd);
  h5u_place_close(&place);
  return status;
}

Test(h5stage, a_commit_makes_all_changes)
{
  const char *const path = tiny_path(0, "f");
  unsigned long seed = 1;
  model before, after;
  for (int i = 0; i < 300; ++i) {
    loom_err err = {0};
    make_random(&before, &seed);
    h5u_stage *const s = make_stage(path, &before, &after, draw_number_below(&seed, 1u << 30));
    if (i % 3 != 0) { /* else it is given up */
      cr_assert_eq(commit_failing_stage(&err, path, s, -1), LOOM_OK, "%s", err.text);
      cr_assert(has_model_bytes(path, &after), "case %d", i);
    }
    h5u_stage_free(s);
    cr_assert(i % 3 != 0 || has_model_bytes(path, &before));
    cr_assert(!journal_exists(path));
  }
}

/* Cut off at any write, and once more while it is made up for. */
Test(h5stage, a_commit_that_is_cut_off)
{
  const char *const path = tiny_path(0, "f");
  unsigned long seed = 2;
  model before, after;
  int made_up = 0;
  for (int i = 0; i < 40; ++i) {
    make_random(&before, &seed);
    const unsigned long changes = draw_number_below(&seed, 1u << 30);
    loom_status status = LOOM_E_IO;
    for (int at = 0; status != LOOM_OK; ++at) {
      loom_err err = {0};
      h5u_stage *const s = make_stage(path, &before, &after, changes);
      status = commit_failing(&err, path, s, at);
      cr_assert_eq(status != LOOM_OK, strstr(err.text, strerror(ENOSPC)) != NULL, "%s", err.text);
      if (!journal_exists(path)) {
        cr_assert(has_model_bytes(path, status == LOOM_OK ? &after : &before));
        continue;
      }
      char note[H5U_NOTE_LEN];
      if (finish_failing_journal(&err, path, (int)draw_number_below(&seed, 4), note) != LOOM_OK) {
        cr_assert(journal_exists(path));
        cr_assert_eq(finish_failing_journal(&err, path, -1, note), LOOM_OK, "%s", err.text);
      }
      cr_assert_str_eq(note, "");
      cr_assert(has_model_bytes(path, &after));
      cr_assert(!journal_exists(path));
      ++made_up;
    }
  }
  cr_assert_gt(made_up, 100);
}

/* A file that is neither as before nor as after the commit is left alone. */
Test(h5stage, another_file_in_its_place)
{
  const char *const path = tiny_path(0, "f");
  unsigned long seed = 3;
  model before, after;
  int num_tried = 0;
  for (int i = 0; i < 100; ++i) {
    loom_err err = {0};
    make_random(&before, &seed);
    before.size = MOST / 2;
    memset(before.data + MOST / 2, 0, MOST / 2);
    h5u_stage *const s = make_stage(path, &before, &after, draw_number_below(&seed, 1u << 30));
    /* the journal is there, no page of the file; without an error, only the size has changed */
    if (commit_failing(&err, path, s, 1) == LOOM_OK) continue;
    ++num_tried;
    model other = i % 2 ? after : before;
    const int64_t most = before.size > after.size ? before.size : after.size;
    if (i % 4 < 2) /* a byte of every page */
      for (int64_t b = 8; b < other.size; b += PAGE) other.data[b] ^= 1;
    else
      other.size = most + 1 < MOST ? most + 1 : MOST;
    store_model(path, &other);
    char note[H5U_NOTE_LEN];
    cr_assert_eq(finish_failing_journal(&err, path, -1, note), LOOM_OK, "%s", err.text);
    if (other.size == most && i % 4 >= 2) continue; /* no room for a larger one */
    cr_assert(strstr(note, "was made for another log") != NULL, "case %d: %s", i, note);
    cr_assert(has_model_bytes(path, &other));
    cr_assert(journal_exists(path));
    h5u_place place = open_stage_place(path);
    cr_assert_eq(h5u_journal_discard(&err, &place), LOOM_OK);
    h5u_place_close(&place);
  }
  cr_assert_gt(num_tried, 50);
}
