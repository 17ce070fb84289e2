/* test_h5journal.c - journals that others made: no file but the log they belong to is ever changed.
 *
 * All are made as a repair makes them, from a dead log and the same log repaired, or forged. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* statx */
#endif
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/h5journal.h"
#include "log/h5read.h"
#include "log/h5util.h"
#include "support/bytes.h"
#include "support/tiny_log.h"

enum { BASE = 4, PAGE = H5U_PAGE }; /* steps; bytes */

/* As they are in the file. */
typedef struct head_1 {
  char what[24];
  int64_t size, end, num;
  uint64_t hash;
} head_1;
typedef struct head_2 {
  char what[24];
  int64_t size, end, num;
  uint64_t dev, ino;
  int64_t born;
  uint64_t record, hash;
} head_2;

/* ---- files ---- */
static void write_file_bytes(const char *path, const void *data, size_t size)
{
  const bytes b = {(char *)data, size};
  store_file_bytes(path, &b);
}

static void is_still(const char *path, const bytes *b)
{
  bytes now = load_file_bytes(path);
  cr_assert_eq(now.size, b->size, "%s has %zu bytes, not %zu", path, now.size, b->size);
  cr_assert_eq(memcmp(now.data, b->data, b->size), 0, "%s was changed", path);
  free(now.data);
}

static const char *forged_journal_path(const char *path)
{
  static char name[600];
  snprintf(name, sizeof name, "%s.journal", path);
  return name;
}

/* ---- logs and their journals ---- */
typedef struct cut {
  const char *path;
  bytes log, after, journal; /* cut off before its first page was applied */
} cut;

static void write_dead(const char *path, const char *hash)
{
  int status;
  const pid_t pid = fork();
  cr_assert_geq(pid, 0);
  if (pid == 0) {
    const tiny_options o = {.hash = hash};
    loom_err err = {0};
    h5log *l;
    loom_status s = tiny_create(&err, path, &o, &l);
    if (s == LOOM_OK) s = tiny_start(l, &err, &o);
    for (int64_t i = 0; s == LOOM_OK && i < BASE; ++i) s = tiny_step(l, &err, &o, i);
    if (s == LOOM_OK) raise(SIGKILL);
    _exit(2);
  }
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert(WIFSIGNALED(status));
}

static uint64_t record_of(const char *path)
{
  const hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  cr_assert_geq(f, 0);
  const uint64_t record = h5u_record(f);
  H5Fclose(f);
  return record;
}

/* The journal of the change from the log at `path` to `after`. */
static void write_change_journal(const char *path, const bytes *after, uint64_t record)
{
  loom_err err = {0};
  h5u_place place;
  h5u_stage *s;
  const bytes before = load_file_bytes(path);
  const int fd = open(path, O_RDWR);
  cr_assert_eq(h5u_place_open(&err, path, &place), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5u_stage_begin(&err, path, fd, &s), LOOM_OK);
  h5u_stage_resize(s, (int64_t)after->size);
  for (size_t at = 0; at < after->size; at += PAGE) {
    const size_t n = after->size - at < PAGE ? after->size - at : PAGE;
    if (at == 0 || at + n > before.size || memcmp(before.data + at, after->data + at, n) != 0)
      cr_assert_eq(h5u_stage_write(s, fd, (int64_t)at, after->data + at, (int64_t)n), 0);
  }
  cr_assert_eq(h5u_journal_write(&place, fd, record, 0, s), 0);
  h5u_stage_free(s);
  h5u_place_close(&place);
  close(fd);
  free(before.data);
}

static cut make_cut(const char *path)
{
  loom_err err = {0};
  h5read *r;
  cut c = {.path = path};
  write_dead(path, NULL);
  c.log = load_file_bytes(path);
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  h5read_close(r);
  c.after = load_file_bytes(path);
  const uint64_t record = record_of(path);
  write_file_bytes(path, c.log.data, c.log.size);
  write_change_journal(path, &c.after, record);
  c.journal = load_file_bytes(forged_journal_path(path));
  return c;
}

/* A journal of these numbers, its hash right, for the log at `path`, which it names by inode. */
static void forge_journal(const char *path, int64_t size, int64_t end, int64_t num,
                          const h5u_page *pages, int64_t pages_there)
{
  struct statx st;
  cr_assert_eq(statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st), 0);
  const int64_t born = st.stx_mask & STATX_BTIME
                           ? st.stx_btime.tv_sec * INT64_C(1000000000) + st.stx_btime.tv_nsec
                           : 0;
  head_2 head = {.what = "loom journal 2\n",
                 .size = size,
                 .end = end,
                 .num = num,
                 .dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
                 .ino = st.stx_ino,
                 .born = born};
  const size_t len = (size_t)pages_there * sizeof *pages;
  char *const all = malloc(sizeof head + len + 1);
  uint64_t hash = h5u_hash(H5U_HASH_START, &head, sizeof head);
  head.hash = h5u_hash(hash, pages, len);
  memcpy(all, &head, sizeof head);
  if (len > 0) memcpy(all + sizeof head, pages, len);
  write_file_bytes(forged_journal_path(path), all, sizeof head + len);
  free(all);
}

/* Page `index` as it is in the log, to become `data`, or to stay for NULL. */
static h5u_page page_of(const bytes *log, int64_t index, const void *data)
{
  h5u_page p = {.index = index};
  const size_t at = (size_t)index * PAGE;
  if (index >= 0 && at < log->size)
    memcpy(p.data, log->data + at, log->size - at < PAGE ? log->size - at : PAGE);
  p.before = h5u_hash_page(p.data);
  if (data != NULL) memcpy(p.data, data, PAGE);
  return p;
}

/* Opens and closes; the note is kept. */
static loom_status read_with_note(const char *path, char note[H5U_NOTE_LEN], loom_err *err)
{
  h5read *r;
  note[0] = '\0';
  LOOM_TRY(h5read_open(err, path, &r));
  snprintf(note, H5U_NOTE_LEN, "%s", h5read_note(r));
  h5read_close(r);
  return LOOM_OK;
}

/* It can be read, `part` is in the note, and neither log nor journal is changed. */
static void only_read(const char *path, const char *part)
{
  char note[H5U_NOTE_LEN];
  loom_err err = {0};
  const bytes log = load_file_bytes(path);
  cr_assert_eq(read_with_note(path, note, &err), LOOM_OK, "%s", err.text);
  cr_assert(strstr(note, part) != NULL, "%s", note);
  cr_assert_eq(tiny_check(&err, path, BASE), BASE, "%s", err.text);
  is_still(path, &log);
  free(log.data);
}

static void expect_finished_journal(const cut *c, const char *path)
{
  char note[H5U_NOTE_LEN];
  loom_err err = {0};
  cr_assert_eq(read_with_note(path, note, &err), LOOM_OK, "%s", err.text);
  cr_assert_str_eq(note, "");
  is_still(path, &c->after);
  cr_assert_neq(access(forged_journal_path(path), F_OK), 0);
}

/* ---- links ---- */
/* A file of any kind, by journals that would empty it or write behind its end. */
Test(h5journal, through_a_link_nothing_is_written)
{
  const char *const victim = tiny_path(0, "victim"), *const link = tiny_path(1, "evil.h5");
  static char long_text[3 * PAGE];
  memset(long_text, 'x', sizeof long_text);
  loom_err err = {0};
  for (int as_log = 0; as_log < 2; ++as_log)
    for (int kind = 0; kind < 4; ++kind) {
      char note[H5U_NOTE_LEN];
      unlink(victim), unlink(link), unlink(forged_journal_path(victim));
      if (as_log) {
        const tiny_options o = {.frames_every = 1};
        cr_assert_eq(tiny_write(&err, victim, &o, BASE), LOOM_OK, "%s", err.text);
      } else {
        write_file_bytes(victim, long_text, sizeof long_text);
      }
      const bytes before = load_file_bytes(victim);
      const int64_t size = (int64_t)before.size;
      h5u_page pages[2] = {page_of(&before, 0, NULL), page_of(&before, size / PAGE + 1, long_text)};
      cr_assert_eq(symlink("victim", link), 0);
      if (kind == 0) forge_journal(link, INT64_C(1) << 60, 0, 0, pages, 0);
      if (kind == 1) forge_journal(link, 0, size + PAGE, 1, pages + 1, 1);
      if (kind == 2) forge_journal(link, size, PAGE, 1, pages, 1);
      if (kind == 3) forge_journal(link, size, (size / PAGE + 2) * PAGE, 2, pages, 2);
      cr_assert_eq(read_with_note(link, note, &err), as_log ? LOOM_OK : LOOM_E_IO, "%s", err.text);
      is_still(victim, &before);
      cr_assert_eq(access(forged_journal_path(link), F_OK), 0);
      cr_assert(!as_log || strstr(note, "symbolic link") != NULL, "%s", note);
      free(before.data);
    }
}

/* The change that is missing is seen, with the journal beside the log, and written nowhere. */
Test(h5journal, a_log_behind_a_link_is_read_with_its_change)
{
  const cut c = make_cut(tiny_path(0, "k.h5"));
  const char *const link = tiny_path(1, "l.h5");
  cr_assert_eq(symlink("k.h5", link), 0);
  only_read(link, "its last change was cut off");
  is_still(c.path, &c.log);
  is_still(forged_journal_path(c.path), &c.journal);
  /* half of it is in the log already */
  bytes half = c.log;
  memcpy(half.data, c.after.data, PAGE);
  write_file_bytes(c.path, half.data, half.size);
  only_read(link, "reached by a symbolic link");
  expect_finished_journal(&c, c.path);
}

Test(h5journal, a_folder_behind_a_link)
{
  char path[600];
  const char *const folder = tiny_path(1, "f"), *const link = tiny_path(2, "g");
  cr_assert_eq(mkdir(folder, 0700), 0);
  cr_assert_eq(symlink("f", link), 0);
  const cut c = make_cut(tiny_path(0, "f/k.h5"));
  snprintf(path, sizeof path, "%s/k.h5", link);
  expect_finished_journal(&c, path); /* log and journal are files of one folder */
}

Test(h5journal, a_log_with_two_names)
{
  const cut c = make_cut(tiny_path(0, "k.h5"));
  const char *const other = tiny_path(1, "other");
  cr_assert_eq(link(c.path, other), 0);
  only_read(c.path, "several names");
  is_still(other, &c.log);
  is_still(forged_journal_path(c.path), &c.journal);
  unlink(other);
  expect_finished_journal(&c, c.path);
}

/* ---- other things with the name of a journal ---- */
static void journal_as_link(const char *name) { cr_assert_eq(symlink("elsewhere", name), 0); }
static void journal_as_hard_link(const char *name)
{
  char path[600];
  snprintf(path, sizeof path, "%s/elsewhere", tiny_dir());
  cr_assert_eq(link(path, name), 0);
}
static void journal_as_pipe(const char *name) { cr_assert_eq(mkfifo(name, 0600), 0); }
static void journal_as_folder(const char *name) { cr_assert_eq(mkdir(name, 0700), 0); }
static void journal_as_device(const char *name) { cr_assert_eq(symlink("/dev/zero", name), 0); }
static void journal_as_text(const char *name) { write_file_bytes(name, "my notes\n", 9); }
static void journal_as_text_of_zeros(const char *name)
{
  write_file_bytes(name, "\0\0\0\0\0\0notes\n", 12);
}

Test(h5journal, other_things_of_its_name_stay)
{
  void (*const make[])(const char *) = {
      journal_as_link,   journal_as_hard_link, journal_as_pipe,         journal_as_folder,
      journal_as_device, journal_as_text,      journal_as_text_of_zeros};
  const char *const sound = tiny_path(0, "s.h5"), *const dead = tiny_path(1, "d.h5");
  const char *const text = tiny_path(2, "notes.h5");
  const tiny_options o = {.log = {.overwrite = 1}};
  const cut c = make_cut(tiny_path(3, "c.h5"));
  loom_err err = {0};
  write_file_bytes(text, "text\n", 5);
  for (size_t i = 0; i < sizeof make / sizeof make[0]; ++i) {
    const char *const paths[] = {sound, dead, text};
    cr_assert_eq(tiny_write(&err, sound, &o, BASE), LOOM_OK, "%s", err.text);
    write_file_bytes(dead, c.log.data, c.log.size);
    for (int k = 0; k < 3; ++k) {
      char note[H5U_NOTE_LEN], name[600];
      struct stat before, after;
      h5log *l;
      write_file_bytes(tiny_path(3, "elsewhere"), c.journal.data, c.journal.size);
      snprintf(name, sizeof name, "%s", forged_journal_path(paths[k]));
      make[i](name);
      cr_assert_eq(lstat(name, &before), 0);
      const bytes log = load_file_bytes(paths[k]);
      cr_assert_eq(read_with_note(paths[k], note, &err), k < 2 ? LOOM_OK : LOOM_E_IO);
      cr_assert(k == 2 || strstr(note, name) != NULL, "case %zu: %s", i, note);
      cr_assert(k == 2 || tiny_check(&err, paths[k], BASE) == BASE, "%s", err.text);
      /* writers say so, and do not write, either */
      cr_assert_neq(tiny_resume(&err, paths[k], &o, BASE - 1, &l), LOOM_OK);
      cr_assert(k == 2 || strstr(err.text, name) != NULL, "case %zu: %s", i, err.text);
      cr_assert_eq(tiny_create(&err, paths[k], &o, &l), LOOM_E_CONFIG, "case %zu", i);
      is_still(paths[k], &log);
      is_still(tiny_path(3, "elsewhere"), &c.journal);
      cr_assert_eq(lstat(name, &after), 0);
      cr_assert_eq(before.st_ino, after.st_ino);
      cr_assert_eq(before.st_size, after.st_size);
      cr_assert_eq(remove(name), 0);
      free(log.data);
    }
  }
}

/* The end of a log needs the name, too: it says so, and the log is as after a kill. */
Test(h5journal, a_text_of_its_name_that_comes_while_the_log_is_written)
{
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = {.frames_every = 1};
  const bytes text = {(char *)"my notes\n", 9};
  loom_err err = {0};
  h5log *l;
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_start(l, &err, &o), LOOM_OK);
  for (int64_t i = 0; i < BASE; ++i) cr_assert_eq(tiny_step(l, &err, &o, i), LOOM_OK);
  store_file_bytes(forged_journal_path(path), &text);
  cr_assert_neq(h5log_close(l, &err, "finished"), LOOM_OK);
  cr_assert(strstr(err.text, forged_journal_path(path)) != NULL, "%s", err.text);
  is_still(forged_journal_path(path), &text);
  cr_assert_eq(tiny_check(&err, path, BASE), BASE, "%s", err.text);
  is_still(forged_journal_path(path), &text);
}

/* ---- another user's ---- */
Test(h5journal, of_another_user)
{
  const cut c = make_cut(tiny_path(0, "k.h5"));
  if (geteuid() != 0) cr_skip_test("only root can give files away");
  for (int which = 0; which < 2; ++which) {
    const char *const given = which == 0 ? c.path : forged_journal_path(c.path);
    cr_assert_eq(chown(given, 65534, 65534), 0);
    only_read(c.path, "belongs to another user");
    is_still(c.path, &c.log);
    is_still(forged_journal_path(c.path), &c.journal);
    cr_assert_eq(chown(given, 0, 0), 0);
  }
  expect_finished_journal(&c, c.path);
}

/* ---- numbers that loom never writes ---- */
Test(h5journal, sizes_are_checked)
{
  const cut c = make_cut(tiny_path(0, "k.h5"));
  const int64_t size = (int64_t)c.log.size, far = INT64_C(1) << 60;
  const int64_t odd[] = {
      INT64_MIN, INT64_MIN + 1,      -1, 0, 1, PAGE - 1, PAGE, far, INT64_MAX - 1,
      INT64_MAX, 64 * size + far / 4};
  h5u_page pages[2];
  static char text[PAGE];
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i)
    for (int which = 0; which < 4; ++which) {
      char note[H5U_NOTE_LEN];
      loom_err err = {0};
      const int64_t s = which == 0 || which == 3 ? odd[i] : size;
      const int64_t e = which == 1 || which == 3 ? odd[i] : size;
      pages[0] = page_of(&c.log, 0, NULL);
      pages[1] = page_of(&c.log, which == 2 ? odd[i] : 1, text);
      /* a page that there is; a log that has grown, or been cut, already */
      if ((which == 2 && odd[i] == 1) || (which == 0 && odd[i] >= PAGE && odd[i] < INT64_MAX - 1))
        continue;
      if (which == 2) pages[1].before = h5u_hash_page(text);
      forge_journal(c.path, s, e, 2, pages, 2);
      cr_assert_eq(read_with_note(c.path, note, &err), LOOM_OK, "%s", err.text);
      cr_assert(strstr(note, "is left alone") != NULL, "%d %zu: %s", which, i, note);
      is_still(c.path, &c.log);
    }
  /* the number of pages; the journal ends before them: it was cut off itself */
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i) {
    loom_err err = {0};
    forge_journal(c.path, size, size, odd[i] == 1 ? 2 : odd[i], pages, 1);
    cr_assert_eq(tiny_check(&err, c.path, BASE), BASE, "%s", err.text);
    write_file_bytes(c.path, c.log.data, c.log.size);
  }
}

Test(h5journal, pages_are_checked)
{
  static const unsigned char other[PAGE] = "no HDF5", hdf5[PAGE] = "\x89HDF\r\n\x1a\n";
  const cut c = make_cut(tiny_path(0, "k.h5"));
  const int64_t size = (int64_t)c.log.size;
  const h5u_page first = page_of(&c.log, 0, NULL), second = page_of(&c.log, 1, other),
                 third = page_of(&c.log, 2, other), no_log = page_of(&c.log, 0, other);
  const h5u_page like_first = page_of(&c.log, 1, hdf5);
  h5u_page wrong = second;
  ++wrong.before;
  const h5u_page cases[][3] = {{like_first, third},     /* no page 0 */
                               {second, first},         /* not the first */
                               {first, third, second},  /* not in order */
                               {first, second, second}, /* one twice */
                               {no_log, second},        /* without the signature */
                               {first, wrong}};         /* of another log */
  const int64_t nums[] = {2, 2, 3, 3, 2, 2};
  for (size_t i = 0; i < sizeof nums / sizeof nums[0]; ++i) {
    forge_journal(c.path, size, size, nums[i], cases[i], nums[i]);
    only_read(c.path, "was made for another log");
  }
}

/* ---- which log ---- */
static void store_old(const cut *c, const char *path)
{
  head_2 head;
  memcpy(&head, c->journal.data, sizeof head);
  const size_t rest = c->journal.size - sizeof head;
  head_1 old = {.what = "loom journal 1\n", .size = head.size, .end = head.end, .num = head.num};
  char *const all = malloc(sizeof old + rest);
  const uint64_t hash = h5u_hash(H5U_HASH_START, &old, sizeof old);
  old.hash = h5u_hash(hash, c->journal.data + sizeof head, rest);
  memcpy(all, &old, sizeof old);
  memcpy(all + sizeof old, c->journal.data + sizeof head, rest);
  write_file_bytes(path, all, sizeof old + rest);
  free(all);
}

Test(h5journal, of_an_older_version)
{
  const cut c = make_cut(tiny_path(0, "k.h5"));
  store_old(&c, forged_journal_path(c.path));
  expect_finished_journal(&c, c.path);
}

/* To another place, with and without its inode. */
Test(h5journal, moved_and_copied_with_its_log)
{
  const cut c = make_cut(tiny_path(0, "k.h5"));
  const char *const moved = tiny_path(1, "moved.h5"), *const copy = tiny_path(2, "copy.h5");
  write_file_bytes(copy, c.log.data, c.log.size);
  write_file_bytes(forged_journal_path(copy), c.journal.data, c.journal.size);
  expect_finished_journal(&c, copy);
  char name[600];
  snprintf(name, sizeof name, "%s", forged_journal_path(moved));
  cr_assert_eq(rename(c.path, moved), 0);
  cr_assert_eq(rename(forged_journal_path(c.path), name), 0);
  expect_finished_journal(&c, moved);
}

/* Two logs that agree in every page that is changed, and differ in all other pages. */
Test(h5journal, of_a_twin)
{
  const char *const path = tiny_path(0, "k.h5"), *const twin = tiny_path(1, "twin.h5");
  const tiny_options o = {.frames_every = 1};
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, BASE), LOOM_OK, "%s", err.text);
  bytes log = load_file_bytes(path), grown = {calloc(1, log.size + PAGE), log.size + PAGE};
  memcpy(grown.data, log.data, log.size);
  write_change_journal(path, &grown, record_of(path));
  const bytes journal = load_file_bytes(forged_journal_path(path));
  for (int equal = 0; equal < 2; ++equal) {
    write_file_bytes(twin, log.data, log.size);
    if (!equal) {
      /* without a new time of change in page 0 */
      const hid_t fapl = h5u_fapl(), f = H5Fopen(twin, H5F_ACC_RDWR, fapl);
      H5Pclose(fapl);
      cr_assert(f >= 0 && h5u_set_text(f, "created", "2025-01-01T00:00:09Z") == 0);
      cr_assert_geq(H5Fclose(f), 0);
      const int fd = open(twin, O_RDWR);
      cr_assert_eq(pwrite(fd, log.data, PAGE, 0), PAGE);
      close(fd);
    }
    const bytes other = load_file_bytes(twin);
    cr_assert_eq(other.size, log.size);
    cr_assert_eq(memcmp(other.data, log.data, PAGE), 0, "page 0 tells: make another test");
    write_file_bytes(forged_journal_path(twin), journal.data, journal.size);
    char note[H5U_NOTE_LEN];
    cr_assert_eq(read_with_note(twin, note, &err), LOOM_OK, "%s", err.text);
    cr_assert_eq(strstr(note, "was made for another log") != NULL, !equal, "%s", note);
    is_still(twin, equal ? &grown : &other);
  }
}
