/* filter_state.h - questions of other parts of a run about FILTER (filter.h). */
#ifndef LOOM_RUN_FILTER_STATE_H
#define LOOM_RUN_FILTER_STATE_H

#include <stdio.h>

#include "core/err.h"
#include "run/run.h"

typedef struct filter filter; /* filter_policy.h */

typedef struct filter_result {
  double alpha, toi;
  int filtered, resolved, stalled;
} filter_result;

void filter_close(run *r);
void filter_describe(const run *r, FILE *f);
int filter_bounded(const run *r);    /* a step bound is in force, ... */
int filter_per_vertex(const run *r); /* ... one for every vertex */
int filter_leads(const run *r);      /* x goes on where a bound stops x_feas */
int filter_searches(const run *r);   /* an energy line search is in force */
/* x is x_feas, or no bound is in force: the step may have converged here */
int filter_certified(const run *r);
/* contact is frozen now, and the models are not asked before the end of the step */
int filter_leaves_contact(const run *r);
int filter_has_cut(const run *r);     /* the last filter's bound cut x, see `rejected` in state.h */
double filter_left(const run *r);     /* the share of the way that the last filter's bound left */
double filter_step_toi(const run *r); /* smallest bound of the step */
/* FILTER is due after the next iteration, where it comes when asked for */
void filter_ask(run *r);
void filter_begin_step(run *r);
/* The step may have to be made again in parts: a motion that cannot be followed, or a post-only
 * model that cannot correct x. */
int filter_may_retry(const run *r);
/* A post-only model has refused x in the present step, or a part of it. */
int filter_refused(const run *r);
loom_status filter_refusal_error(const run *r);

#endif
