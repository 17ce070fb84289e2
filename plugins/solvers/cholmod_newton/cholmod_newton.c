/* cholmod_newton.c - Newton's method with a sparse Cholesky factorisation, the reference.
 *
 * Each iteration solves (H(x) + sigma M/h^2) d = -grad E(x) and lets the core search a
 * step length for which E falls.  H is assembled by the core from element and contact
 * blocks:
 *   exact     the true Hessian; where it is indefinite, the shift sigma makes it definite
 *   clamp     negative eigenvalues of each block become zero (J. Teran, E. Sifakis,
 *             G. Irving, R. Fedkiw, Robust Quasistatic Finite Elements and Flesh
 *             Simulation, SCA 2005, section 6): definite everywhere, but only linear
 *             convergence wherever the solution has compressed elements
 *   abs       negative eigenvalues change sign (H. Chen et al., Stabler Neo-Hookean
 *             Simulation: Absolute Eigenvalue Filtering for Projected Newton, SIGGRAPH 2024)
 *   adaptive  (1 - theta) exact + theta clamp with the smallest theta on a short ladder that is
 *             definite (after projection on demand, theta = 0 or 1: A. Longva, F. Loeschner,
 *             J. A. Fernandez-Fernandez, E. Larionov, U. M. Ascher, J. Bender, Pitfalls of
 *             Projection, arXiv 2311.14526, 2023): far from the solution a robust direction,
 *             near it quadratic convergence.  A shift instead would slow modes that are soft
 *             beside M/h^2, bending above all
 * Any other factorisation that fails is repeated with a larger shift, sigma in units of
 * M/h^2 (Nocedal, Wright, Numerical Optimization, 2nd ed., algorithm 3.3).
 */
#include <math.h>
#include <stdlib.h>

#include "kit/newton_damping.h"
#include "loom/plug.h"
#include "matrix.h"
#include "mix.h"

enum { HESSIAN_ADAPTIVE = 0, HESSIAN_CLAMP = 1, HESSIAN_ABS = 2, HESSIAN_EXACT = 3 };
enum { PLATES_AUTO = 0, PLATES_NARROW = 1, PLATES_EXACT = 2 };
enum { COL_SHIFT = 0, COL_PROJECTED = 1, COL_FACTORISED = 2, COL_DAMPING = 3 };

/* DEVIATION from algorithm 3.3: factor 10 instead of 2, since a failed attempt costs a
 * factorisation. */
static const double shift_first = 0.1, shift_factor = 10.0, shift_last = 1e12;
/* theta of adaptive is on a ladder of shares (mix.h); each iteration begins one rung below the one
 * that served last */
enum { THETA_LAST = CHOLMOD_NEWTON_RUNGS - 1 };
/* plates = auto: a whole narrow step that leaves more of Newton's decrement than this is slow */
static const double narrow_slow = 0.3;

typedef struct {
  int32_t hessian;
  int32_t ordering;
  int32_t plates;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_ENUM(
        settings, hessian, HESSIAN_ADAPTIVE, "adaptive|clamp|abs|exact",
        "Element and contact blocks: negative eigenvalues clamped to zero, replaced "
        "by their absolute value, or kept (with a shift where the matrix is "
        "indefinite); adaptive clamps them by the share that makes the matrix definite."),
    LOOM_PARAM_ENUM(settings, ordering, CHOL_METIS, "amd|metis",
                    "Fill-reducing ordering of the vertices: approximate minimum degree, or "
                    "nested dissection (less fill, slower to find)."),
    LOOM_PARAM_ENUM(settings, plates, PLATES_AUTO, "auto|narrow|exact",
                    "Matrix of elements of more than 4 vertices: narrow has the pattern of hinges "
                    "and converges linearly, exact is their Hessian as `hessian` says; auto takes "
                    "narrow until it converges slowly, and again after steps that contact cuts."),
};

static const loom_column columns[] = {
    {"shift", "1", "multiple of M/h^2 added to the Hessian to make it positive definite"},
    {"projected", "1",
     "theta: share of the negative eigenvalues that was taken away, the largest of all islands"},
    {"factorised", "1", "numeric factorisations in this iteration"},
    {"damping", "1",
     "least share of Newton's direction that was offered to the line search, of all islands"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  cholmod_newton_matrix A;
  double shift; /* of the last iteration; 0 at the start of a step */
  cholmod_newton_mix mix;
  int32_t plates;   /* 1: the scene has elements of more than 4 vertices */
  int32_t narrow;   /* 1: the matrix of plates is the narrow one */
  int32_t num, cut; /* directions of the step, and of these the ones that were not taken whole */
  int32_t whole;    /* 1: the last direction of the step was */
  loom_buf *saved;  /* i32 [3]: narrow, num, cut, for checkpoints */
  double decrement; /* sqrt(J), of the last direction of the step */
  int32_t pivot;    /* vertex that showed an indefinite matrix */
  loom_buf *left;   /* real [n][3], N: H d + grad, residual of the solve */
  double *x;        /* [n][3], right-hand side and solution */
  newton_damping damping;
} cholmod_newton;

static loom_status cholmod_newton_create(const loom_host *host, const loom_scene *sc,
                                         const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(cholmod_newton), self));
  cholmod_newton *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  LOOM_TRY(host->buf_new(host, "left", LOOM_REAL, 3 * (int64_t)sc->num_verts, &s->left));
  s->narrow = 1;
  for (int32_t b = 0; b < sc->num_blocks; ++b) s->plates |= sc->blocks[b].arity > 4;
  LOOM_TRY(host->buf_new(host, "plates", LOOM_I32, 3, &s->saved));
  LOOM_TRY(cholmod_newton_mix_open(&s->mix, host, sc, e));
  s->x = malloc(3 * (size_t)sc->num_verts * sizeof *s->x);
  LOOM_CHECK(host, s->x != NULL, LOOM_E_NOMEM, "no memory for the solution of %d vertices",
             sc->num_verts);
  LOOM_TRY(newton_damping_open(&s->damping, host, e, sc->num_verts));
  return cholmod_newton_matrix_open(&s->A, host, sc, e, s->set.ordering);
}

static void cholmod_newton_destroy(void *self)
{
  cholmod_newton *s = self;
  if (s == NULL) return;
  cholmod_newton_matrix_close(&s->A);
  free(s->x);
  free(s);
}

static loom_status cholmod_newton_reset(void *self)
{
  cholmod_newton *s = self;
  cholmod_newton_matrix_forget(&s->A); /* the order came from a history that is gone */
  s->narrow = 1;
  s->num = s->cut = 0;
  return LOOM_OK;
}

/* With plates = auto a step begins as the last one ended, but narrow after one whose directions
 * were mostly cut: there contact, not the matrix, decides on the number of iterations. */
static void choose_plates(cholmod_newton *s)
{
  if (s->set.plates != PLATES_AUTO) s->narrow = s->set.plates == PLATES_NARROW;
  if (s->set.plates == PLATES_AUTO && s->cut > s->num - s->cut) s->narrow = 1;
  s->num = s->cut = s->whole = 0;
}

static loom_status cholmod_newton_begin_step(void *self, const loom_step *st)
{
  cholmod_newton *s = self;
  (void)st;
  s->shift = 0.0;
  s->mix.num = 0;
  choose_plates(s);
  newton_damping_begin(&s->damping);
  return LOOM_OK;
}

static loom_status factor_once(cholmod_newton *s, const loom_step *st, const loom_bsr3 *H,
                               double shift, int32_t *tries)
{
  s->host->count(s->host, LOOM_C_FACTORISE, 1);
  ++*tries;
  return cholmod_newton_matrix_factor(&s->A, H, shift / loom_problem_h2(st->problem), &s->pivot);
}

static loom_status assemble_newton_matrix(cholmod_newton *s, const loom_step *st, int how,
                                          const loom_bsr3 **H)
{
  return s->host->hessian(s->host, st->problem, st->x, how | (s->narrow ? LOOM_HESS_NARROW : 0), H);
}

/* Factorise H + shift M/h^2 with the smallest shift that does. */
static loom_status factor_shifted(cholmod_newton *s, const loom_step *st, const loom_bsr3 *H,
                                  int32_t *tries)
{
  double shift = s->shift / shift_factor; /* the last need, relaxed */
  if (shift < shift_first) shift = 0.0;
  for (;;) {
    const loom_status f = factor_once(s, st, H, shift, tries);
    if (f != LOOM_REJECTED) {
      s->shift = shift;
      return f;
    }
    shift = shift > 0.0 ? shift * shift_factor : shift_first;
    LOOM_CHECK(s->host, shift <= shift_last, LOOM_E_NUMERIC,
               "the Hessian is not positive definite at vertex %d even with a shift of %g M/h^2: "
               "look for NaN, negative masses or collapsed elements there",
               s->pivot, shift_last);
  }
}

/* Finds, from the last rungs on, shares that make the mixture definite; *H: the exact Hessian. */
static loom_status factor_mixed(cholmod_newton *s, const loom_step *st, const loom_bsr3 **H,
                                int32_t *tries)
{
  int yes = 1;
  if (cholmod_newton_mix_highest(&s->mix) == 0) {
    LOOM_TRY(cholmod_newton_matrix_shape(&s->A, *H));
    const loom_status f = factor_once(s, st, *H, 0.0, tries);
    if (f != LOOM_REJECTED) return f;
    LOOM_TRY(cholmod_newton_mix_raise(&s->mix, s->pivot, &yes));
  }
  LOOM_TRY(cholmod_newton_mix_keep_exact(&s->mix, *H));
  LOOM_TRY(assemble_newton_matrix(s, st, LOOM_HESS_PSD_CLAMP, H));
  while (yes && cholmod_newton_mix_lowest(&s->mix) < THETA_LAST) {
    LOOM_TRY(cholmod_newton_mix_make(&s->mix, *H));
    LOOM_TRY(cholmod_newton_matrix_shape(&s->A, &s->mix.view));
    const loom_status f = factor_once(s, st, &s->mix.view, 0.0, tries);
    if (f != LOOM_REJECTED) {
      *H = &s->mix.view;
      return f;
    }
    LOOM_TRY(cholmod_newton_mix_raise(&s->mix, s->pivot, &yes));
  }
  LOOM_TRY(cholmod_newton_matrix_shape(&s->A, *H));
  return factor_shifted(s, st, *H, tries);
}

/* Assembles and factorises as the setting says; *H: the factorised matrix, without its shift. */
static loom_status factorise_newton_matrix(cholmod_newton *s, const loom_step *st,
                                           const loom_bsr3 **H, int32_t *tries)
{
  static const int hows[] = {LOOM_HESS_EXACT, LOOM_HESS_PSD_CLAMP, LOOM_HESS_PSD_ABS,
                             LOOM_HESS_EXACT};
  const loom_host *const host = s->host;
  const int adaptive = s->set.hessian == HESSIAN_ADAPTIVE;
  LOOM_TRY(cholmod_newton_mix_islands(&s->mix));
  /* else all is clamped at once */
  const int mixed = adaptive && cholmod_newton_mix_lowest(&s->mix) < THETA_LAST;
  const int how = adaptive && !mixed ? LOOM_HESS_PSD_CLAMP : hows[s->set.hessian];
  *tries = 0;
  host->tic(host, "assemble");
  LOOM_TRY(assemble_newton_matrix(s, st, how, H));
  host->toc(host, "assemble");
  host->tic(host, "factorise");
  if (mixed) {
    LOOM_TRY(factor_mixed(s, st, H, tries));
  } else {
    cholmod_newton_mix_set(&s->mix, how == LOOM_HESS_EXACT ? 0 : THETA_LAST);
    LOOM_TRY(cholmod_newton_matrix_shape(&s->A, *H));
    LOOM_TRY(factor_shifted(s, st, *H, tries));
  }
  host->toc(host, "factorise");
  return LOOM_OK;
}

/* d = -A^-1 grad into trial; *decrement2: grad'A^-1 grad, J, the square of Newton's decrement */
static loom_status solve_rows(cholmod_newton *s, const loom_real *grad, loom_real *dir,
                              double *decrement2)
{
  const size_t m = 3 * (size_t)s->sc->num_verts;
  for (size_t k = 0; k < m; ++k) s->x[k] = -(double)grad[k];
  LOOM_TRY(cholmod_newton_matrix_solve(&s->A, s->x));
  *decrement2 = 0.0;
  for (size_t k = 0; k < m; ++k) {
    dir[k] = (loom_real)s->x[k];
    *decrement2 -= (double)grad[k] * s->x[k];
  }
  return LOOM_OK;
}

/* |H d + grad| / |grad|: the solve's own error, or, with a shift, the distance from a full
 * Newton step */
static loom_status linear_residual(cholmod_newton *s, const loom_step *st, const loom_bsr3 *H,
                                   double *out)
{
  const loom_host *host = s->host;
  double left2, grad2;
  LOOM_TRY(host->spmv_bsr3(host, s->e, H, st->trial, s->left));
  LOOM_TRY(host->axpby(host, s->e, 1.0, st->grad, 1.0, s->left));
  LOOM_TRY(host->dot(host, s->e, s->left, s->left, &left2));
  LOOM_TRY(host->dot(host, s->e, st->grad, st->grad, &grad2));
  *out = grad2 > 0.0 ? sqrt(left2 / grad2) : 0.0;
  return LOOM_OK;
}

/* With plates = auto the rest of a step has their Hessian, once a whole step of the narrow matrix
 * has left most of the decrement.  A step that the line search or contact cut says nothing about
 * the matrix. */
static void judge_narrow_matrix(cholmod_newton *s, double decrement)
{
  if (s->set.plates == PLATES_AUTO && s->whole && decrement > narrow_slow * s->decrement)
    s->narrow = 0;
  s->decrement = decrement;
}

static loom_status cholmod_newton_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  cholmod_newton *s = self;
  const loom_host *host = s->host;
  const loom_bsr3 *H;
  void *grad, *dir;
  double decrement2;
  LOOM_TRY(factorise_newton_matrix(s, st, &H, &it->inner_iters));

  host->tic(host, "solve");
  LOOM_TRY(host->map(host, s->e, st->grad, LOOM_READ, LOOM_AT_HOST, &grad));
  LOOM_TRY(host->map(host, s->e, st->trial, LOOM_WRITE, LOOM_AT_HOST, &dir));
  LOOM_TRY(solve_rows(s, grad, dir, &decrement2));
  LOOM_TRY(host->unmap(host, st->trial));
  LOOM_TRY(host->unmap(host, st->grad));
  host->count(host, LOOM_C_TRISOLVE, 1);
  LOOM_TRY(linear_residual(s, st, H, &it->inner_res));
  host->toc(host, "solve");

  LOOM_TRY(newton_damping_apply(&s->damping, st));

  it->inner_norm = LOOM_NORM_RESIDUAL_2;
  host->inner(host, it->inner_iters, LOOM_NORM_RESIDUAL_2, it->inner_res);
  it->own_res = sqrt(fmax(decrement2, 0.0));
  judge_narrow_matrix(s, it->own_res);
  it->extra[COL_SHIFT] = s->shift;
  it->extra[COL_PROJECTED] = cholmod_newton_theta[cholmod_newton_mix_highest(&s->mix)];
  it->extra[COL_FACTORISED] = (double)it->inner_iters;
  it->extra[COL_DAMPING] = s->damping.least;
  return LOOM_OK;
}

static loom_status cholmod_newton_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  cholmod_newton *s = self;
  (void)st;
  s->whole = a->alpha >= 1.0 && a->toi >= 1.0;
  s->cut += !s->whole;
  ++s->num;
  return cholmod_newton_mix_learn(&s->mix, a);
}

static loom_status checkpoint_plates(cholmod_newton *s, int restore)
{
  const loom_host *const host = s->host;
  int32_t all[3] = {s->narrow, s->num, s->cut};
  void *p;
  if (!restore) LOOM_TRY(plug_put(host, s->e, s->saved, LOOM_I32, all, 3));
  LOOM_TRY(host->state_io(host, restore, "plates", s->saved));
  if (!restore) return LOOM_OK;
  LOOM_CHECK(host, host->buf_count(host, s->saved) == 3, LOOM_E_IO,
             "checkpoint: plates has %lld values, not 3; start the run again",
             (long long)host->buf_count(host, s->saved));
  LOOM_TRY(host->map(host, s->e, s->saved, LOOM_READ, LOOM_AT_HOST, &p));
  const int32_t *const from = p;
  s->narrow = from[0] != 0;
  s->num = from[1];
  s->cut = from[2];
  return host->unmap(host, s->saved);
}

/* The order of elimination and the matrix of plates may outlive steps; the shift starts anew in
 * each. */
static loom_status cholmod_newton_checkpoint(void *self, const loom_step *st, int restore)
{
  cholmod_newton *s = self;
  (void)st;
  if (s->plates && s->set.plates == PLATES_AUTO) LOOM_TRY(checkpoint_plates(s, restore));
  return cholmod_newton_matrix_checkpoint(&s->A, restore);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN |
             LOOM_NEED_CONTACT_ENERGY | LOOM_NEED_CONTACT_GRADIENT | LOOM_NEED_CONTACT_HESSIAN |
             LOOM_USES_GRADIENT | LOOM_NEEDS_LINE_SEARCH | LOOM_USES_FACTOR,
    .trial = LOOM_TRIAL_DIRECTION,
    .filter_when = LOOM_FILTER_EVERY,
    .create = cholmod_newton_create,
    .destroy = cholmod_newton_destroy,
    .reset = cholmod_newton_reset,
    .begin_step = cholmod_newton_begin_step,
    .iterate = cholmod_newton_iterate,
    .accepted = cholmod_newton_accepted,
    .checkpoint = cholmod_newton_checkpoint,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
    .name = "cholmod_newton",
    .version = "0.1.0",
    .summary = "projected Newton with line search and sparse Cholesky; converges to rounding: the "
               "reference",
    .reference = "J. Teran, E. Sifakis, G. Irving, R. Fedkiw, Robust Quasistatic Finite Elements "
                 "and Flesh Simulation, SCA 2005, doi 10.1145/1073368.1073394",
    .license = "GPL-2.0-or-later", /* CHOLMOD's supernodal module; this source is MIT */
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
