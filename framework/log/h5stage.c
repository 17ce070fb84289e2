/* h5stage.c - changes to a log that happen completely or not at all.
 *
 * In single-writer/multiple-reader mode HDF5 orders its writes so that a file is consistent after
 * each of them.  Outside of that mode it does not, and loom repairs, ends and continues logs there:
 * a process killed in the middle could leave, for example, an attribute in the heap whose name is
 * gone from the index.
 *
 * So these changes are staged.  The driver (h5disk.c) keeps in memory the pages that HDF5 writes,
 * and reads see them.  A commit writes all of them to a journal beside the log, then to the log,
 * and removes the journal.  The next command that opens the log and finds a complete journal writes
 * its pages again; an incomplete one was cut off before the log was changed.
 */
#include "log/h5stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5util.h"

enum { PAGE = H5U_PAGE, GROW_BY = 64 }; /* bytes; pages */

uint64_t h5u_hash_page(const void *data) { return h5u_hash(H5U_HASH_START, data, PAGE); }

/* ---- the pages in memory ---- */
loom_status h5u_stage_begin(loom_err *err, const char *path, int fd, h5u_stage **out)
{
  struct stat st;
  *out = NULL;
  if (fstat(fd, &st) != 0)
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

/* Position of the first page with an index >= `index`. */
static int64_t find_first_page(const h5u_stage *s, int64_t index)
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
  for (int64_t i = find_first_page(s, end / PAGE); i < s->num;
       ++i) { /* bytes behind end are zero */
    const int64_t begin = s->pages[i]->index * PAGE, keep = end > begin ? end - begin : 0;
    if (keep < PAGE) memset(s->pages[i]->data + keep, 0, (size_t)(PAGE - keep));
  }
  s->end = end;
  if (end < s->floor) s->floor = end;
}

int h5u_stage_page(h5u_stage *s, int fd, int64_t index, h5u_page **out)
{
  const int64_t at = find_first_page(s, index), begin = index * PAGE;
  if (at < s->num && s->pages[at]->index == index) {
    *out = s->pages[at];
    return 0;
  }
  if (s->num == s->room) {
    h5u_page **const more =
        realloc(s->pages, (size_t)(s->room + s->room / 2 + GROW_BY) * sizeof *more);
    if (more == NULL) return ENOMEM;
    s->pages = more;
    s->room += s->room / 2 + GROW_BY;
  }
  h5u_page *const p = malloc(sizeof *p);
  const int code = p == NULL ? ENOMEM : h5u_read_at(fd, p->data, PAGE, begin);
  if (code != 0) {
    free(p);
    return code;
  }
  p->index = index;
  p->before = h5u_hash_page(p->data);
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
    h5u_page *p;
    const int code = h5u_stage_page(s, fd, addr / PAGE, &p);
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
  for (int64_t i = find_first_page(s, addr / PAGE); i < s->num; ++i) {
    const int64_t begin = s->pages[i]->index * PAGE;
    if (begin >= end) break;
    const int64_t a = begin > addr ? begin : addr, b = begin + PAGE < end ? begin + PAGE : end;
    memcpy(to + (a - addr), s->pages[i]->data + (a - begin), (size_t)(b - a));
  }
  return 0;
}

/* ---- into the log ---- */
int h5u_stage_apply(int fd, const h5u_stage *s)
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
