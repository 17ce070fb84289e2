/* step_ends.c - PREDICT and COMMIT: the parts that run once in a time step. */
#include <math.h>

#include "run/base/balls.h"
#include "run/plugins/call.h"
#include "run/run_state.h"
#include "run/step/step.h"
#include "run/step/step.kern.h"
#include "scene/objects/pressure.h"
#include "scene/objects/wind.h"

static const lk_entry k_predict = LK_ENTRY_NEAR_MOVES(run_predict, 4, 10, 3);
static const lk_entry k_guess = LK_ENTRY_NEAR_MOVES(run_guess, 4, 10, 1);
static const lk_entry k_velocity = LK_ENTRY_MOVES(run_velocity, 9, 0);

/* ---- PREDICT ---- */

/* y += h^2 F / m of wind and pressure, on the host */
static loom_status push_loads(run *r)
{
  buf_maps q = {.m = r->m};
  const load_step step = {.t = r->st.time,
                          .h = r->st.h,
                          .x = buf_maps_add(&q, r->st.x_start, LOOM_READ),
                          .v = buf_maps_add(&q, r->st.v_start, LOOM_READ),
                          .mass = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ),
                          .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                          .y = buf_maps_add(&q, r->st.y, LOOM_RDWR)};
  if (q.status == LOOM_OK && r->scene->pressure != NULL)
    q.status = pressure_push(r->scene, r->err, &step);
  /* wind takes y with all other forces */
  if (q.status == LOOM_OK && r->scene->wind != NULL) wind_push(r->scene, &step);
  return buf_maps_end(&q);
}

/* y = x + h v + h^2 (g + f_next / m) and loads, fixed rows at their prescribed place */
static loom_status inertial_target(run *r)
{
  scene_data *const sc = r->scene;
  loom_buf *const f = r->fw.f_next_norm > 0.0 ? r->st.f_next : NULL;
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
  if (scene_pins_move(sc)) {
    void *y;
    LOOM_TRY(buf_map(r->m, NULL, r->st.y, LOOM_RDWR, LOOM_AT_HOST, &y));
    scene_fixed_positions(sc, r->st.time, y);
    LOOM_TRY(buf_unmap(r->m, r->st.y));
  }
  if (sc->wind != NULL || sc->pressure != NULL) LOOM_TRY(push_loads(r));
  return follow_rows(r, r->st.y);
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

/* The course of a one-shot method does not depend on its residual: of its steps, every [log]
 * residual_every-th and the last one are measured.  Its steps are so short that the residual of the
 * guess always passes. */
static void make_plan(run *r)
{
  const int64_t own = r->solver.plugin->ops.solver->max_outer, most = r->set.stop.max_iters;
  const int last = r->st.index + 1 == r->first_step + r->sum.steps_planned;
  const int picked = (r->st.index + 1) % r->set.log.residual_every == 0;
  r->plan = (step_plan){.max_iters = own > 0 && own < most ? own : most,
                        .measured = own != 1 || picked || last,
                        .tests_guess = own != 1};
  r->st.max_iters = (int32_t)r->plan.max_iters;
}

/* Contact that is frozen for the step is told what elasticity does at its start: st.grad. */
static loom_status pull_at_start(run *r)
{
  loom_problem own = *r->st.problem;
  if (own.contact != LOOM_CONTACT_FROZEN || r->num_contact == 0) return LOOM_OK;
  own.terms = LOOM_TERM_ELASTIC;
  return problem_eval(r, &own, r->st.x_start, NULL, r->st.grad);
}

loom_status step_predict(run *r, const step_span *t)
{
  clock_push(&r->clock, CLOCK_PREDICT);
  make_plan(r);
  r->st.iter = -1;
  r->st.h = t->h;
  r->st.time = t->t1;
  problem_pose(r);
  r->st.progress = r->motion.bounded ? 0.0 : 1.0;
  r->st.min_gap = filter_bounded(r) ? r->set.filter.min_gap : 0.0;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_start, r->st.x));
  if (r->st.x_feas != r->st.x) LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  LOOM_TRY(scene_pose(r->scene, t->t0, t->t1));
  LOOM_TRY(balls_begin(r));
  islands_begin_step(r);
  LOOM_TRY(inertial_target(r));
  LOOM_TRY(initial_guess(r));
  LOOM_TRY(call_rest_change(r, &r->st.rest_change));
  LOOM_TRY(elements_rest_change(r, r->st.rest_change));
  LOOM_TRY(pull_at_start(r));
  LOOM_TRY(instances_begin_step(r));
  LOOM_TRY(filter_guess(r));
  clock_pop(&r->clock);
  uint32_t changed = LOOM_CHANGED_NONE;
  LOOM_TRY(detect_all(r, &changed));
  if (r->st.problem->contact == LOOM_CONTACT_FROZEN) {
    LOOM_TRY(contact_freeze(r, r->st.x_start, 1.0));
    changed |= LOOM_CHANGED_VALUES; /* the solver may want another share of it */
  }
  LOOM_TRY(detect_announce(r, changed));
  return filter_begin(r);
}

/* ---- COMMIT ---- */

/* A run with cloth a thousand times farther away than SCENE_REACH, the limit of the start, has
 * failed, even if its steps converge: at 1e9 m positions are rounded to 0.1 um. */
static const double out_of_reach = 1e9;

static loom_status check_vertex_reach(run *r)
{
  const kernel_work kernels = r->work.kernels;
  double most;
  LOOM_TRY(la_norm_max3(r->m, &r->exec, r->st.x, &most));
  r->work.kernels = kernels; /* measuring is not the method's work */
  if (most <= out_of_reach) return LOOM_OK;
  return err_set(r->err, LOOM_E_NUMERIC,
                 "step %lld: a vertex is %.3g m from the origin, beyond all reach: the run has "
                 "diverged; try a smaller dt, or look at the last frames (loom render) and at "
                 "gravity and velocities",
                 (long long)r->st.index, most);
}

static loom_status add_load_work(run *r)
{
  const scene_data *const sc = r->scene;
  const int32_t n = sc->pub.num_verts;
  buf_maps q = {.m = r->m}; /* on the host */
  if (sc->wind == NULL && sc->pressure == NULL) return LOOM_OK;
  const uint8_t *const fixed = buf_maps_add(&q, sc->pub.fixed, LOOM_READ);
  const loom_real *const x0 = buf_maps_add(&q, r->st.x_start, LOOM_READ);
  const loom_real *const x1 = buf_maps_add(&q, r->st.x, LOOM_READ);
  if (q.status == LOOM_OK && sc->pressure != NULL)
    r->load_work += load_work(fixed, x0, x1, n, pressure_force(sc));
  if (q.status == LOOM_OK && sc->wind != NULL)
    r->load_work += load_work(fixed, x0, x1, n, wind_force(sc));
  return buf_maps_end(&q);
}

loom_status step_commit(run *r, int diverged)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  clock_push(&r->clock, CLOCK_MEASURE);
  if (!diverged) LOOM_TRY(check_vertex_reach(r)); /* else the log and the exit code say it */
  LOOM_TRY(add_load_work(r));
  clock_pop(&r->clock);
  LOOM_TRY(forward_find(r));
  r->st.iter = -1;
  const velocity_args a = {.x = buf_maps_add(&q, r->st.x, LOOM_READ),
                           .x0 = buf_maps_add(&q, r->st.x_start, LOOM_READ),
                           .v = buf_maps_add(&q, r->st.v_end, LOOM_WRITE),
                           .h = (lk_real)r->st.h};
  LOOM_TRY(buf_maps_launch(&q, &k_velocity, &a, r->scene->pub.num_verts, NULL));
  LOOM_TRY(buf_reset(r->m, r->st.f_next, buf_count(r->st.f_next)));
  clock_push(&r->clock, CLOCK_SOLVE);
  LOOM_TRY(problem_commit(r, r->st.x));
  clock_pop(&r->clock);

  LOOM_TRY(forward_add(r));

  LOOM_TRY(instances_end_step(r, LOOM_KIND_SOLVER));
  LOOM_TRY(instances_velocity(r));
  LOOM_TRY(follow_rows(r, r->st.v_end));
  LOOM_TRY(instances_end_step(r, LOOM_KIND_CONTACT));
  clock_push(&r->clock, CLOCK_CONTACT);
  LOOM_TRY(balls_commit(r));
  clock_pop(&r->clock);
  LOOM_TRY(instances_end_step(r, LOOM_KIND_COLLISION));
  double f2 = 0.0;
  if (!buf_untouched(r->st.f_next))
    LOOM_TRY(la_dot(r->m, &r->exec, r->st.f_next, r->st.f_next, &f2));
  r->fw.f_next_norm = sqrt(f2);
  state_rotate(r);
  return LOOM_OK;
}
