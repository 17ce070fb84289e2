/* test_contact_penalty.c - forms of the penalty against finite differences and each other. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test_host.h"

enum { N = 12, M = 16, N3 = 3 * N };

typedef struct fixture {
  test_host t;
  const loom_plugin *p;
  const loom_contact_ops *ops;
  void *set, *self;
  loom_pairs pairs;
  loom_real x[N3];
} fixture;

static double normalize_vector(double *v)
{
  const double len = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int c = 0; c < 3; ++c) v[c] /= len;
  return len;
}

/* Pairs of all kinds that name vertices, with random planes; gaps around the offset. */
static void random_pairs(fixture *f, uint64_t *seed, double spread)
{
  static const int corners[5] = {4, 4, 3, 2, 1}; /* VT EE VE VV VO */
  int32_t kind[M], v[4 * M], obst[M];
  loom_real w[4 * M] = {0}, normal[3 * M], gap[M], point[3 * M] = {0}, toi[M];
  uint64_t key[M];
  for (int j = 0; j < M; ++j) {
    kind[j] = j * 5 / M;
    const int a = corners[kind[j]];
    for (int b = 0; b < 4; ++b) v[4 * j + b] = b < a ? (3 * j + 2 * b + j / 5) % N : -1;
    for (int b = 0; b < a; ++b)
      w[4 * j + b] = (b == 0 ? 1.0 : -1.0) * (0.3 + fabs(th_random(seed)));
    for (int c = 0; c < 3; ++c) normal[3 * j + c] = th_random(seed);
    (void)normalize_vector(normal + 3 * j);
    gap[j] = spread * th_random(seed);
    obst[j] = kind[j] == LOOM_PAIR_VO ? j % 2 : -1;
    for (int c = 0; c < 3 && obst[j] >= 0; ++c) point[3 * j + c] = 0.1 * th_random(seed);
    toi[j] = 2;
    key[j] = (uint64_t)j;
  }
  th_pairs_open(&f->t, &f->pairs, M);
  f->pairs.count = M;
  f->pairs.kinds = 0x1f;
  th_put(&f->t, f->pairs.kind, kind);
  th_put(&f->t, f->pairs.v, v);
  th_put(&f->t, f->pairs.obst, obst);
  th_put(&f->t, f->pairs.w, w);
  th_put(&f->t, f->pairs.normal, normal);
  th_put(&f->t, f->pairs.gap, gap);
  th_put(&f->t, f->pairs.point, point);
  th_put(&f->t, f->pairs.toi, toi);
  th_put(&f->t, f->pairs.key, key);
}

static void update_penalty_pairs(fixture *f, int when, uint32_t *changed)
{
  cr_assert_eq(f->ops->update(f->self, &f->t.step, &f->pairs, when, changed), LOOM_OK, "%s %s",
               f->t.err.text, mem_err(f->t.m)->text);
}

static void open_penalty_contact(fixture *f, int threads, int check, const char *settings)
{
  static const loom_real planes[2][4] = {{0, 0, 1, 0}, {0, 1, 0, 0}};
  static const double axis[3] = {0, 0, 1}, still[3] = {0, 0, 0}, moved[3] = {0.004, -0.002, 0.001};
  loom_real mass[N], start[N3];
  uint64_t seed = 21;
  uint32_t changed;
  th_open(&f->t, threads, check);
  for (int i = 0; i < N3; ++i) {
    f->x[i] = 0.2 * th_random(&seed);
    start[i] = f->x[i] + 0.008 * th_random(&seed);
  }
  for (int i = 0; i < N; ++i) mass[i] = 0.01 * (1 + i % 3);
  for (int k = 0; k < 2; ++k) {
    f->t.obstacles[k] = th_obstacle("plane", planes[k], 4);
    f->t.obstacles[k].friction = 0.3 + 0.4 * k;
    th_pose(f->t.obstacles[k].pose1, axis, 0.02 * k, k ? moved : still);
  }
  th_scene(&f->t, N, f->x, mass, NULL, 2);
  th_put(&f->t, f->t.step.x_start, start);
  f->p = th_plugin("penalty", LOOM_KIND_CONTACT, "penalty");
  f->ops = f->p->ops.contact;
  f->set = th_settings(f->p, settings);
  f->self = th_create(&f->t, f->p, f->set);
  random_pairs(f, &seed, 0.02);
  f->t.step.iter = 0; /* a first guess has normal forces of the start */
  cr_assert_eq(f->ops->begin_step(f->self, &f->t.step), LOOM_OK);
  update_penalty_pairs(f, LOOM_AFTER_DETECT, &changed);
  cr_assert_eq(changed, LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES);
}

static void close_penalty_contact(fixture *f)
{
  f->ops->destroy(f->self);
  free(f->set);
  th_close(&f->t);
}

/* Total energy and gradient at x. */
static double evaluate_penalty(fixture *f, const double *x, double *grad)
{
  double e = 0.0, d = 0.0;
  th_put(&f->t, f->t.step.trial, x);
  if (grad != NULL) {
    const loom_real zero[N3] = {0};
    th_put(&f->t, f->t.step.grad, zero);
  }
  cr_assert_eq(f->ops->eval(f->self, &f->t.step, f->t.step.trial, &e, &d,
                            grad != NULL ? f->t.step.grad : NULL),
               LOOM_OK, "%s %s", f->t.err.text, mem_err(f->t.m)->text);
  if (grad != NULL) {
    loom_real *const g = th_get(&f->t, f->t.step.grad);
    memcpy(grad, g, N3 * sizeof *grad);
    free(g);
  }
  return e + d;
}

/* Dense Hessian at x. */
static void assemble_penalty_hessian(fixture *f, const double *x, double H[N3][N3])
{
  (void)th_contact_hessian(&f->t, f->ops, f->self, x, LOOM_HESS_EXACT, -1, &H[0][0], N3);
}

/* Gradient and dense operator of the quadratic form made at x. */
static int64_t assemble_penalty_quad(fixture *f, const double *x, double *grad, double H[N3][N3])
{
  loom_quad q = {.struct_size = sizeof q};
  loom_status s;
  q.v = th_buf(&f->t, LOOM_I32, 0, NULL);
  q.w = th_buf(&f->t, LOOM_REAL, 0, NULL);
  q.k = th_buf(&f->t, LOOM_REAL, 0, NULL);
  q.p = th_buf(&f->t, LOOM_REAL, 0, NULL);
  q.dir = th_buf(&f->t, LOOM_REAL, 0, NULL);
  th_put(&f->t, f->t.step.trial, x);
  while ((s = f->ops->quad(f->self, &f->t.step, f->t.step.trial, &q)) == LOOM_GROW) {
    cr_assert_eq(buf_resize(f->t.m, q.v, 4 * q.count), LOOM_OK);
    cr_assert_eq(buf_resize(f->t.m, q.w, 4 * q.count), LOOM_OK);
    cr_assert_eq(buf_resize(f->t.m, q.k, q.count), LOOM_OK);
    cr_assert_eq(buf_resize(f->t.m, q.p, 3 * q.count), LOOM_OK);
    cr_assert_eq(buf_resize(f->t.m, q.dir, 3 * q.count), LOOM_OK);
    q.capacity = q.count;
    q.count = 0;
  }
  cr_assert_eq(s, LOOM_OK, "%s", f->t.err.text);
  int32_t *const v = th_get(&f->t, q.v);
  loom_real *const w = th_get(&f->t, q.w), *const k = th_get(&f->t, q.k);
  loom_real *const p = th_get(&f->t, q.p), *const dir = th_get(&f->t, q.dir);
  memset(grad, 0, N3 * sizeof *grad);
  memset(H, 0, sizeof(double) * N3 * N3);
  for (int64_t j = 0; j < q.count; ++j) {
    cr_assert(k[j] >= 0.0 && dir[3 * j] == 0 && dir[3 * j + 1] == 0 && dir[3 * j + 2] == 0);
    for (int c = 0; c < 3; ++c) {
      double u = -p[3 * j + c];
      for (int a = 0; a < 4 && v[4 * j + a] >= 0; ++a) u += w[4 * j + a] * x[3 * v[4 * j + a] + c];
      for (int a = 0; a < 4 && v[4 * j + a] >= 0; ++a) {
        grad[3 * v[4 * j + a] + c] += k[j] * w[4 * j + a] * u;
        for (int b = 0; b < 4 && v[4 * j + b] >= 0; ++b)
          H[3 * v[4 * j + a] + c][3 * v[4 * j + b] + c] += k[j] * w[4 * j + a] * w[4 * j + b];
      }
    }
  }
  loom_buf *const all[] = {q.v, q.w, q.k, q.p, q.dir};
  for (size_t i = 0; i < 5; ++i) buf_free(f->t.m, all[i]);
  free(v), free(w), free(k), free(p), free(dir);
  return q.count;
}

/* offset and epsilon_v so that some pairs are active and some stick */
static const char *const with_friction =
    "stiffness=2e4 offset=0.003 self_friction=0.4 epsilon_v=0.8 friction_lag=1";
/* normal forces of the start of the step, where pairs have other normals */
static const char *const with_late_friction =
    "stiffness=2e4 offset=0.05 self_friction=0.4 epsilon_v=0.8 friction_lag=0";
static const char *const without_friction = "stiffness=2e4 offset=0.003 epsilon_v=0.8";

static void check_penalty_gradient(const char *settings)
{
  static fixture f;
  const double e = 1e-6;
  open_penalty_contact(&f, 2, 1, settings);
  for (int point = 0; point < 4; ++point) {
    uint64_t seed = 30 + (uint64_t)point;
    double x[N3], g[N3], largest = 0.0;
    for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.004 * point * th_random(&seed);
    (void)evaluate_penalty(&f, x, g);
    for (int i = 0; i < N3; ++i) largest = fmax(largest, fabs(g[i]));
    cr_assert(largest > 0.1);
    for (int i = 0; i < N3; ++i) {
      const double keep = x[i];
      x[i] = keep + e;
      const double hi = evaluate_penalty(&f, x, NULL);
      x[i] = keep - e;
      const double d = (hi - evaluate_penalty(&f, x, NULL)) / (2 * e);
      x[i] = keep;
      /* error: kinks of the second derivative, k e, and 1e-16 E / e */
      cr_assert(fabs(d - g[i]) < 1e-6 * largest + 1e-5, "point %d, %d: %g, want %g", point, i, g[i],
                d);
    }
  }
  close_penalty_contact(&f);
}

Test(penalty, gradient_is_the_derivative_of_the_energy)
{
  check_penalty_gradient(with_friction);
  check_penalty_gradient(with_late_friction);
}

static void check_penalty_hessian(const char *settings)
{
  static fixture f;
  static double H[N3][N3];
  const double e = 1e-8;
  uint64_t seed = 40;
  double x[N3], hi[N3], lo[N3], largest = 0.0;
  open_penalty_contact(&f, 2, 0, settings);
  for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.002 * th_random(&seed);
  assemble_penalty_hessian(&f, x, H);
  for (int i = 0; i < N3; ++i) largest = fmax(largest, H[i][i]);
  for (int i = 0; i < N3; ++i) {
    const double keep = x[i];
    x[i] = keep + e;
    (void)evaluate_penalty(&f, x, hi);
    x[i] = keep - e;
    (void)evaluate_penalty(&f, x, lo);
    x[i] = keep;
    for (int k = 0; k < N3; ++k) {
      cr_assert(fabs((hi[k] - lo[k]) / (2 * e) - H[k][i]) < 1e-5 * largest, "%d %d: %g, want %g", k,
                i, H[k][i], (hi[k] - lo[k]) / (2 * e));
      cr_assert(fabs(H[k][i] - H[i][k]) <= 1e-12 * largest, "not symmetric");
    }
  }
  for (int trial = 0; trial < 2000; ++trial) {
    double d[N3], q = 0.0;
    for (int i = 0; i < N3; ++i) d[i] = th_random(&seed);
    for (int i = 0; i < N3; ++i)
      for (int k = 0; k < N3; ++k) q += d[i] * H[i][k] * d[k];
    cr_assert(q >= -1e-12 * largest);
  }
  close_penalty_contact(&f);
}

Test(penalty, hessian_is_the_derivative_of_the_gradient_and_not_indefinite)
{
  check_penalty_hessian(with_friction);
  check_penalty_hessian(with_late_friction);
}

Test(penalty, quadratic_form_has_the_same_gradient_and_more_curvature)
{
  for (int friction = 0; friction < 2; ++friction) {
    static fixture f;
    static double H[N3][N3], Q[N3][N3];
    uint64_t seed = 50;
    double x[N3], g[N3], gq[N3], largest = 0.0;
    open_penalty_contact(&f, 2, 0, friction ? with_friction : without_friction);
    if (!friction)
      for (int k = 0; k < 2; ++k) f.t.obstacles[k].friction = 0;
    uint32_t changed;
    cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK);
    update_penalty_pairs(&f, LOOM_AFTER_DETECT, &changed);
    cr_expect_eq(changed, LOOM_CHANGED_VALUES, "the same pairs: no new pattern");
    for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.002 * th_random(&seed);
    (void)evaluate_penalty(&f, x, g);
    assemble_penalty_hessian(&f, x, H);
    cr_expect_eq(assemble_penalty_quad(&f, x, gq, Q), M);
    for (int i = 0; i < N3; ++i) largest = fmax(largest, fabs(g[i]));
    for (int i = 0; i < N3; ++i)
      cr_assert(fabs(g[i] - gq[i]) < 1e-12 * largest, "%d: %g, want %g", i, gq[i], g[i]);
    for (int trial = 0; trial < 2000; ++trial) {
      double d[N3], h = 0.0, q = 0.0;
      for (int i = 0; i < N3; ++i) d[i] = th_random(&seed);
      for (int i = 0; i < N3; ++i)
        for (int k = 0; k < N3; ++k) {
          h += d[i] * H[i][k] * d[k];
          q += d[i] * Q[i][k] * d[k];
        }
      cr_assert(q >= h * (1 - 1e-12));
    }
    close_penalty_contact(&f);
  }
}

Test(penalty, the_same_bits_for_any_number_of_threads)
{
  double first[N3], g[N3];
  for (int threads = 1; threads <= 4; ++threads) {
    static fixture f;
    open_penalty_contact(&f, threads, 0, with_friction);
    cr_assert(evaluate_penalty(&f, f.x, threads == 1 ? first : g) > 0,
              "no contact: the test would be empty");
    if (threads > 1) cr_assert_eq(memcmp(first, g, sizeof g), 0, "%d threads", threads);
    close_penalty_contact(&f);
  }
}
