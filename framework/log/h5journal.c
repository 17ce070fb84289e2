/* h5journal.c - the journal beside a log: written before a change, applied again after a kill.
 *
 * A command that opens a log after an interrupted change finishes the change, even if it only
 * reads.  So a journal is trusted as little as any other file: it is applied only to a regular file
 * of this user, never through a link, and only to the log it was made for.  It identifies that log
 * by inode and time of birth; for a copy, where these differ, by the texts of its creation.
 * It also has a hash of every page before the change, page 0 with HDF5's signature among them: each
 * page of the log must be in its state before or after the change.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_NOFOLLOW, statx */
#endif
#include "log/h5journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5util.h"

enum { PAGE = H5U_PAGE };
enum { MOST_PAGES = 1 << 16 }; /* pages of a journal: 256 MiB */
/* Bytes by which a change may enlarge a log, beyond four times its size: one or two chunks of
 * frames, which the file stores whole. */
static const int64_t most_growth = 64 << 20;

typedef struct journal_id { /* identity of the log that a journal was made for */
  uint64_t dev, ino;
  int64_t born;    /* ns since 1970, 0: the file system does not tell */
  uint64_t record; /* h5u_record(), 0: not known */
} journal_id;

typedef struct journal_head {
  char what[24];
  int64_t size, end, num; /* as in h5u_stage */
  journal_id id;
  uint64_t hash; /* hash of the head (with hash = 0) and of all entries */
} journal_head;

typedef struct journal_head_1 { /* of logs of older versions */
  char what[24];
  int64_t size, end, num;
  uint64_t hash;
} journal_head_1;

static const char mark_1[24] = "loom journal 1\n", mark_2[24] = "loom journal 2\n";
enum { MARK_LEN = 13 }; /* "loom journal ", which all versions begin with */

/* ---- place of a log ---- */
static int open_folder(const char *path, const char *name)
{
  char *const folder = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
  if (folder == NULL) return -1;
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC); /* it cannot be listed */
  free(folder);
  return fd;
}

loom_status h5u_place_open(loom_err *err, const char *path, h5u_place *out)
{
  const size_t len = strlen(path);
  *out = (h5u_place){.dir = -1, .path = strdup(path), .journal_path = malloc(len + 9)};
  if (out->path == NULL || out->journal_path == NULL) {
    h5u_place_close(out);
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  }
  snprintf(out->journal_path, len + 9, "%s.journal", path);
  const char *const slash = strrchr(path, '/');
  const size_t begin = slash == NULL ? 0 : (size_t)(slash - path) + 1;
  out->name = out->path + begin;
  out->journal = out->journal_path + begin;
  out->dir = open_folder(out->path, out->name);
  if (out->dir >= 0) return LOOM_OK;
  err_set(err, LOOM_E_IO, "%s: cannot be opened: %s", path, strerror(errno));
  h5u_place_close(out);
  return LOOM_E_IO;
}

void h5u_place_close(h5u_place *p)
{
  if (p->path != NULL && p->dir >= 0) close(p->dir);
  free(p->path);
  free(p->journal_path);
  *p = (h5u_place){.dir = -1};
}

int h5u_place_takes_files(const h5u_place *p)
{
  return faccessat(p->dir, ".", W_OK | X_OK, 0) == 0;
}

/* Reason why a file is not used (see h5journal.h), or NULL. */
const char *h5u_not_usable(const struct stat *st, int owned)
{
  if (S_ISLNK(st->st_mode)) return "is a symbolic link";
  if (!S_ISREG(st->st_mode)) return "is not a regular file";
  if (!owned) return NULL;
  if (st->st_uid != geteuid()) return "belongs to another user";
  if (st->st_nlink != 1) return "has several names (hard links)";
  return NULL;
}

/* ---- identity of a log ---- */
static journal_id id_of(int fd, uint64_t record)
{
  struct statx st;
  journal_id id = {.record = record};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) != 0) return id;
  id.dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
  id.ino = st.stx_ino;
  if (st.stx_mask & STATX_BTIME)
    id.born = st.stx_btime.tv_sec * INT64_C(1000000000) + st.stx_btime.tv_nsec;
  return id;
}

static int is_same_journal_id(const journal_id *a, const journal_id *b)
{
  return a->ino != 0 && a->ino == b->ino && a->born == b->born &&
         (a->born != 0 || a->dev == b->dev);
}

/* ---- reading ---- */
/* Opens the file with the journal's name; -1 with the reason, or with NULL if there is none. */
static int open_journal(const h5u_place *p, int owned, struct stat *st, const char **why)
{
  *why = NULL;
  if (fstatat(p->dir, p->journal, st, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) *why = strerror(errno);
    return -1;
  }
  *why = h5u_not_usable(st, owned);
  if (*why != NULL) return -1;
  const int fd = openat(p->dir, p->journal, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  *why = fd < 0 || fstat(fd, st) != 0 ? strerror(errno) : h5u_not_usable(st, owned);
  if (*why == NULL || fd < 0) return fd;
  close(fd);
  return -1;
}

/* All bytes are zero: a power failure kept only the size of the file. */
static int all_zero(int fd, int64_t bytes)
{
  static const unsigned char zeros[PAGE];
  unsigned char page[PAGE];
  int zero = bytes <= most_growth;
  for (int64_t at = 0; zero && at < bytes; at += PAGE)
    zero = h5u_read_at(fd, page, PAGE, at) == 0 && memcmp(page, zeros, PAGE) == 0;
  return zero;
}

/* Whether loom wrote the file, complete or not. */
static int is_journal(int fd, const struct stat *st)
{
  char head[MARK_LEN];
  const int64_t have = (int64_t)st->st_size < MARK_LEN ? (int64_t)st->st_size : MARK_LEN;
  if (h5u_read_at(fd, head, have, 0) != 0) return 0;
  return memcmp(head, mark_2, (size_t)have) == 0 || all_zero(fd, (int64_t)st->st_size);
}

/* Length of the head, 0: it is not the head of a journal.  Heads of version 1 get no id. */
static int64_t read_journal_head(int fd, journal_head *head)
{
  journal_head_1 old;
  if (h5u_read_at(fd, head, (int64_t)sizeof *head, 0) != 0) return 0;
  if (memcmp(head->what, mark_2, sizeof mark_2) == 0) return (int64_t)sizeof *head;
  memcpy(&old, head, sizeof old);
  if (memcmp(old.what, mark_1, sizeof mark_1) != 0) return 0;
  *head = (journal_head){.size = old.size, .end = old.end, .num = old.num, .hash = old.hash};
  memcpy(head->what, old.what, sizeof head->what);
  return (int64_t)sizeof old;
}

static uint64_t hash_head(const journal_head *head, int64_t len)
{
  journal_head zero = *head;
  journal_head_1 old = {.size = head->size, .end = head->end, .num = head->num};
  zero.hash = 0;
  memcpy(old.what, head->what, sizeof old.what);
  return len == (int64_t)sizeof old ? h5u_hash(H5U_HASH_START, &old, sizeof old)
                                    : h5u_hash(H5U_HASH_START, &zero, sizeof zero);
}

/* Whether a change of a log of `now` bytes can have these sizes; all numbers come from the file. */
static int is_plausible_head(const journal_head *h, int64_t now)
{
  const int64_t least = h->size < h->end ? h->size : h->end;
  const int64_t most = h->size < h->end ? h->end : h->size;
  if (least < PAGE || most > INT64_MAX - PAGE || now < least || now > most) return 0;
  if (h->end > h->size && (h->end - h->size) / 4 > h->size + most_growth) return 0;
  return h->num <= (h->end - 1) / PAGE + 1;
}

/* The pages of a complete journal, NULL: it is not complete. */
static h5u_stage *read_pages(int fd, const journal_head *head, int64_t len)
{
  h5u_stage *const s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  *s = (h5u_stage){.size = head->size, .end = head->end, .floor = head->size};
  uint64_t hash = hash_head(head, len);
  s->pages = calloc((size_t)head->num, sizeof *s->pages);
  int good = s->pages != NULL;
  for (int64_t i = 0; good && i < head->num; ++i) {
    h5u_page *const p = s->pages[i] = malloc(sizeof *p);
    if (p == NULL) break;
    s->num = s->room = i + 1;
    good = h5u_read_at(fd, p, (int64_t)sizeof *p, len + i * (int64_t)sizeof *p) == 0;
    if (good) hash = h5u_hash(hash, p, sizeof *p);
  }
  if (good && s->num == head->num && hash == head->hash) return s;
  h5u_stage_free(s);
  return NULL;
}

/* Whether the page of the log is in its state before or after the change. */
static int page_fits(const h5u_stage *s, const h5u_page *p, int fd)
{
  unsigned char now[PAGE];
  const int64_t begin = p->index * PAGE, left = s->end - begin;
  if (h5u_read_at(fd, now, PAGE, begin) != 0) return 0;
  if (h5u_hash_page(now) == p->before) return 1;
  return memcmp(now, p->data, left < PAGE ? (size_t)left : PAGE) == 0;
}

static int pages_fit(const h5u_stage *s, int fd)
{
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  if (s->pages[0]->index != 0 || memcmp(s->pages[0]->data, hdf5, sizeof hdf5) != 0) return 0;
  for (int64_t i = 0; i < s->num; ++i) {
    const h5u_page *const p = s->pages[i];
    if (i > 0 && p->index <= s->pages[i - 1]->index) return 0;
    if (p->index > (s->end - 1) / PAGE || !page_fits(s, p, fd)) return 0;
  }
  return 1;
}

static h5u_stage *no_stage(const h5u_place *p, char note[H5U_NOTE_LEN], const char *what)
{
  snprintf(note, H5U_NOTE_LEN, "%.500s: %s, and is left alone", p->journal_path, what);
  return NULL;
}

/* Reads and checks a journal; `note` as for h5u_journal_read. */
static h5u_stage *read_journal(const h5u_place *p, int journal, const struct stat *st, int fd,
                               uint64_t *record, char note[H5U_NOTE_LEN])
{
  struct stat log;
  journal_head head;
  if (!is_journal(journal, st)) return no_stage(p, note, "is no journal that loom wrote");
  const int64_t len = read_journal_head(journal, &head), rest = (int64_t)st->st_size - len;
  if (len == 0 || rest < 0 || head.num < 1 || head.num > MOST_PAGES ||
      rest % (int64_t)sizeof(h5u_page) != 0 || rest / (int64_t)sizeof(h5u_page) != head.num)
    return NULL; /* its writing was cut off */
  h5u_stage *const s = read_pages(journal, &head, len);
  if (s == NULL) return NULL;
  const journal_id here = id_of(fd, 0);
  const int by_name = len == (int64_t)sizeof(journal_head_1) || is_same_journal_id(&head.id, &here);
  *record = by_name ? 0 : head.id.record;
  if (fstat(fd, &log) == 0 && is_plausible_head(&head, (int64_t)log.st_size) && pages_fit(s, fd) &&
      (by_name || head.id.record != 0))
    return s;
  h5u_stage_free(s);
  return no_stage(p, note, H5U_OTHER_LOG);
}

int h5u_journal_exists(const h5u_place *p)
{
  struct stat st;
  return fstatat(p->dir, p->journal, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

h5u_stage *h5u_journal_load(const h5u_place *p, int fd, int owned, uint64_t *record,
                            char note[H5U_NOTE_LEN])
{
  struct stat st;
  const char *why;
  note[0] = '\0';
  *record = 0;
  const int journal = open_journal(p, owned, &st, &why);
  if (journal < 0) return why == NULL ? NULL : no_stage(p, note, why);
  h5u_stage *const s = read_journal(p, journal, &st, fd, record, note);
  close(journal);
  return s;
}

/* ---- writing ---- */
int h5u_journal_remove(const h5u_place *p)
{
  return unlinkat(p->dir, p->journal, 0) != 0 && errno != ENOENT ? errno : 0;
}

/* Removes a file that loom wrote at the journal's name; 0, EEXIST or errno. */
static int remove_own_journal(const h5u_place *p)
{
  struct stat st;
  const char *why;
  const int fd = open_journal(p, 1, &st, &why);
  if (fd < 0) return why != NULL ? EEXIST : 0;
  const int ours = is_journal(fd, &st);
  close(fd);
  return ours ? h5u_journal_remove(p) : EEXIST;
}

static char *make_journal(int fd, uint64_t record, const h5u_stage *s, int64_t *bytes)
{
  journal_head head = {
      .size = s->size, .end = s->end, .num = s->num, .id = id_of(fd, record), .hash = 0};
  *bytes = (int64_t)sizeof head + s->num * (int64_t)sizeof(h5u_page);
  char *const all = malloc((size_t)*bytes);
  if (all == NULL) return NULL;
  memcpy(head.what, mark_2, sizeof head.what);
  uint64_t hash = hash_head(&head, (int64_t)sizeof head);
  for (int64_t i = 0; i < s->num; ++i) {
    memcpy(all + sizeof head + (size_t)i * sizeof(h5u_page), s->pages[i], sizeof(h5u_page));
    hash = h5u_hash(hash, s->pages[i], sizeof(h5u_page));
  }
  head.hash = hash;
  memcpy(all, &head, sizeof head);
  return all;
}

int h5u_journal_write(const h5u_place *p, int fd, uint64_t record, int sync, const h5u_stage *s)
{
  struct stat st;
  int64_t bytes = 0;
  int code = s->num > MOST_PAGES ? EFBIG : fstat(fd, &st) != 0 ? errno : remove_own_journal(p);
  if (code != 0) return code;
  const int journal = openat(
      p->dir, p->journal, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, st.st_mode & 0777);
  if (journal < 0) return errno;
  char *const all = make_journal(fd, record, s, &bytes);
  code = all == NULL ? ENOMEM : h5u_write_at(journal, all, bytes, 0);
  free(all);
  if (code == 0 && sync && fdatasync(journal) != 0) code = errno;
  if (close(journal) != 0 && code == 0) code = errno;
  /* syncs the name, too; some file systems, and folders that cannot be listed, do not support it */
  if (code == 0 && sync && fsync(p->dir) != 0 && errno != EINVAL && errno != EBADF) code = errno;
  if (code != 0) unlinkat(p->dir, p->journal, 0);
  return code;
}

loom_status h5u_journal_target(loom_err *err, const h5u_place *p)
{
  struct stat st;
  const char *why;
  const int fd = open_journal(p, 1, &st, &why);
  const int ours = fd >= 0 ? is_journal(fd, &st) : why == NULL;
  if (fd >= 0) close(fd);
  if (ours) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "%s: %s, and has the name of the log's journal; it is not replaced: remove it, or "
                 "name another log",
                 p->journal_path, why != NULL ? why : "is no journal that loom wrote");
}

loom_status h5u_journal_discard(loom_err *err, const h5u_place *p)
{
  LOOM_TRY(h5u_journal_target(err, p));
  const int code = h5u_journal_remove(p);
  if (code == 0) return LOOM_OK;
  return err_set(
      err, LOOM_E_IO,
      "%s: the journal of the log that was replaced cannot be removed: %s; remove it, or "
      "name another file with -o",
      p->journal_path, strerror(code));
}
