/* step.c - one time step: PREDICT, DETECT, ITERATE, LINE, FILTER, MEASURE, COMMIT
 * (README.md, "What is measured").  The core owns this loop; a solver does one outer iteration per
 * call and never decides when to stop. */
#include <math.h>
#include <string.h>

#include "run/call.h"
#include "run/record.h"
#include "run/run.kern.h"
#include "run/run_state.h"
#include "run/vet.h"

static const lk_entry k_predict = LK_ENTRY(run_predict);
static const lk_entry k_guess = LK_ENTRY(run_guess);
static const lk_entry k_velocity = LK_ENTRY(run_velocity);

/* ---- PREDICT ----------------------------------------------------------------------------- */

/* y = x + h v + h^2 (g + f_next / m), fixed rows at their prescribed place */
static loom_status inertial_target(run *r)
{
  scene_data *const sc = r->scene;
  loom_buf *const f = r->f_next_norm > 0.0 ? r->st.f_next : NULL;
  buf_maps q = {.m = r->m, .e = &r->exec};
  predict_args a = {.x = buf_maps_add(&q, r->st.x_start, LOOM_READ),
                    .v = buf_maps_add(&q, r->st.v_start, LOOM_READ),
                    .f = buf_maps_add(&q, f, LOOM_READ),
                    .m = buf_maps_add(&q, sc->pub.mass, LOOM_READ),
                    .damping = buf_maps_add(&q, sc->damping, LOOM_READ),
                    .fixed = buf_maps_add(&q, sc->pub.fixed, LOOM_READ),
                    .y = buf_maps_add(&q, r->st.y, LOOM_WRITE),
                    .h = (lk_real)r->st.h};
  for (int c = 0; c < 3; ++c) a.g[c] = (lk_real)sc->gravity[c];
  LOOM_TRY(buf_maps_launch(&q, &k_predict, &a, sc->pub.num_verts, NULL));
  if (!scene_pins_move(sc)) return LOOM_OK;
  void *y;
  LOOM_TRY(buf_map(r->m, NULL, r->st.y, LOOM_RDWR, LOOM_AT_HOST, &y));
  scene_fixed_positions(sc, r->st.time, y);
  return buf_unmap(r->m, r->st.y);
}

static loom_status initial_guess(run *r)
{
  if (r->set.run.guess == RUN_GUESS_INERTIAL) return buf_copy(r->m, &r->exec, r->st.trial, r->st.y);
  buf_maps q = {.m = r->m, .e = &r->exec};
  const guess_args a = {.x = buf_maps_add(&q, r->st.x_start, LOOM_READ),
                        .v = buf_maps_add(&q, r->st.v_start, LOOM_READ),
                        .damping = buf_maps_add(&q, r->scene->damping, LOOM_READ),
                        .y = buf_maps_add(&q, r->st.y, LOOM_READ),
                        .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                        .out = buf_maps_add(&q, r->st.trial, LOOM_WRITE),
                        .h = r->set.run.guess == RUN_GUESS_LAST ? (lk_real)0.0 : (lk_real)r->st.h};
  return buf_maps_launch(&q, &k_guess, &a, r->scene->pub.num_verts, NULL);
}

/* From time t0 to t1, s: the whole step, or a part of it. */
static loom_status predict(run *r, double t0, double t1, double h)
{
  const int64_t one_shot = r->solver.plugin->ops.solver->max_outer;
  const int64_t most = r->set.stop.max_iters;
  clock_push(&r->clock, CLOCK_PREDICT);
  r->st.iter = -1;
  r->repairs = 0;
  r->st.max_iters = (int32_t)(one_shot > 0 && one_shot < most ? one_shot : most);
  r->st.h = h;
  r->st.time = t1;
  r->st.progress = r->moves ? 0.0 : 1.0;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_start, r->st.x));
  if (r->st.x_feas != r->st.x) LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  LOOM_TRY(scene_pose(r->scene, t0, t1));
  LOOM_TRY(balls_begin(r));
  LOOM_TRY(inertial_target(r));
  LOOM_TRY(initial_guess(r));
  LOOM_TRY(instances_begin_step(r));
  LOOM_TRY(filter_guess(r));
  clock_pop(&r->clock);
  uint32_t changed = LOOM_CHANGED_NONE;
  LOOM_TRY(detect_all(r, &changed));
  if (r->solver.plugin->ops.solver->needs & LOOM_WANT_CONTACT_FROZEN)
    LOOM_TRY(instances_freeze(r, r->st.x_start));
  return detect_announce(r, changed);
}

/* ---- MEASURE ------------------------------------------------------------------------------- */

static loom_status residual_error(run *r)
{
  const int64_t v = measure_find_nan(r, r->st.grad);
  LOOM_TRY(vet_blame(r));
  return err_set(r->err, LOOM_E_NUMERIC,
                 "step %lld, iteration %d: the residual is not finite, first at vertex %lld; try a "
                 "smaller dt, or look at the last frames (loom render)",
                 (long long)r->st.index, (int)r->st.iter, (long long)v);
}

/* A run whose cloth is a thousand times as far as anything may be placed (SCENE_REACH) has failed,
 * however well its steps converge: at 1e9 m positions are rounded to 0.1 um. */
static const double out_of_reach = 1e9;

static loom_status check_reach(run *r)
{
  const int64_t launches = r->launches;
  double most;
  LOOM_TRY(la_norm_max3(r->m, &r->exec, r->st.x, &most));
  r->launches = launches; /* measuring is not the method's work */
  if (most <= out_of_reach) return LOOM_OK;
  return err_set(r->err, LOOM_E_NUMERIC,
                 "step %lld: a vertex is %.3g m from the origin, beyond all reach: the run has "
                 "diverged; try a smaller dt, or look at the last frames (loom render) and at "
                 "gravity and velocities",
                 (long long)r->st.index, most);
}

enum { GRAD_NONE = -2 }; /* of loom_step.grad_iter: the gradient at x is not known */

/* Residual of the problem as it stands, into *res; energies into r->energies. */
static loom_status measure_problem(run *r, int fresh, residual *res)
{
  r->st.grad_iter = GRAD_NONE;
  const loom_status s = measure_gradient(r, fresh, r->st.grad, &r->energies);
  if (s == LOOM_REJECTED) { /* a barrier has no value at this unfiltered point */
    *res = (residual){NAN, NAN};
    return LOOM_OK;
  }
  LOOM_TRY(s);
  r->st.grad_iter = r->st.iter;
  r->st.grad_epoch = r->st.epoch;
  LOOM_TRY(measure_norms(r, r->st.grad, res));
  return isfinite(res->max) ? LOOM_OK : residual_error(r);
}

/* Whether this step is measured.  Nothing depends on the residual of a one-shot method: of such
 * steps, every [log] residual_every-th and the last one are. */
static int measured(const run *r)
{
  if (r->solver.plugin->ops.solver->max_outer != 1) return 1;
  return (r->st.index + 1) % r->set.log.residual_every == 0 ||
         r->st.index + 1 == r->first_step + r->sum.steps_planned;
}

/* The residual at an accepted point, or that nobody took it. */
static loom_status measure_point(run *r, int fresh, residual *res)
{
  if (measured(r)) return measure_problem(r, fresh, res);
  r->st.grad_iter = GRAD_NONE;
  *res = (residual){NAN, NAN};
  r->energies = (loom_energies){NAN, NAN, NAN, NAN, NAN};
  return LOOM_OK;
}

/* After an accepted move: residual of the problem worked on, contact brought up to date,
 * residual of the problem as posed now. */
static loom_status measure_iteration(run *r, const filter_result *f, double *dx_max)
{
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  uint32_t changed = LOOM_CHANGED_NONE, again = LOOM_CHANGED_NONE;
  int moved = 0;
  clock_push(&r->clock, CLOCK_MEASURE);
  LOOM_TRY(la_norm_max3(r->m, &r->exec, r->buf.dx, dx_max));
  if (!isfinite(*dx_max)) return vet_trial(r, r->buf.dx);
  LOOM_TRY(measure_point(r, 1, &r->solved));
  clock_pop(&r->clock);

  /* the gradient of the problem iterate() saw, for quasi-Newton pairs */
  loom_buf *grad_solved = r->st.grad;
  if (r->num_contact > 0 || r->moves) {
    const int64_t period = r->set.detect.period;
    if (ops->accepted != NULL) {
      LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.grad_solved, r->st.grad));
      grad_solved = r->buf.grad_solved;
    }
    LOOM_TRY(detect_after_accept(r, &changed));
    clock_push(&r->clock, CLOCK_FILTER);
    LOOM_TRY(filter_advance(r, &moved));
    clock_pop(&r->clock);
    if (moved) changed |= LOOM_CHANGED_VALUES;
    if (moved || (period > 0 && (r->st.iter + 1) % period == 0)) LOOM_TRY(detect_all(r, &again));
    changed |= again;
    LOOM_TRY(detect_announce(r, changed));
  }
  r->next = r->solved;
  if (changed != LOOM_CHANGED_NONE) {
    clock_push(&r->clock, CLOCK_MEASURE);
    LOOM_TRY(measure_point(r, moved, &r->next));
    clock_pop(&r->clock);
  }
  if (ops->accepted == NULL) return LOOM_OK;
  const loom_accept a = {.struct_size = sizeof a,
                         .resolved = f->resolved,
                         .alpha = f->alpha,
                         .toi = f->toi,
                         .t_vertex = r->bound == FILTER_BOUND_VERTEX ? r->buf.t_vertex : NULL,
                         .filtered = f->filtered,
                         .dx = r->buf.dx,
                         .rejected = r->buf.rejected,
                         .grad_solved = grad_solved};
  clock_push(&r->clock, CLOCK_SOLVE);
  const loom_status s = call_accepted(r, &a);
  clock_pop(&r->clock);
  return s;
}

/* ---- stopping ------------------------------------------------------------------------------- */

static double tested_residual(const run *r)
{
  if (r->set.stop.on == STOP_SOLVED) return r->solved.rms;
  if (r->set.stop.on == STOP_NEXT) return r->next.rms;
  return isnan(r->next.rms) ? r->solved.rms : r->next.rms;
}

/* -1: go on.  `stalled`: neither this iteration nor anything else will move x.  As long as
 * bodies or pins are on their way, or x is beyond x_feas, nothing has converged. */
static int stop_reason(run *r, int64_t done, int stalled, double first)
{
  const stop_settings *const s = &r->set.stop;
  const int64_t one_shot = r->solver.plugin->ops.solver->max_outer;
  const double res = tested_residual(r);
  const int calm = res <= s->tol_abs || res <= s->tol_rel * r->r_ref || stalled;
  const int arrived = r->st.progress >= 1.0 && (!r->beyond || r->certified);
  if (calm && !arrived) r->filter_asked = 1; /* it may have converged: see what a bound says */
  if (arrived && res <= s->tol_abs) return H5LOG_converged_abs;
  if (arrived && res <= s->tol_rel * r->r_ref) return H5LOG_converged_rel;
  if (res > s->diverged * fmax(first, r->r_ref)) return H5LOG_diverged;
  if (arrived && stalled) return H5LOG_stalled;
  if (done >= s->max_iters || (one_shot > 0 && done >= one_shot)) return H5LOG_max_iters;
  if (s->time_budget_ms > 0.0 && 1e3 * clock_net(&r->clock) >= s->time_budget_ms)
    return H5LOG_time_budget;
  return -1;
}

/* ---- ITERATE -------------------------------------------------------------------------------- */

static loom_status iterate(run *r, int64_t *iters, int *reason)
{
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  const double first = tested_residual(r);
  *reason = stop_reason(r, 0, 0, first);
  /* a one-shot method has no test before its only iteration: explicit steps are so short that
   * their residual always passes */
  if (ops->max_outer == 1 || *reason == H5LOG_max_iters) *reason = -1;
  for (int64_t k = 0; *reason < 0; ++k) {
    filter_result f;
    double dx_max = NAN;
    loom_iterate it = {.struct_size = sizeof it,
                       .inner_res = NAN,
                       .inner_norm = -1,
                       .own_res = NAN,
                       .extra = r->extra};
    columns_clear_solver(r);
    /* x has not moved since: what the last iteration measured holds for this one */
    if (r->st.grad_iter == r->st.iter) r->st.grad_iter = (int32_t)k;
    r->st.iter = (int32_t)k;
    r->inner_j = 0;
    clock_push(&r->clock, CLOCK_SOLVE);
    const loom_status s = call_iterate(r, &it);
    clock_pop(&r->clock);
    if (s < LOOM_OK) return s;

    clock_push(&r->clock, CLOCK_FILTER);
    LOOM_TRY(filter_trial(r, &it, &f));
    clock_pop(&r->clock);
    LOOM_TRY(measure_iteration(r, &f, &dx_max));
    *iters = k + 1;
    *reason = stop_reason(r, k + 1, f.stalled || s == LOOM_STALLED, first);
    if (measured(r) && (*reason >= 0 || k % r->set.log.residual_every == 0))
      LOOM_TRY(record_iter(r, r->k_base + k, &it, &f, dx_max));
  }
  return LOOM_OK;
}

/* Measures and records the point that a filter after the last iteration left. */
static loom_status record_filter(run *r, int64_t k, const filter_result *f, int final)
{
  double dx_max;
  uint32_t changed;
  clock_push(&r->clock, CLOCK_MEASURE);
  LOOM_TRY(la_norm_max3(r->m, &r->exec, r->buf.dx, &dx_max));
  LOOM_TRY(measure_point(r, 1, &r->solved));
  clock_pop(&r->clock);
  LOOM_TRY(detect_after_accept(r, &changed));
  r->next = r->solved;
  if (changed != LOOM_CHANGED_NONE) {
    LOOM_TRY(detect_announce(r, changed));
    clock_push(&r->clock, CLOCK_MEASURE);
    LOOM_TRY(measure_point(r, 0, &r->next));
    clock_pop(&r->clock);
  }
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  if (ops->accepted != NULL) {
    const loom_accept a = {.struct_size = sizeof a,
                           .resolved = f->resolved,
                           .alpha = f->alpha,
                           .toi = f->toi,
                           .t_vertex = r->bound == FILTER_BOUND_VERTEX ? r->buf.t_vertex : NULL,
                           .filtered = 1,
                           .final = final,
                           .dx = r->buf.dx,
                           .rejected = r->buf.rejected,
                           .grad_solved = r->st.grad};
    LOOM_TRY(call_accepted(r, &a));
  }
  const loom_iterate none = {.struct_size = sizeof none,
                             .inner_res = NAN,
                             .inner_norm = -1,
                             .own_res = NAN,
                             .stage = -1,
                             .extra = r->extra};
  columns_clear_solver(r);
  return measured(r) ? record_iter(r, r->k_base + k, &none, f, dx_max) : LOOM_OK;
}

/* The last filters of the step: as long as a bound stands in the way of x, contact models that are
 * defined there correct it; what is then left is cut. */
static loom_status finish(run *r, int64_t iters)
{
  filter_result f;
  const int64_t most = r->beyond && r->has_repair ? r->set.filter.repairs : 0;
  while (r->repairs < most && !r->certified) {
    clock_push(&r->clock, CLOCK_FILTER);
    LOOM_TRY(filter_repair(r, &f));
    clock_pop(&r->clock);
    LOOM_TRY(record_filter(r, iters + r->repairs++, &f, r->certified));
  }
  clock_push(&r->clock, CLOCK_FILTER);
  LOOM_TRY(filter_final(r, &f));
  clock_pop(&r->clock);
  return f.filtered ? record_filter(r, iters + r->repairs, &f, 1) : LOOM_OK;
}

/* ---- COMMIT -----------------------------------------------------------------------------------
 */

static loom_status commit(run *r)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  r->st.iter = -1;
  const velocity_args a = {.x = buf_maps_add(&q, r->st.x, LOOM_READ),
                           .x0 = buf_maps_add(&q, r->st.x_start, LOOM_READ),
                           .v = buf_maps_add(&q, r->st.v_end, LOOM_WRITE),
                           .h = (lk_real)r->st.h};
  LOOM_TRY(buf_maps_launch(&q, &k_velocity, &a, r->scene->pub.num_verts, NULL));
  LOOM_TRY(buf_reset(r->m, r->st.f_next, buf_count(r->st.f_next)));
  clock_push(&r->clock, CLOCK_SOLVE);
  LOOM_TRY(rods_update(r->rods, r->st.x));
  clock_pop(&r->clock);

  LOOM_TRY(forward_add(r));

  LOOM_TRY(instances_end_step(r, LOOM_KIND_SOLVER));
  LOOM_TRY(instances_velocity(r));
  LOOM_TRY(instances_end_step(r, LOOM_KIND_CONTACT));
  clock_push(&r->clock, CLOCK_CONTACT);
  LOOM_TRY(balls_commit(r));
  clock_pop(&r->clock);
  LOOM_TRY(instances_end_step(r, LOOM_KIND_COLLISION));
  double f2 = 0.0;
  if (!buf_untouched(r->st.f_next))
    LOOM_TRY(la_dot(r->m, &r->exec, r->st.f_next, r->st.f_next, &f2));
  r->f_next_norm = sqrt(f2);
  return LOOM_OK;
}

/* ---- the whole step -------------------------------------------------------------------------
 */

/* One time step from t0 to t1, s.  *blocked: a motion could not be followed; nothing was
 * committed then. */
static loom_status advance_time(run *r, double t0, double t1, double h, int64_t *iters, int *reason,
                                int *blocked)
{
  LOOM_TRY(predict(r, t0, t1, h));
  clock_push(&r->clock, CLOCK_MEASURE);
  r->r_ref = NAN;
  if (measured(r)) LOOM_TRY(measure_r_ref(r, &r->r_ref));
  LOOM_TRY(measure_problem(r, 1, &r->solved));
  r->next = r->solved;
  clock_pop(&r->clock);
  const loom_iterate none = {.struct_size = sizeof none,
                             .inner_res = NAN,
                             .inner_norm = -1,
                             .own_res = NAN,
                             .extra = r->extra};
  const filter_result start = {
      .alpha = NAN, .toi = r->step_toi, .filtered = r->bound != FILTER_BOUND_NONE};
  columns_clear_solver(r);
  if (measured(r)) LOOM_TRY(record_iter(r, r->k_base - 1, &none, &start, NAN));

  LOOM_TRY(iterate(r, iters, reason));
  *blocked = r->st.progress < 1.0;
  if (*blocked) return LOOM_OK;
  LOOM_TRY(finish(r, *iters));
  clock_push(&r->clock, CLOCK_MEASURE);
  if (*reason != H5LOG_diverged)
    LOOM_TRY(check_reach(r)); /* else the log and the exit code say it */
  clock_pop(&r->clock);
  LOOM_TRY(forward_find(r));
  LOOM_TRY(commit(r));
  state_rotate(r);
  return LOOM_OK;
}

/* The step in 2^halvings equal parts. */
static loom_status in_parts(run *r, int64_t index, int halvings, int64_t *iters, int *reason,
                            int *blocked)
{
  const int64_t parts = INT64_C(1) << halvings;
  const double dt = r->set.run.dt / (double)r->set.run.substeps;
  *blocked = 0;
  for (int64_t p = 0; p < parts && !*blocked; ++p) {
    const double t0 = ((double)index + (double)p / (double)parts) * dt;
    const double t1 = ((double)index + (double)(p + 1) / (double)parts) * dt;
    int64_t k = 0;
    LOOM_TRY(advance_time(r, t0, t1, dt / (double)parts, &k, reason, blocked));
    *iters += k;
    /* the first record and those of the last filters have numbers of their own */
    r->k_base += k + 2 + r->repairs;
  }
  return LOOM_OK;
}

static loom_status blocked_error(run *r)
{
  const char *const name = r->blocker >= 0 ? r->scene->obstacles[r->blocker].name : NULL;
  return err_set(r->err, LOOM_E_NUMERIC,
                 "%s%s%s cannot follow its motion, something is in its way: step %lld, %.3g of the "
                 "motion were left after %lld halvings of the step; move it more slowly, lower dt, "
                 "or raise [stop] max_iters or [filter] max_halvings",
                 name != NULL ? "[body." : "a pin", name != NULL ? name : "",
                 name != NULL ? "]" : "", (long long)r->st.index, 1.0 - r->st.progress,
                 (long long)r->set.filter.max_halvings);
}

/* Back to the start of the step; plugins drop what they have seen since. */
static loom_status rewind_step(run *r)
{
  LOOM_TRY(state_go_back(r));
  return instances_reset(r);
}

static loom_status whole_step(run *r, int64_t index)
{
  int64_t iters = 0;
  int reason = -1, blocked = 0;
  clock_reset(&r->clock);
  memset(r->counters, 0, sizeof r->counters);
  r->launches = 0;
  r->step_toi = 1.0;
  r->k_base = 0;
  if (r->rep.ref != NULL) LOOM_TRY(replay_load(r, index));
  const double f_norm = r->f_next_norm;
  if (r->moves) LOOM_TRY(state_keep(r));
  for (int halvings = 0;; ++halvings) {
    LOOM_TRY(in_parts(r, index, halvings, &iters, &reason, &blocked));
    if (!blocked) break;
    if (halvings >= r->set.filter.max_halvings) return blocked_error(r);
    LOOM_TRY(rewind_step(r));
    r->f_next_norm = f_norm;
  }
  state_show_end(r);
  LOOM_TRY(record_step(r, iters, reason));
  state_hide_end(r);
  problem_end_step(r);
  return LOOM_OK;
}

loom_status step_once(run *r, int64_t index)
{
  r->stepping = 1;
  r->st.index = index;
  r->st.iter = -1;
  const loom_status s = whole_step(r, index);
  /* files and settings do not belong to a step; what is said about numbers, and what plugins say,
   * has its place already */
  if (s >= LOOM_OK || s == LOOM_E_IO || s == LOOM_E_CONFIG || s == LOOM_E_NUMERIC)
    return run_failed(r, s);
  run_failed(r, s);
  if (strncmp(r->err->text, "step ", 5) != 0) err_prefix(r->err, "step %lld", (long long)index);
  return s;
}
