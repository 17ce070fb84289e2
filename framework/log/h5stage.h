/* h5stage.h - changes to a log that take place whole or not at all, see h5stage.c. */
#ifndef LOOM_H5STAGE_H
#define LOOM_H5STAGE_H

#include <stdint.h>

#include "core/err.h"

typedef struct h5u_stage h5u_stage; /* pages that were written and are not in the file yet */

/* ---- for those who change a log; they hold its lock ---- */
/* The caller frees it, when no file is open any more that writes to it. */
loom_status h5u_stage_begin(loom_err *err, const char *path, h5u_stage **out);
void h5u_stage_free(h5u_stage *s); /* without a commit the log is as it was; NULL is fine */
/* Everything into the log at `path`.  After an error the log is as it was, or its journal has the
 * rest. */
loom_status h5u_stage_commit(loom_err *err, const char *path, h5u_stage *s);

/* The journal can be made: the log's folder may be written to. */
int h5u_journal_possible(const char *path);

/* ---- for those who find a log ---- */
int h5u_journal_exists(const char *path); /* a commit was cut off */
/* Finish that commit; `fd` is the log, open for writing and locked.  No journal is fine. */
loom_status h5u_stage_recover(loom_err *err, const char *path, int fd);
/* Remove the journal of a log that is replaced. */
loom_status h5u_journal_discard(loom_err *err, const char *path);

/* ---- for the driver; `fd` is the log, 0 or errno ---- */
int h5u_stage_write(h5u_stage *s, int fd, int64_t addr, const void *data, int64_t bytes);
int h5u_stage_read(const h5u_stage *s, int fd, int64_t addr, void *out, int64_t bytes);
int64_t h5u_stage_end(const h5u_stage *s); /* size of the file as staged, bytes */
void h5u_stage_resize(h5u_stage *s, int64_t end);

#endif
