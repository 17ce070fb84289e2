/* measure.c - the numbers that the core measures of every method (framework/doc/measuring.md).
 *
 * Residuals are in metres: h^2 M^-1 r, how far an explicit correction would move the
 * vertices; mass-weighted RMS and the largest vertex, fixed vertices excluded. */
#include "run/plugins/call.h"

#include <math.h>

#include "run/objective/objective.kern.h"
#include "run/plugins/vet.h"
#include "run/run_state.h"

static const lk_entry k_norm_sum = LK_ENTRY_MOVES(run_norm_sum, 4, 1);
static const lk_entry k_norm_max = LK_ENTRY_MOVES(run_norm_max, 4, 1);
static const lk_entry k_norm_mass = LK_ENTRY_MOVES(run_norm_mass, 1, 1);
static const lk_entry k_weighted_sq = LK_ENTRY_MOVES(run_weighted_sq, 4, 0);
static const lk_entry k_weighted_dot = LK_ENTRY_MOVES(run_weighted_dot, 7, 0);

/* Launch one reduction over rows of g, weights `m`, into a result slot. */
static loom_status launch_norm(run *r, const lk_entry *k, loom_buf *g, loom_buf *m,
                               loom_buf *touched, int slot)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const norm_args a = {.g = buf_maps_add(&q, g, LOOM_READ),
                       .m = buf_maps_add(&q, m, LOOM_READ),
                       .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                       .touched = buf_maps_add(&q, touched, LOOM_READ)};
  return buf_maps_launch(&q, k, &a, r->scene->pub.num_verts, r->exec.result + slot);
}

/* v: sum of m |g/m|^2, largest |g/m|^2 */
static loom_status take_norms(run *r, const double *v, const results_use *u)
{
  residual *const out = u->out;
  /* without a free vertex: zero, not 0/0 */
  out->rms = r->measured.total_mass > 0.0 ? u->scale * sqrt(v[0] / r->measured.total_mass) : 0.0;
  out->max = u->scale * sqrt(v[1]);
  return LOOM_OK;
}

loom_status measure_norms(run *r, loom_buf *g, residual *out)
{
  const results_use use = {
      .then = take_norms, .out = out, .scale = loom_problem_h2(&r->problem.own)};
  LOOM_TRY(launch_norm(r, &k_norm_sum, g, r->scene->pub.mass, NULL, 0));
  LOOM_TRY(launch_norm(r, &k_norm_max, g, r->scene->pub.mass, NULL, 1));
  LOOM_TRY(results_later(r, &r->exec, r->exec.result, 2, &use));
  if (r->plan.measured) LOOM_TRY(objects_over(r, g, out));
  return results_settle_unless_held(r);
}

/* v: sum of m |g/m|^2, sum of m */
static loom_status take_mean(run *r, const double *v, const results_use *u)
{
  (void)r;
  *(double *)u->out = v[1] > 0.0 ? u->scale * sqrt(v[0] / v[1]) : NAN;
  return LOOM_OK;
}

loom_status measure_free(run *r, double *rms)
{
  const results_use use = {
      .then = take_mean, .out = rms, .scale = loom_problem_h2(&r->problem.own)};
  loom_buf *const touched =
      detect_num_pairs(r) > 0 || r->detect.unnamed != NULL ? r->buf.touched : NULL;
  if (touched != NULL) LOOM_TRY(detect_mark_touched(r));
  LOOM_TRY(launch_norm(r, &k_norm_sum, r->buf.grad_free, r->scene->pub.mass, touched, 0));
  LOOM_TRY(launch_norm(r, &k_norm_mass, r->buf.grad_free, r->scene->pub.mass, touched, 1));
  LOOM_TRY(results_later(r, &r->exec, r->exec.result, 2, &use));
  return results_settle_unless_held(r);
}

/* sqrt(v / scale) */
static loom_status take_root(run *r, const double *v, const results_use *u)
{
  (void)r;
  *(double *)u->out = sqrt(*v / u->scale);
  return LOOM_OK;
}

loom_status measure_dinv(run *r, loom_buf *g, double *out)
{
  LOOM_TRY(launch_norm(r, &k_norm_sum, g, r->buf.diag, NULL, 0));
  LOOM_TRY(results_later(r, &r->exec, r->exec.result, 1,
                         &(results_use){.then = take_root, .out = out, .scale = 1.0}));
  return results_settle_unless_held(r);
}

/* sum of m |a - b|^2 (b NULL: zero), or of m (a - b).w where w is given */
static loom_status launch_weighted_sum(run *r, const lk_entry *k, loom_buf *a, loom_buf *b,
                                       const double *w, const results_use *use)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  weighted_args args = {.a = buf_maps_add(&q, a, LOOM_READ),
                        .b = buf_maps_add(&q, b, LOOM_READ),
                        .m = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ)};
  for (int c = 0; w != NULL && c < 3; ++c) args.g[c] = (lk_real)w[c];
  LOOM_TRY(buf_maps_launch(&q, k, &args, r->scene->pub.num_verts, r->exec.result));
  LOOM_TRY(results_later(r, &r->exec, r->exec.result, 1, use));
  return results_settle_unless_held(r);
}

static loom_status take_scaled(run *r, const double *v, const results_use *u)
{
  (void)r;
  *(double *)u->out = u->scale * *v;
  return LOOM_OK;
}

loom_status measure_kinetic(run *r, loom_buf *v, double *kinetic)
{
  return launch_weighted_sum(r, &k_weighted_sq, v, NULL, NULL,
                             &(results_use){.then = take_scaled, .out = kinetic, .scale = 0.5});
}

loom_status measure_gravity(run *r, loom_buf *x, double *gravity)
{
  return launch_weighted_sum(r, &k_weighted_dot, x, r->scene->x0, r->scene->gravity,
                             &(results_use){.then = take_scaled, .out = gravity, .scale = -1.0});
}

loom_status measure_e_ref(run *r, double *out)
{
  *out = NAN;
  if (!r->rep.have_ref) return LOOM_OK;
  return launch_weighted_sum(
      r, &k_weighted_sq, r->st.x, r->rep.x_ref, NULL,
      &(results_use){.then = take_root, .out = out, .scale = r->measured.all_mass});
}

/* Whether gradients are charged to the solver, which reads them. */
static int uses_gradient(const run *r)
{
  return (r->solver.plugin->ops.solver->needs & LOOM_USES_GRADIENT) != 0;
}

/* The dissipation of damping, before contact adds to the same number. */
static loom_status keep_damping(run *r, const double *v, const results_use *u)
{
  (void)v;
  r->measured.damping = ((const loom_energies *)u->out)->dissipation;
  return LOOM_OK;
}

/* Energies as they were without contact. */
static loom_status drop_contact(run *r, const double *v, const results_use *u)
{
  loom_energies *const e = u->out;
  (void)v;
  e->contact = 0.0;
  e->dissipation = r->measured.damping;
  e->total = e->inertia + e->elastic + e->dissipation;
  return LOOM_OK;
}

/* *needed: the work of kernels that a solver which reads step->grad would have done itself. */
static loom_status gradient_now(run *r, int fresh, loom_buf *g, loom_energies *e,
                                kernel_work *needed)
{
  const kernel_work kernels = r->work.kernels;
  clock_push(&r->clock, uses_gradient(r) ? CLOCK_SOLVE : CLOCK_MEASURE);
  /* the energies come with the gradient, for one more number per element */
  loom_status s = fresh ? problem_smooth(r, r->st.problem, r->st.x, e, r->buf.grad_free) : LOOM_OK;
  if (s == LOOM_OK) s = buf_copy(r->m, &r->exec, g, r->buf.grad_free);
  clock_pop(&r->clock);
  if (uses_gradient(r))
    *needed = (kernel_work){.launches = r->work.kernels.launches - kernels.launches,
                            .bytes = r->work.kernels.bytes - kernels.bytes};
  LOOM_TRY(s);
  if (e != NULL)
    LOOM_TRY(results_after(r, NULL,
                           &(results_use){.then = fresh ? keep_damping : drop_contact, .out = e}));
  s = problem_add_contact(r, r->st.problem, r->st.x, e, g);
  if (s < LOOM_OK) return s;
  LOOM_TRY(problem_zero_fixed(r, g));
  return s;
}

/* Work done for measuring is not the method's, but for the one gradient that a solver reading
 * step->grad would have needed itself. */
loom_status measure_gradient(run *r, int fresh, loom_buf *g, loom_energies *e)
{
  const kernel_work kernels = r->work.kernels;
  kernel_work needed = {0};
  r->work.measuring = 1;
  const loom_status s = gradient_now(r, fresh, g, e, &needed);
  r->work.measuring = 0;
  r->work.kernels = (kernel_work){.launches = kernels.launches + needed.launches,
                                  .bytes = kernels.bytes + needed.bytes};
  if (fresh && uses_gradient(r)) work_charge(r, LOOM_C_GRADIENT, 1);
  return s;
}

loom_status measure_contacts(run *r)
{
  const int leaves = filter_leaves_contact(r);
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    c->metrics = (loom_contact_metrics){
        .struct_size = sizeof c->metrics, .min_gap = NAN, .extra = c->in.extra};
    for (uint32_t k = 0; k < c->in.plugin->num_columns; ++k) c->in.extra[k] = NAN;
    if (!leaves) LOOM_TRY(call_metrics(c, &c->metrics));
  }
  return results_settle_unless_held(r);
}

void measure_sum_contacts(const run *r, int64_t *active, double *min_gap, double *dissipated)
{
  const int leaves = filter_leaves_contact(r);
  *active = 0;
  *min_gap = NAN;
  *dissipated = 0.0;
  for (int i = 0; i < r->num_contact && !leaves; ++i) {
    const contact_inst *const c = &r->contact[i];
    *active += c->metrics.active;
    *dissipated += c->metrics.dissipated;
    if (c->pairs.count > 0) *min_gap = fmin(*min_gap, c->metrics.min_gap); /* fmin skips NaN */
  }
}

/* A pair with numbers that are not finite, -1 if there is none. */
static int64_t bad_pair(const run *r, const loom_pairs *p)
{
  loom_buf *const all[] = {p->w, p->normal, p->gap, p->point};
  static const int width[] = {4, 3, 1, 3};
  for (size_t i = 0; i < LOOM_COUNT(all) && p->count > 0; ++i) {
    void *m;
    int64_t found = -1;
    if (buf_map(r->m, NULL, all[i], LOOM_READ, LOOM_AT_HOST, &m) != LOOM_OK) return -1;
    for (int64_t j = 0; j < p->count * width[i] && found < 0; ++j)
      if (!isfinite(((const loom_real *)m)[j])) found = j / width[i];
    (void)buf_unmap(r->m, all[i]);
    if (found >= 0) return found;
  }
  return -1;
}

loom_status measure_blame(run *r)
{
  loom_buf *g = NULL;
  if (r->num_contact == 0 || vet_find_nan(r, r->buf.grad_free) >= 0) return LOOM_OK;
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    const int64_t pair = bad_pair(r, &c->pairs);
    double energy = 0.0, dissipation = 0.0;
    if (pair >= 0)
      return call_refuse(&c->in, "update", LOOM_E_NUMERIC,
                         "pair %lld of %lld that detection found for it has a weight, normal, gap "
                         "or point that is not finite",
                         (long long)pair, (long long)c->pairs.count);
    LOOM_TRY(buf_new(r->m, "core", "gradient of one model", LOOM_REAL,
                     3 * (int64_t)r->scene->pub.num_verts, &g));
    LOOM_TRY(contact_eval(r, c, r->st.problem, r->st.x, &energy, &dissipation, g));
    const int64_t v = vet_find_nan(r, g);
    buf_free(r->m, g);
    if (v >= 0)
      return call_refuse(
          &c->in, (c->in.plugin->ops.contact->provides & LOOM_CONT_GRADIENT) ? "eval" : "quad",
          LOOM_E_NUMERIC, "its gradient is not finite, first at vertex %lld", (long long)v);
  }
  return LOOM_OK;
}

/* ---- the stopping test ---- */

const residual *measure_tested(const run *r)
{
  const measurements *const m = &r->measured;
  if (r->set.stop.on == STOP_SOLVED) return &m->solved;
  return r->set.stop.on == STOP_NEXT || !isnan(m->next.rms) ? &m->next : &m->solved;
}

double measure_tested_ratio(const run *r)
{
  const stop_settings *const s = &r->set.stop;
  return s->on == STOP_ENERGY ? r->measured.error.energy / s->tol_energy : measure_tested(r)->over;
}
