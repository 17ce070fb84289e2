/* filter.c - LINE and FILTER: from the solver's trial to the accepted point.
 *
 * Order: where a bound is in force and the line search starts at the last feasible point,
 * the bound comes first and the line search only goes back from it, so that barriers are
 * never evaluated behind a surface; otherwise the bound is applied to the whole way from
 * the last feasible point to the new one.
 *
 * Bodies and pins with a prescribed motion may be stopped by what is in their way, like the
 * cloth.  In PREDICT they set out together with the initial guess and stop with it where
 * the bound says; from then on every filter lets them advance as far as they can with the
 * cloth at rest, and the solver makes room in between.  The step ends when they have
 * arrived (st.progress = 1).
 *
 * `beyond` (contact that is defined at points that intersect): a filter moves x_feas towards x
 * as far as the bound allows and leaves x alone, which goes on from where it is.  Nothing has
 * converged until x itself has passed; the last filter cuts x like any other.  As long as
 * bodies or pins are on their way, x is cut in every filter all the same. */
#include <math.h>

#include "run/call.h"
#include "run/host.h"
#include "run/run.kern.h"

static const lk_entry k_blend = LK_ENTRY(run_blend);

static const double ARMIJO = 1e-4;
/* Share of the possible way that bodies and pins go per filter: all of it would leave gaps so
 * small that the solver needs many iterations to open them again. */
static const double ADVANCE = 0.5;
/* Energies are sums of many terms: differences below this share of their size are noise,
 * and the gradient decides instead. */
static const double ENERGY_NOISE = 1e-12;

/* out = a + t (b - a), with t_vertex instead where it is given; fixed rows take t */
static loom_status blend(run *r, loom_buf *a, loom_buf *b, double t, loom_buf *t_vertex,
                         loom_buf *out)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const blend_args args = {.a = buf_maps_add(&q, a, LOOM_READ),
                           .b = buf_maps_add(&q, b, LOOM_READ),
                           .t = buf_maps_add(&q, t_vertex, LOOM_READ),
                           .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                           .out = buf_maps_add(&q, out, LOOM_WRITE),
                           .t_all = (lk_real)t};
  return buf_maps_launch(&q, &k_blend, &args, r->scene->pub.num_verts, NULL);
}

/* `to`: share of the prescribed motion at x1; a motion is never cut vertex by vertex */
static loom_status ask_bound(run *r, loom_buf *x0, loom_buf *x1, double to, double *toi)
{
  const int vertex = r->filter.bound == FILTER_BOUND_VERTEX && to == r->st.progress;
  loom_bound b = {.struct_size = sizeof b,
                  .per_vertex = vertex,
                  .t_vertex = vertex ? r->buf.t_vertex : NULL,
                  .min_gap = r->set.filter.min_gap,
                  .progress0 = r->st.progress,
                  .progress1 = to,
                  .blocker = -1};
  LOOM_TRY(detect_max_step(r, x0, x1, &b));
  *toi = b.t_global;
  if (to > r->st.progress) r->filter.blocker = b.blocker;
  r->filter.step_toi = fmin(r->filter.step_toi, b.t_global);
  if (r->filter.beyond && b.touching)
    return err_set(
        r->err, LOOM_E_NUMERIC,
        "step %lld: a pair touches within rounding at the last positions without "
        "intersections, so no bound can keep it apart; let a gap remain ([filter] min_gap "
        "= a twentieth of d_hat), lower dt, or raise [stop] max_iters",
        (long long)r->st.index);
  return LOOM_OK;
}

/* x may have run ahead of x_feas: cut the way back to what the bound allows. */
static loom_status apply_bound(run *r, double *toi)
{
  LOOM_TRY(ask_bound(r, r->st.x_feas, r->st.x, r->st.progress, toi));
  r->filter.cut = *toi < 1.0;
  if (*toi >= 1.0 && r->filter.bound != FILTER_BOUND_VERTEX)
    return la_fill(r->m, &r->exec, r->buf.rejected, 0.0);
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.wanted, r->st.x));
  loom_buf *const t = r->filter.bound == FILTER_BOUND_VERTEX ? r->buf.t_vertex : NULL;
  LOOM_TRY(blend(r, r->st.x_feas, r->buf.wanted, *toi, t, r->st.x));
  return la_waxpby(r->m, &r->exec, 1.0, r->buf.wanted, -1.0, r->st.x, r->buf.rejected);
}

/* x goes on; x_feas follows as far as the bound allows. */
static loom_status lead_feasible(run *r, double *toi)
{
  LOOM_TRY(ask_bound(r, r->st.x_feas, r->st.x, r->st.progress, toi));
  LOOM_TRY(la_fill(r->m, &r->exec, r->buf.rejected, 0.0));
  r->filter.certified = *toi >= 1.0;
  if (r->filter.certified) return buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x);
  LOOM_TRY(blend(r, r->st.x_feas, r->st.x, *toi, NULL, r->buf.wanted));
  return buf_copy(r->m, &r->exec, r->st.x_feas, r->buf.wanted);
}

/* Corrections of the models that are, or are not, defined beyond x_feas. */
static loom_status resolve_all(run *r, int unfiltered, int *resolved)
{
  loom_buf *const from = unfiltered ? r->st.x_feas : r->st.x_start;
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    const loom_contact_ops *const ops = c->in.plugin->ops.contact;
    if (!(ops->provides & LOOM_CONT_RESOLVE)) continue;
    if (!!(ops->provides & LOOM_CONT_UNFILTERED) != unfiltered) continue;
    LOOM_TRY(call_resolve(c, from, r->st.x));
    *resolved = 1;
  }
  return LOOM_OK;
}

/* ---- line search ------------------------------------------------------------------------ */

typedef struct search {
  double slope; /* J, directional derivative at alpha = 0 */
  double e0;    /* J */
  double noise; /* J, differences below it mean nothing */
  double g0;    /* m, residual at alpha = 0 */
} search;

static loom_status accept_point(run *r, const search *ls, double alpha, int *yes)
{
  loom_energies e;
  residual res;
  *yes = 0;
  host_charge(r, LOOM_C_ENERGY, 1);
  const loom_status s = problem_eval(r, r->st.x, LOOM_EVAL_ENERGY, &e, NULL);
  if (s == LOOM_REJECTED) return LOOM_OK;
  LOOM_TRY(s);
  if (e.total <= ls->e0 + ARMIJO * alpha * ls->slope) {
    *yes = 1;
    return LOOM_OK;
  }
  if (!(e.total <= ls->e0 + ls->noise)) return LOOM_OK;
  /* within rounding: the point must have the smaller gradient */
  host_charge(r, LOOM_C_GRADIENT, 1);
  const loom_status g = problem_eval(r, r->st.x, LOOM_EVAL_GRADIENT, NULL, r->buf.grad_solved);
  if (g == LOOM_REJECTED) return LOOM_OK;
  LOOM_TRY(g);
  LOOM_TRY(measure_norms(r, r->buf.grad_solved, &res));
  *yes = res.rms < ls->g0;
  return LOOM_OK;
}

/* Halve alpha until x_before + alpha dx is acceptable; alpha = 0 if none is. */
static loom_status line_search(run *r, double *alpha)
{
  search ls;
  residual res;
  LOOM_TRY(la_dot(r->m, &r->exec, r->st.grad, r->buf.dx, &ls.slope));
  LOOM_TRY(measure_norms(r, r->st.grad, &res));
  ls.g0 = res.rms;
  ls.e0 = r->measured.energies.total;
  ls.noise =
      ENERGY_NOISE * (fabs(r->measured.energies.inertia) + fabs(r->measured.energies.elastic) +
                      fabs(r->measured.energies.contact) + fabs(r->measured.energies.dissipation));
  if (ls.slope < 0.0)
    for (int64_t i = 0; i <= r->set.filter.max_backtracks; ++i, *alpha *= 0.5) {
      int yes = 0;
      LOOM_TRY(la_waxpby(r->m, &r->exec, 1.0, r->buf.x_before, *alpha, r->buf.dx, r->st.x));
      LOOM_TRY(accept_point(r, &ls, *alpha, &yes));
      if (yes) return LOOM_OK;
    }
  *alpha = 0.0;
  return buf_copy(r->m, &r->exec, r->st.x, r->buf.x_before);
}

/* ---- what is in force ------------------------------------------------------------------- */

/* What is in force: the config's word, else what the plugins were made for. */
void filter_choose(run *r)
{
  const loom_solver_ops *const s = r->solver.plugin->ops.solver;
  const uint32_t forms = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD;
  int needs_bound = 0, unfiltered = 0, filtered = 0;
  for (int i = 0; i < r->num_contact; ++i) {
    const loom_contact_ops *const c = r->contact[i].in.plugin->ops.contact;
    needs_bound |= (c->needs & (LOOM_COLL_STEP_GLOBAL | LOOM_COLL_STEP_VERTEX)) != 0;
    unfiltered |= (c->provides & LOOM_CONT_UNFILTERED) != 0;
    filtered |= (c->provides & forms) && !(c->provides & LOOM_CONT_UNFILTERED);
    if ((c->provides & LOOM_CONT_RESOLVE) && (c->provides & LOOM_CONT_UNFILTERED)) {
      r->filter.has_repair = 1;
    } else if (c->provides & LOOM_CONT_RESOLVE) {
      r->filter.has_resolve = 1;
      r->filter.resolve_at_end |= !(c->provides & forms);
    }
  }
  unfiltered = unfiltered && !filtered;
  r->filter.when = r->set.filter.when == FILTER_WHEN_AUTO ? s->filter_when : r->set.filter.when - 1;
  if (r->set.filter.when == FILTER_WHEN_AUTO && unfiltered && s->filter_when == LOOM_FILTER_EVERY)
    r->filter.when = LOOM_FILTER_ADVICE;
  r->filter.bound = r->set.filter.bound != FILTER_BOUND_AUTO ? r->set.filter.bound
                    : needs_bound                            ? FILTER_BOUND_GLOBAL
                                                             : FILTER_BOUND_NONE;
  r->filter.line_search = r->set.filter.line_search == LINE_AUTO
                              ? (s->needs & LOOM_NEEDS_LINE_SEARCH) != 0
                              : r->set.filter.line_search == LINE_ON;
  r->filter.beyond = r->filter.bound == FILTER_BOUND_GLOBAL &&
                     r->filter.when == LOOM_FILTER_ADVICE &&
                     (r->set.filter.go_on == FILTER_GO_TRIAL ||
                      (r->set.filter.go_on == FILTER_GO_AUTO && unfiltered));
  r->uses_gradient = (s->needs & LOOM_USES_GRADIENT) != 0;
  r->filter.moves = r->filter.bound != FILTER_BOUND_NONE &&
                    (scene_pins_move(r->scene) || scene_bodies_move(r->scene));
}

/* ---- what the step calls ------------------------------------------------------------------ */

loom_status filter_trial(run *r, const loom_iterate *it, filter_result *out)
{
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  const int beyond = r->filter.beyond && r->st.progress >= 1.0;
  /* the filter at the end of the step is enough for the last iteration */
  const int last = beyond && r->st.iter + 1 >= r->set.stop.max_iters;
  const int asked = it->filter != 0 || r->filter.asked;
  const int due = r->filter.when == LOOM_FILTER_EVERY || r->st.progress < 1.0 ||
                  (r->filter.when == LOOM_FILTER_ADVICE && asked && !last);
  const int bounded = due && r->filter.bound != FILTER_BOUND_NONE;
  const int bound_first = bounded && r->filter.line_search && r->filter.when == LOOM_FILTER_EVERY &&
                          r->filter.bound == FILTER_BOUND_GLOBAL;
  *out = (filter_result){.alpha = 1.0, .toi = 1.0, .filtered = due};

  if (due) r->filter.asked = 0;
  r->filter.certified = r->filter.cut = 0;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  if (ops->trial == LOOM_TRIAL_POINT) /* dx is the trial, see state.h */
    LOOM_TRY(la_axpby(r->m, &r->exec, -1.0, r->buf.x_before, 1.0, r->buf.dx));
  LOOM_TRY(problem_zero_fixed(r, r->buf.dx));
  LOOM_TRY(la_waxpby(r->m, &r->exec, 1.0, r->buf.x_before, 1.0, r->buf.dx, r->st.x));

  if (bound_first) {
    LOOM_TRY(ask_bound(r, r->buf.x_before, r->st.x, r->st.progress, &out->toi));
    out->alpha = out->toi;
  }
  if (r->filter.line_search) LOOM_TRY(line_search(r, &out->alpha));
  out->stalled = out->alpha == 0.0;
  if (bounded && beyond) {
    LOOM_TRY(lead_feasible(r, &out->toi));
  } else if (bounded && !bound_first) {
    LOOM_TRY(apply_bound(r, &out->toi));
    out->alpha *= out->toi;
  }
  if (due && !r->filter.resolve_at_end) LOOM_TRY(resolve_all(r, 0, &out->resolved));
  if (bounded) ++r->st.filters;
  if (bounded && !beyond) {
    r->filter.certified = 1;
    LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  }
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

loom_status filter_repair(run *r, filter_result *out)
{
  uint32_t changed;
  *out = (filter_result){.alpha = 1.0, .toi = 1.0, .filtered = 1};
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  LOOM_TRY(lead_feasible(r, &out->toi));
  ++r->st.filters;
  if (!r->filter.certified) {
    LOOM_TRY(detect_all(r, &changed));
    LOOM_TRY(detect_announce(r, changed));
    LOOM_TRY(resolve_all(r, 1, &out->resolved));
    LOOM_TRY(problem_restore_fixed(r, r->st.x));
  }
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

loom_status filter_final(run *r, filter_result *out)
{
  const int pending =
      r->filter.when != LOOM_FILTER_EVERY && !(r->filter.beyond && r->filter.certified);
  *out = (filter_result){.alpha = 1.0, .toi = 1.0};
  if (!(pending && r->filter.bound != FILTER_BOUND_NONE) &&
      !(r->filter.has_resolve && (pending || r->filter.resolve_at_end)))
    return LOOM_OK;
  out->filtered = 1;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  if (r->filter.bound != FILTER_BOUND_NONE) {
    LOOM_TRY(apply_bound(r, &out->toi));
    out->alpha = out->toi;
  }
  if (r->filter.has_resolve) LOOM_TRY(resolve_all(r, 0, &out->resolved));
  LOOM_TRY(problem_restore_fixed(r, r->st.x));
  if (r->filter.bound != FILTER_BOUND_NONE)
    LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

loom_status filter_guess(run *r)
{
  double toi = 1.0;
  LOOM_TRY(problem_restore_fixed(r, r->st.trial));
  r->filter.asked = r->filter.certified = 0;
  if (r->filter.bound == FILTER_BOUND_NONE) return buf_copy(r->m, &r->exec, r->st.x, r->st.trial);
  LOOM_TRY(ask_bound(r, r->st.x_start, r->st.trial, 1.0, &toi));
  r->st.filters = 1;
  loom_buf *const t =
      r->filter.bound == FILTER_BOUND_VERTEX && !r->filter.moves ? r->buf.t_vertex : NULL;
  LOOM_TRY(blend(r, r->st.x_start, r->st.trial, toi, t, r->st.x));
  if (r->filter.moves) r->st.progress = toi;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  r->filter.certified = !r->filter.beyond || toi >= 1.0 || r->filter.moves;
  return r->filter.certified ? LOOM_OK : buf_copy(r->m, &r->exec, r->st.x, r->st.trial);
}

loom_status filter_advance(run *r, int *moved)
{
  double toi = 1.0;
  *moved = r->st.progress < 1.0;
  if (!*moved) return LOOM_OK;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.target, r->st.x));
  LOOM_TRY(problem_restore_fixed(r, r->buf.target));
  LOOM_TRY(ask_bound(r, r->st.x, r->buf.target, 1.0, &toi));
  if (toi < 1.0) toi *= ADVANCE;
  LOOM_TRY(blend(r, r->st.x_feas, r->buf.target, toi, NULL, r->st.x));
  r->st.progress = toi >= 1.0 ? 1.0 : r->st.progress + toi * (1.0 - r->st.progress);
  ++r->st.filters;
  return buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x);
}
