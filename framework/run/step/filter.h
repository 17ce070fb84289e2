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

#include "core/err.h"
#include "loom/plugin.h"
#include "run/base/filter_state.h"
#include "run/run.h"

/* ---- filter_open.c ---- */
/* Chooses policy, bound, line search and resolvers: from the config, else from the plugins' flags.
 */
loom_status filter_open(run *r);

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
