/* state.h - the buffers of a time step: the contents of each at each phase, and shared arrays.
 *
 * Real [n][3] where no shape is given.  In loom_step, which plugins see (loom/scene.h):
 *   x        PREDICT: the guess; FILTER moves it; COMMIT: the end of the step
 *   x_start  PREDICT to COMMIT: x before the guess
 *   x_feas   from FILTER to FILTER: the last point without intersections; x itself where no
 *            bound is in force
 *   y        PREDICT to COMMIT: the inertial target, fixed rows at their prescribed place
 *   v_start  PREDICT to COMMIT
 *   f_next   COMMIT to the next PREDICT: the force that is carried over
 *   grad     MEASURE to the next iterate()
 * One array has four names, in this order:
 *   trial    PREDICT: the guess; iterate() writes its point or direction; FILTER reads it
 *   wanted   FILTER: the point before a bound was applied
 *   dx       from there to the end of the iteration: the change of x
 *   v_end    COMMIT to the next PREDICT
 * After COMMIT the arrays of v_start and v_end change places (state_rotate): v_end is the next
 * v_start, and the old v_start serves as trial. */
#ifndef LOOM_STATE_H
#define LOOM_STATE_H

#include "core/err.h"
#include "loom/host.h"
#include "run/run.h"

typedef struct state_buffers { /* only the core sees them */
  loom_buf *wanted, *dx;       /* m, see above */
  loom_buf *x_before;          /* m, FILTER: x before the present iteration */
  loom_buf
      *rejected; /* m, FILTER to accepted(): the part that a bound cut off; only with a bound */
  loom_buf *t_vertex;    /* [n], FILTER to accepted(); only with a bound per vertex */
  loom_buf *ones;        /* [n], room for filter_bound.c; only with a bound per vertex */
  loom_buf *target;      /* m, FILTER: where a motion leads; only if motion.bounded */
  loom_buf *grad_free;   /* N, MEASURE: inertia and elastic part of grad; without contact
                          * grad itself, which then has no other part */
  loom_buf *grad_solved; /* N, MEASURE to accepted(): gradient of the problem iterate() saw;
                          * without a line search x_before itself, which FILTER has read */
  loom_buf *diag;        /* [n], N/m, from the start of the run: D of r_dinv */
  loom_buf *touched;     /* u8 [n], MEASURE, 1: some pair touches the vertex */
  /* the start of the step; only if filter_may_retry(): */
  loom_buf *x_retry, *v_retry, *f_retry; /* m, m/s, N */
  loom_buf **kept;                       /* [num_kept] states of terms, as problem_state() visits */
  int num_kept, at_kept;                 /* at_kept: the next one that a visit asks for */
} state_buffers;

/* Needs the scene, after filter_open(). */
loom_status state_new(run *r);
loom_status state_sum_masses(run *r); /* r->measured: of all vertices, and of free ones */
/* After COMMIT: the end of the step becomes the start of the next one. */
void state_rotate(run *r);
/* Between steps: st.v_end is the velocity at the end of the last one, as records and plugins see
 * it; hide before the next step begins. */
void state_show_end(run *r);
void state_hide_end(run *r);
/* For a step that may have to begin again, its start: kept, and gone back to. */
loom_status state_keep(run *r);
loom_status state_go_back(run *r);
void state_free(run *r);

#endif
