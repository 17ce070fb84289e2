/* h5stage.h - changes to a log that happen completely or not at all, see h5stage.c. */
#ifndef LOOM_H5STAGE_H
#define LOOM_H5STAGE_H

#include <stdint.h>

#include "core/err.h"

enum { H5U_PAGE = 4096 }; /* bytes, of memory and of the file, see h5u_fcpl */

typedef struct h5u_page { /* also an entry of the journal */
  int64_t index;          /* the page begins at byte index * H5U_PAGE of the log */
  uint64_t before;        /* hash of the page in the log without the change */
  unsigned char data[H5U_PAGE];
} h5u_page;

typedef struct h5u_stage { /* pages that HDF5 wrote and that are not in the file yet */
  int64_t size;            /* bytes, present size of the log */
  int64_t end;             /* size of the log after the change */
  int64_t floor;           /* the smallest `end` so far: later bytes of the log must not be read */
  h5u_page **pages;        /* [num], by ascending index */
  int64_t num, room;
} h5u_stage;

struct h5u_place;

/* ---- for code that changes a log and holds its lock ---- */
/* `fd` is the log.  The caller frees the stage after closing all files that write to it. */
loom_status h5u_stage_begin(loom_err *err, const char *path, int fd, h5u_stage **out);
void h5u_stage_free(h5u_stage *s); /* without a commit the log stays unchanged; NULL is fine */
/* h5commit.c.  Writes all pages into the log at `fd`, open for writing.  After an error the log is
 * unchanged, or its journal has the rest of the change.  `record` comes from h5u_record(), 0:
 * unknown.  `sync`: each part is on the disk before the next one begins, so that a power failure
 * does no harm. */
loom_status h5u_stage_commit(loom_err *err, const struct h5u_place *place, int fd, uint64_t record,
                             int sync, h5u_stage *s);

/* ---- for the journal and the driver; `fd` is the log, 0 or errno ---- */
/* Writes the pages to the log.  May be repeated. */
int h5u_stage_apply(int fd, const h5u_stage *s);
int h5u_stage_write(h5u_stage *s, int fd, int64_t addr, const void *data, int64_t bytes);
int h5u_stage_read(const h5u_stage *s, int fd, int64_t addr, void *out, int64_t bytes);
/* *out: the page with this index, which the first call reads from the log. */
int h5u_stage_page(h5u_stage *s, int fd, int64_t index, h5u_page **out);
int64_t h5u_stage_end(const h5u_stage *s); /* size of the file as staged, bytes */
void h5u_stage_resize(h5u_stage *s, int64_t end);
uint64_t h5u_hash_page(const void *data);

#endif
