/* record.h - from the state of a run to rows and frames of its log. */
#ifndef LOOM_RECORD_H
#define LOOM_RECORD_H

#include "run/run_state.h"

/* Create the log (or reopen it behind last_step) with the scene and all provenance. */
loom_status record_open(run *r, const run_options *o, int64_t last_step);
/* One row of /iters and /iters_extra for the present point. */
loom_status record_iter(run *r, int64_t k, const loom_iterate *it, const filter_result *f,
                        double dx_max);
/* The row of /steps, the frame if one is due, the audit; makes the step readable. */
loom_status record_step(run *r, int64_t iters, int reason);
loom_status record_frame(run *r, int64_t step, double time);
/* What run_message() has kept goes into /messages; record_step() does it, too. */
loom_status record_messages(run *r);

#endif
