/* correction.c - see correction.h. */
#include "correction.h"

#include <math.h>

#include "correction.kern.h"

static const lk_entry k_target = LK_ENTRY_MOVES(correction_target, 12, 0);

enum {
  MAX_CG = 1000,
  MAX_HALVINGS = 40,
  /* Newton iterations between two moves of bodies: a move takes half of a gap, and one iteration
   * at most doubles it. */
  ON_THE_WAY = 3,
  /* Times that friction takes its normal forces anew at most. */
  MAX_LAGS = 8
};
/* Armijo's constant (J. Nocedal, S. Wright, Numerical Optimization, 2nd ed., eq. 3.4) */
static const double sufficient_decrease = 1e-4;

/* ---- life ---- */

loom_status correction_new(correction *c, const loom_host *host, const loom_exec *e)
{
  const plug_buf all[] = {{"correction, x_hat", LOOM_REAL, 0, &c->hat},
                          {"correction, target", LOOM_REAL, 0, &c->target},
                          {"correction, gradient", LOOM_REAL, 0, &c->grad},
                          {"correction, residual", LOOM_REAL, 0, &c->r},
                          {"correction, direction", LOOM_REAL, 0, &c->d},
                          {"correction, direction of an island", LOOM_REAL, 0, &c->one},
                          {"correction, before", LOOM_REAL, 0, &c->y},
                          {"correction, weight", LOOM_REAL, 0, &c->weight}};
  c->host = host;
  c->e = e;
  correction_begin(c);
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

void correction_begin(correction *c)
{
  c->report = (correction_report){.alpha = NAN, .moved = NAN};
  c->num = 0;
}

/* Takes memory on the first call, so that only runs that split their steps have it. */
static loom_status allocate_correction(correction *c, int32_t n)
{
  loom_buf *const all[] = {c->hat, c->target, c->grad, c->r, c->d, c->y};
  if (c->cg.host != NULL) return LOOM_OK;
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(c->host->buf_resize(c->host, all[i], 3 * (int64_t)n));
  LOOM_TRY(krylov_bsr3_new(&c->matrix, c->host, c->e, n));
  return krylov_cg_new(&c->cg, c->host, c->e, n, MAX_CG);
}

/* ---- directions ---- */

/* to = H^-1 r; *A is H. */
static loom_status solve_correction(correction *c, const correction_settings *set,
                                    const loom_step *s, const krylov_system *A, loom_buf *to)
{
  const loom_host *const host = c->host;
  const krylov_forcing f = {.eta_min = set->cg, .eta_max = set->cg};
  krylov_result out;
  plug_maps m = plug_maps_on(host, c->e);
  lk_real *const r = plug_rdwr(&m, c->r), *const d = plug_write(&m, to);
  LOOM_TRY(m.status);
  LOOM_TRY(krylov_cg_solve(&c->cg, s, A, r, d, &f, &out));
  LOOM_TRY(plug_unbind(&m));
  host->count(host, LOOM_C_SPMV, out.products);
  c->report.cg += out.iters;
  LOOM_CHECK(host, isfinite(out.rho0), LOOM_E_NUMERIC,
             "the gradient of the correction is not finite (g'P^-1 g = %g); try a smaller dt",
             out.rho0);
  return LOOM_OK;
}

/* Islands cannot touch, so H is block-diagonal over them: a tolerance of the whole scene would let
 * one decide how well the others are solved.  An island that is done stays where it is. */
static loom_status solve_correction_islands(correction *c, const correction_settings *set,
                                            const loom_step *s, const krylov_system *A)
{
  const loom_host *const host = c->host;
  LOOM_TRY(host->buf_resize(host, c->one, host->buf_count(host, c->d)));
  LOOM_TRY(host->fill(host, c->e, c->d, 0.0));
  for (int32_t k = 0; k < c->num; ++k) {
    double only[LOOM_ISLANDS_MOST] = {0.0};
    if (c->done[k]) continue;
    only[k] = -1.0;
    LOOM_TRY(host->axpby_islands(host, c->e, only, c->grad, 0.0, c->r));
    LOOM_TRY(solve_correction(c, set, s, A, c->one));
    LOOM_TRY(host->norm_max3(host, c->e, c->one, &c->length[k]));
    LOOM_TRY(host->axpby(host, c->e, 1.0, c->one, 1.0, c->d));
  }
  return LOOM_OK;
}

/* d = -H^-1 grad, and its length in each island */
static loom_status compute_correction_direction(correction *c, const correction_settings *set,
                                                const loom_step *s, const loom_problem *p,
                                                loom_buf *x)
{
  const loom_host *const host = c->host;
  const loom_bsr3 *H = NULL;
  krylov_system A;
  LOOM_TRY(host->hessian(host, p, x, LOOM_HESS_PSD_CLAMP, &H));
  LOOM_TRY(krylov_bsr3_open(&c->matrix, H, &A));
  if (c->num > 1) {
    LOOM_TRY(solve_correction_islands(c, set, s, &A));
  } else {
    LOOM_TRY(host->axpby(host, c->e, -1.0, c->grad, 0.0, c->r));
    LOOM_TRY(solve_correction(c, set, s, &A, c->d));
    LOOM_TRY(host->norm_max3(host, c->e, c->d, &c->length[0]));
  }
  return krylov_bsr3_close(&c->matrix);
}

/* Asks for the islands at x.  Those that have merged begin anew. */
static loom_status update_islands(correction *c)
{
  loom_islands at;
  LOOM_TRY(c->host->islands(c->host, &at));
  if (at.num == c->num) return LOOM_OK;
  double most = 0.0;
  for (int32_t k = 0; k < c->num; ++k) most = fmax(most, c->length[k]);
  c->num = at.num;
  for (int32_t k = 0; k < at.num; ++k) {
    c->done[k] = 0;
    c->length[k] = most;
  }
  return LOOM_OK;
}

/* ---- one Newton iteration ---- */

enum { ALL = -1 }; /* islands */

/* x = before + alpha d, of one island or of all */
static loom_status compute_trial_point(correction *c, loom_buf *x, int32_t island, double alpha)
{
  double only[LOOM_ISLANDS_MOST] = {0.0};
  LOOM_TRY(c->host->buf_copy(c->host, c->e, x, c->y));
  if (island == ALL || c->num == 1) return c->host->axpby(c->host, c->e, alpha, c->d, 1.0, x);
  only[island] = alpha;
  return c->host->axpby_islands(c->host, c->e, only, c->d, 1.0, x);
}

/* *share: largest share of d from c->y to x without a collision. */
static loom_status bound_trial_share(correction *c, const loom_step *s, loom_buf *x, double *share)
{
  loom_bound b = {.struct_size = sizeof b,
                  .t_global = 1.0,
                  .progress0 = s->progress,
                  .progress1 = s->progress,
                  .blocker = -1};
  LOOM_TRY(c->host->max_step(c->host, c->y, x, &b));
  *share = b.t_global;
  return LOOM_OK;
}

/* The share of each island: alone, with all others at rest, where d as a whole meets a collision.
 * All points on the way lie in the boxes of the islands. */
static loom_status bound_island_shares(correction *c, const loom_step *s, loom_buf *x,
                                       double *share)
{
  double whole;
  LOOM_TRY(compute_trial_point(c, x, ALL, 1.0));
  LOOM_TRY(update_islands(c));
  LOOM_TRY(bound_trial_share(c, s, x, &whole));
  for (int32_t k = 0; k < c->num; ++k) {
    share[k] = whole;
    if (whole >= 1.0 || c->num == 1 || c->done[k]) continue;
    LOOM_TRY(compute_trial_point(c, x, k, 1.0));
    LOOM_TRY(bound_trial_share(c, s, x, &share[k]));
  }
  return LOOM_OK;
}

/* x = before + alpha d in one island, with alpha <= share and an energy that falls; *alpha = 0:
 * there is none. */
static loom_status search_island_step(correction *c, const loom_problem *p, loom_buf *x,
                                      int32_t island, double energy, double share, double *alpha)
{
  *alpha = share;
  for (int k = 0; k<MAX_HALVINGS && * alpha> 0.0; ++k, *alpha *= 0.5) {
    loom_energies e = {0};
    LOOM_TRY(compute_trial_point(c, x, island, *alpha));
    const loom_status st = c->host->eval(c->host, p, x, LOOM_EVAL_ENERGY, &e, NULL);
    if (st < LOOM_OK) return st;
    /* near the minimum the fall drowns in the rounding of the sum */
    const double noise = 1e-14 * fabs(energy);
    if (st == LOOM_OK &&
        e.total <= energy + sufficient_decrease * *alpha * c->slope[island] + noise)
      return LOOM_OK;
  }
  *alpha = 0.0;
  return LOOM_OK;
}

/* x = before + alpha d, alpha of each island */
static loom_status apply_island_steps(correction *c, loom_buf *x, const double *alpha)
{
  if (c->num == 1) return alpha[0] > 0.0 ? LOOM_OK : c->host->buf_copy(c->host, c->e, x, c->y);
  LOOM_TRY(c->host->buf_copy(c->host, c->e, x, c->y));
  return c->host->axpby_islands(c->host, c->e, alpha, c->d, 1.0, x);
}

/* One Newton iteration.  *done: x is within the tolerance, or no step lowers the energy, in every
 * island. */
static loom_status run_newton_iteration(correction *c, const correction_settings *set,
                                        const loom_step *s, const loom_problem *p, loom_buf *x,
                                        int *done)
{
  const loom_host *const host = c->host;
  loom_energies e = {0};
  double share[LOOM_ISLANDS_MOST] = {0.0}, alpha[LOOM_ISLANDS_MOST] = {0.0};
  LOOM_TRY(update_islands(c));
  LOOM_TRY(host->eval(host, p, x, LOOM_EVAL_ENERGY | LOOM_EVAL_GRADIENT, &e, c->grad));
  LOOM_TRY(compute_correction_direction(c, set, s, p, x));
  LOOM_TRY(host->buf_copy(host, c->e, c->y, x));
  LOOM_TRY(bound_island_shares(c, s, x, share));
  LOOM_TRY(host->dot_islands(host, c->e, c->grad, c->d, c->slope));
  ++c->report.newton;
  *done = 1;
  for (int32_t k = 0; k < c->num; ++k) {
    if (c->done[k]) continue;
    LOOM_TRY(search_island_step(c, p, x, k, e.total, share[k], &alpha[k]));
    c->report.alpha = fmin(c->report.alpha, alpha[k]); /* fmin skips NaN */
    c->done[k] = alpha[k] == 0.0 || c->length[k] <= set->tolerance * s->h;
    c->report.capped |= alpha[k] == 0.0 && c->length[k] > set->tolerance * s->h;
    *done &= c->done[k];
  }
  return apply_island_steps(c, x, alpha);
}

/* ---- the proximal kind ---- */

loom_status correction_weigh(correction *c, const loom_scene *sc, const loom_step *s)
{
  const loom_host *const host = c->host;
  loom_problem p = *s->problem;
  if (c->weighed) return LOOM_OK;
  LOOM_TRY(allocate_correction(c, sc->num_verts));
  LOOM_TRY(host->buf_resize(host, c->weight, 3 * (int64_t)sc->num_verts));
  p.terms = LOOM_TERM_INERTIA;
  p.metric = LOOM_METRIC_DIAGONAL;
  LOOM_TRY(host->fill(host, c->e, c->d, 1.0));
  LOOM_TRY(host->hess_apply(host, &p, s->x_start, LOOM_HESS_EXACT, c->d, c->weight));
  c->weighed = 1;
  return LOOM_OK;
}

/* target = x_hat - W^-1 grad of all but contact there */
static loom_status compute_descent_target(correction *c, const loom_problem *own, int32_t n)
{
  const loom_host *const host = c->host;
  loom_problem smooth = *own;
  smooth.terms &= ~(uint32_t)LOOM_TERM_CONTACT;
  LOOM_TRY(host->eval(host, &smooth, c->hat, LOOM_EVAL_GRADIENT, NULL, c->grad));
  plug_maps m = plug_maps_on(host, c->e);
  const correction_target_args a = {.hat = plug_read(&m, c->hat),
                                    .grad = plug_read(&m, c->grad),
                                    .weight = plug_read(&m, c->weight),
                                    .target = plug_write(&m, c->target)};
  return plug_launch(&m, &k_target, &a, n, NULL);
}

/* ---- resolve() ---- */

static loom_status iterate_correction(correction *c, const correction_settings *set,
                                      const correction_friction *f, const loom_step *s,
                                      const loom_problem *p, loom_buf *x)
{
  const int arrived = s->progress >= 1.0;
  const int64_t most = arrived ? set->iters : ON_THE_WAY;
  int done = 0, again = arrived && f->relag != NULL;
  int64_t k = 0;
  for (int lags = 0; lags <= MAX_LAGS; ++lags) {
    for (int32_t i = 0; i < LOOM_ISLANDS_MOST; ++i) c->done[i] = 0;
    for (done = 0; k < most && !done; ++k) LOOM_TRY(run_newton_iteration(c, set, s, p, x, &done));
    if (!again || k == most || lags == MAX_LAGS) break;
    LOOM_TRY(f->relag(f->self, s, x, &again));
    if (!again) break;
  }
  c->report.capped |= !done && arrived;
  return LOOM_OK;
}

static loom_status largest_way(correction *c, loom_buf *x, double *way)
{
  LOOM_TRY(c->host->buf_copy(c->host, c->e, c->y, x));
  LOOM_TRY(c->host->axpby(c->host, c->e, -1.0, c->hat, 1.0, c->y));
  return c->host->norm_max3(c->host, c->e, c->y, way);
}

loom_status correction_resolve(correction *c, const loom_scene *sc, const correction_settings *set,
                               const correction_friction *f, const loom_step *s, loom_buf *x_start,
                               loom_buf *x)
{
  loom_problem p = *s->problem;
  LOOM_TRY(allocate_correction(c, sc->num_verts));
  p.terms = LOOM_TERM_INERTIA | LOOM_TERM_CONTACT;
  p.target = c->hat;
  p.contact = LOOM_CONTACT_LIVE;
  LOOM_TRY(c->host->buf_copy(c->host, c->e, c->hat, x));
  if (set->kind == CORRECTION_PROXIMAL) {
    p.target = c->target;
    p.metric = LOOM_METRIC_DIAGONAL;
    LOOM_TRY(correction_weigh(c, sc, s));
    LOOM_TRY(compute_descent_target(c, s->problem, sc->num_verts));
  }
  LOOM_TRY(c->host->buf_copy(c->host, c->e, x, x_start));
  c->host->tic(c->host, "correction");
  LOOM_TRY(iterate_correction(c, set, f, s, &p, x));
  c->host->toc(c->host, "correction");
  return largest_way(c, x, &c->report.moved);
}
