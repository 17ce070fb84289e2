/* fx_problem.c - two solvers, by a definition of the build, that creep downhill and hold the
 * services of loom/host.h, in every iteration, to the header's rules on problems: the step's
 * own, and others with their own terms, target and step size.
 *
 * fx_problem works on live contact, fx_frozen on contact frozen at x_start, with a filter at the
 * end of the step alone; as a method would that solves for elasticity first and then corrects
 * intersections by { INERTIA | CONTACT, target = x_hat }.  For the tiny scene of test_problem.c,
 * which has active contact: differences with a step of 1e-8 m are good to 1e-5. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loom/plugin.h"

enum { DIRECTIONS = 3, VECTORS = 6 };
static const double step = 1e-8; /* m */
static const double differences = 1e-5, rounding = 1e-10;

typedef struct fx {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  int64_t n3;
  int frozen;
  int32_t checks;            /* of this iteration */
  loom_buf *b[VECTORS];      /* real [n][3] */
  loom_buf *x_hat, *at;      /* real [n][3], m: a target, and a point where no vertex is at rest */
  loom_buf *mask;            /* u8 [n] */
  loom_buf *dense;           /* real, of the largest element block */
  double *x, *g, *d, *u, *v; /* [n3] */
} fx;

/* a and b agree to `tolerance` of `size`. */
#define AGREE(f, a, b, size, tolerance, what)                                     \
  do {                                                                            \
    const double a_ = (a), b_ = (b);                                              \
    LOOM_CHECK((f)->host, fabs(a_ - b_) <= (tolerance) * (size), LOOM_E_INTERNAL, \
               "%s: %.12g and %.12g differ by %.2g of %.3g", (what), a_, b_,      \
               fabs(a_ - b_) / (size), (double)(size));                           \
    ++(f)->checks;                                                                \
  } while (0)

static loom_status read_problem_vector(fx *f, loom_buf *b, double *out)
{
  void *p;
  LOOM_TRY(f->host->map(f->host, f->e, b, LOOM_READ, LOOM_AT_HOST, &p));
  for (int64_t i = 0; i < f->n3; ++i) out[i] = (double)((loom_real *)p)[i];
  return f->host->unmap(f->host, b);
}

/* b = x + t d */
static loom_status write_moved_vector(fx *f, loom_buf *b, const double *x, double t,
                                      const double *d)
{
  void *p;
  LOOM_TRY(f->host->map(f->host, f->e, b, LOOM_WRITE, LOOM_AT_HOST, &p));
  for (int64_t i = 0; i < f->n3; ++i) ((loom_real *)p)[i] = (loom_real)(x[i] + t * d[i]);
  return f->host->unmap(f->host, b);
}

static double dot_problem_vectors(const fx *f, const double *a, const double *b)
{
  double sum = 0.0;
  for (int64_t i = 0; i < f->n3; ++i) sum += a[i] * b[i];
  return sum;
}

/* A unit vector in f->d, zero in fixed rows, the same in every run. */
static loom_status fill_random_direction(fx *f, uint64_t seed)
{
  uint64_t s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  void *fixed;
  LOOM_TRY(f->host->map(f->host, f->e, f->sc->fixed, LOOM_READ, LOOM_AT_HOST, &fixed));
  for (int64_t i = 0; i < f->n3; ++i) {
    s = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    f->d[i] = ((uint8_t *)fixed)[i / 3] ? 0.0 : (double)(s >> 11) / 9007199254740992.0 - 0.5;
  }
  LOOM_TRY(f->host->unmap(f->host, f->sc->fixed));
  const double len = sqrt(dot_problem_vectors(f, f->d, f->d));
  for (int64_t i = 0; i < f->n3; ++i) f->d[i] /= len;
  return LOOM_OK;
}

/* ---- energy, gradient, Hessian ---- */

/* Gradient against differences of the energy and Hessian against differences of the gradient, at x.
 */
static loom_status check_problem_derivatives(fx *f, const loom_problem *p, loom_buf *x,
                                             const char *what)
{
  const loom_host *const host = f->host;
  const int both = LOOM_EVAL_ENERGY | LOOM_EVAL_GRADIENT;
  loom_energies e, up, down;
  const loom_bsr3 *H;
  LOOM_TRY(read_problem_vector(f, x, f->x));
  LOOM_TRY(host->eval(host, p, x, both, &e, f->b[0]));
  LOOM_TRY(read_problem_vector(f, f->b[0], f->g));
  AGREE(f, e.total, e.inertia + e.elastic + e.contact + e.dissipation, fabs(e.total), rounding,
        what);
  LOOM_CHECK(host,
             (e.inertia == 0.0 || (p->terms & LOOM_TERM_INERTIA)) &&
                 (e.elastic == 0.0 || (p->terms & LOOM_TERM_ELASTIC)) &&
                 ((e.contact > 0.0) == ((p->terms & LOOM_TERM_CONTACT) != 0) || f->frozen),
             LOOM_E_INTERNAL, "%s: energies of other terms, or none of contact", what);
  LOOM_TRY(host->hessian(host, p, x, LOOM_HESS_EXACT, &H));
  for (uint64_t k = 1; k <= DIRECTIONS; ++k) {
    LOOM_TRY(fill_random_direction(f, k));
    LOOM_TRY(write_moved_vector(f, f->b[1], f->x, step, f->d));
    LOOM_TRY(host->eval(host, p, f->b[1], both, &up, f->b[2]));
    LOOM_TRY(read_problem_vector(f, f->b[2], f->u));
    LOOM_TRY(write_moved_vector(f, f->b[1], f->x, -step, f->d));
    LOOM_TRY(host->eval(host, p, f->b[1], both, &down, f->b[2]));
    LOOM_TRY(read_problem_vector(f, f->b[2], f->v));
    AGREE(f, (up.total - down.total) / (2.0 * step), dot_problem_vectors(f, f->g, f->d),
          sqrt(dot_problem_vectors(f, f->g, f->g)) + 1e-9, differences, what);
    /* b[4] = H d; its unit rows of fixed vertices meet zeros */
    for (int64_t i = 0; i < f->n3; ++i) f->u[i] = (f->u[i] - f->v[i]) / (2.0 * step);
    LOOM_TRY(write_moved_vector(f, f->b[3], f->d, 0.0, f->d));
    LOOM_TRY(host->spmv_bsr3(host, f->e, H, f->b[3], f->b[4]));
    LOOM_TRY(read_problem_vector(f, f->b[4], f->v));
    const double size = sqrt(dot_problem_vectors(f, f->v, f->v));
    for (int64_t i = 0; i < f->n3; ++i) AGREE(f, f->u[i], f->v[i], size, differences, what);
    LOOM_TRY(host->hess_apply(host, p, x, LOOM_HESS_EXACT, f->b[3], f->b[5]));
    LOOM_TRY(read_problem_vector(f, f->b[5], f->u));
    for (int64_t i = 0; i < f->n3; ++i) AGREE(f, f->u[i], f->v[i], size, rounding, what);
  }
  return LOOM_OK;
}

/* w m/2 |x - target|^2 by hand, w the weight of inertia. */
static loom_status check_inertia(fx *f, const loom_problem *p, loom_buf *x)
{
  const loom_host *const host = f->host;
  loom_energies e;
  double sum = 0.0;
  void *m, *fixed;
  LOOM_TRY(read_problem_vector(f, x, f->u));
  LOOM_TRY(read_problem_vector(f, p->target, f->v));
  LOOM_TRY(host->map(host, f->e, f->sc->mass, LOOM_READ, LOOM_AT_HOST, &m));
  LOOM_TRY(host->map(host, f->e, f->sc->fixed, LOOM_READ, LOOM_AT_HOST, &fixed));
  for (int64_t i = 0; i < f->n3; ++i)
    if (!((uint8_t *)fixed)[i / 3])
      sum += 0.5 * (double)((loom_real *)m)[i / 3] * p->inertia * pow(f->u[i] - f->v[i], 2.0);
  LOOM_TRY(host->unmap(host, f->sc->fixed));
  LOOM_TRY(host->unmap(host, f->sc->mass));
  LOOM_TRY(host->eval(host, p, x, LOOM_EVAL_ENERGY, &e, NULL));
  AGREE(f, e.inertia, sum, sum, rounding, "inertia around x_hat");
  return LOOM_OK;
}

/* d.H d of elements and their damping by element Hessians, and of contact by its blocks; the rows
 * of d on fixed vertices are zero. */
static loom_status check_parts(fx *f, const loom_problem *own, loom_buf *x)
{
  const loom_host *const host = f->host;
  loom_problem one = *own;
  const loom_blocks3 *blocks;
  double sum = 0.0;
  void *val, *row, *col;
  LOOM_TRY(fill_random_direction(f, 7));
  LOOM_TRY(write_moved_vector(f, f->b[3], f->d, 0.0, f->d));
  for (int b = 0; b < f->sc->num_blocks; ++b) {
    const loom_elem_block *const k = &f->sc->blocks[b];
    const int side = 3 * k->arity;
    LOOM_TRY(host->elem_hessians(host, b, 0, k->num_elems, x, LOOM_HESS_PSD_CLAMP, f->dense));
    LOOM_TRY(host->map(host, f->e, f->dense, LOOM_READ, LOOM_AT_HOST, &val));
    LOOM_TRY(host->map(host, f->e, k->verts, LOOM_READ, LOOM_AT_HOST, &row));
    for (int64_t i = 0; i < (int64_t)k->num_elems * side * side; ++i) {
      const int32_t *const vert = (int32_t *)row + i / (side * side) * k->arity;
      const int64_t r = i / side % side, c = i % side;
      sum += f->d[3 * vert[r / 3] + r % 3] * (double)((loom_real *)val)[i] *
             f->d[3 * vert[c / 3] + c % 3];
    }
    LOOM_TRY(host->unmap(host, k->verts));
    LOOM_TRY(host->unmap(host, f->dense));
  }
  one.terms = LOOM_TERM_ELASTIC | LOOM_TERM_DAMPING;
  LOOM_TRY(host->hess_apply(host, &one, x, LOOM_HESS_PSD_CLAMP, f->b[3], f->b[4]));
  LOOM_TRY(read_problem_vector(f, f->b[4], f->v));
  AGREE(f, sum, dot_problem_vectors(f, f->d, f->v), fabs(sum), rounding, "element Hessians");
  one.terms = LOOM_TERM_CONTACT;
  LOOM_TRY(host->contact_hessian(host, &one, x, LOOM_HESS_PSD_CLAMP, &blocks));
  LOOM_CHECK(host, blocks->count > 0, LOOM_E_INTERNAL, "no blocks of contact");
  LOOM_TRY(host->map(host, f->e, blocks->val, LOOM_READ, LOOM_AT_HOST, &val));
  LOOM_TRY(host->map(host, f->e, blocks->row, LOOM_READ, LOOM_AT_HOST, &row));
  LOOM_TRY(host->map(host, f->e, blocks->col, LOOM_READ, LOOM_AT_HOST, &col));
  sum = 0.0;
  for (int64_t i = 0; i < 9 * blocks->count; ++i)
    sum += f->d[3 * ((int32_t *)row)[i / 9] + i % 9 / 3] * (double)((loom_real *)val)[i] *
           f->d[3 * ((int32_t *)col)[i / 9] + i % 3];
  LOOM_TRY(host->unmap(host, blocks->col));
  LOOM_TRY(host->unmap(host, blocks->row));
  LOOM_TRY(host->unmap(host, blocks->val));
  LOOM_TRY(host->hess_apply(host, &one, x, LOOM_HESS_PSD_CLAMP, f->b[3], f->b[4]));
  LOOM_TRY(read_problem_vector(f, f->b[4], f->v));
  AGREE(f, sum, dot_problem_vectors(f, f->d, f->v), fabs(sum), rounding, "blocks of contact");
  return LOOM_OK;
}

/* The right-hand side at x less that at zero: L x - rhs is the gradient of p without contact, and
 * for inertia alone L is its Hessian. */
static loom_status check_projective_gradient(fx *f, const loom_problem *p, loom_buf *x)
{
  const loom_host *const host = f->host;
  const loom_csr *L;
  void *ptr, *col, *val;
  LOOM_TRY(host->pd_operator(host, p, &L));
  LOOM_TRY(host->pd_rhs(host, p, x, f->b[0]));
  LOOM_TRY(host->eval(host, p, x, LOOM_EVAL_GRADIENT, NULL, f->b[1]));
  LOOM_TRY(read_problem_vector(f, x, f->x));
  LOOM_TRY(read_problem_vector(f, f->b[0], f->u));
  LOOM_TRY(read_problem_vector(f, f->b[1], f->g));
  LOOM_TRY(host->map(host, f->e, L->row_ptr, LOOM_READ, LOOM_AT_HOST, &ptr));
  LOOM_TRY(host->map(host, f->e, L->col, LOOM_READ, LOOM_AT_HOST, &col));
  LOOM_TRY(host->map(host, f->e, L->val, LOOM_READ, LOOM_AT_HOST, &val));
  for (int64_t i = 0; i < f->n3; ++i) f->v[i] = -f->u[i];
  for (int64_t i = 0; i < f->n3; ++i)
    for (int64_t k = ((int64_t *)ptr)[i / 3]; k < ((int64_t *)ptr)[i / 3 + 1]; ++k)
      f->v[i] += (double)((loom_real *)val)[k] * f->x[3 * ((int32_t *)col)[k] + i % 3];
  LOOM_TRY(host->unmap(host, L->val));
  LOOM_TRY(host->unmap(host, L->col));
  LOOM_TRY(host->unmap(host, L->row_ptr));
  const double size = sqrt(dot_problem_vectors(f, f->u, f->u));
  for (int64_t i = 0; i < f->n3; ++i)
    AGREE(f, f->v[i], f->g[i], size, rounding, "L x - rhs and the gradient");
  return LOOM_OK;
}

/* ---- frozen contact ----
 */

/* Frozen at x_hat: the same value and derivatives as live contact there, another one elsewhere. */
static loom_status check_frozen(fx *f, const loom_step *s)
{
  const loom_host *const host = f->host;
  const int both = LOOM_EVAL_ENERGY | LOOM_EVAL_GRADIENT;
  const int32_t epoch = s->epoch;
  loom_problem live = *s->problem;
  loom_energies a, b;
  LOOM_CHECK(host, s->problem->contact == LOOM_CONTACT_FROZEN, LOOM_E_INTERNAL, "contact is live");
  LOOM_TRY(host->freeze_contact(host, f->x_hat, 1.0));
  LOOM_CHECK(host, s->epoch > epoch, LOOM_E_INTERNAL, "the epoch is that of before");
  live.contact = LOOM_CONTACT_LIVE;
  LOOM_TRY(host->eval(host, s->problem, f->x_hat, both, &a, f->b[0]));
  LOOM_TRY(host->eval(host, &live, f->x_hat, both, &b, f->b[1]));
  AGREE(f, a.contact + a.dissipation, b.contact + b.dissipation, b.contact, rounding, "energy");
  LOOM_TRY(read_problem_vector(f, f->b[0], f->u));
  LOOM_TRY(read_problem_vector(f, f->b[1], f->v));
  const double size = sqrt(dot_problem_vectors(f, f->v, f->v));
  for (int64_t i = 0; i < f->n3; ++i) AGREE(f, f->u[i], f->v[i], size, rounding, "gradient");
  LOOM_TRY(fill_random_direction(f, 5));
  LOOM_TRY(write_moved_vector(f, f->b[3], f->d, 0.0, f->d));
  LOOM_TRY(host->hess_apply(host, s->problem, f->x_hat, LOOM_HESS_PSD_CLAMP, f->b[3], f->b[4]));
  LOOM_TRY(host->hess_apply(host, &live, f->x_hat, LOOM_HESS_PSD_CLAMP, f->b[3], f->b[5]));
  LOOM_TRY(read_problem_vector(f, f->b[4], f->u));
  LOOM_TRY(read_problem_vector(f, f->b[5], f->v));
  const double bend = sqrt(dot_problem_vectors(f, f->v, f->v));
  for (int64_t i = 0; i < f->n3; ++i) AGREE(f, f->u[i], f->v[i], bend, rounding, "Hessian");
  LOOM_TRY(read_problem_vector(f, f->x_hat, f->x));
  LOOM_TRY(write_moved_vector(f, f->b[1], f->x, 1e-4, f->d));
  LOOM_TRY(host->eval(host, s->problem, f->b[1], LOOM_EVAL_ENERGY, &a, NULL));
  LOOM_TRY(host->eval(host, &live, f->b[1], LOOM_EVAL_ENERGY, &b, NULL));
  LOOM_CHECK(host, fabs(a.total - b.total) > 1e-9 * b.contact, LOOM_E_INTERNAL,
             "frozen contact has %g J away from x_hat, live contact, too", b.contact);
  return host->freeze_contact(host, s->x_start, 1.0);
}

/* ---- collision services ----
 */

/* The sheet lies closer than 1 mm over the floor z = 0: pairs of one vertex, and how far it may
 * sink. */
static loom_status check_floor_pairs(fx *f, const loom_step *s)
{
  const loom_host *const host = f->host;
  const loom_pairs *pairs;
  void *mask, *v, *gap;
  double least = INFINITY;
  loom_query q = {.struct_size = sizeof q,
                  .what = LOOM_DETECT_PROXIMITY,
                  .kinds = LOOM_BIT(LOOM_PAIR_VO),
                  .margin = (loom_real)1e-3,
                  .x0 = s->x_feas,
                  .x1 = s->x_feas,
                  .progress0 = 1.0,
                  .progress1 = 1.0};
  loom_bound bound = {.struct_size = sizeof bound, .progress0 = 1.0, .progress1 = 1.0};
  LOOM_TRY(host->detect(host, &q, &pairs));
  LOOM_CHECK(host, pairs->count > 1, LOOM_E_INTERNAL, "%d pairs", (int)pairs->count);
  LOOM_TRY(host->map(host, f->e, pairs->gap, LOOM_READ, LOOM_AT_HOST, &gap));
  for (int64_t j = 0; j < pairs->count; ++j) least = fmin(least, (double)((loom_real *)gap)[j]);
  LOOM_TRY(host->unmap(host, pairs->gap));
  LOOM_TRY(host->map(host, f->e, f->mask, LOOM_WRITE, LOOM_AT_HOST, &mask));
  memset(mask, 0, (size_t)(f->n3 / 3));
  LOOM_TRY(host->map(host, f->e, pairs->v, LOOM_READ, LOOM_AT_HOST, &v));
  const int32_t marked = ((int32_t *)v)[4 * (pairs->count / 2)];
  ((uint8_t *)mask)[marked] = 1;
  LOOM_TRY(host->unmap(host, pairs->v));
  LOOM_TRY(host->unmap(host, f->mask));
  q.mask = f->mask;
  LOOM_TRY(host->detect(host, &q, &pairs));
  LOOM_TRY(host->map(host, f->e, pairs->v, LOOM_READ, LOOM_AT_HOST, &v));
  const int32_t found = ((int32_t *)v)[0];
  LOOM_TRY(host->unmap(host, pairs->v));
  LOOM_CHECK(host, pairs->count == 1 && found == marked, LOOM_E_INTERNAL,
             "%d pairs, the first of vertex %d, though only vertex %d is marked", (int)pairs->count,
             (int)found, (int)marked);
  LOOM_TRY(read_problem_vector(f, s->x_feas, f->x));
  for (int64_t i = 0; i < f->n3; ++i) f->d[i] = i % 3 == 2 ? -1.0 : 0.0;
  LOOM_TRY(write_moved_vector(f, f->b[0], f->x, 10.0 * least, f->d));
  LOOM_TRY(host->max_step(host, s->x_feas, f->b[0], &bound));
  LOOM_CHECK(host, bound.t_global > 0.05 && bound.t_global <= 0.1, LOOM_E_INTERNAL,
             "a tenth of the way leads to the floor, max_step() says %g", bound.t_global);
  f->checks += 2;
  return LOOM_OK;
}

/* ---- the solver ----
 */

/* trial = -h^2/m grad / 100 */
static loom_status compute_creep_trial(fx *f, const loom_step *s)
{
  const loom_host *const host = f->host;
  void *g, *m, *t;
  LOOM_TRY(host->eval(host, s->problem, s->x, LOOM_EVAL_GRADIENT, NULL, f->b[0]));
  LOOM_TRY(host->map(host, f->e, f->b[0], LOOM_READ, LOOM_AT_HOST, &g));
  LOOM_TRY(host->map(host, f->e, f->sc->mass, LOOM_READ, LOOM_AT_HOST, &m));
  LOOM_TRY(host->map(host, f->e, s->trial, LOOM_WRITE, LOOM_AT_HOST, &t));
  for (int64_t i = 0; i < f->n3; ++i)
    ((loom_real *)t)[i] = (loom_real)(-0.01 * s->h * s->h / (double)((loom_real *)m)[i / 3] *
                                      (double)((loom_real *)g)[i]);
  LOOM_TRY(host->unmap(host, s->trial));
  LOOM_TRY(host->unmap(host, f->sc->mass));
  return host->unmap(host, f->b[0]);
}

static loom_status fx_problem_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  fx *const f = self;
  loom_problem near = {.struct_size = sizeof near,
                       .terms = LOOM_TERM_INERTIA | LOOM_TERM_CONTACT,
                       .target = f->x_hat,
                       .h = 2.0 * s->h,
                       .inertia = 0.25 * s->problem->inertia};
  loom_problem inertia = near, elastic = *s->problem, damped = *s->problem;
  inertia.terms = LOOM_TERM_INERTIA;
  inertia.inertia = 4.0 * s->problem->inertia;
  elastic.terms = LOOM_TERM_ELASTIC;
  damped.terms = LOOM_TERM_DAMPING;
  damped.h = 3.0 * s->h;
  f->checks = 0;
  AGREE(f, s->problem->inertia * s->h * s->h, 1.0, 1.0, rounding, "weight of inertia of the step");
  LOOM_TRY(read_problem_vector(f, s->x_feas, f->x));
  LOOM_TRY(fill_random_direction(f, 3));
  LOOM_TRY(write_moved_vector(f, f->x_hat, f->x, 1e-4, f->d));
  LOOM_TRY(fill_random_direction(f, 11)); /* at rest friction and membrane have kinks */
  LOOM_TRY(write_moved_vector(f, f->at, f->x, 1e-4, f->d));
  LOOM_TRY(check_problem_derivatives(f, s->problem, f->at, "the step's own problem"));
  LOOM_TRY(check_problem_derivatives(f, &near, f->at, "inertia and contact around x_hat"));
  LOOM_TRY(check_problem_derivatives(f, &elastic, f->at, "elasticity alone"));
  LOOM_TRY(check_problem_derivatives(f, &damped, f->at, "damping alone"));
  LOOM_TRY(check_inertia(f, &inertia, f->at));
  LOOM_TRY(check_parts(f, s->problem, f->at));
  LOOM_TRY(check_projective_gradient(f, &inertia, s->x));
  LOOM_TRY(check_projective_gradient(f, &elastic, s->x));
  damped.terms |= LOOM_TERM_ELASTIC;
  LOOM_TRY(check_projective_gradient(f, &damped, f->at));
  LOOM_TRY(check_floor_pairs(f, s));
  if (f->frozen) LOOM_TRY(check_frozen(f, s));
  LOOM_CHECK(f->host, !f->frozen || s->filters == 1, LOOM_E_INTERNAL, "FILTER came before the end");
  it->inner_iters = f->checks;
  return compute_creep_trial(f, s);
}

static loom_status fx_problem_create(const loom_host *host, const loom_scene *sc,
                                     const loom_exec *e, const void *settings, void **self)
{
  fx *const f = calloc(1, sizeof *f);
  int64_t most = 0;
  (void)settings;
  LOOM_CHECK(host, f != NULL, LOOM_E_NOMEM, "no memory");
  *self = f;
  f->host = host;
  f->sc = sc;
  f->e = e;
  f->n3 = 3 * (int64_t)sc->num_verts;
  f->frozen = FX_FROZEN;
  double **const all[] = {&f->x, &f->g, &f->d, &f->u, &f->v};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) {
    *all[i] = calloc((size_t)f->n3, sizeof **all[i]);
    LOOM_CHECK(host, *all[i] != NULL, LOOM_E_NOMEM, "no memory");
  }
  for (int i = 0; i < VECTORS; ++i)
    LOOM_TRY(host->buf_new(host, "vector", LOOM_REAL, f->n3, &f->b[i]));
  for (int b = 0; b < sc->num_blocks; ++b) {
    const int64_t side = 3 * (int64_t)sc->blocks[b].arity,
                  need = side * side * sc->blocks[b].num_elems;
    most = need > most ? need : most;
  }
  LOOM_TRY(host->buf_new(host, "element Hessians", LOOM_REAL, most, &f->dense));
  LOOM_TRY(host->buf_new(host, "mask", LOOM_U8, f->n3 / 3, &f->mask));
  LOOM_TRY(host->buf_new(host, "point", LOOM_REAL, f->n3, &f->at));
  return host->buf_new(host, "x_hat", LOOM_REAL, f->n3, &f->x_hat);
}

static void fx_problem_destroy(void *self)
{
  fx *const f = self;
  if (f == NULL) return;
  free(f->x), free(f->g), free(f->d), free(f->u), free(f->v);
  free(f);
}

static loom_status fx_problem_begin_step(void *self, const loom_step *s)
{
  (void)self, (void)s;
  return LOOM_OK;
}

enum {
  NEEDS = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN |
          LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_ENERGY | LOOM_NEED_CONTACT_GRADIENT |
          LOOM_NEED_CONTACT_HESSIAN
};
static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = NEEDS | (FX_FROZEN ? LOOM_WANT_CONTACT_FROZEN : 0),
    .trial = LOOM_TRIAL_DIRECTION,
    .filter_when = FX_FROZEN ? LOOM_FILTER_END : LOOM_FILTER_EVERY,
    .create = fx_problem_create,
    .destroy = fx_problem_destroy,
    .begin_step = fx_problem_begin_step,
    .iterate = fx_problem_iterate,
};
static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
    .name = FX_NAME,
    .version = "1",
    .summary = "fixture: holds the services of problems to their words",
    .reference = "none",
    .license = "MIT",
};

LOOM_EXPORT_PLUGIN(&plugin)
