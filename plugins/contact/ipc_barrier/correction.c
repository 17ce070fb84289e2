/* correction.c - see correction.h. */
#include "correction.h"

#include <math.h>

#include "correction.kern.h"

static const lk_entry k_target = LK_ENTRY(correction_target);

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
static const double SUFFICIENT = 1e-4;

/* ---- life ---- */

loom_status correction_new(correction *c, const loom_host *h, const loom_exec *e)
{
  const plug_buf all[] = {{"correction, x_hat", LOOM_REAL, 0, &c->hat},
                          {"correction, target", LOOM_REAL, 0, &c->target},
                          {"correction, gradient", LOOM_REAL, 0, &c->grad},
                          {"correction, residual", LOOM_REAL, 0, &c->r},
                          {"correction, direction", LOOM_REAL, 0, &c->d},
                          {"correction, trial", LOOM_REAL, 0, &c->y},
                          {"correction, weight", LOOM_REAL, 0, &c->weight}};
  c->h = h;
  c->e = e;
  correction_begin(c);
  return plug_bufs_new(h, all, LOOM_COUNT(all));
}

void correction_begin(correction *c)
{
  c->report = (correction_report){.alpha = NAN, .moved = NAN};
}

/* Takes memory on the first call, so that only runs that split their steps have it. */
static loom_status prepare(correction *c, int32_t n)
{
  loom_buf *const all[] = {c->hat, c->target, c->grad, c->r, c->d, c->y};
  if (c->cg.h != NULL) return LOOM_OK;
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(c->h->buf_resize(c->h, all[i], 3 * (int64_t)n));
  LOOM_TRY(krylov_bsr3_new(&c->matrix, c->h, c->e, n));
  return krylov_cg_new(&c->cg, c->h, c->e, n, MAX_CG);
}

/* ---- one Newton iteration ---- */

/* d = -H^-1 grad */
static loom_status direction(correction *c, const correction_settings *set, const loom_step *s,
                             const loom_problem *p, loom_buf *x)
{
  const loom_host *const h = c->h;
  const krylov_forcing f = {.eta_min = set->cg, .eta_max = set->cg};
  const loom_bsr3 *H = NULL;
  krylov_system A;
  krylov_result out;
  LOOM_TRY(h->hessian(h, p, x, LOOM_HESS_PSD_CLAMP, &H));
  LOOM_TRY(h->axpby(h, c->e, -1.0, c->grad, 0.0, c->r));
  LOOM_TRY(krylov_bsr3_open(&c->matrix, H, &A));
  plug_maps m = plug_maps_on(h, c->e);
  lk_real *const r = plug_rdwr(&m, c->r), *const d = plug_write(&m, c->d);
  LOOM_TRY(m.status);
  LOOM_TRY(krylov_cg_solve(&c->cg, s, &A, r, d, &f, &out));
  LOOM_TRY(plug_unbind(&m));
  LOOM_TRY(krylov_bsr3_close(&c->matrix));
  h->count(h, LOOM_C_SPMV, out.products);
  c->report.cg += out.iters;
  LOOM_CHECK(h, isfinite(out.rho0), LOOM_E_NUMERIC,
             "the gradient of the correction is not finite (g'P^-1 g = %g); try a smaller dt",
             out.rho0);
  return LOOM_OK;
}

/* y = x + alpha d */
static loom_status point(correction *c, loom_buf *x, double alpha)
{
  LOOM_TRY(c->h->buf_copy(c->h, c->e, c->y, x));
  return c->h->axpby(c->h, c->e, alpha, c->d, 1.0, c->y);
}

/* *share: largest share of d without a collision. */
static loom_status bound(correction *c, const loom_step *s, loom_buf *x, double *share)
{
  loom_bound b = {.struct_size = sizeof b,
                  .t_global = 1.0,
                  .progress0 = s->progress,
                  .progress1 = s->progress,
                  .blocker = -1};
  LOOM_TRY(point(c, x, 1.0));
  LOOM_TRY(c->h->max_step(c->h, x, c->y, &b));
  *share = b.t_global;
  return LOOM_OK;
}

/* x += alpha d, with alpha <= share and an energy that falls; *alpha = 0: there is none. */
static loom_status search(correction *c, const loom_problem *p, loom_buf *x, double energy,
                          double share, double *alpha)
{
  double slope;
  LOOM_TRY(c->h->dot(c->h, c->e, c->grad, c->d, &slope));
  *alpha = share;
  for (int k = 0; k<MAX_HALVINGS && * alpha> 0.0; ++k, *alpha *= 0.5) {
    loom_energies e = {0};
    LOOM_TRY(point(c, x, *alpha));
    const loom_status st = c->h->eval(c->h, p, c->y, LOOM_EVAL_ENERGY, &e, NULL);
    if (st < LOOM_OK) return st;
    /* near the minimum the fall drowns in the rounding of the sum */
    const double noise = 1e-14 * fabs(energy);
    if (st != LOOM_OK || !(e.total <= energy + SUFFICIENT * *alpha * slope + noise)) continue;
    return c->h->buf_copy(c->h, c->e, x, c->y);
  }
  *alpha = 0.0;
  return LOOM_OK;
}

/* One Newton iteration.  *done: x is within the tolerance, or no step lowers the energy. */
static loom_status newton(correction *c, const correction_settings *set, const loom_step *s,
                          const loom_problem *p, loom_buf *x, int *done)
{
  const loom_host *const h = c->h;
  loom_energies e = {0};
  double length, share, alpha;
  LOOM_TRY(h->eval(h, p, x, LOOM_EVAL_ENERGY | LOOM_EVAL_GRADIENT, &e, c->grad));
  LOOM_TRY(direction(c, set, s, p, x));
  LOOM_TRY(h->norm_max3(h, c->e, c->d, &length));
  LOOM_TRY(bound(c, s, x, &share));
  LOOM_TRY(search(c, p, x, e.total, share, &alpha));
  ++c->report.newton;
  c->report.alpha = fmin(c->report.alpha, alpha); /* fmin skips NaN */
  *done = alpha == 0.0 || length <= set->tolerance * s->h;
  c->report.capped |= alpha == 0.0 && length > set->tolerance * s->h;
  return LOOM_OK;
}

/* ---- the proximal kind ---- */

loom_status correction_weigh(correction *c, const loom_scene *sc, const loom_step *s)
{
  const loom_host *const h = c->h;
  loom_problem p = *s->problem;
  if (c->weighed) return LOOM_OK;
  LOOM_TRY(prepare(c, sc->num_verts));
  LOOM_TRY(h->buf_resize(h, c->weight, 3 * (int64_t)sc->num_verts));
  p.terms = LOOM_TERM_INERTIA;
  p.metric = LOOM_METRIC_DIAGONAL;
  LOOM_TRY(h->fill(h, c->e, c->d, 1.0));
  LOOM_TRY(h->hess_apply(h, &p, s->x_start, LOOM_HESS_EXACT, c->d, c->weight));
  c->weighed = 1;
  return LOOM_OK;
}

/* target = x_hat - W^-1 grad of all but contact there */
static loom_status descend(correction *c, const loom_problem *own, int32_t n)
{
  const loom_host *const h = c->h;
  loom_problem smooth = *own;
  smooth.terms &= ~(uint32_t)LOOM_TERM_CONTACT;
  LOOM_TRY(h->eval(h, &smooth, c->hat, LOOM_EVAL_GRADIENT, NULL, c->grad));
  plug_maps m = plug_maps_on(h, c->e);
  const correction_target_args a = {.hat = plug_read(&m, c->hat),
                                    .grad = plug_read(&m, c->grad),
                                    .weight = plug_read(&m, c->weight),
                                    .target = plug_write(&m, c->target)};
  return plug_launch(&m, &k_target, &a, n, NULL);
}

/* ---- resolve() ---- */

static loom_status iterate(correction *c, const correction_settings *set,
                           const correction_friction *f, const loom_step *s, const loom_problem *p,
                           loom_buf *x)
{
  const int arrived = s->progress >= 1.0;
  const int64_t most = arrived ? set->iters : ON_THE_WAY;
  int done = 0, again = arrived && f->relag != NULL;
  int64_t k = 0;
  for (int lags = 0; lags <= MAX_LAGS; ++lags) {
    for (done = 0; k < most && !done; ++k) LOOM_TRY(newton(c, set, s, p, x, &done));
    if (!again || k == most || lags == MAX_LAGS) break;
    LOOM_TRY(f->relag(f->self, s, x, &again));
    if (!again) break;
  }
  c->report.capped |= !done && arrived;
  return LOOM_OK;
}

static loom_status largest_way(correction *c, loom_buf *x, double *way)
{
  LOOM_TRY(c->h->buf_copy(c->h, c->e, c->y, x));
  LOOM_TRY(c->h->axpby(c->h, c->e, -1.0, c->hat, 1.0, c->y));
  return c->h->norm_max3(c->h, c->e, c->y, way);
}

loom_status correction_resolve(correction *c, const loom_scene *sc, const correction_settings *set,
                               const correction_friction *f, const loom_step *s, loom_buf *x_start,
                               loom_buf *x)
{
  loom_problem p = *s->problem;
  LOOM_TRY(prepare(c, sc->num_verts));
  p.terms = LOOM_TERM_INERTIA | LOOM_TERM_CONTACT;
  p.target = c->hat;
  p.contact = LOOM_CONTACT_LIVE;
  LOOM_TRY(c->h->buf_copy(c->h, c->e, c->hat, x));
  if (set->kind == CORRECTION_PROXIMAL) {
    p.target = c->target;
    p.metric = LOOM_METRIC_DIAGONAL;
    LOOM_TRY(correction_weigh(c, sc, s));
    LOOM_TRY(descend(c, s->problem, sc->num_verts));
  }
  LOOM_TRY(c->h->buf_copy(c->h, c->e, x, x_start));
  c->h->tic(c->h, "correction");
  LOOM_TRY(iterate(c, set, f, s, &p, x));
  c->h->toc(c->h, "correction");
  return largest_way(c, x, &c->report.moved);
}
