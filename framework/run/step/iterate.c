/* iterate.c - the parts of an iteration: ITERATE, FILTER, MEASURE, and whether to go on. */
#include <math.h>

#include "run/plugins/call.h"
#include "run/plugins/vet.h"
#include "run/record/record.h"
#include "run/run_state.h"
#include "run/step/step.h"

/* ---- MEASURE ---- */

static loom_status residual_error(run *r)
{
  const int64_t v = vet_find_nan(r, r->st.grad);
  LOOM_TRY(measure_blame(r));
  return err_set(r->err, LOOM_E_NUMERIC,
                 "step %lld, iteration %d: the residual is not finite, first at vertex %lld; try a "
                 "smaller dt, or look at the last frames (loom render)",
                 (long long)r->st.index, (int)r->st.iter, (long long)v);
}

enum { GRAD_NONE = -2 }; /* of loom_step.grad_iter: the gradient at x is not known */

static loom_status test_residual(run *r, const double *v, const results_use *u)
{
  const residual *const res = u->out;
  (void)v;
  return isfinite(res->max) ? LOOM_OK : residual_error(r);
}

static loom_status gradient_and_norms(run *r, int fresh, residual *res)
{
  const loom_status s = measure_gradient(r, fresh, r->st.grad, &r->measured.energies);
  if (s != LOOM_OK) return s;
  r->st.grad_iter = r->st.iter;
  r->st.grad_epoch = r->st.epoch;
  LOOM_TRY(measure_norms(r, r->st.grad, res));
  return results_after(r, NULL, &(results_use){.then = test_residual, .out = res});
}

/* Residual of the problem as it stands, into *res; energies into r->measured.energies.  On a device
 * they are there after results_settle(). */
static loom_status measure_problem(run *r, int fresh, residual *res)
{
  r->st.grad_iter = GRAD_NONE;
  ++r->results.held;
  const loom_status s = gradient_and_norms(r, fresh, res);
  --r->results.held;
  if (s != LOOM_REJECTED) return s;
  *res = (residual){NAN, NAN, NAN, NAN}; /* a barrier has no value at this unfiltered point */
  return LOOM_OK;
}

/* The residual at an accepted point; NaN if this step is not measured. */
static loom_status measure_point(run *r, int fresh, residual *res)
{
  if (r->plan.measured) return measure_problem(r, fresh, res);
  r->st.grad_iter = GRAD_NONE;
  *res = (residual){NAN, NAN, NAN, NAN};
  r->measured.energies = (loom_energies){NAN, NAN, NAN, NAN, NAN};
  return LOOM_OK;
}

/* ---- distance to the solution ---- */

static loom_status distance_now(run *r)
{
  const int on = r->set.log.error != ERROR_OFF && r->plan.measured;
  r->measured.error = error_unmeasured();
  return on ? error_measure(r, &r->measured.error) : LOOM_OK;
}

loom_status measure_distance(run *r, const iteration *i, int last)
{
  const log_settings *const log = &r->set.log;
  const int recorded = i->k % log->residual_every == 0 || r->set.stop.on == STOP_ENERGY;
  if (last) return isnan(r->measured.error.energy) ? distance_now(r) : LOOM_OK;
  r->measured.error = error_unmeasured();
  return recorded && i->k % log->error_every == 0 ? distance_now(r) : LOOM_OK;
}

/* Islands are tested where the step goes on by the residual of the next problem, and could end. */
static int tests_islands(const run *r)
{
  const int on = r->set.stop.on, known = r->st.grad_iter == r->st.iter;
  if (r->islands.num == 1 || r->num_contact == 0 || !r->plan.measured) return 0;
  if (on == STOP_SOLVED || on == STOP_ENERGY || !known) return 0;
  return r->st.progress >= 1.0 && filter_certified(r);
}

loom_status measure_start(run *r)
{
  const filter_result guess = {
      .alpha = NAN, .toi = filter_step_toi(r), .filtered = filter_bounded(r)};
  clock_push(&r->clock, CLOCK_MEASURE);
  r->measured.r_ref = NAN;
  if (r->plan.measured) LOOM_TRY(objects_bounds(r, &r->measured.r_ref));
  LOOM_TRY(measure_problem(r, 1, &r->measured.solved));
  clock_pop(&r->clock);
  iter_record row;
  if (r->plan.measured) LOOM_TRY(record_iter_begin(r, &row));
  const int tests = r->plan.tests_guess && tests_islands(r);
  if (tests) LOOM_TRY(islands_test(r, r->st.grad));
  LOOM_TRY(results_settle(r));
  if (tests) islands_settle(r);
  r->measured.next = r->measured.solved;
  LOOM_TRY(distance_now(r));
  const loom_iterate none = columns_no_iterate(r);
  if (!r->plan.measured) return LOOM_OK;
  return record_iter_end(r, &row, r->k_base - 1, &none, &guess, NAN);
}

/* v: the largest change of a vertex, m */
static loom_status take_change(run *r, const double *v, const results_use *u)
{
  iteration *const i = u->out;
  i->dx_max = *v;
  if (isfinite(*v) || i->closing) return LOOM_OK;
  LOOM_TRY(vet_trial(r, r->buf.dx));
  return results_settle(r); /* before later code depends on it */
}

loom_status measure_solved(run *r, iteration *i)
{
  clock_push(&r->clock, CLOCK_MEASURE);
  LOOM_TRY(la_norm_max3_slot(r->m, &r->exec, r->buf.dx, LA_OWN_SLOT));
  LOOM_TRY(results_later(r, &r->exec, r->exec.result + LA_OWN_SLOT, 1,
                         &(results_use){.then = take_change, .out = i}));
  LOOM_TRY(measure_point(r, 1, &r->measured.solved));
  clock_pop(&r->clock);
  i->grad_solved = r->st.grad;
  return LOOM_OK;
}

static loom_status take_solved(run *r, const double *v, const results_use *u)
{
  (void)v, (void)u;
  r->measured.next = r->measured.solved;
  return LOOM_OK;
}

loom_status measure_next(run *r, iteration *i)
{
  if (i->changed == LOOM_CHANGED_NONE)
    return results_after(r, NULL, &(results_use){.then = take_solved});
  clock_push(&r->clock, CLOCK_MEASURE);
  LOOM_TRY(measure_point(r, i->moved, &r->measured.next));
  clock_pop(&r->clock);
  return LOOM_OK;
}

/* ---- the solver ---- */

loom_status solver_iterate(run *r, iteration *i)
{
  i->it = columns_no_iterate(r);
  /* x has not moved since: the numbers of the last iteration hold for this one */
  if (r->st.grad_iter == r->st.iter) r->st.grad_iter = (int32_t)i->k;
  r->st.iter = (int32_t)i->k;
  clock_push(&r->clock, CLOCK_SOLVE);
  r->islands.iterating = 1;
  r->islands.grown = 0;
  const loom_status s = call_iterate(r, &i->it);
  r->islands.iterating = r->islands.grown = 0;
  clock_pop(&r->clock);
  i->stalled = s == LOOM_STALLED;
  return s < LOOM_OK ? s : LOOM_OK;
}

loom_status solver_accepted(run *r, iteration *i)
{
  const loom_accept a = {.struct_size = sizeof a,
                         .resolved = i->f.resolved,
                         .alpha = i->f.alpha,
                         .toi = i->f.toi,
                         .t_vertex = r->buf.t_vertex,
                         .filtered = i->f.filtered,
                         .final = i->final,
                         .dx = r->buf.dx,
                         .rejected = r->buf.rejected,
                         .grad_solved = i->grad_solved};
  if (r->solver.plugin->ops.solver->accepted == NULL) return LOOM_OK;
  clock_push(&r->clock, CLOCK_SOLVE);
  r->islands.accepted = 1;
  const loom_status s = call_accepted(r, &a);
  r->islands.accepted = 0;
  clock_pop(&r->clock);
  return s;
}

/* ---- filter and contact ---- */

loom_status filter_accept(run *r, iteration *i)
{
  clock_push(&r->clock, CLOCK_FILTER);
  LOOM_TRY(filter_trial(r, &i->it, &i->f));
  clock_pop(&r->clock);
  i->stalled |= i->f.stalled;
  return LOOM_OK;
}

loom_status contact_refresh(run *r, iteration *i)
{
  const int64_t period = r->set.detect.period;
  uint32_t again = LOOM_CHANGED_NONE;
  if ((r->num_contact == 0 && !r->motion.bounded) || filter_leaves_contact(r)) return LOOM_OK;
  if (r->solver.plugin->ops.solver->accepted != NULL) { /* for quasi-Newton pairs */
    LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.grad_solved, r->st.grad));
    i->grad_solved = r->buf.grad_solved;
  }
  LOOM_TRY(detect_after_accept(r, &i->changed));
  clock_push(&r->clock, CLOCK_FILTER);
  LOOM_TRY(blocked_motion_advance(r, &i->moved));
  clock_pop(&r->clock);
  if (i->moved) i->changed |= LOOM_CHANGED_VALUES;
  if (i->moved || (period > 0 && (r->st.iter + 1) % period == 0)) LOOM_TRY(detect_all(r, &again));
  i->changed |= again;
  return detect_announce(r, i->changed);
}

/* ---- stopping ---- */

/* H5LOG_* of a budget that the step has used up, -1: of none.  Every step has an iteration. */
static int reason_of_budget(run *r, int64_t done)
{
  const stop_settings *const s = &r->set.stop;
  if (done == 0) return -1;
  if (s->time_budget_ms > 0.0 && 1e3 * clock_net(&r->clock) >= s->time_budget_ms)
    return H5LOG_time_budget;
  if (s->cpu_budget_ms > 0.0 && 1e3 * clock_cpu_net(&r->clock) >= s->cpu_budget_ms)
    return H5LOG_time_budget;
  if (s->byte_budget > 0) {
    int64_t counters[LOOM_NUM_COUNTERS];
    work_read(r, counters);
    if (counters[LOOM_C_BYTES] >= s->byte_budget) return H5LOG_byte_budget;
  }
  return -1;
}

/* -1: go on.  `stalled`: neither this iteration nor a later one will move x.  As long as
 * bodies or pins are on their way, or x is beyond x_feas, the step has not converged. */
int stop_reason(run *r, int64_t done, int stalled, double first)
{
  const stop_settings *const s = &r->set.stop;
  const residual *const res = measure_tested(r);
  const int by_energy = s->on == STOP_ENERGY;
  const error_value *const e = &r->measured.error;
  const int near = by_energy ? e->indefinite <= 0 && e->energy <= s->tol_energy : res->near <= 1.0;
  const int relatively = !by_energy && res->over <= 1.0;
  const int settled = near || relatively || stalled;
  const int may_end = r->st.progress >= 1.0 && filter_certified(r);
  if (settled && !may_end) filter_ask(r); /* it may have converged: asks the bound */
  if (may_end && near) return H5LOG_converged_abs;
  if (may_end && relatively) return H5LOG_converged_rel;
  if (res->rms > s->diverged * fmax(first, r->measured.r_ref)) return H5LOG_diverged;
  if (may_end && stalled) return H5LOG_stalled;
  if (done >= r->plan.max_iters) return H5LOG_max_iters;
  return reason_of_budget(r, done);
}

int stop_at_start(run *r, double *first)
{
  *first = measure_tested(r)->rms;
  const int reason = stop_reason(r, 0, 0, *first);
  return r->plan.tests_guess && reason != H5LOG_max_iters ? reason : -1;
}

loom_status settle_iteration(run *r, iteration *i, int last)
{
  i->recorded = r->plan.measured && (last || i->k % r->set.log.residual_every == 0);
  if (i->recorded) LOOM_TRY(record_iter_begin(r, &i->row));
  i->tests_islands = !last && tests_islands(r);
  if (i->tests_islands) LOOM_TRY(islands_test(r, r->st.grad));
  return results_settle(r);
}

void settle_islands(run *r, const iteration *i)
{
  if (i->tests_islands)
    islands_settle(r);
  else
    islands_let_go(r);
}

loom_status record_iteration(run *r, iteration *i, int last)
{
  if (last && !i->recorded) LOOM_TRY(settle_iteration(r, i, 1));
  if (!i->recorded) return LOOM_OK;
  return record_iter_end(r, &i->row, r->k_base + i->k, &i->it, &i->f, i->dx_max);
}

/* ---- the last filters ---- */

/* Measures and records the point that a filter after the last iteration left. */
static loom_status close_filter(run *r, iteration *i)
{
  LOOM_TRY(measure_solved(r, i));
  LOOM_TRY(detect_after_accept(r, &i->changed));
  LOOM_TRY(detect_announce(r, i->changed));
  LOOM_TRY(measure_next(r, i));
  LOOM_TRY(solver_accepted(r, i));
  LOOM_TRY(settle_iteration(r, i, 1)); /* before `it` is written over */
  LOOM_TRY(distance_now(r));
  i->it = columns_no_iterate(r);
  i->it.stage = -1;
  return record_iteration(r, i, 1);
}

/* As long as a bound stands in the way of x, contact models that are defined there correct it; the
 * bound cuts the rest. */
loom_status filter_finish(run *r, step_outcome *out)
{
  islands_unsettle(r); /* all take part in what follows */
  for (out->repairs = 0; filter_repair_due(r, out->repairs); ++out->repairs) {
    iteration i = {.k = out->iters + out->repairs, .closing = 1};
    clock_push(&r->clock, CLOCK_FILTER);
    LOOM_TRY(filter_repair(r, &i.f));
    clock_pop(&r->clock);
    i.final = filter_certified(r);
    LOOM_TRY(close_filter(r, &i));
  }
  iteration i = {.k = out->iters + out->repairs, .closing = 1, .final = 1};
  clock_push(&r->clock, CLOCK_FILTER);
  LOOM_TRY(filter_final(r, &i.f));
  clock_pop(&r->clock);
  const int done = r->st.progress >= 1.0 && !filter_refused(r);
  return i.f.filtered && done ? close_filter(r, &i) : LOOM_OK;
}
