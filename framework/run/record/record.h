/* record.h - from the state of a run to rows and frames of its log. */
#ifndef LOOM_RECORD_H
#define LOOM_RECORD_H

#include "log/h5log.h"
#include "loom/plugin.h"
#include "run/base/clock.h"
#include "run/base/filter_state.h"

typedef struct run_record {
  h5log *log;            /* NULL: none is wanted */
  double commit_seconds; /* s, of the last h5log_commit ... */
  double commit_cpu;     /* s, ... and its processor time */
  exec_watch *watch;     /* [log] kernels; else NULL */
  exec_traffic traffic;  /* when the last step ended */
} run_record;

/* Create the log (or reopen it behind last_step) with the scene and all provenance. */
loom_status record_open(run *r, const run_options *o, int64_t last_step);
/* One row of /iters and /iters_extra for the present point, in two parts: numbers that
 * only the row needs are measured; and, with all results settled, the row is written. */
typedef struct iter_record {
  int64_t counters[LOOM_NUM_COUNTERS];
  double t_total, t_cpu;                  /* s, since the step began */
  double wall[CLOCK_NUM], cpu[CLOCK_NUM]; /* s, of each phase since the step began */
  double r_free_rms, r_dinv, e_ref;       /* m, sqrt(J), m */
} iter_record;
loom_status record_iter_begin(run *r, iter_record *row);
loom_status record_iter_end(run *r, const iter_record *begun, int64_t k, const loom_iterate *it,
                            const filter_result *f, double dx_max);
/* The row of /steps, the frame if one is due, the audit; makes the step readable.  repairs: filters
 * after the last iteration but the last one; reason: H5LOG_*. */
loom_status record_step(run *r, int64_t iters, int64_t repairs, int reason);
int record_frame_due(const run *r); /* the present step's end is a frame */
/* With the fields that were taken. */
loom_status record_frame(run *r, int64_t step, double time);
/* audit.c: intersections, *entries of them with bodies of closed form. */
loom_status audit_now(run *r, int64_t *found, int64_t *entries);
/* The latter at x, or on the way from x_start, all as doubles; the first of a run are told. */
loom_status audit_shapes(run *r, const double *x_start, const double *x, const int32_t *tris,
                         int64_t *found);
/* audit.c: intersections of the start that are still there; contact sees pairs that have parted
 * again. */
loom_status audit_starts(run *r, int64_t *left);

#endif
