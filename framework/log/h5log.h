/* h5log.h - the HDF5 log of a run, written.
 *
 * The file is written in single-writer/multiple-reader mode: all objects are created first, then
 * h5log_start() turns SWMR on; from there on loom only appends rows, overwrites existing values and
 * flushes buffers.  Rows are batched; h5log_commit() at the end of every step makes all finished
 * steps readable, also after kill -9.
 */
#ifndef LOOM_H5LOG_H
#define LOOM_H5LOG_H

#include "log/h5log_schema.h"

typedef struct h5log_options {
  int frames_f32;  /* /frames stored as f32 */
  int compression; /* of /frames/x and v: 0 none, 1..9 shuffle and gzip, H5LOG_LZ4 shuffle and
                    * LZ4, 15 times faster than gzip (a plugin that HDF5 finds at run time) */
  int num_extra, num_step_extra; /* columns of /iters_extra and of /steps_extra */
  const loom_column *extra, *step_extra;
  uint32_t fields;   /* bit k: frames hold field k of H5LOG_FIELDS */
  int num_obstacles; /* poses are logged per frame: /scene/obstacles/NAME/pose [T][12] */
  const char *const *obstacle_names;
  /* [num_obstacles], NULL: no body has joints; maps of joints are logged like poses:
   * /scene/obstacles/NAME/joints [T][obstacle_joints][12] */
  const int32_t *obstacle_joints;
  int overwrite; /* H5LOG_*: logs that h5log_create may replace */
  /* A replaced log is renamed to this free name and its checkpoints stay; NULL: it and its
   * checkpoints are deleted. */
  const char *keep_as;
  int64_t state_chunk; /* bytes of a chunk of /state_data, 0: 64 KiB to 1 MiB; small in tests, which
                          need many chunks */
  const char *command; /* the command that writes from here on: a line of attribute `commands` */
  const char *scheduler; /* ids of its job, "" for none: the line of `jobs` beside it */
} h5log_options;

typedef struct h5log h5log;

/* Logs that may be replaced: logs without a step always, other logs if the caller allows it. */
enum { H5LOG_KEEP = 0, H5LOG_OVERWRITE = 1, H5LOG_OVERWRITE_UNFINISHED = 2 };
/* May a new log be put at `path`?  If not, LOOM_E_CONFIG with the present file and the remedy: loom
 * replaces only regular files that loom wrote, and empty ones, and never writes through a link. */
loom_status h5log_target(loom_err *err, const char *path, int overwrite);
/* Creates the log (refused as in h5log_target; a replaced log loses its checkpoints), writes the
 * scene, starts SWMR.  h5log_close() frees *out. */
loom_status h5log_create(loom_err *err, const char *path, const h5log_meta *meta,
                         const h5log_options *opt, const h5log_array *scene, int num_scene,
                         int64_t num_verts, h5log **out);
/* Continues an existing log after `last_step` (-1: before the first): repairs it if its
 * writer died, refuses if a writer lives or if config_hash differs, cuts all tables behind
 * that step, starts SWMR again.  *lost, after an error: 1 if there is no log, it is damaged, or it
 * ends before that step, so that only a new log can go on (may be NULL). */
loom_status h5log_resume(loom_err *err, const char *path, const char *config_hash,
                         int64_t last_step, const h5log_options *opt, h5log **out, int *lost);
/* A free name beside a log that is to be replaced, to be freed; NULL: out of memory. */
char *h5log_spare_name(const char *path);
loom_status h5log_iter(h5log *l, loom_err *err, const h5log_iter_row *row, const double *extra);
loom_status h5log_inner(h5log *l, loom_err *err, const h5log_inner_row *row);
loom_status h5log_message(h5log *l, loom_err *err, const h5log_message_row *row);
/* One item of the state at the end of a step; the function sets `first`. */
loom_status h5log_state(h5log *l, loom_err *err, const h5log_state_row *row, const void *data);
loom_status h5log_section(h5log *l, loom_err *err, const h5log_section_row *row);
loom_status h5log_kernel(h5log *l, loom_err *err, const h5log_kernel_row *row);
/* extra: [num_step_extra], NULL: they are not known */
loom_status h5log_step(h5log *l, loom_err *err, const h5log_step_row *row, const double *extra);
/* x, v: [n][3], m and m/s, on the host (loom_real); poses: [][12], for each obstacle its own pose,
 * then the maps of its joints; fields: [n][width] for each field of the log, NULL for other fields,
 * or NULL if the log has no fields */
loom_status h5log_frame(h5log *l, loom_err *err, int64_t step, double time, const loom_real *x,
                        const loom_real *v, const double *poses, const float *const *fields);
loom_status h5log_commit(h5log *l, loom_err *err); /* write batches, flush */
/* Puts all committed data on the disk, where it survives a power failure. */
loom_status h5log_sync(h5log *l, loom_err *err);
/* Attributes that h5log_close writes beside the status, under the same names. */
typedef struct h5log_end {
  const char *exit_reason; /* finished; stopped and failed with their cause */
  const char *end_time;    /* ISO 8601 */
  int64_t rss_peak;        /* bytes, peak memory of this process, -1: unknown */
} h5log_end;
void h5log_set_end(h5log *l, const h5log_end *end);
/* Writes the final status into /status and the root attribute; closes the file and frees l in any
 * case. */
loom_status h5log_close(h5log *l, loom_err *err, const char *status);

#endif
