/* step.h - the parts of a time step, in the order in which step.c calls them. */
#ifndef LOOM_STEP_H
#define LOOM_STEP_H

#include "run/run_state.h"

typedef struct step_span { /* the whole step, or a part of it */
  double t0, t1;           /* s */
  double h;                /* s; t1 - t0 but for rounding */
} step_span;

typedef struct step_outcome {
  int64_t iters;
  int64_t repairs; /* filters after the last iteration, but the last one */
  int reason;      /* H5LOG_converged_abs ..., -1: none yet */
  int blocked;     /* a motion could not be followed, or a contact model refused x; the step was
                    * not committed then */
} step_outcome;

/* One outer iteration on its way through the step. */
typedef struct iteration {
  int64_t k;       /* number within this part of the step */
  loom_iterate it; /* the solver's report */
  filter_result f;
  loom_buf *grad_solved; /* real [n][3], N, gradient of the problem that iterate() saw */
  double dx_max;         /* m */
  int stalled;           /* solver or filter could not move x */
  int moved;             /* a motion advanced after the filter, and x or bodies with it */
  int closing;           /* no iteration but a filter after the last one, ... */
  int final;             /* ... and none comes after it */
  uint32_t changed;      /* LOOM_CHANGED_* since the solver saw the problem */
  int tests_islands;     /* islands are tested at its end */
  int recorded;          /* there will be a row of /iters, begun in */
  iter_record row;
} iteration;

loom_status step_once(run *r, int64_t index); /* step.c: the step, whole or in parts */
/* Makes the first iteration of the step and leaves it: errors of the first contact, of the solver.
 */
loom_status step_try_start(run *r, int64_t index);

/* foreign_step.c: the step that a frame of another program ends (run_options.foreign) */
loom_status foreign_step(run *r, const step_span *t, step_outcome *out);
void foreign_end_step(run *r); /* after its record */

/* ---- switch_pins.c: pins with hold_from and hold_until ---- */
/* The scene with the pins that hold always, for numbers that are made once in a run. */
loom_status switch_pins_open(run *r);
/* The scene with the pins of time 0. */
loom_status switch_pins_start(run *r);
/* Before step number `index`: where other pins hold in it, all instances are made anew. */
loom_status switch_pins_step(run *r, int64_t index);

/* ---- step_ends.c ---- */
/* y, poses, begin_step(), the guess kept from crossing anything, pairs, contact at the guess */
loom_status step_predict(run *r, const step_span *t);
/* v_end, f_next, end_step(); then the end becomes the next start */
loom_status step_commit(run *r, int diverged);

/* ---- iterate.c ---- */
loom_status measure_start(run *r);                 /* r_ref, residual of the guess, row -1 */
loom_status solver_iterate(run *r, iteration *i);  /* x -> trial */
loom_status filter_accept(run *r, iteration *i);   /* trial -> x, dx */
loom_status measure_solved(run *r, iteration *i);  /* residual of the problem iterate() saw */
loom_status contact_refresh(run *r, iteration *i); /* contact at x, motion, detection if due */
loom_status measure_next(run *r, iteration *i);    /* residual of the problem as it is now */
/* r_energy where it is due; once more with `last`, where it was not */
loom_status measure_distance(run *r, const iteration *i, int last);
loom_status solver_accepted(run *r, iteration *i); /* tells the solver */
/* Where the step goes on: notes islands that it does not go on for. */
void settle_islands(run *r, const iteration *i);
/* Reads all measured numbers and, where a row is due, the numbers that only a row needs. */
loom_status settle_iteration(run *r, iteration *i, int last);
loom_status record_iteration(run *r, iteration *i, int last);
int stop_at_start(run *r, double *first);
/* After `done` iterations, -1: go on.  stalled: neither this iteration nor a later one will move
 * x; first: m, residual before the first one. */
int stop_reason(run *r, int64_t done, int stalled, double first);
/* the last filters: x becomes feasible; sets out->repairs */
loom_status filter_finish(run *r, step_outcome *out);

#endif
