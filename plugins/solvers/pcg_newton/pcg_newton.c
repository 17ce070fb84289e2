/* pcg_newton.c - inexact Newton with preconditioned conjugate gradients, for large meshes.
 *
 * Each iteration solves H(x) d = -grad E(x) to a relative tolerance eta and lets the core
 * search a step length for which E falls.  H is assembled by the core; the linear solver
 * (kit/krylov.h, block Jacobi, a block of 12 rows for each affine body) keeps all vectors where the
 * instance runs.  Treatments of H:
 *   exact  the true Hessian; on negative curvature the direction found so far is taken
 *          (J. Nocedal, S. Wright, Numerical Optimization, 2nd ed., algorithm 7.1)
 *   clamp  negative eigenvalues of each block become zero (J. Teran, E. Sifakis, G. Irving,
 *          R. Fedkiw, Robust Quasistatic Finite Elements and Flesh Simulation, SCA 2005, section 6)
 *   abs    negative eigenvalues change sign (H. Chen et al., Stabler Neo-Hookean Simulation,
 *          SIGGRAPH 2024)
 */
#include <math.h>

#include "kit/krylov_bsr3.h"
#include "kit/newton_damping.h"

enum { HESSIAN_EXACT = 0, HESSIAN_CLAMP = 1, HESSIAN_ABS = 2 };
enum { FORCING_FIXED = 0, FORCING_EISENSTAT_WALKER = 1 };
enum { COL_ETA = 0, COL_STOP = 1, COL_DAMPING = 2 };

typedef struct {
  int32_t hessian;
  int32_t forcing;
  double tolerance;
  double eta_max;
  double gamma;
  int64_t max_inner;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_ENUM(settings, hessian, HESSIAN_EXACT, "exact|clamp|abs",
                    "Negative eigenvalues of element and contact blocks: kept (the linear solve "
                    "ends at negative curvature with the direction it has), clamped to zero, or "
                    "replaced by their absolute value."),
    LOOM_PARAM_ENUM(settings, forcing, FORCING_EISENSTAT_WALKER, "fixed|eisenstat_walker",
                    "Relative tolerance of the linear solve: the same in all iterations, or "
                    "from the fall of the gradient (Eisenstat and Walker 1996, choice 2)."),
    LOOM_PARAM_REAL(settings, tolerance, 1e-6, 1e-14, 1.0, "1",
                    "Relative tolerance in the preconditioned norm: the one of forcing = fixed, "
                    "the least of eisenstat_walker."),
    LOOM_PARAM_REAL(settings, eta_max, 0.01, 1e-14, 1.0, "1",
                    "Largest and first relative tolerance of eisenstat_walker."),
    LOOM_PARAM_REAL(settings, gamma, 0.9, 1e-6, 1.0, "1",
                    "Factor of eisenstat_walker: eta = gamma (|g| / |g before|)^2."),
    LOOM_PARAM_INT(settings, max_inner, 2000, 1, 1000000, "1",
                   "Iterations after which a linear solve ends with its present solution."),
};

static const loom_column columns[] = {
    {"eta", "1", "relative tolerance asked of the linear solve"},
    {"cg_stop", "1",
     "why the linear solve ended: 1 tolerance, 2 negative curvature, 3 max_inner, 4 breakdown"},
    {"damping", "1",
     "least share of the direction that was offered to the line search, of all islands"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  krylov_cg cg;
  krylov_bsr3 matrix;
  loom_buf *r; /* real [n][3], N, residual of the linear solve */
  loom_buf *d; /* real [n][3], m, direction of one island; NULL: there was one island so far */
  newton_damping damping;
  int32_t num; /* islands (loom_islands) that the next two belong to; 0: a step begins */
  /* of the step's last solve, for the forcing term; rho 0: none */
  double eta[LOOM_ISLANDS_MOST], rho[LOOM_ISLANDS_MOST];
} pcg_newton;

static loom_status pcg_newton_create(const loom_host *host, const loom_scene *sc,
                                     const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(pcg_newton), self));
  pcg_newton *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  LOOM_TRY(newton_damping_open(&s->damping, host, e, sc->num_verts));
  LOOM_TRY(host->buf_new(host, "r", LOOM_REAL, 3 * (int64_t)sc->num_verts, &s->r));
  LOOM_TRY(krylov_bsr3_new(&s->matrix, host, e, sc->num_verts));
  LOOM_TRY(krylov_bsr3_bodies(&s->matrix, sc));
  return krylov_cg_new(&s->cg, host, e, sc->num_verts, (int32_t)s->set.max_inner);
}

static loom_status pcg_newton_begin_step(void *self, const loom_step *st)
{
  pcg_newton *s = self;
  (void)st;
  s->num = 0;
  newton_damping_begin(&s->damping);
  return LOOM_OK;
}

static krylov_forcing island_forcing(const pcg_newton *s, int32_t island)
{
  krylov_forcing f = {.eta_min = s->set.tolerance,
                      .eta_max = s->set.tolerance,
                      .gamma = s->set.gamma,
                      .eta_before = s->eta[island],
                      .rho_before = s->rho[island]};
  if (s->set.forcing == FORCING_EISENSTAT_WALKER) f.eta_max = fmax(s->set.eta_max, f.eta_min);
  return f;
}

/* d with H d = r, one island's part of -grad: rows of the others stay zero. */
static loom_status solve_island(pcg_newton *s, const loom_step *st, const krylov_system *A,
                                int32_t island, loom_buf *to, krylov_result *out)
{
  const loom_host *const host = s->host;
  const krylov_forcing f = island_forcing(s, island);
  plug_maps m = plug_maps_on(host, s->e);
  lk_real *const r = plug_rdwr(&m, s->r), *const d = plug_write(&m, to);
  LOOM_TRY(m.status);
  LOOM_TRY(krylov_cg_solve(&s->cg, st, A, r, d, &f, out));
  LOOM_TRY(plug_unbind(&m));
  s->eta[island] = out->eta;
  s->rho[island] = out->rho0;
  LOOM_CHECK(host, isfinite(out->rho0) && out->rho0 >= 0.0, LOOM_E_NUMERIC,
             "the gradient or the diagonal of the Hessian is not finite (g'P^-1 g = %g): look for "
             "collapsed elements, or try a smaller dt",
             out->rho0);
  return LOOM_OK;
}

/* Sums of work, and the worst of the rest. */
static void add_result(krylov_result *all, const krylov_result *one)
{
  all->stop = one->stop > all->stop ? one->stop : all->stop;
  all->iters += one->iters;
  all->products += one->products;
  all->eta = fmax(all->eta, one->eta);
  all->residual = fmax(all->residual, one->residual);
  all->decrement += one->decrement;
}

/* Islands cannot touch, so H is block-diagonal over them.  One solve for all would end where the
 * norm of the whole scene is small, and one island's tolerance would depend on the others. */
static loom_status solve_newton_islands(pcg_newton *s, const loom_step *st, const krylov_system *A,
                                        int32_t num, krylov_result *out)
{
  const loom_host *const host = s->host;
  if (s->d == NULL)
    LOOM_TRY(
        host->buf_new(host, "d of an island", LOOM_REAL, 3 * (int64_t)s->sc->num_verts, &s->d));
  *out = (krylov_result){0};
  for (int32_t k = 0; k < num; ++k) {
    double only[LOOM_ISLANDS_MOST] = {0.0};
    krylov_result one;
    only[k] = -1.0;
    LOOM_TRY(host->axpby_islands(host, s->e, only, st->grad, 0.0, s->r));
    LOOM_TRY(solve_island(s, st, A, k, k == 0 ? st->trial : s->d, &one));
    if (k > 0) LOOM_TRY(host->axpby(host, s->e, 1.0, s->d, 1.0, st->trial));
    add_result(out, &one);
  }
  return LOOM_OK;
}

/* trial = d with H d = -grad */
static loom_status solve_newton_direction(pcg_newton *s, const loom_step *st, const loom_bsr3 *H,
                                          krylov_result *out)
{
  const loom_host *const host = s->host;
  loom_islands at;
  krylov_system A;
  LOOM_TRY(host->islands(host, &at));
  for (int32_t k = 0; s->num != at.num && k < at.num; ++k) s->eta[k] = s->rho[k] = 0.0;
  s->num = at.num;
  LOOM_TRY(krylov_bsr3_open(&s->matrix, H, &A));
  if (at.num > 1) {
    LOOM_TRY(solve_newton_islands(s, st, &A, at.num, out));
  } else {
    LOOM_TRY(host->axpby(host, s->e, -1.0, st->grad, 0.0, s->r));
    LOOM_TRY(solve_island(s, st, &A, 0, st->trial, out));
  }
  LOOM_TRY(krylov_bsr3_close(&s->matrix));
  host->count(host, LOOM_C_SPMV, out->products);
  return LOOM_OK;
}

static loom_status pcg_newton_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  static const int how[] = {LOOM_HESS_EXACT, LOOM_HESS_PSD_CLAMP, LOOM_HESS_PSD_ABS};
  pcg_newton *s = self;
  const loom_host *const host = s->host;
  const loom_bsr3 *H;
  krylov_result r;
  host->tic(host, "assemble");
  LOOM_TRY(host->hessian(host, st->problem, st->x, how[s->set.hessian], &H));
  host->toc(host, "assemble");
  host->tic(host, "solve");
  LOOM_TRY(solve_newton_direction(s, st, H, &r));
  host->toc(host, "solve");
  LOOM_TRY(newton_damping_apply(&s->damping, st));
  it->inner_iters = r.iters;
  it->inner_res = r.residual;
  it->inner_norm = LOOM_NORM_PRECONDITIONED;
  it->own_res = sqrt(fmax(r.decrement, 0.0));
  it->extra[COL_ETA] = r.eta;
  it->extra[COL_STOP] = (double)r.stop;
  it->extra[COL_DAMPING] = s->damping.least;
  return LOOM_OK;
}

/* The forcing term starts anew in every step, so no state carries over and there is no
 * checkpoint(). */
static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN |
             LOOM_NEED_CONTACT_ENERGY | LOOM_NEED_CONTACT_GRADIENT | LOOM_NEED_CONTACT_HESSIAN |
             LOOM_USES_GRADIENT | LOOM_NEEDS_LINE_SEARCH,
    .trial = LOOM_TRIAL_DIRECTION,
    .filter_when = LOOM_FILTER_EVERY,
    .create = pcg_newton_create,
    .destroy = plug_free,
    .begin_step = pcg_newton_begin_step,
    .iterate = pcg_newton_iterate,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "pcg_newton",
    .version = "0.1.0",
    .summary = "inexact Newton with block-Jacobi preconditioned conjugate gradients",
    .reference = "S. Eisenstat, H. Walker, Choosing the Forcing Terms in an Inexact Newton Method, "
                 "SIAM J. Sci. Comput. 17(1), 1996, doi 10.1137/0917003",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
