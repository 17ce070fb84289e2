/* forward.h - residual forwarding. */
#ifndef LOOM_FORWARD_H
#define LOOM_FORWARD_H

#include "core/err.h"
#include "loom/host.h"
#include "run/run.h"

typedef struct forwarding {
  double f_next_norm;      /* N, of the force carried into this step */
  loom_buf *delta, *last;  /* real [n][3], m, of this step and the one before; NULL if off */
  loom_buf *retry;         /* real [n][3], m, `last` at the start of the step, if motion.bounded */
  loom_buf *kept;          /* real [n][3], m, x while iterations look ahead */
  int last_cut, retry_cut; /* a bound cut that step */
} forwarding;

loom_status forward_new(run *r);
loom_status forward_forget(run *r); /* no step came before */
loom_status forward_save(run *r);   /* for a step that may have to begin again */
loom_status forward_restore(run *r);
loom_status forward_find(run *r); /* after the last filter: delta of this step */
loom_status forward_add(run *r);  /* COMMIT: into f_next */

#endif
