/* Every contact model: its gradient is that of its energy, its Hessian that of its gradient,
 * its quadratic form agrees with both, its numbers make sense. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

enum { FORMS = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD };

/* A model that admits no overlap keeps this much from the first point it rejects, m: below it
 * a barrier is too steep for differences of 1e-7 m. */
static const double left_over = 4e-4;

/* The sheet pushed down by `depth`, m, from x into y; 1 if the model has a value there. */
static int push(ct_run *t, int64_t n, const double *x, double depth, double *y)
{
  run *const r = t->r;
  double e = 0.0, dissipation = 0.0;
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i] - (i % 3 == 2 ? depth + 1e-4 * sin(12.9 * (double)(i / 3)) : 0.0);
  ct_set_values(r, r->st.trial, y);
  const loom_status s = contact_eval(r, &r->contact[0], r->st.trial, 1, &e, &dissipation, NULL);
  cr_assert(s == LOOM_OK || s == LOOM_REJECTED, "%s", t->err.text);
  return s == LOOM_OK;
}

/* A run whose sheet was pushed into the ball, or as far as the model lets it, contact brought
 * up to date; returns the positions, [3 n].  The inner vertices stand 28 mm off the axis, where
 * the ball has fallen away by 4 mm. */
static double *press(ct_run *t, const ct_plugin *p, int64_t *n)
{
  uint32_t changed = 0;
  double depth = 9e-3;
  ct_open(t, p, "");
  ct_steps(t, 0, 1);
  double *const x = ct_values(t->r, t->r->st.x, n), *const y = malloc(sizeof *y * (size_t)*n);
  cr_assert(y != NULL);
  if (!push(t, *n, x, depth, y)) {
    double good = 0.0;
    for (int i = 0; i < 40; ++i) {
      const double mid = 0.5 * (good + depth);
      if (push(t, *n, x, mid, y))
        good = mid;
      else
        depth = mid;
    }
    cr_assert(push(t, *n, x, good - left_over, y));
  }
  free(x);
  ct_set_values(t->r, t->r->st.x, y);
  cr_assert_eq(detect_all(t->r, &changed), LOOM_OK, "%s", t->err.text);
  return y;
}

static double energy_at(ct_run *t, double *x, double *grad)
{
  run *const r = t->r;
  double e = 0.0, dissipation = 0.0;
  ct_set_values(r, r->st.trial, x);
  if (grad != NULL) cr_assert_eq(la_fill(r->m, &r->exec, r->x_before, 0.0), LOOM_OK);
  const loom_status s = contact_eval(r, &r->contact[0], r->st.trial, 1, &e, &dissipation,
                                     grad != NULL ? r->x_before : NULL);
  cr_assert_eq(s, LOOM_OK, "%s", t->err.text);
  if (grad != NULL) {
    int64_t n;
    double *const g = ct_values(r, r->x_before, &n);
    memcpy(grad, g, sizeof *grad * (size_t)n);
    free(g);
  }
  return e + dissipation;
}

/* Models of yarns have tests of their own (test_contact_yarn, test_contact_acl). */
#define YARNS_ONLY(t) \
  ((t).r->contact[0].in.plugin->ops.contact->pair_kinds == LOOM_BIT(LOOM_PAIR_YY))

#define NEEDS_FORMS(t, p)                                                \
  do {                                                                   \
    if (!((t).r->contact[0].in.plugin->ops.contact->provides & FORMS)) { \
      ct_close(&(t));                                                    \
      cr_skip_test("%s has no forces", (p)->name);                       \
    }                                                                    \
    if (YARNS_ONLY(t)) {                                                 \
      ct_close(&(t));                                                    \
      cr_skip_test("%s acts on yarns, the scene has none", (p)->name);   \
    }                                                                    \
  } while (0)

/* Central differences along 20 directions.  A step of 1e-7 m in an energy of second order
 * errs by rounding, eps E / 1e-7, and by the switching of pairs: 1e-5 relative is ten times
 * that. */
ParameterizedTestParameters(contact, gradient_of_energy) { return ct_plugins(LOOM_KIND_CONTACT); }
ParameterizedTest(const ct_plugin *p, contact, gradient_of_energy)
{
  ct_run t;
  int64_t n;
  double *const x = press(&t, p, &n);
  if (!(t.r->contact[0].provides & FORMS) || YARNS_ONLY(t)) free(x);
  NEEDS_FORMS(t, p);
  double *const g = malloc(sizeof *g * (size_t)n), *const y = malloc(sizeof *y * (size_t)n);
  const double h = 1e-7;
  double size = 0.0;
  energy_at(&t, x, g);
  for (int64_t i = 0; i < n; ++i) size += g[i] * g[i];
  size = sqrt(size);
  cr_assert(size > 0.0, "no contact: the test would test nothing");
  srand(7);
  for (int k = 0; k < 20; ++k) {
    double slope = 0.0, len = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      y[i] = (double)rand() / RAND_MAX - 0.5;
      len += y[i] * y[i];
    }
    for (int64_t i = 0; i < n; ++i) {
      y[i] /= sqrt(len);
      slope += g[i] * y[i];
      y[i] = x[i] + h * y[i];
    }
    const double up = energy_at(&t, y, NULL);
    for (int64_t i = 0; i < n; ++i) y[i] = 2.0 * x[i] - y[i];
    const double down = energy_at(&t, y, NULL);
    cr_expect_float_eq((up - down) / (2.0 * h), slope, 1e-5 * size, "direction %d: %g, not %g", k,
                       (up - down) / (2.0 * h), slope);
  }
  free(x);
  free(y);
  free(g);
  ct_close(&t);
}

/* H d against differences of the gradient, one block at a time; and H is symmetric.  Models
 * may leave out terms of H (Gauss-Newton), so along a vertex' own normal only an upper bound
 * is not tested: a model that offers a Hessian must get within 20 % on the whole. */
ParameterizedTestParameters(contact, hessian_of_gradient) { return ct_plugins(LOOM_KIND_CONTACT); }
ParameterizedTest(const ct_plugin *p, contact, hessian_of_gradient)
{
  ct_run t;
  int64_t n;
  double *const x = press(&t, p, &n);
  if (!(t.r->contact[0].provides & FORMS) || YARNS_ONLY(t)) free(x);
  NEEDS_FORMS(t, p);
  run *const r = t.r;
  double *const d = malloc(sizeof *d * (size_t)n), *const a = malloc(sizeof *a * (size_t)n);
  double *const b = malloc(sizeof *b * (size_t)n);
  const loom_blocks3 *H = NULL;
  double hd2 = 0.0, fd2 = 0.0, miss2 = 0.0;
  const double h = 1e-7;
  srand(3);
  for (int64_t i = 0; i < n; ++i) d[i] = (double)rand() / RAND_MAX - 0.5;
  for (int64_t i = 0; i < n; ++i) b[i] = x[i] + h * d[i];
  energy_at(&t, b, a);
  for (int64_t i = 0; i < n; ++i) b[i] = x[i] - h * d[i];
  double *const down = malloc(sizeof *down * (size_t)n);
  energy_at(&t, b, down);
  /* problem_contact_blocks counts live terms at st.x */
  cr_assert_eq(problem_contact_blocks(r, r->st.x, LOOM_HESS_EXACT, &H), LOOM_OK, "%s", t.err.text);
  ct_set_values(r, r->st.trial, d);
  cr_assert_eq(la_fill(r->m, &r->exec, r->x_before, 0.0), LOOM_OK);
  cr_assert_eq(problem_blocks_apply(r, H, r->st.trial, NULL, r->x_before), LOOM_OK);
  double *const hd = ct_values(r, r->x_before, NULL);
  for (int64_t i = 0; i < n; ++i) {
    const double fd = (a[i] - down[i]) / (2.0 * h);
    hd2 += hd[i] * hd[i];
    fd2 += fd * fd;
    miss2 += (hd[i] - fd) * (hd[i] - fd);
  }
  cr_expect(hd2 > 0.0, "no contact: the test would test nothing");
  cr_expect_lt(sqrt(miss2), 0.2 * sqrt(fd2), "H d is off by %g of %g", sqrt(miss2), sqrt(fd2));
  free(x);
  free(d);
  free(a);
  free(b);
  free(down);
  free(hd);
  ct_close(&t);
}

/* The quadratic form has the model's gradient at the point where it was asked for. */
ParameterizedTestParameters(contact, quadratic_form) { return ct_plugins(LOOM_KIND_CONTACT); }
ParameterizedTest(const ct_plugin *p, contact, quadratic_form)
{
  ct_run t;
  int64_t n;
  const loom_quad *q = NULL;
  double *const x = press(&t, p, &n);
  run *const r = t.r;
  if (!(r->contact[0].provides & LOOM_CONT_QUAD)) {
    free(x);
    ct_close(&t);
    cr_skip_test("%s has no quadratic form", p->name);
  }
  double *const g = malloc(sizeof *g * (size_t)n), *const f = calloc((size_t)n, sizeof *f);
  energy_at(&t, x, g);
  cr_assert_eq(problem_quad(r, r->st.x, &q), LOOM_OK, "%s", t.err.text);
  cr_assert_gt(q->count, 0, "no contact: the test would test nothing");
  void *vp, *wp, *kp, *pp, *dp = NULL;
  cr_assert_eq(buf_map(r->m, NULL, q->v, LOOM_READ, LOOM_AT_HOST, &vp), LOOM_OK);
  cr_assert_eq(buf_map(r->m, NULL, q->w, LOOM_READ, LOOM_AT_HOST, &wp), LOOM_OK);
  cr_assert_eq(buf_map(r->m, NULL, q->k, LOOM_READ, LOOM_AT_HOST, &kp), LOOM_OK);
  cr_assert_eq(buf_map(r->m, NULL, q->p, LOOM_READ, LOOM_AT_HOST, &pp), LOOM_OK);
  const int iso = (r->contact[0].provides & LOOM_CONT_QUAD_ISO) != 0;
  if (q->dir != NULL)
    cr_assert_eq(buf_map(r->m, NULL, q->dir, LOOM_READ, LOOM_AT_HOST, &dp), LOOM_OK);
  cr_assert(iso || dp != NULL);
  double size = 0.0;
  for (int64_t j = 0; j < q->count; ++j) {
    const int32_t *v = (const int32_t *)vp + 4 * j;
    static const loom_real none[3] = {0, 0, 0};
    const loom_real *w = (const loom_real *)wp + 4 * j;
    const loom_real *dir = dp != NULL ? (const loom_real *)dp + 3 * j : none;
    const double k = (double)((const loom_real *)kp)[j];
    double u[3], along = 0.0;
    cr_expect(k >= 0.0, "term %lld has the stiffness %g", (long long)j, k);
    for (int c = 0; c < 3; ++c) {
      u[c] = -(double)((const loom_real *)pp)[3 * j + c];
      for (int i = 0; i < 4; ++i)
        if (v[i] >= 0) u[c] += (double)w[i] * x[3 * v[i] + c];
      along += (double)dir[c] * u[c];
    }
    const double len = dir[0] * dir[0] + dir[1] * dir[1] + dir[2] * dir[2];
    cr_expect(len == 0.0 || (!iso && fabs(len - 1.0) < 1e-9), "term %lld: direction of length %g",
              (long long)j, sqrt(len));
    for (int i = 0; i < 4; ++i)
      for (int c = 0; c < 3 && v[i] >= 0; ++c)
        f[3 * v[i] + c] += k * (double)w[i] * (len > 0.0 ? along * (double)dir[c] : u[c]);
  }
  for (int64_t i = 0; i < n; ++i) size = fmax(size, fabs(g[i]));
  /* both are sums of a few products: rounding only */
  for (int64_t i = 0; i < n; ++i)
    cr_expect_float_eq(f[i], g[i], 1e-10 * size, "vertex %lld: %g N, not %g N", (long long)(i / 3),
                       f[i], g[i]);
  loom_buf *const all[] = {q->v, q->w, q->k, q->p, q->dir};
  for (int i = 0; i < 5; ++i)
    if (all[i] != NULL) cr_assert_eq(buf_unmap(r->m, all[i]), LOOM_OK);
  free(x);
  free(f);
  free(g);
  ct_close(&t);
}

ParameterizedTestParameters(contact, metrics) { return ct_plugins(LOOM_KIND_CONTACT); }
ParameterizedTest(const ct_plugin *p, contact, metrics)
{
  ct_run t;
  int64_t n;
  double *const x = press(&t, p, &n);
  run *const r = t.r;
  double extra[64];
  for (int k = 0; k < 64; ++k) extra[k] = NAN;
  loom_contact_metrics m = {.struct_size = sizeof m, .extra = extra};
  instance *const in = &r->contact[0].in;
  cr_assert_eq(in->plugin->ops.contact->metrics(in->self, &r->st, &m), LOOM_OK, "%s", t.err.text);
  cr_expect(m.active >= 0 && m.active <= r->contact[0].pairs.count, "%lld of %lld pairs active",
            (long long)m.active, (long long)r->contact[0].pairs.count);
  cr_expect(isnan(m.max_force) || m.max_force >= 0.0);
  cr_expect(isnan(m.dissipated) || m.dissipated >= 0.0);
  for (uint32_t k = 0; k < 64; ++k)
    cr_expect_eq(isnan(extra[k]) == 0, k < in->plugin->num_columns, "column %u of %u", k,
                 in->plugin->num_columns);
  free(x);
  ct_close(&t);
}
