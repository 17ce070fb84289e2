/* filter.h - LINE and FILTER: from the solver's trial to the accepted point.
 *
 * One of four policies is in force, chosen when the run is opened:
 *   free   no step bound: x is the trial
 *   cut    a bound cuts the way of x, after every iteration, when asked to, or at the end; x_feas
 *          is the last point that passed
 *   lead   x goes on where a bound would stop it; x_feas follows as far as it can
 *   split  contact is frozen as long as the solver iterates, and no bound stops x; then the models
 *          of contact lead x_start as near to x as they allow
 *
 * One iteration near a surface ('o': x, '*': x_feas, '>': the trial):
 *
 *            surface
 *   free   o----|---->            x = trial, which may lie behind the surface
 *   cut    o---*|    >            x = x_feas = the last point before it
 *   lead   o---*|----o            x = trial, x_feas waits; contact pulls x back
 *   split  *    |    o            x_feas stays at x_start until the end of the step
 *
 * A split step, from start to end:
 *
 *   x_start --- iterations, contact frozen, no bound ---> x
 *      |                                                  |
 *      '------- resolve(), cut by the bound --------------'---> x_end, as near to x as can be
 */
#ifndef LOOM_FILTER_H
#define LOOM_FILTER_H

#include <stdio.h>

#include "core/err.h"
#include "loom/plugin.h"
#include "run/run.h"

typedef struct filter filter; /* filter_policy.h */

typedef struct filter_result {
  double alpha, toi;
  int filtered, resolved, stalled;
} filter_result;

/* ---- filter_open.c ---- */
/* Chooses policy, bound, line search and resolvers: from the config, else from the plugins' flags.
 */
loom_status filter_open(run *r);

/* ---- filter_state.c ---- */
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
double filter_step_toi(const run *r); /* smallest bound of the step */
/* FILTER is due after the next iteration, where it comes when asked for */
void filter_ask(run *r);
void filter_begin_step(run *r);
/* The step may have to be made again in parts: a motion that cannot be followed, or a post-only
 * model that cannot correct x. */
int filter_may_retry(const run *r);
/* A post-only model has refused x in the present step, or a part of it. */
int filter_refused(const run *r);
loom_status filter_refusal_error(run *r);

/* ---- filter.c ---- */
/* the initial guess in st.trial, kept from crossing anything on its way from x_start */
loom_status filter_guess(run *r);
/* contact has been found, and frozen where it is to be: iterates begin */
loom_status filter_begin(run *r);
/* st.trial (point or direction) -> st.x, with line search, bound and resolvers as due */
loom_status filter_trial(run *r, const loom_iterate *it, filter_result *out);
/* After the last iteration: whether contact models correct x once more before it is cut; `done`:
 * times that they have in this step. */
int filter_repair_due(const run *r, int64_t done);
loom_status filter_repair(run *r, filter_result *out);
/* The last filter of a step: x becomes feasible; out->filtered: there was something to do.
 * st.progress < 1 after it: a motion could not be followed. */
loom_status filter_final(run *r, filter_result *out);

#endif
