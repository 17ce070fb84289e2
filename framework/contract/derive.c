/* derive.c - derivatives of a contact model at the run's present point, against central differences
 * and against its quadratic form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/derive.h"
#include "linalg/blocks.h"
#include "run/objective/term.h"
#include "run/objects/following.h"

enum { DIRECTIONS = 8 };
/* m.  Positions of 0.1 m have rounding of 1e-17 m, so differences are good to 1e-9 or so.  A force
 * that varies over 0.1 mm makes a relative error of curvature of (1e-7/1e-4)^2. */
static const double step = 1e-7;
/* relative to the whole; errors of rounding and curvature are a hundredth of it */
static const double exact = 1e-5;
/* of a Hessian that leaves terms out */
static const double rough = 0.2;

double ct_energy_at(ct_run *t, const double *x, double *grad)
{
  run *const r = t->r;
  double e = 0.0, dissipation = 0.0;
  ct_set_values(r, r->st.trial, x);
  if (grad != NULL) CT_OK(t, la_fill(r->m, &r->exec, r->buf.x_before, 0.0));
  CT_OK(t, follow_rows(r, r->st.trial));
  CT_OK(t, contact_eval(r, &r->contact[0], r->st.problem, r->st.trial, &e, &dissipation,
                        grad != NULL ? r->buf.x_before : NULL));
  if (grad != NULL) {
    int64_t n;
    CT_OK(t, follow_fold(r, r->buf.x_before));
    double *const g = ct_values(r, r->buf.x_before, &n);
    memcpy(grad, g, sizeof *grad * (size_t)n);
    free(g);
  }
  return e + dissipation;
}

void ct_need_forms(ct_run *t, uint32_t need)
{
  const contact_inst *const c = &t->r->contact[0];
  if (sizeof(loom_real) < sizeof(double)) ct_skip("differences need loom_real = double");
  if (!(c->provides & CT_FORMS)) ct_skip("it is post-only: it has no energy, gradient or terms");
  if (!(c->provides & need))
    ct_skip(need & LOOM_CONT_QUAD ? "it has no quadratic form"
                                  : "it does not provide this derivative");
  if (c->in.plugin->ops.contact->pair_kinds == LOOM_BIT(LOOM_PAIR_YY))
    ct_skip("it is for yarns, which are not in this scene");
}

void *ct_alloc(int64_t count)
{
  void *const p = calloc((size_t)count + 1, sizeof(double));
  CT_ASSERT(p != NULL, "out of memory");
  return p;
}

double ct_norm(const double *v, int64_t n)
{
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += v[i] * v[i];
  return sqrt(sum);
}

/* A map on the host that must succeed. */
static void *map_host_buffer(const run *r, loom_buf *b)
{
  void *p;
  CT_ASSERT(buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p) == LOOM_OK, "%s",
            mem_err(r->m)->text);
  return p;
}
static void unmap_host_buffer(const run *r, loom_buf *b)
{
  CT_ASSERT(buf_unmap(r->m, b) == LOOM_OK, "%s", mem_err(r->m)->text);
}

/* A direction in (-0.5, 0.5)^3n, the same on every machine; fixed vertices stay where they are. */
static void random_direction(const run *r, uint64_t seed, int64_t n, double *d)
{
  const uint8_t *const fixed = map_host_buffer(r, r->scene->pub.fixed);
  uint64_t s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (int64_t i = 0; i < n; ++i) {
    s = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    d[i] = fixed[i / 3] ? 0.0 : (double)(s >> 11) / 9007199254740992.0 - 0.5;
  }
  unmap_host_buffer(r, r->scene->pub.fixed);
}

static void offset_positions(int64_t n, const double *x, double h, const double *d, double *y)
{
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + h * d[i];
}

/* A model without pairs may have no force in a scene of this kind. */
static void need_contact(const ct_run *t, int there, const char *text)
{
  if (!there && t->r->contact[0].in.plugin->ops.contact->pair_kinds == 0)
    ct_skip("it takes no pairs, and has no force in this scene");
  CT_ASSERT(there, "%s", text);
}

void ct_check_gradient(ct_run *t, const double *x, int64_t n)
{
  double *const g = ct_alloc(n), *const d = ct_alloc(n), *const y = ct_alloc(n);
  const double e = ct_energy_at(t, x, g), size = ct_norm(g, n);
  if (isnan(e)) ct_skip("with these settings it has no energy");
  need_contact(t, size > 0.0, "no contact force, so there is no gradient to check");
  for (uint64_t k = 1; k <= DIRECTIONS; ++k) {
    double slope = 0.0;
    random_direction(t->r, k, n, d);
    const double h = step / ct_norm(d, n);
    for (int64_t i = 0; i < n; ++i) slope += g[i] * d[i];
    offset_positions(n, x, h, d, y);
    const double up = ct_energy_at(t, y, NULL);
    offset_positions(n, x, -h, d, y);
    const double fd = (up - ct_energy_at(t, y, NULL)) / (2.0 * h), len = ct_norm(d, n);
    CT_ASSERT(fabs(fd - slope) <= exact * size * len,
              "direction %d: eval() has the slope %.9g N, differences of its energy %.9g N (off by "
              "%.1g of the gradient)",
              (int)k, slope / len, fd / len, fabs(fd - slope) / (size * len));
  }
  free(g), free(d), free(y);
}

/* out = H d, by the blocks */
static void apply_hessian(ct_run *t, const loom_blocks3 *H, const double *d, double *out)
{
  run *const r = t->r;
  int64_t n;
  ct_set_values(r, r->st.trial, d);
  CT_OK(t, la_fill(r->m, &r->exec, r->buf.x_before, 0.0));
  CT_OK(t, blocks_product(r->m, &r->exec, H, r->st.trial, NULL, r->buf.x_before));
  double *const v = ct_values(r, r->buf.x_before, &n);
  memcpy(out, v, sizeof *out * (size_t)n);
  free(v);
}

/* The core clears the rows of fixed vertices, so differences leave them out, too. */
static void clear_fixed(run *r, int64_t n, double *v)
{
  const uint8_t *const fixed = map_host_buffer(r, r->scene->pub.fixed);
  for (int64_t i = 0; i < n; ++i)
    if (fixed[i / 3]) v[i] = 0.0;
  unmap_host_buffer(r, r->scene->pub.fixed);
}

void ct_check_hessian(ct_run *t, const double *x, int64_t n)
{
  run *const r = t->r;
  const double bound = r->contact[0].provides & LOOM_CONT_HESS_APPROX ? rough : exact;
  double *const d = ct_alloc(n), *const y = ct_alloc(n), *const hd = ct_alloc(n);
  double *const up = ct_alloc(n), *const down = ct_alloc(n), *const other = ct_alloc(n);
  const loom_blocks3 *H = NULL;
  CT_OK(t, contact_blocks(r, r->st.problem, r->st.x, LOOM_HESS_EXACT, &H));
  need_contact(t, H->count > 0, "no contact, so there is no Hessian to check");
  for (uint64_t k = 1; k <= DIRECTIONS; ++k) {
    double miss = 0.0, size = 0.0, a = 0.0, b = 0.0;
    random_direction(r, k, n, d);
    apply_hessian(t, H, d, hd);
    offset_positions(n, x, step, d, y);
    (void)ct_energy_at(t, y, up);
    offset_positions(n, x, -step, d, y);
    (void)ct_energy_at(t, y, down);
    clear_fixed(r, n, hd), clear_fixed(r, n, up), clear_fixed(r, n, down);
    for (int64_t i = 0; i < n; ++i) {
      const double fd = (up[i] - down[i]) / (2.0 * step);
      size += fd * fd;
      miss += (hd[i] - fd) * (hd[i] - fd);
    }
    CT_ASSERT(sqrt(miss) <= bound * sqrt(size),
              "direction %d: H d is off by %.2g of the differences of the gradient, allowed %g; if "
              "terms are left out on purpose, say LOOM_CONT_HESS_APPROX",
              (int)k, sqrt(miss / size), bound);
    random_direction(r, k + DIRECTIONS, n, y); /* y.H d = d.H y */
    apply_hessian(t, H, y, other);
    clear_fixed(r, n, other);
    for (int64_t i = 0; i < n; ++i) a += y[i] * hd[i], b += d[i] * other[i];
    CT_ASSERT(fabs(a - b) <= 1e-10 * ct_norm(hd, n) * ct_norm(y, n), "H is not symmetric: %g, %g",
              a, b);
  }
  free(d), free(y), free(hd), free(up), free(down), free(other);
}

typedef struct terms { /* a quadratic form on the host */
  const int32_t *v;
  const loom_real *w, *k, *p, *dir;
  int width; /* vertices of a term */
} terms;

/* f += gradient of term j at x */
static void add_term_gradient(const terms *q, int64_t j, int iso, const double *x, double *f)
{
  static const loom_real none[3] = {0, 0, 0};
  const int32_t *const v = q->v + q->width * j;
  const loom_real *const w = q->w + q->width * j, *const dir =
                                                      q->dir != NULL ? q->dir + 3 * j : none;
  const double k = (double)q->k[j], len = dir[0] * dir[0] + dir[1] * dir[1] + dir[2] * dir[2];
  double u[3], along = 0.0;
  CT_ASSERT(k >= 0.0, "term %lld has the stiffness %g", (long long)j, k);
  CT_ASSERT(len == 0.0 || (!iso && fabs(len - 1.0) < 1e-9), "term %lld: direction of length %g",
            (long long)j, sqrt(len));
  for (int c = 0; c < 3; ++c) {
    u[c] = -(double)q->p[3 * j + c];
    for (int i = 0; i < q->width; ++i)
      if (v[i] >= 0) u[c] += (double)w[i] * x[3 * v[i] + c];
    along += (double)dir[c] * u[c];
  }
  for (int i = 0; i < q->width; ++i)
    for (int c = 0; c < 3 && v[i] >= 0; ++c)
      f[3 * v[i] + c] += k * (double)w[i] * (len > 0.0 ? along * (double)dir[c] : u[c]);
}

void ct_check_quad(ct_run *t, const double *x, int64_t n)
{
  run *const r = t->r;
  const int iso = (r->contact[0].provides & LOOM_CONT_QUAD_ISO) != 0;
  const loom_quad *q = NULL;
  double *const g = ct_alloc(n), *const f = ct_alloc(n);
  double size = 0.0;
  ct_energy_at(t, x, g);
  CT_OK(t, contact_quad(r, r->st.x, &q));
  need_contact(t, q->count > 0, "no contact, so there are no quadratic terms to check");
  CT_ASSERT(iso || q->dir != NULL, "directional terms without an array of directions");
  const terms h = {map_host_buffer(r, q->v),
                   map_host_buffer(r, q->w),
                   map_host_buffer(r, q->k),
                   map_host_buffer(r, q->p),
                   q->dir != NULL ? map_host_buffer(r, q->dir) : NULL,
                   q->width};
  for (int64_t j = 0; j < q->count; ++j) add_term_gradient(&h, j, iso, x, f);
  loom_buf *const all[] = {q->v, q->w, q->k, q->p, q->dir};
  for (int i = 0; i < 5; ++i)
    if (all[i] != NULL) unmap_host_buffer(r, all[i]);
  for (int64_t i = 0; i < n; ++i) size = fmax(size, fabs(g[i]));
  /* both are sums of a few products: rounding only */
  for (int64_t i = 0; i < n; ++i)
    CT_ASSERT(fabs(f[i] - g[i]) <= 1e-10 * size,
              "vertex %lld: the terms add up to %g N, eval() says %g N", (long long)(i / 3), f[i],
              g[i]);
  free(g), free(f);
}
