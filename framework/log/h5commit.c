/* h5commit.c - a staged change goes into the journal, then into the log (h5stage.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/h5journal.h"
#include "log/h5stage.h"
#include "log/h5util.h"

enum { PAGE = H5U_PAGE }; /* bytes */

/* Drops the pages behind the end of the file. */
static void drop_pages(h5u_stage *s)
{
  while (s->num > 0 && s->pages[s->num - 1]->index * PAGE >= s->end) free(s->pages[--s->num]);
}

/* Adds zero pages for space that HDF5 allocated behind `floor` and never wrote. */
static int add_zero_pages(h5u_stage *s, int fd)
{
  const int64_t last = s->end < s->size ? s->end : s->size;
  int code = 0;
  for (int64_t b = s->floor; code == 0 && b < last; b = (b / PAGE + 1) * PAGE) {
    h5u_page *p;
    code = h5u_stage_page(s, fd, b / PAGE, &p);
  }
  return code;
}

loom_status h5u_stage_commit(loom_err *err, const h5u_place *place, int fd, uint64_t record,
                             int sync, h5u_stage *s)
{
  h5u_page *first; /* every journal has page 0, which identifies its log */
  drop_pages(s);
  if (s->num == 0 && s->end == s->size) return LOOM_OK;
  int code = add_zero_pages(s, fd);
  if (code == 0) code = h5u_stage_page(s, fd, 0, &first);
  if (code == 0) code = h5u_journal_write(place, fd, record, sync, s);
  if (code == EEXIST) LOOM_TRY(h5u_journal_target(err, place));
  if (code != 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be written: %s; %s is as it was",
                   place->journal_path, strerror(code), place->path);
  code = h5u_stage_apply(fd, s);
  if (code == 0 && sync && fdatasync(fd) != 0) code = errno;
  if (code == 0) code = h5u_journal_remove(place);
  if (code == 0) return LOOM_OK;
  return err_set(err, LOOM_E_IO,
                 "%s: cannot be changed: %s; the rest of the change is in %s, keep it beside the "
                 "log: the next command that opens the log makes it",
                 place->path, strerror(code), place->journal_path);
}
