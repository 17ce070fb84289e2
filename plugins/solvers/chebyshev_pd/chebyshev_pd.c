/* chebyshev_pd.c - projective dynamics by Jacobi steps under Chebyshev's extrapolation.
 *
 * H. Wang, A Chebyshev Semi-Iterative Approach for Accelerating Projective and Position-Based
 * Dynamics, ACM TOG 34(6), 2015, doi 10.1145/2816795.2818063, algorithm 2:
 *
 *   local step    p_e = closest allowed configuration to A_e x_k
 *   global step   xh = x_k + D^-1 (M y/h^2 + sum w A'p - L x_k), one Jacobi step
 *   extrapolation x_k+1 = omega (gamma (xh - x_k) + x_k - x_k-1) + x_k-1
 *   omega = 1 for k < delay,  2/(2 - rho^2) at k = delay,  4/(4 - rho^2 omega) after it
 *
 * with L = M/h^2 + sum w A'A and D its diagonal.  The bracket of the global step is -grad E(x_k),
 * which the core has measured; contact adds its terms to it, and its weights to D.  An iteration is
 * one pass over the vertices: it makes no factor and reads no number back.
 *
 * Affine bodies: D has the whole block of each body with the change of its rotation
 * (kit/body_turns.h), solved at the Jacobi step of all other rows; the extrapolation takes both.
 */
#include <math.h>
#include <stdlib.h>

#include "chebyshev_pd.kern.h"
#include "kit/body_turns.h"
#include "kit/contact_diagonal.h"
#include "kit/jacobi_bound.h"
#include "loom/plug.h"

static const lk_entry k_next = LK_ENTRY_MOVES(chebyshev_pd_next, 17, 0),
                      k_jacobi = LK_ENTRY_MOVES(chebyshev_pd_jacobi, 11, 0),
                      k_residual = LK_ENTRY_MOVES(chebyshev_pd_residual, 40, 14),
                      k_extrapolate = LK_ENTRY_MOVES(chebyshev_pd_extrapolate, 18, 0);

enum { ROTATION_EXACT = 0, ROTATION_PLAIN };

/* gamma = 0: the lesser of the paper's gamma_default and radius_margin over the bound; the
 * iteration converges below 2 over the bound. */
static const double gamma_default = 0.9, radius_margin = 1.8;
/* Factor on the result of power iteration, which lies below the true value. */
static const double radius_safety = 1.02;

enum { COL_OMEGA = 0, COL_GAMMA = 1, COL_MU_HI = 2 };

typedef struct {
  double rho;
  double gamma;
  int64_t delay;
  int32_t rotation;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(
        settings, rho, 0.999, 0, 0.999999, "1",
        "Spectral radius of the iteration without extrapolation; 0: no extrapolation. Near 1 "
        "iterations gain more, and diverge sooner."),
    LOOM_PARAM_REAL(settings, gamma, 0, 0, 2, "1",
                    "Damping of the Jacobi step; 0: the paper's 0.9, or less where that diverges "
                    "(1.8 over the largest eigenvalue of D^-1 L)."),
    LOOM_PARAM_INT(settings, delay, 10, 0, 1000000, "1",
                   "Iterations of a step before the extrapolation sets in."),
    LOOM_PARAM_ENUM(settings, rotation, ROTATION_EXACT, "exact|plain",
                    "Affine bodies: each iteration has an exact solve of the 12 unknowns of each "
                    "body, the change of its rotation included (exact), or Jacobi steps of its "
                    "rows with the rotation held (plain)."),
};

static const loom_column columns[] = {
    {"omega", "1", "weight of the extrapolation; 1: none"},
    {"gamma", "1", "damping of the Jacobi step"},
    {"mu_hi", "1", "largest eigenvalue of D^-1 L, without contact"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  contact_diagonal contact;
  loom_buf *diag;                        /* [n] N/m, of L */
  loom_buf *before;                      /* [n][3] m, the iterate before */
  body_turns turns;                      /* without bodies: rotation = plain */
  loom_buf *ptr, *col, *val, *r, *total; /* see chebyshev_pd_body_args; NULL without bodies */
  double inertia_made;                   /* 1/s^2, weight of inertia in `diag`; 0: none yet */
  double mu_hi, gamma;
  double omega;  /* of the last iteration */
  int64_t since; /* iterations since the extrapolation began anew */
} chebyshev_pd;

static loom_status chebyshev_pd_create(const loom_host *host, const loom_scene *sc,
                                       const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(chebyshev_pd), self));
  chebyshev_pd *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  const int64_t n = sc->num_verts;
  const plug_buf all[] = {{"diagonal", LOOM_REAL, n, &s->diag},
                          {"before", LOOM_REAL, 3 * n, &s->before}};
  LOOM_TRY(contact_diagonal_new(&s->contact, host, sc, e));
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  if (s->set.rotation == ROTATION_EXACT) LOOM_TRY(body_turns_new(&s->turns, host, sc, e));
  if (s->turns.bodies.num == 0) return LOOM_OK;
  const plug_buf of_bodies[] = {{"rows of bodies", LOOM_I64, n + 1, &s->ptr},
                                {"columns of bodies", LOOM_I32, 0, &s->col},
                                {"values of bodies", LOOM_REAL, 0, &s->val},
                                {"residuals of bodies", LOOM_REAL, 3 * n, &s->r},
                                {"steps of bodies", LOOM_REAL, 3 * n, &s->total}};
  return plug_bufs_new(host, of_bodies, LOOM_COUNT(of_bodies));
}

static void chebyshev_pd_destroy(void *self)
{
  chebyshev_pd *const s = self;
  if (s == NULL) return;
  body_turns_free(&s->turns);
  free(s); /* buffers are freed by the core */
}

/* Marks control points: 1 in still [n]. */
static void mark_control_points(const chebyshev_pd *s, uint8_t *still)
{
  for (int32_t b = 0; b < s->turns.bodies.num; ++b)
    for (int a = 0; a < 4; ++a) still[s->turns.bodies.body[b].vert[a]] = 1;
}

/* Rows of the control points, without couplings with fixed rows. */
static loom_status copy_body_rows(chebyshev_pd *s, const jacobi_matrix *A, const uint8_t *still)
{
  const loom_host *const host = s->host;
  if (s->turns.bodies.num == 0) return LOOM_OK;
  int64_t nnz = 0, m = 0;
  for (int32_t i = 0; i < A->n; ++i)
    if (still[i]) nnz += A->ptr[i + 1] - A->ptr[i];
  LOOM_TRY(host->buf_resize(host, s->col, nnz));
  LOOM_TRY(host->buf_resize(host, s->val, nnz));
  plug_maps to = plug_maps_on(host, s->e);
  int64_t *const ptr = plug_write_host(&to, s->ptr);
  int32_t *const col = plug_write_host(&to, s->col);
  loom_real *const val = plug_write_host(&to, s->val);
  const uint8_t *const fixed = plug_read_host(&to, s->sc->fixed);
  LOOM_TRY(to.status);
  for (int32_t i = 0; i < A->n; ++i) {
    ptr[i] = m;
    for (int64_t k = A->ptr[i]; still[i] && k < A->ptr[i + 1]; ++k) {
      if (A->col[k] != i && (fixed[i] || fixed[A->col[k]])) continue;
      col[m] = A->col[k];
      val[m++] = A->val[k];
    }
  }
  ptr[A->n] = m;
  for (; m < nnz; ++m) { /* room that is left over */
    col[m] = 0;
    val[m] = 0;
  }
  LOOM_TRY(plug_unbind(&to));
  return body_turns_make(&s->turns);
}

/* The diagonal of L, and the largest damping factor of Jacobi steps.  Control points have no such
 * step: at the exact solution of their rows the matrix of the others is below its block of L. */
static loom_status prepare_jacobi_damping(chebyshev_pd *s, const loom_csr *L)
{
  const loom_host *const host = s->host;
  plug_maps m = plug_maps_on(host, s->e);
  loom_real *const diag = plug_write_host(&m, s->diag);
  const uint8_t *const fixed = plug_read_host(&m, s->sc->fixed);
  jacobi_matrix A = {.ptr = plug_read_host(&m, L->row_ptr),
                     .col = plug_read_host(&m, L->col),
                     .val = plug_read_host(&m, L->val),
                     .diag = diag,
                     .n = s->sc->num_verts};
  LOOM_TRY(m.status);
  for (int32_t i = 0; i < A.n; ++i) {
    diag[i] = 1;
    for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; ++k)
      if (A.col[k] == i) diag[i] = A.val[k];
  }
  double *const work = malloc(2 * ((size_t)A.n + 1) * sizeof *work);
  uint8_t *const still = calloc((size_t)A.n + 1, 1);
  if (work == NULL || still == NULL) {
    free(work);
    free(still);
    return LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for the spectrum of %d vertices", A.n);
  }
  mark_control_points(s, still);
  const loom_status made = copy_body_rows(s, &A, still);
  for (int32_t i = 0; i < A.n; ++i) still[i] = still[i] || fixed[i];
  A.fixed = still;
  s->mu_hi = radius_safety * jacobi_largest(&A, work);
  for (int32_t b = 0; b < s->turns.bodies.num; ++b)
    for (int a = 0; a < 4; ++a) diag[s->turns.bodies.body[b].vert[a]] = (loom_real)INFINITY;
  free(work);
  free(still);
  LOOM_TRY(made);
  s->gamma = s->set.gamma > 0.0 ? s->set.gamma : fmin(gamma_default, radius_margin / s->mu_hi);
  if (s->gamma * s->mu_hi >= 2.0)
    host->log(
        host, LOOM_LOG_WARN,
        "Jacobi steps diverge on this mesh: gamma = %g, and the largest eigenvalue of D^-1 L is "
        "%.3g; set gamma = 0, or below %.3g",
        s->gamma, s->mu_hi, 2.0 / s->mu_hi);
  return plug_unbind(&m);
}

static loom_status chebyshev_pd_reset(void *self)
{
  chebyshev_pd *s = self;
  s->inertia_made = 0.0;
  return LOOM_OK;
}

static loom_status chebyshev_pd_begin_step(void *self, const loom_step *st)
{
  chebyshev_pd *s = self;
  const loom_csr *L;
  s->since = 0;
  if (st->problem->inertia == s->inertia_made) return LOOM_OK;
  LOOM_TRY(s->host->pd_operator(s->host, st->problem, &L));
  LOOM_TRY(prepare_jacobi_damping(s, L));
  s->inertia_made = st->problem->inertia;
  return LOOM_OK;
}

/* omega of this iteration: the paper's (eq. 14), from 1 while it is delayed. */
static double update_chebyshev_omega(chebyshev_pd *s)
{
  const double rho2 = s->set.rho * s->set.rho;
  const int64_t k = s->since++;
  if (k < s->set.delay)
    s->omega = 1.0;
  else
    s->omega = k == s->set.delay ? 2.0 / (2.0 - rho2) : 4.0 / (4.0 - rho2 * s->omega);
  return s->omega;
}

/* a: of the iteration, with the maps m, which it ends */
static loom_status step_with_bodies(chebyshev_pd *s, const loom_step *st, plug_maps *m,
                                    const chebyshev_pd_args *of)
{
  const int64_t n = s->sc->num_verts;
  const chebyshev_pd_body_args a = {.of = *of,
                                    .ptr = plug_read(m, s->ptr),
                                    .col = plug_read(m, s->col),
                                    .val = plug_read(m, s->val),
                                    .vert = plug_read(m, s->turns.vert),
                                    .r = plug_rdwr(m, s->r),
                                    .total = plug_rdwr(m, s->total)};
  const body_turns_args on = {
      .ptr = a.ptr, .col = a.col, .val = a.val, .w = of->weight, .r = a.r, .total = a.total};
  LOOM_TRY(plug_run_on(m, &k_jacobi, &a, n, NULL));
  LOOM_TRY(plug_run_on(m, &k_residual, &a, 4 * (int64_t)s->turns.bodies.num, NULL));
  LOOM_TRY(body_turns_apply(&s->turns, &on, st->x));
  return plug_launch(m, &k_extrapolate, &a, n, NULL);
}

static loom_status find_next_point(chebyshev_pd *s, const loom_step *st)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const chebyshev_pd_args a = {.x = plug_read(&m, st->x),
                               .grad = plug_read(&m, st->grad),
                               .diag = plug_read(&m, s->diag),
                               .weight = plug_read(&m, s->contact.weight),
                               .before = plug_rdwr(&m, s->before),
                               .trial = plug_write(&m, st->trial),
                               .gamma = (lk_real)s->gamma,
                               .omega = (lk_real)update_chebyshev_omega(s)};
  if (s->turns.bodies.num > 0) return step_with_bodies(s, st, &m, &a);
  return plug_launch(&m, &k_next, &a, s->sc->num_verts, NULL);
}

static loom_status chebyshev_pd_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  chebyshev_pd *s = self;
  const loom_host *const host = s->host;
  const loom_quad *q = NULL;
  LOOM_CHECK(host, s->inertia_made > 0.0, LOOM_E_STATE, "iterate() came before begin_step()");
  LOOM_TRY(host->contact_quad(host, st->x, &q));
  LOOM_TRY(contact_diagonal_of(&s->contact, q));
  LOOM_TRY(find_next_point(s, st));
  host->count(host, LOOM_C_PROJECT, 1);
  it->inner_iters = 1;
  it->inner_res = it->own_res = NAN;
  it->extra[COL_OMEGA] = s->omega;
  it->extra[COL_GAMMA] = s->gamma;
  it->extra[COL_MU_HI] = s->mu_hi;
  return LOOM_OK;
}

/* A point that collision cut or contact moved is not on the path that is extrapolated.  A change of
 * the pairs alone is no reason: with one in every iteration the extrapolation would never begin. */
static loom_status chebyshev_pd_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  chebyshev_pd *s = self;
  (void)st;
  if (a->alpha < 1.0 || a->toi < 1.0 || a->resolved) s->since = 0;
  return LOOM_OK;
}

/* All that outlives a step is a function of the operator, so there is no checkpoint. */
static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_QUAD |
             LOOM_READS_WIDE_QUADS | LOOM_NEED_CONTACT_ISO | LOOM_USES_GRADIENT |
             LOOM_WITHOUT_MATRIX,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_EVERY,
    .create = chebyshev_pd_create,
    .destroy = chebyshev_pd_destroy,
    .reset = chebyshev_pd_reset,
    .begin_step = chebyshev_pd_begin_step,
    .iterate = chebyshev_pd_iterate,
    .accepted = chebyshev_pd_accepted,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "chebyshev_pd",
    .version = "0.1.0",
    .summary = "projective dynamics by Jacobi steps under Chebyshev's extrapolation",
    .reference = "H. Wang, A Chebyshev Semi-Iterative Approach for Accelerating Projective and "
                 "Position-Based Dynamics, ACM TOG 34(6), 2015, doi 10.1145/2816795.2818063",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
