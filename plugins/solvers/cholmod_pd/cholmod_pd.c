/* cholmod_pd.c - projective dynamics with an exact, prefactored global step.
 *
 * S. Bouaziz, S. Martin, T. Liu, L. Kavan, M. Pauly, Projective Dynamics: Fusing Constraint
 * Projections for Fast Simulation, ACM TOG 33(4), 2014, doi 10.1145/2601097.2601116; for
 * springs first T. Liu, A. Bargteil, J. O'Brien, L. Kavan, Fast Simulation of Mass-Spring
 * Systems, ACM TOG 32(6), 2013, doi 10.1145/2508363.2508406.
 *
 * Local step:   p_e = closest allowed configuration to A_e x
 * Global step:  L x' = M y/h^2 + sum w A'p,   L = M/h^2 + sum w A'A
 * The projection leaves no first-order trace, so grad E(x) = L x - M y/h^2 - sum w A'p(x)
 * is the true gradient, and the global step is, term by term,
 *   (L + D) dx = -grad E(x),   x' = x + dx,
 * with D the isotropic contact terms.  This form takes the gradient that the core has
 * measured anyway (its evaluation is the local step), holds pins exactly (their rows have
 * zero gradient) and loses no digits to large coordinates.
 *
 * L + D is factorised again only when its values changed: a new h, or contact that came or
 * went.  Friction weights change in every iteration, so within a step the factor of other
 * weights D_f is kept by default while D <= 1.5 D_f.  The fixed points do not depend on the
 * matrix, and L + D <= 1.5 (L + D_f) < 2 (L + D_f) keeps it a descent step (a quadratic model
 * falls along -P^-1 grad whenever its Hessian is below 2 P).  x, y and z are solved together
 * (kit/chol_solve3).
 *
 * momentum = nesterov: x_k+1 = y_k + dx(y_k), y_k+1 = x_k+1 + beta_k (x_k+1 - x_k) with
 * t_k+1 = (1 + sqrt(1 + 4 t_k^2))/2, beta_k = (t_k - 1)/t_k+1 (Y. Nesterov 1983), restarted
 * when grad(y_k).(x_k+1 - x_k) > 0 (B. O'Donoghue, E. Candes, Adaptive Restart for
 * Accelerated Gradient Schemes, Found. Comput. Math. 15, 2015, gradient scheme); the core's iterate
 * is y.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_solve3.h"
#include "loom/plug.h"
#include "matrix.h"

enum { MOMENTUM_NONE = 0, MOMENTUM_NESTEROV = 1 };
enum { REFACTOR_RELAXED = 0, REFACTOR_EXACT = 1 };
enum { COL_FACTORISED = 0, COL_BETA = 1, COL_FACTOR_BYTES = 2 };

/* Largest ratio of a contact weight to the one in the factor, and the headroom that a weight
 * gets which outgrew it; below 2, see above. */
static const double growth = 1.5;

typedef struct {
  int32_t momentum;
  int32_t refactor;
  int32_t ordering;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_ENUM(settings, momentum, MOMENTUM_NONE, "none|nesterov",
                    "Acceleration over global steps: none is the textbook iteration; nesterov "
                    "adds momentum with gradient restart."),
    LOOM_PARAM_ENUM(settings, refactor, REFACTOR_RELAXED, "relaxed|exact",
                    "Contact weights that change within a step are factorised again only when "
                    "one outgrows its share of the matrix by half, or each time."),
    LOOM_PARAM_ENUM(settings, ordering, CHOL_AMD, "amd|metis",
                    "Fill-reducing ordering of the factorisation: approximate minimum degree, or "
                    "nested dissection (less fill on large meshes, slower analysis)."),
};

static const loom_column columns[] = {
    {"factorised", "1", "numeric factorisations in this iteration"},
    {"beta", "1", "weight of the momentum, 0 without or after a restart"},
    {"factor_bytes", "B", "memory of the factor: values, row indices, supernodes, ordering"},
};

typedef struct {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  chol c;
  cholmod_pd_matrix A;
  double h_made;                /* s, step length of A's values; 0: there is no matrix */
  double h_used;                /* s, step length of the factor; 0: no valid factor */
  int32_t first;                /* nonzero: no iteration of this step was done yet */
  cholmod_pd_contact now, used; /* contact at this iterate, and in the factor */
  cholmod_pd_coupling *extra;   /* [num_extra], couplings the pattern was built with */
  int64_t num_extra;
  loom_buf *saved; /* i32 [2 num_extra], carries them through a checkpoint */
  double *y;       /* [n][3], right-hand sides and solutions, in the factor's order; given back
                    * while CHOLMOD factorises, which is when most memory is in use */
  double *work;    /* workspace of the solve */
  double *x_prev;  /* [n][3], m, last global step (momentum), else NULL */
  double t;        /* Nesterov's sequence; 1: start */
} cholmod_pd;

static loom_status cholmod_pd_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                                     const void *set, void **self)
{
  LOOM_TRY(plug_new(h, sizeof(cholmod_pd), self));
  cholmod_pd *const s = *self;
  s->h = h;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  s->t = 1.0;
  if (s->set.momentum == MOMENTUM_NESTEROV) {
    s->x_prev = calloc(3 * (size_t)sc->num_verts, sizeof *s->x_prev);
    LOOM_CHECK(h, s->x_prev != NULL, LOOM_E_NOMEM, "no memory for the momentum of %d vertices",
               sc->num_verts);
  }
  LOOM_TRY(h->buf_new(h, "couplings", LOOM_I32, 0, &s->saved));
  return chol_open(&s->c, h, s->set.ordering, 1, CHOL_REMEDY);
}

static void cholmod_pd_destroy(void *self)
{
  cholmod_pd *s = self;
  if (s == NULL) return;
  chol_close(&s->c);
  cholmod_pd_matrix_free(&s->A);
  cholmod_pd_contact_free(&s->now);
  cholmod_pd_contact_free(&s->used);
  free(s->extra);
  free(s->x_prev);
  free(s->work);
  free(s->y);
  free(s);
}

/* Build the matrix for L and the couplings `off`, which are remembered. */
static loom_status new_pattern(cholmod_pd *s, const loom_step *st, const cholmod_pd_coupling *off,
                               int64_t num_off)
{
  const loom_host *h = s->h;
  const loom_csr *L;
  s->h_made = s->h_used = 0.0;
  if (off != s->extra) {
    cholmod_pd_coupling *extra = NULL;
    if (num_off > 0) {
      extra = malloc((size_t)num_off * sizeof *extra);
      LOOM_CHECK(h, extra != NULL, LOOM_E_NOMEM, "no memory for %lld contact couplings",
                 (long long)num_off);
      memcpy(extra, off, (size_t)num_off * sizeof *extra);
    }
    free(s->extra);
    s->extra = extra;
    s->num_extra = num_off;
  }
  h->tic(h, "analyse");
  LOOM_TRY(h->pd_operator(h, st->problem, &L));
  LOOM_TRY(cholmod_pd_matrix_pattern(&s->A, &s->c, s->e, s->sc, L, s->extra, s->num_extra));
  free(s->work);
  s->work = malloc(chol_solve3_work(s->c.L) * sizeof *s->work);
  LOOM_CHECK(h, s->work != NULL, LOOM_E_NOMEM, "no memory for the workspace of the solve");
  h->toc(h, "analyse");
  s->h_made = st->h;
  return LOOM_OK;
}

static loom_status cholmod_pd_reset(void *self)
{
  cholmod_pd *s = self;
  s->t = 1.0;
  /* forget which couplings the pattern holds: they came from a history that is gone */
  free(s->extra);
  s->extra = NULL;
  s->num_extra = 0;
  s->h_made = 0.0;
  return LOOM_OK;
}

static loom_status cholmod_pd_begin_step(void *self, const loom_step *st)
{
  cholmod_pd *s = self;
  s->t = 1.0;
  s->first = 1;
  return st->h == s->h_made ? LOOM_OK : new_pattern(s, st, s->extra, s->num_extra);
}

static loom_status factorise(cholmod_pd *s, const loom_step *st)
{
  const loom_host *h = s->h;
  int pivot;
  h->tic(h, "factorise");
  s->h_used = 0.0;
  free(s->y);
  s->y = NULL;
  cholmod_pd_contact_free(&s->used);
  LOOM_TRY(cholmod_pd_matrix_values(&s->A, &s->c, &s->now));
  const loom_status f = chol_factorise(&s->c, &pivot);
  h->toc(h, "factorise");
  h->count(h, LOOM_C_FACTORISE, 1);
  if (f == LOOM_REJECTED)
    return LOOM_FAIL(h, LOOM_E_NUMERIC,
                     "the global matrix is not positive definite at vertex %d: check masses and "
                     "stiffnesses there, and for negative contact weights",
                     pivot);
  LOOM_TRY(f);
  s->y = malloc(3 * (size_t)s->sc->num_verts * sizeof *s->y);
  LOOM_CHECK(h, s->y != NULL, LOOM_E_NOMEM, "no memory for the right-hand sides of %d vertices",
             s->sc->num_verts);
  s->used = s->now;
  s->now = (cholmod_pd_contact){0};
  s->h_used = st->h;
  return LOOM_OK;
}

/* Bring the factor up to date with h and the contact at x. */
static loom_status refresh(cholmod_pd *s, const loom_step *st, double *factorised)
{
  const loom_host *h = s->h;
  const int32_t n = s->sc->num_verts;
  const loom_quad *q = NULL;
  LOOM_TRY(h->contact_quad(h, st->x, &q));
  LOOM_TRY(cholmod_pd_contact_gather(&s->now, h, s->e, s->sc, q));
  *factorised = 0.0;
  /* the first matrix of a step is always the exact one, so that a restart meets it too */
  const int keep = s->set.refactor == REFACTOR_RELAXED && !s->first;
  s->first = 0;
  if (st->h == s->h_used) {
    if (cholmod_pd_contact_equal(&s->now, &s->used, n)) return LOOM_OK;
    if (keep && cholmod_pd_contact_within(&s->now, &s->used, growth, n)) return LOOM_OK;
  }
  if (keep) cholmod_pd_contact_raise(&s->now, &s->used, growth, n);
  /* a pattern with room for many couplings that are gone costs fill: build a smaller one */
  if (st->h != s->h_made || !cholmod_pd_matrix_covers(&s->A, &s->c, &s->now) ||
      2 * s->now.num_off < s->num_extra)
    LOOM_TRY(new_pattern(s, st, s->now.off, s->now.num_off));
  *factorised = 1.0;
  return factorise(s, st);
}

/* y = -grad, in the factor's order */
static void load_rhs(const cholmod_pd *s, const loom_real *grad)
{
  const int n = s->sc->num_verts, *perm = chol_perm(&s->c);
  double *y = s->y;
#pragma omp parallel for schedule(static) num_threads(s->e->num_threads) if (n > 4096)
  for (int k = 0; k < n; ++k) {
    const loom_real *g = grad + 3 * (size_t)perm[k];
    for (int c = 0; c < 3; ++c) y[3 * (size_t)k + (size_t)c] = -(double)g[c];
  }
}

/* trial = x + dx; returns the largest |dx_i|, m */
static double store_point(const cholmod_pd *s, const loom_real *x, loom_real *trial)
{
  const int n = s->sc->num_verts, *perm = chol_perm(&s->c);
  double d2max = 0.0;
#pragma omp parallel for schedule(static) num_threads(s->e->num_threads) \
    reduction(max                                                        \
              : d2max) if (n > 4096)
  for (int k = 0; k < n; ++k) {
    const size_t v = 3 * (size_t)perm[k];
    const double *d = s->y + 3 * (size_t)k, d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (size_t c = 0; c < 3; ++c) trial[v + c] = (loom_real)((double)x[v + c] + d[c]);
    d2max = d2 > d2max ? d2 : d2max;
  }
  return sqrt(d2max);
}

/* Turn the global step in `trial` into the next iterate; returns beta. */
static double add_momentum(cholmod_pd *s, const loom_real *grad, loom_real *trial)
{
  const size_t m = 3 * (size_t)s->sc->num_verts;
  double uphill = 0.0;
  if (s->t > 1.0)
    for (size_t i = 0; i < m; ++i) uphill += (double)grad[i] * ((double)trial[i] - s->x_prev[i]);
  if (uphill > 0.0) s->t = 1.0;
  const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * s->t * s->t));
  const double beta = (s->t - 1.0) / next;
  for (size_t i = 0; i < m; ++i) {
    const double x = (double)trial[i];
    if (beta > 0.0) trial[i] = (loom_real)(x + beta * (x - s->x_prev[i]));
    s->x_prev[i] = x;
  }
  s->t = next;
  return beta;
}

static loom_status cholmod_pd_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  cholmod_pd *s = self;
  const loom_host *h = s->h;
  void *grad, *x, *trial;
  LOOM_TRY(refresh(s, st, &it->extra[COL_FACTORISED]));
  it->extra[COL_FACTOR_BYTES] = chol_factor_bytes(&s->c);
  h->tic(h, "global");
  LOOM_TRY(h->map(h, s->e, st->grad, LOOM_READ, LOOM_AT_HOST, &grad));
  load_rhs(s, grad);
  chol_solve3(s->c.L, s->y, s->work);
  h->count(h, LOOM_C_PROJECT, 1);
  h->count(h, LOOM_C_TRISOLVE, 1);
  LOOM_TRY(h->map(h, s->e, st->x, LOOM_READ, LOOM_AT_HOST, &x));
  LOOM_TRY(h->map(h, s->e, st->trial, LOOM_WRITE, LOOM_AT_HOST, &trial));
  it->own_res = store_point(s, x, trial);
  it->extra[COL_BETA] = s->set.momentum == MOMENTUM_NESTEROV ? add_momentum(s, grad, trial) : 0.0;
  it->inner_res = NAN;
  LOOM_TRY(h->unmap(h, st->trial));
  LOOM_TRY(h->unmap(h, st->x));
  LOOM_TRY(h->unmap(h, st->grad));
  h->toc(h, "global");
  return LOOM_OK;
}

/* A point that collision or contact moved is not where momentum pointed: start again. */
static loom_status cholmod_pd_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  cholmod_pd *s = self;
  (void)st;
  if (a->alpha < 1.0 || a->toi < 1.0 || a->resolved) s->t = 1.0;
  return LOOM_OK;
}

/* The factor itself is a function of the step's problem, but its pattern remembers earlier
 * couplings; without them a restart would round differently. */
static loom_status cholmod_pd_checkpoint(void *self, const loom_step *st, int restore)
{
  cholmod_pd *s = self;
  const loom_host *h = s->h;
  void *p;
  (void)st;
  if (!restore) {
    LOOM_TRY(h->buf_resize(h, s->saved, 2 * s->num_extra));
    LOOM_TRY(h->map(h, s->e, s->saved, LOOM_WRITE, LOOM_AT_HOST, &p));
    int32_t *pair = p;
    for (int64_t k = 0; k < s->num_extra; ++k) {
      pair[2 * k] = s->extra[k].row;
      pair[2 * k + 1] = s->extra[k].col;
    }
    LOOM_TRY(h->unmap(h, s->saved));
    return h->state_io(h, 0, "couplings", s->saved);
  }
  LOOM_TRY(h->state_io(h, 1, "couplings", s->saved));
  LOOM_TRY(cholmod_pd_reset(s));
  const int64_t m = h->buf_count(h, s->saved) / 2;
  LOOM_CHECK(h, h->buf_count(h, s->saved) == 2 * m, LOOM_E_IO,
             "checkpoint: couplings are %lld numbers, not pairs; start the run again",
             (long long)h->buf_count(h, s->saved));
  if (m == 0) return LOOM_OK;
  s->extra = malloc((size_t)m * sizeof *s->extra);
  LOOM_CHECK(h, s->extra != NULL, LOOM_E_NOMEM, "no memory for %lld contact couplings",
             (long long)m);
  LOOM_TRY(h->map(h, s->e, s->saved, LOOM_READ, LOOM_AT_HOST, &p));
  const int32_t *pair = p;
  const int32_t n = s->sc->num_verts;
  for (int64_t k = 0; k < m; ++k) {
    const int32_t row = pair[2 * k], col = pair[2 * k + 1];
    LOOM_CHECK(h, col >= 0 && col < row && row < n, LOOM_E_IO,
               "checkpoint: coupling %lld (%d, %d) is not one of %d vertices", (long long)k, row,
               col, n);
    s->extra[k] = (cholmod_pd_coupling){row, col, 0.0};
  }
  s->num_extra = m;
  return h->unmap(h, s->saved);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_QUAD |
             LOOM_NEED_CONTACT_ISO | LOOM_USES_GRADIENT | LOOM_USES_FACTOR,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_EVERY,
    .create = cholmod_pd_create,
    .destroy = cholmod_pd_destroy,
    .reset = cholmod_pd_reset,
    .begin_step = cholmod_pd_begin_step,
    .iterate = cholmod_pd_iterate,
    .accepted = cholmod_pd_accepted,
    .checkpoint = cholmod_pd_checkpoint,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
    .name = "cholmod_pd",
    .version = "0.1.0",
    .summary = "projective dynamics with an exact global step, prefactored by CHOLMOD",
    .reference = "S. Bouaziz, S. Martin, T. Liu, L. Kavan, M. Pauly, Projective Dynamics: Fusing "
                 "Constraint Projections for Fast Simulation, ACM TOG 33(4), 2014, "
                 "doi 10.1145/2601097.2601116",
    .license = "GPL-2.0-or-later", /* CHOLMOD's supernodal module; this source is MIT */
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
