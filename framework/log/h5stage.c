/* h5stage.c - changes to a log that take place whole or not at all.
 *
 * In single-writer/multiple-reader mode HDF5 orders its writes so that a file is sound after each
 * of them.  Outside of that mode it does not, and a log is repaired, ended and continued there: a
 * process killed in the middle would leave, for one, an attribute whose name is gone from the index
 * and whose text is still in the heap.
 *
 * So these changes are staged.  The driver (h5disk.c) keeps in memory the pages that HDF5 writes,
 * and reads see them.  A commit writes all of them to a journal beside the log, then to the log,
 * and removes the journal.  Whoever opens the log next and finds a whole journal writes it once
 * more; one that is not whole was cut off before the log was touched.
 *
 * A journal must not be written to any other file, such as a copy that was put in the log's place.
 * So it holds a hash of every page as it was: all pages of the log must be as they were before the
 * commit, or as they are after it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_NOFOLLOW */
#endif
#include "log/h5stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5util.h"

enum { PAGE = 4096, GROW_BY = 64 }; /* bytes; pages */

typedef struct stage_page { /* also an entry of the journal */
  int64_t index;            /* the page begins at byte index * PAGE of the log */
  uint64_t before;          /* hash of what the log holds there without the commit */
  unsigned char data[PAGE];
} stage_page;

struct h5u_stage {
  int64_t size;  /* bytes, of the log as it is */
  int64_t end;   /* ... as it is to be */
  int64_t floor; /* the smallest `end` so far: what the log holds behind it is not to be seen */
  stage_page **pages; /* [num], by ascending index */
  int64_t num, room;
};

typedef struct journal_head {
  char what[24];
  int64_t size, end, num; /* as in h5u_stage */
  uint64_t hash;          /* of the head with a hash of 0, and of all entries */
} journal_head;

static const char journal_mark[24] = "loom journal 1\n";

static uint64_t hash_page(const void *data) { return h5u_hash(H5U_HASH_START, data, PAGE); }

/* ---- the pages in memory ---- */
loom_status h5u_stage_begin(loom_err *err, const char *path, h5u_stage **out)
{
  struct stat st;
  *out = NULL;
  if (stat(path, &st) != 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be examined: %s", path, strerror(errno));
  h5u_stage *const s = calloc(1, sizeof *s);
  if (s == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  s->size = s->end = s->floor = (int64_t)st.st_size;
  *out = s;
  return LOOM_OK;
}

void h5u_stage_free(h5u_stage *s)
{
  if (s == NULL) return;
  for (int64_t i = 0; i < s->num; ++i) free(s->pages[i]);
  free(s->pages);
  free(s);
}

int64_t h5u_stage_end(const h5u_stage *s) { return s->end; }

/* The place of the first page with an index >= `index`. */
static int64_t lower_bound(const h5u_stage *s, int64_t index)
{
  int64_t low = 0, high = s->num;
  while (low < high) {
    const int64_t mid = low + (high - low) / 2;
    if (s->pages[mid]->index < index)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

void h5u_stage_resize(h5u_stage *s, int64_t end)
{
  for (int64_t i = lower_bound(s, end / PAGE); i < s->num; ++i) { /* what is cut off is zero */
    const int64_t begin = s->pages[i]->index * PAGE, keep = end > begin ? end - begin : 0;
    if (keep < PAGE) memset(s->pages[i]->data + keep, 0, (size_t)(PAGE - keep));
  }
  s->end = end;
  if (end < s->floor) s->floor = end;
}

/* The page with this index, read from the log at the first time; 0 or errno. */
static int get_page(h5u_stage *s, int fd, int64_t index, stage_page **out)
{
  const int64_t at = lower_bound(s, index), begin = index * PAGE;
  if (at < s->num && s->pages[at]->index == index) {
    *out = s->pages[at];
    return 0;
  }
  if (s->num == s->room) {
    stage_page **const more =
        realloc(s->pages, (size_t)(s->room + s->room / 2 + GROW_BY) * sizeof *more);
    if (more == NULL) return ENOMEM;
    s->pages = more;
    s->room += s->room / 2 + GROW_BY;
  }
  stage_page *const p = malloc(sizeof *p);
  const int code = p == NULL ? ENOMEM : h5u_read_at(fd, p->data, PAGE, begin);
  if (code != 0) {
    free(p);
    return code;
  }
  p->index = index;
  p->before = hash_page(p->data);
  if (begin + PAGE > s->floor) {
    const int64_t keep = s->floor > begin ? s->floor - begin : 0;
    memset(p->data + keep, 0, (size_t)(PAGE - keep));
  }
  memmove(s->pages + at + 1, s->pages + at, (size_t)(s->num - at) * sizeof *s->pages);
  s->pages[at] = p;
  ++s->num;
  *out = p;
  return 0;
}

int h5u_stage_write(h5u_stage *s, int fd, int64_t addr, const void *data, int64_t bytes)
{
  const char *from = data;
  while (bytes > 0) {
    const int64_t skip = addr % PAGE, piece = bytes < PAGE - skip ? bytes : PAGE - skip;
    stage_page *p;
    const int code = get_page(s, fd, addr / PAGE, &p);
    if (code != 0) return code;
    memcpy(p->data + skip, from, (size_t)piece);
    from += piece, addr += piece, bytes -= piece;
  }
  return 0;
}

int h5u_stage_read(const h5u_stage *s, int fd, int64_t addr, void *out, int64_t bytes)
{
  char *const to = out;
  const int64_t end = addr + bytes;
  const int64_t seen = end <= s->floor ? bytes : addr < s->floor ? s->floor - addr : 0;
  const int code = h5u_read_at(fd, to, seen, addr);
  if (code != 0) return code;
  memset(to + seen, 0, (size_t)(bytes - seen));
  for (int64_t i = lower_bound(s, addr / PAGE); i < s->num; ++i) {
    const int64_t begin = s->pages[i]->index * PAGE;
    if (begin >= end) break;
    const int64_t a = begin > addr ? begin : addr, b = begin + PAGE < end ? begin + PAGE : end;
    memcpy(to + (a - addr), s->pages[i]->data + (a - begin), (size_t)(b - a));
  }
  return 0;
}

/* ---- the journal ---- */
static char *journal_of(const char *path)
{
  const size_t len = strlen(path) + sizeof ".journal";
  char *const name = malloc(len);
  if (name != NULL) snprintf(name, len, "%s.journal", path);
  return name;
}

int h5u_journal_possible(const char *path)
{
  const char *const slash = strrchr(path, '/');
  if (slash == NULL) return access(".", W_OK | X_OK) == 0;
  char *const folder = strndup(path, (size_t)(slash - path) + 1);
  const int possible = folder != NULL && access(folder, W_OK | X_OK) == 0;
  free(folder);
  return possible;
}

/* Of a journal in memory: a head with room for the hash, then the entries. */
static uint64_t hash_journal(const journal_head *j)
{
  journal_head head = *j;
  head.hash = 0;
  const uint64_t h = h5u_hash(H5U_HASH_START, &head, sizeof head);
  return h5u_hash(h, j + 1, (size_t)j->num * sizeof(stage_page));
}

static journal_head *make_journal(const h5u_stage *s)
{
  journal_head *const j = malloc(sizeof *j + (size_t)s->num * sizeof(stage_page));
  if (j == NULL) return NULL;
  *j = (journal_head){.size = s->size, .end = s->end, .num = s->num};
  memcpy(j->what, journal_mark, sizeof j->what);
  stage_page *const entries = (stage_page *)(j + 1);
  for (int64_t i = 0; i < s->num; ++i) entries[i] = *s->pages[i];
  j->hash = hash_journal(j);
  return j;
}

/* 0 or errno.  What is in its way is the rest of one that was not whole (h5u_stage_recover). */
static int write_journal(const char *name, mode_t mode, const h5u_stage *s)
{
  if (unlink(name) != 0 && errno != ENOENT) return errno;
  const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0) return errno;
  journal_head *const j = make_journal(s);
  int code =
      j == NULL ? ENOMEM
                : h5u_write_at(fd, j, (int64_t)sizeof *j + s->num * (int64_t)sizeof(stage_page), 0);
  free(j);
  if (close(fd) != 0 && code == 0) code = errno;
  if (code != 0) unlink(name);
  return code;
}

/* Write the pages to the log; 0 or errno.  May be repeated. */
static int apply(int fd, const h5u_stage *s)
{
  struct stat st;
  int code = 0;
  for (int64_t i = 0; code == 0 && i < s->num; ++i) {
    const int64_t begin = s->pages[i]->index * PAGE;
    code =
        h5u_write_at(fd, s->pages[i]->data, s->end - begin < PAGE ? s->end - begin : PAGE, begin);
  }
  if (code == 0 && fstat(fd, &st) != 0) code = errno;
  if (code == 0 && (int64_t)st.st_size != s->end && ftruncate(fd, (off_t)s->end) != 0) code = errno;
  return code;
}

/* Those behind the end are not needed. */
static void drop_pages(h5u_stage *s)
{
  while (s->num > 0 && s->pages[s->num - 1]->index * PAGE >= s->end) free(s->pages[--s->num]);
}

/* What HDF5 allocated behind `floor` and never wrote reads as zero. */
static int add_zero_pages(h5u_stage *s, int fd)
{
  const int64_t last = s->end < s->size ? s->end : s->size;
  int code = 0;
  for (int64_t b = s->floor; code == 0 && b < last; b = (b / PAGE + 1) * PAGE) {
    stage_page *p;
    code = get_page(s, fd, b / PAGE, &p);
  }
  return code;
}

static loom_status commit_to(loom_err *err, const char *path, const char *name, h5u_stage *s)
{
  struct stat st = {0};
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  int code = fd < 0 || fstat(fd, &st) != 0 ? errno : add_zero_pages(s, fd);
  if (code == 0) code = write_journal(name, st.st_mode & 0777, s);
  if (code != 0) {
    if (fd >= 0) close(fd);
    return err_set(err, LOOM_E_IO, "%s: cannot be written: %s; %s is as it was", name,
                   strerror(code), path);
  }
  code = apply(fd, s);
  if (close(fd) != 0 && code == 0) code = errno;
  if (code == 0 && unlink(name) != 0) code = errno;
  if (code == 0) return LOOM_OK;
  return err_set(err, LOOM_E_IO,
                 "%s: cannot be changed: %s; what is left to do is in %s, keep it beside the log: "
                 "the next command that opens the log does it",
                 path, strerror(code), name);
}

loom_status h5u_stage_commit(loom_err *err, const char *path, h5u_stage *s)
{
  drop_pages(s);
  if (s->num == 0 && s->end == s->size) return LOOM_OK;
  char *const name = journal_of(path);
  const loom_status status = name == NULL ? err_set(err, LOOM_E_NOMEM, "%s: out of memory", path)
                                          : commit_to(err, path, name, s);
  free(name);
  return status;
}

/* ---- what a killed process left ---- */
int h5u_journal_exists(const char *path)
{
  char *const name = journal_of(path);
  const int there = name != NULL && access(name, F_OK) == 0;
  free(name);
  return there;
}

loom_status h5u_journal_discard(loom_err *err, const char *path)
{
  char *const name = journal_of(path);
  if (name == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  const int bad = unlink(name) != 0 && errno != ENOENT;
  if (bad)
    err_set(err, LOOM_E_IO,
            "%s: the journal of the log that was replaced cannot be removed: %s; remove it, or "
            "name another file "
            "with -o",
            name, strerror(errno));
  free(name);
  return bad ? LOOM_E_IO : LOOM_OK;
}

/* Read a journal: 0 or errno; NULL if it was not written to its end.  The caller frees it. */
static int read_journal(int fd, journal_head **out)
{
  struct stat st;
  *out = NULL;
  if (fstat(fd, &st) != 0) return errno;
  if (!S_ISREG(st.st_mode)) return EINVAL;
  const int64_t bytes = (int64_t)st.st_size - (int64_t)sizeof **out;
  const int64_t num = bytes / (int64_t)sizeof(stage_page);
  if (bytes < 0 || bytes % (int64_t)sizeof(stage_page) != 0) return 0;
  journal_head *const j = malloc((size_t)st.st_size);
  const int code = j == NULL ? ENOMEM : h5u_read_at(fd, j, (int64_t)st.st_size, 0);
  if (code == 0 && memcmp(j->what, journal_mark, sizeof j->what) == 0 && j->num == num &&
      hash_journal(j) == j->hash)
    *out = j;
  else
    free(j);
  return code;
}

/* The same as a stage, whose pages stay in the journal: free(s->pages). */
static int stage_of(journal_head *j, h5u_stage *s)
{
  stage_page *const entries = (stage_page *)(j + 1);
  *s = (h5u_stage){.size = j->size, .end = j->end, .floor = j->size, .num = j->num};
  s->pages = malloc(((size_t)j->num + 1) * sizeof *s->pages);
  if (s->pages == NULL) return ENOMEM;
  for (int64_t i = 0; i < j->num; ++i) s->pages[i] = &entries[i];
  return 0;
}

/* The page as it is in the log: as before the commit, or as after it. */
static int page_fits(const h5u_stage *s, const stage_page *p, int fd)
{
  unsigned char now[PAGE];
  const int64_t begin = p->index * PAGE, left = s->end - begin;
  if (h5u_read_at(fd, now, PAGE, begin) != 0) return 0;
  if (hash_page(now) == p->before) return 1;
  return memcmp(now, p->data, left < PAGE ? (size_t)left : PAGE) == 0;
}

static int log_fits(const h5u_stage *s, int fd)
{
  struct stat st;
  const int64_t least = s->size < s->end ? s->size : s->end;
  const int64_t most = s->size < s->end ? s->end : s->size;
  if (fstat(fd, &st) != 0 || (int64_t)st.st_size < least || (int64_t)st.st_size > most) return 0;
  for (int64_t i = 0; i < s->num; ++i) {
    const stage_page *const p = s->pages[i];
    if (p->index < 0 || p->index > (s->end - 1) / PAGE || !page_fits(s, p, fd)) return 0;
  }
  return 1;
}

enum { NO_MATCH = -1 }; /* beside errno */

/* 0, errno or NO_MATCH. */
static int apply_journal(int fd, journal_head *j)
{
  h5u_stage s;
  int code = stage_of(j, &s);
  if (code != 0) return code;
  code = log_fits(&s, fd) ? apply(fd, &s) : NO_MATCH;
  free(s.pages);
  return code;
}

static loom_status recover(loom_err *err, const char *path, const char *name, int fd)
{
  journal_head *j = NULL;
  const int journal = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int code = journal < 0 ? errno : read_journal(journal, &j);
  if (code == 0 && j != NULL) code = apply_journal(fd, j);
  if (code == 0 && unlink(name) != 0) code = errno;
  if (journal >= 0) close(journal);
  free(j);
  if (code == 0) return LOOM_OK;
  if (code == NO_MATCH)
    return err_set(err, LOOM_E_IO,
                   "%s: its last change was cut off, %s has what is missing, but the log has been "
                   "changed since: restore the log, or remove %s to open the log as it is",
                   path, name, name);
  return err_set(err, LOOM_E_IO,
                 "%s: its last change was cut off, and cannot be made again from %s: %s", path,
                 name, strerror(code));
}

loom_status h5u_stage_recover(loom_err *err, const char *path, int fd)
{
  char *const name = journal_of(path);
  if (name == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  const loom_status s = access(name, F_OK) == 0 ? recover(err, path, name, fd) : LOOM_OK;
  free(name);
  return s;
}
