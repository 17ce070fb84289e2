/* forward.c - residual forwarding: the part that a step left undone goes into the next one's
 * target.
 *
 * L. Lan et al., "Efficient GPU cloth simulation with non-distance barriers and subspace reuse",
 * ACM TOG 43(6), 2024, eqs. 20 to 24.  A step that was cut short, by a bound or by its last
 * iteration, ends at x = x* - delta.  With the minimiser x* the next target would have been
 * y + 2 delta (eq. 21: x* is delta further, and so is its velocity times h), hence the force
 * (2/h^2) M delta.  But then the step after it pays the velocity delta/h once more, since it
 * begins at x* and ended at x; the history x + delta in both steps gives
 *   y += 2 delta_n - delta_(n-1).
 *   paper      2 delta_n, as printed
 *   corrected  less delta_(n-1) if a bound had cut the step before: where only iterations were
 *              missing the solver's delta is too short, and 2 delta makes up for it
 *   iterate    less delta_(n-1); delta_n is the part that the last bound took away, 0 if there was
 *              none
 * For the first two, delta is the change by the solver's next iterations from x, unfiltered and
 * with contact as it stands: one in eq. 24, here `forwarding_iters`.  DEVIATION: the paper resets
 * the weights of contacts for this solve; here the last iteration's are kept.
 * Algorithm 1 forwards only where the exit filter leaves a short step: `forwarding_below`.  A step
 * above it has no delta.
 */
#include <math.h>

#include "run/objective/objective.kern.h"
#include "run/plugins/call.h"
#include "run/run_state.h"

static const lk_entry k_forward = LK_ENTRY_MOVES(run_forward, 13, 1);

loom_status forward_new(run *r)
{
  const int64_t n3 = 3 * (int64_t)r->scene->pub.num_verts;
  if (r->set.run.forwarding == RUN_FORWARD_OFF) return LOOM_OK;
  const struct {
    loom_buf **b;
    const char *name;
    int wanted;
  } all[] = {{&r->fw.delta, "delta", 1},
             {&r->fw.last, "last delta", 1},
             {&r->fw.retry, "delta before", filter_may_retry(r)},
             {&r->fw.kept, "x of the step", r->set.run.forwarding != RUN_FORWARD_ITERATE}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    if (all[i].wanted) LOOM_TRY(buf_new(r->m, "core", all[i].name, LOOM_REAL, n3, all[i].b));
  return forward_forget(r);
}

loom_status forward_forget(run *r)
{
  r->fw.last_cut = 0;
  return r->fw.last != NULL ? la_fill(r->m, &r->exec, r->fw.last, 0.0) : LOOM_OK;
}

loom_status forward_save(run *r)
{
  r->fw.retry_cut = r->fw.last_cut;
  return r->fw.last != NULL ? buf_copy(r->m, &r->exec, r->fw.retry, r->fw.last) : LOOM_OK;
}

loom_status forward_restore(run *r)
{
  r->fw.last_cut = r->fw.retry_cut;
  return r->fw.last != NULL ? buf_copy(r->m, &r->exec, r->fw.last, r->fw.retry) : LOOM_OK;
}

/* One iteration of the solver from x, not taken: x += its change. */
static loom_status look_ahead(run *r)
{
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  loom_iterate it = columns_no_iterate(r);
  clock_push(&r->clock, CLOCK_SOLVE);
  const loom_status s = call_iterate(r, &it);
  clock_pop(&r->clock);
  if (s < LOOM_OK) return s;
  LOOM_TRY(results_settle(r)); /* `it` is of this function */
  loom_buf *const dx = r->st.trial;
  if (ops->trial == LOOM_TRIAL_POINT) LOOM_TRY(la_axpby(r->m, &r->exec, -1.0, r->st.x, 1.0, dx));
  LOOM_TRY(problem_zero_fixed(r, dx));
  LOOM_TRY(follow_rows(r, dx));
  return la_axpby(r->m, &r->exec, 1.0, dx, 1.0, r->st.x);
}

/* delta = the change by further iterations. */
static loom_status solve_delta(run *r)
{
  LOOM_TRY(buf_copy(r->m, &r->exec, r->fw.kept, r->st.x));
  for (int64_t k = 0; k < r->set.run.forwarding_iters; ++k) {
    clock_push(&r->clock, CLOCK_MEASURE);
    const loom_status s = k > 0 ? measure_gradient(r, 1, r->st.grad, NULL) : LOOM_OK;
    clock_pop(&r->clock);
    if (s == LOOM_REJECTED) break; /* a barrier has no value there: delta as it is */
    LOOM_TRY(s);
    LOOM_TRY(look_ahead(r));
  }
  LOOM_TRY(la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->fw.kept, r->fw.delta));
  return buf_copy(r->m, &r->exec, r->st.x, r->fw.kept);
}

loom_status forward_find(run *r)
{
  if (r->set.run.forwarding == RUN_FORWARD_OFF) return LOOM_OK;
  if (filter_left(r) > r->set.run.forwarding_below)
    return la_fill(r->m, &r->exec, r->fw.delta, 0.0);
  if (r->set.run.forwarding != RUN_FORWARD_ITERATE) return solve_delta(r);
  return filter_has_cut(r) ? buf_copy(r->m, &r->exec, r->fw.delta, r->buf.rejected)
                           : la_fill(r->m, &r->exec, r->fw.delta, 0.0);
}

loom_status forward_add(run *r)
{
  const int how = r->set.run.forwarding;
  if (how == RUN_FORWARD_OFF) return LOOM_OK;
  const int twice = how == RUN_FORWARD_PAPER || (how == RUN_FORWARD_CORRECTED && !r->fw.last_cut);
  buf_maps q = {.m = r->m, .e = &r->exec};
  const forward_args a = {.delta = buf_maps_add(&q, r->fw.delta, LOOM_READ),
                          .last = buf_maps_add(&q, r->fw.last, LOOM_READ),
                          .m = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ),
                          .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                          .f = buf_maps_add(&q, r->st.f_next, LOOM_RDWR),
                          .share = (lk_real)(twice ? 0.0 : 1.0),
                          .per_h2 = (lk_real)r->problem.own.inertia};
  LOOM_TRY(buf_maps_launch(&q, &k_forward, &a, r->scene->pub.num_verts, NULL));
  r->fw.last_cut = filter_has_cut(r);
  return buf_copy(r->m, &r->exec, r->fw.last, r->fw.delta);
}
