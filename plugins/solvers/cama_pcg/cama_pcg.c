/* cama_pcg.c - one linear system a step: implicit Euler with elements, contact and friction in one
 * matrix that is assembled in stages, solved by preconditioned conjugate gradients.
 *
 * M. Tang et al., CAMA: Contact-Aware Matrix Assembly with Unified Collision Handling for GPU-based
 * Cloth Simulation, Computer Graphics Forum 35(2), 2016, equation 1, section 4:
 *
 *   (M - h^2 K) v' = M v + h f      for the velocity v' at the end of the step
 *
 * with forces f and their derivative K at the start.  In loom's terms this is one iteration of
 * Newton's method from x_start without a line search, A d = -r(x_start), with A = M/h^2 - K and
 * d = h v'.  [stop] max_iters = 1 is the paper's method; with more, each iteration linearises again
 * where the last one ended.  Contact is linearised at the start of the step; the contact model or
 * the step bound removes intersections at its end.
 */
#include <math.h>

#include "cama_pcg.kern.h"
#include "kit/krylov_bsr3.h"
#include "system.h"

static const lk_entry k_linearise = LK_ENTRY_MOVES(cama_linearise, 6, 1);
static const lk_entry k_velocity = LK_ENTRY_MOVES(cama_velocity, 6, 1);

enum { PRECONDITIONER_JACOBI = 0, PRECONDITIONER_BLOCK_JACOBI = 1, PRECONDITIONER_NONE = 2 };
enum { HESSIAN_CLAMP = 0, HESSIAN_EXACT = 1 };
enum { LINEARISE_START = 0, LINEARISE_GUESS = 1 };
enum { COL_STOP = 0, COL_BLOCKS = 1 };

typedef struct {
  int32_t preconditioner;
  int32_t hessian;
  int32_t linearise;
  int32_t assembly;
  double tolerance;
  int64_t max_inner;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_ENUM(settings, preconditioner, PRECONDITIONER_JACOBI, "jacobi|block_jacobi|none",
                    "The diagonal, as in the paper, its 3x3 blocks, or plain conjugate gradients."),
    LOOM_PARAM_ENUM(settings, hessian, HESSIAN_CLAMP, "clamp|exact",
                    "Negative eigenvalues of element and contact blocks: clamped to zero, or kept; "
                    "kept, a matrix that is not definite is an error."),
    LOOM_PARAM_ENUM(settings, linearise, LINEARISE_START, "start|guess",
                    "Forces of the first iteration: at the start of the step, as in the paper, or "
                    "at the guess of [run] guess."),
    LOOM_PARAM_ENUM(settings, assembly, ASSEMBLY_STAGED, "staged|atomics|serial|triplets|entries",
                    "In stages, where rows gather; for comparison: elements add atomically, as in "
                    "the paper (other bits in every run), or on one thread; or all blocks, or all "
                    "numbers, are sorted in every step."),
    LOOM_PARAM_REAL(settings, tolerance, 1e-6, 1e-14, 1.0, "1",
                    "Residual of the linear system that is left, in parts of that at d = h v."),
    LOOM_PARAM_INT(settings, max_inner, 10000, 1, 1000000, "1",
                   "Iterations after which a linear solve ends with its present solution."),
};

static const loom_column columns[] = {
    {"cg_stop", "1", "why the linear solve ended: 1 tolerance, 3 max_inner, 4 breakdown"},
    {"blocks", "1", "3x3 blocks of the matrix"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  cama_system sys;
  krylov_cg cg;
  krylov_bsr3 matrix;
  loom_buf *r;     /* real [n][3], N, residual of the linear solve */
  loom_buf *first; /* real [n][3], m, where it begins */
  loom_buf *work;  /* real [n][3]; of several islands the right-hand side of all */
  loom_buf *d;     /* real [n][3], m, of one island; NULL: there was one island so far */
} cama_pcg;

static loom_status cama_pcg_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                   const void *set, void **self)
{
  static const int32_t kinds[] = {KRYLOV_JACOBI, KRYLOV_BLOCK_JACOBI, KRYLOV_PLAIN};
  const int64_t n3 = 3 * (int64_t)sc->num_verts;
  LOOM_TRY(plug_new(host, sizeof(cama_pcg), self));
  cama_pcg *const s = *self;
  const plug_buf all[] = {{"r", LOOM_REAL, n3, &s->r},
                          {"first", LOOM_REAL, n3, &s->first},
                          {"work", LOOM_REAL, n3, &s->work}};
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  LOOM_TRY(system_new(&s->sys, host, e, sc, s->set.assembly));
  LOOM_TRY(krylov_bsr3_new(&s->matrix, host, e, sc->num_verts));
  LOOM_TRY(krylov_bsr3_bodies(&s->matrix, sc));
  s->matrix.kind = kinds[s->set.preconditioner];
  return krylov_cg_new(&s->cg, host, e, sc->num_verts, (int32_t)s->set.max_inner);
}

static void cama_pcg_destroy(void *self)
{
  cama_pcg *const s = self;
  if (s != NULL) system_free(&s->sys);
  plug_free(self);
}

/* Free rows of `out` from the state at the start of the step. */
static loom_status from_start(cama_pcg *s, const loom_step *st, const lk_entry *k, loom_buf *out)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const cama_start_args a = {.fixed = plug_read(&m, s->sc->fixed),
                             .x_start = plug_read(&m, st->x_start),
                             .v = plug_read(&m, st->v_start),
                             .out = plug_rdwr(&m, out),
                             .h = (lk_real)st->h};
  return plug_launch(&m, k, &a, s->sc->num_verts, NULL);
}

static loom_status cama_pcg_begin_step(void *self, const loom_step *st)
{
  cama_pcg *const s = self;
  if (s->set.linearise == LINEARISE_GUESS) return LOOM_OK;
  return from_start(s, st, &k_linearise, st->trial);
}

/* r = -grad, less A times the way that the velocity at the start would take.  The latter is where
 * the solve of a first iteration begins. */
static loom_status right_side(cama_pcg *s, const loom_step *st, const loom_bsr3 *A)
{
  const loom_host *const host = s->host;
  LOOM_TRY(host->axpby(host, s->e, -1.0, st->grad, 0.0, s->r));
  if (st->iter > 0 || s->set.linearise == LINEARISE_GUESS)
    return host->fill(host, s->e, s->first, 0.0);
  LOOM_TRY(from_start(s, st, &k_velocity, s->first));
  LOOM_TRY(host->spmv_bsr3(host, s->e, A, s->first, s->work));
  return host->axpby(host, s->e, -1.0, s->work, 1.0, s->r);
}

/* d with A d = r */
static loom_status solve_right(cama_pcg *s, const loom_step *st, const krylov_system *A,
                               loom_buf *to, krylov_result *out)
{
  const loom_host *const host = s->host;
  const krylov_forcing f = {
      .eta_min = s->set.tolerance, .eta_max = s->set.tolerance, .euclidean = 1};
  plug_maps m = plug_maps_on(host, s->e);
  lk_real *const r = plug_rdwr(&m, s->r), *const d = plug_write(&m, to);
  LOOM_TRY(m.status);
  LOOM_TRY(krylov_cg_solve(&s->cg, st, A, r, d, &f, out));
  LOOM_TRY(plug_unbind(&m));
  LOOM_CHECK(host, isfinite(out->rho0) && out->rho0 >= 0.0, LOOM_E_NUMERIC,
             "the forces or the diagonal of the matrix are not finite (r'P^-1 r = %g): look for "
             "collapsed elements, or try a smaller dt",
             out->rho0);
  return LOOM_OK;
}

/* Islands cannot touch, so A is block-diagonal over them.  A tolerance on the norm of all would
 * mean another accuracy for each. */
static loom_status solve_cama_islands(cama_pcg *s, const loom_step *st, const krylov_system *A,
                                      int32_t num, krylov_result *out)
{
  const loom_host *const host = s->host;
  if (s->d == NULL)
    LOOM_TRY(
        host->buf_new(host, "d of an island", LOOM_REAL, 3 * (int64_t)s->sc->num_verts, &s->d));
  LOOM_TRY(host->buf_copy(host, s->e, s->work, s->r));
  *out = (krylov_result){0};
  for (int32_t k = 0; k < num && out->stop != KRYLOV_NEGATIVE; ++k) {
    double only[LOOM_ISLANDS_MOST] = {0.0};
    krylov_result one;
    only[k] = 1.0;
    LOOM_TRY(host->axpby_islands(host, s->e, only, s->work, 0.0, s->r));
    LOOM_TRY(solve_right(s, st, A, k == 0 ? st->trial : s->d, &one));
    if (k > 0) LOOM_TRY(host->axpby(host, s->e, 1.0, s->d, 1.0, st->trial));
    if (k == 0 || one.stop != KRYLOV_CONVERGED) out->stop = one.stop;
    out->iters += one.iters;
    out->products += one.products;
    out->residual = fmax(out->residual, one.residual);
  }
  return LOOM_OK;
}

/* trial = d with A d = -grad */
static loom_status solve_cama_direction(cama_pcg *s, const loom_step *st, krylov_result *out)
{
  const loom_host *const host = s->host;
  const loom_bsr3 matrix = bcsr_matrix3(&s->sys.A);
  loom_islands at;
  krylov_system A;
  LOOM_TRY(host->islands(host, &at));
  LOOM_TRY(right_side(s, st, &matrix));
  LOOM_TRY(krylov_bsr3_open(&s->matrix, &matrix, &A));
  LOOM_TRY(at.num > 1 ? solve_cama_islands(s, st, &A, at.num, out)
                      : solve_right(s, st, &A, st->trial, out));
  LOOM_TRY(krylov_bsr3_close(&s->matrix));
  host->count(host, LOOM_C_SPMV, out->products + 1);
  return host->axpby(host, s->e, 1.0, s->first, 1.0, st->trial);
}

static loom_status check_definite(cama_pcg *s, const loom_step *st, int how, const krylov_result *r)
{
  double curvature;
  if (r->stop != KRYLOV_NEGATIVE) return LOOM_OK;
  LOOM_TRY(krylov_cg_curvature(&s->cg, &curvature));
  return system_blame(&s->sys, st, how, s->cg.p, curvature);
}

static loom_status cama_pcg_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  static const int hows[] = {LOOM_HESS_PSD_CLAMP, LOOM_HESS_EXACT};
  cama_pcg *const s = self;
  const loom_host *const host = s->host;
  const int how = hows[s->set.hessian];
  krylov_result r;
  host->tic(host, "assemble");
  LOOM_TRY(system_assemble(&s->sys, st, how));
  host->toc(host, "assemble");
  host->tic(host, "solve");
  LOOM_TRY(solve_cama_direction(s, st, &r));
  host->toc(host, "solve");
  LOOM_TRY(check_definite(s, st, how, &r));
  it->inner_iters = r.iters;
  it->inner_res = r.residual;
  it->inner_norm = LOOM_NORM_RESIDUAL_2;
  it->extra[COL_STOP] = (double)r.stop;
  it->extra[COL_BLOCKS] = (double)s->sys.A.nnz;
  return LOOM_OK;
}

/* Only the pattern carries over between steps; it is made again from the same contact, so there is
 * no checkpoint(). */
static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN | LOOM_NEED_CONTACT_GRADIENT |
             LOOM_NEED_CONTACT_HESSIAN | LOOM_WANT_CONTACT_FROZEN | LOOM_USES_GRADIENT,
    .trial = LOOM_TRIAL_DIRECTION,
    .filter_when = LOOM_FILTER_END,
    .create = cama_pcg_create,
    .destroy = cama_pcg_destroy,
    .begin_step = cama_pcg_begin_step,
    .iterate = cama_pcg_iterate,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "cama_pcg",
    .version = "0.1.0",
    .summary =
        "implicit Euler as one linear system a step, with contact in the matrix\n"
        "contact is frozen at the start of a step: at 5 ms friction of bodies is up to 0.6 "
        "% off, and a strip over a rod at 1.03 of the load that slips is 3 to 13 times too "
        "slow; on a mesh with dbb it creeps by 7 % more than its smoothing at 0.97\n"
        "cloth that slides on a free sheet has 0.95 of its acceleration with "
        "cama_repulsion on a mesh\n"
        "two sheets that collide at 3 m/s keep 0.99 of their angular momentum with dbb, "
        "ndb, ogc and cubic_barrier, converged steps 0.97\n"
        "two sheets that collide keep 0.3 to 0.9 of their angular momentum with the pairwise "
        "matrix of cama_repulsion (cama_literal.ini), converged steps 0.97 to 1.00",
    .reference = "M. Tang et al., CAMA: Contact-Aware Matrix Assembly with Unified Collision "
                 "Handling for GPU-based Cloth Simulation, Computer Graphics Forum 35(2), 2016, "
                 "doi 10.1111/cgf.12851",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
