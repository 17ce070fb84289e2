/* h5checkpoint.h - checkpoints of a run: FILE.check.h5 beside the log FILE.h5. */
#ifndef LOOM_H5CHECKPOINT_H
#define LOOM_H5CHECKPOINT_H

#include "core/err.h"
#include "loom/host.h"

typedef struct h5checkpoint h5checkpoint;
/* A checkpoint is written to a temporary name, sealed with a hash, synced and renamed; the previous
 * one becomes FILE.check.prev.h5, so two are kept. */
loom_status h5checkpoint_begin(loom_err *err, const char *log_path, h5checkpoint **out);
loom_status h5checkpoint_put(h5checkpoint *c, loom_err *err, const char *group, const char *name,
                             int type, int64_t count, const void *data);
loom_status h5checkpoint_put_scalars(h5checkpoint *c, loom_err *err, int64_t step, double time,
                                     const char *config_hash);
loom_status h5checkpoint_commit(h5checkpoint *c, loom_err *err); /* consumes c in any case */
void h5checkpoint_abort(h5checkpoint *c);
int h5checkpoint_exists(const char *log_path); /* 1: there is a checkpoint, or a previous one */
/* LOOM_OK if the names of the log's checkpoints are free, or hold files that loom wrote. */
loom_status h5checkpoint_target(loom_err *err, const char *log_path);
/* Removes the checkpoints of a log that is replaced: they would continue the wrong run. */
loom_status h5checkpoint_discard(loom_err *err, const char *log_path);
/* step < 0: the newest checkpoint that is undamaged; otherwise the one of that step, or an error
 * that names the available steps and the faults of the other files */
loom_status h5checkpoint_open(loom_err *err, const char *log_path, int64_t step,
                              h5checkpoint **out);
void h5checkpoint_scalars(const h5checkpoint *c, int64_t *step, double *time, char config_hash[17]);
/* Why a newer checkpoint was passed over, "" if none was. */
const char *h5checkpoint_note(const h5checkpoint *c);
loom_status h5checkpoint_size(h5checkpoint *c, loom_err *err, const char *group, const char *name,
                              int *type, int64_t *count);
loom_status h5checkpoint_get(h5checkpoint *c, loom_err *err, const char *group, const char *name,
                             int type, int64_t count, void *data);
void h5checkpoint_close(h5checkpoint *c);

#endif
