/* test_contact_dbb.c - the distance barrier as a plugin: energy against brute force, derivatives
 * by differences, and its quadratic terms against its gradient and Hessian. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/barrier_case.h"

static const char *const plain = "d_hat=4e-3 kappa=200 slack=2e-3";
static const char *const sets[2] = {
    "d_hat=4e-3 kappa=200 slack=2e-3 self_friction=0.4 epsilon_v=0.02",
    "d_hat=4e-3 kappa=200 slack=2e-3 self_friction=0.4 epsilon_v=0.02 weight=1"};

/* ---- values ---- */

Test(contact_dbb, energy_equals_brute_force)
{
  static bc_fixture f;
  for (int thick = 0; thick < 2; ++thick) {
    const double radius = thick ? 2e-4 : 0.0;
    int found = 0, good = 0;
    bc_open(&f, "dbb", 2, thick == 0, 1e-3, radius, plain);
    for (int k = 0; k < 20; ++k) {
      uint64_t seed = 100 + (uint64_t)k;
      double x[N3], e;
      int active;
      for (int i = 0; i < N3; ++i) x[i] = f.x[i] + (k % 2 ? 1.2e-3 : 2e-4) * th_random(&seed);
      if (bc_eval(&f, x, &e, NULL, NULL) == LOOM_REJECTED) continue;
      const double want = bc_brute_energy(&f, x, radius, BARRIER_DISTANCE, &active);
      cr_assert(fabs(e - want) < 1e-11 * want, "point %d: %.15g, want %.15g", k, e, want);
      found += active;
      ++good;
    }
    cr_expect(good >= 10 && found > 500, "%d points, %d active pairs", good, found);
    bc_close(&f);
  }
}

/* ---- derivatives and terms ----
 */

static void check_dbb_gradient(double jitter, double radius, const char *settings)
{
  static bc_fixture f;
  double x[N3];
  uint64_t seed = 31;
  bc_open(&f, "dbb", 2, 0, jitter, radius, settings);
  for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.3 * jitter * th_random(&seed);
  bc_check_derivatives(&f, x, 1e-3, 2e-6); /* as in test_contact_ipc.c */
  bc_close(&f);
}

Test(contact_dbb, derivatives_by_differences) { check_dbb_gradient(1e-3, 0, plain); }
Test(contact_dbb, derivatives_with_thickness_and_friction)
{
  check_dbb_gradient(1e-3, 1e-4, sets[0]);
}
Test(contact_dbb, derivatives_of_nearly_parallel_edges) { check_dbb_gradient(6e-5, 0, plain); }

/* jitter 6e-5 m: nearly parallel edges, the mollifier acts */
Test(contact_dbb, terms_have_the_gradient_of_the_energy)
{
  static bc_fixture f;
  for (int c = 0; c < 8; ++c) {
    const double jitter = c & 1 ? 6e-5 : 1e-3, radius = c & 2 ? 1e-4 : 0.0;
    double x[N3];
    uint64_t seed = 7;
    loom_quad q;
    bc_open(&f, "dbb", 2, 1, jitter, radius, sets[c / 4]);
    bc_terms_open(&f, &q);
    for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.3 * jitter * th_random(&seed);
    bc_check_terms(&f, &q, x, 1e-3);
    bc_terms_close(&f, &q);
    bc_close(&f);
  }
}

/* One vertex above the ball: w is numerics' equation, and the target stands at the gap d_hat. */
Test(contact_dbb, a_term_displaces_to_d_hat)
{
  static bc_fixture f;
  const uint8_t fixed[N] = {0};
  double x[N3];
  int seen = 0;
  bc_open(&f, "dbb", 1, 1, 1e-3, 0, plain);
  th_put(&f.t, f.t.scene.fixed, fixed);
  for (int i = 0; i < N; ++i) { /* all far away ... */
    x[3 * i] = 1.0 + 0.1 * (i % SIDE);
    const int row = i % SHEET / SIDE, sheet = i / SHEET;
    x[3 * i + 1] = 0.1 * row;
    x[3 * i + 2] = 0.5 * sheet;
  }
  const double d = 1.5e-3, c[3] = {0.008 + 6e-4, 0.012 - 3e-4, -0.0322 + 1.2e-4};
  for (int k = 0; k < 3; ++k) x[k] = c[k] + (k == 2 ? -0.03 - d : 0.0); /* ... but one, below */
  loom_quad q;
  bc_terms_open(&f, &q);
  const int64_t m = bc_terms_at(&f, x, &q);
  int32_t *const v = th_get(&f.t, q.v);
  loom_real *const k = th_get(&f.t, q.k), *const p = th_get(&f.t, q.p);
  const double want = bc_kappa * (2 * log(bc_d_hat / d) + (bc_d_hat - d) / d);
  for (int64_t j = 2; j < 2 + m; ++j) {
    if (v[4 * j] != 0 || k[j] == 0.0) continue; /* lagged friction fades */
    ++seen;
    cr_expect(fabs(k[j] / want - 1) < 1e-10, "%.12g, want %.12g", k[j], want);
    cr_expect(fabs(p[3 * j + 2] - (c[2] - 0.03 - bc_d_hat)) < 1e-12 &&
              fabs(p[3 * j] - c[0]) < 1e-12);
  }
  cr_expect_eq(seen, 1);
  free(v), free(k), free(p);
  bc_terms_close(&f, &q);
  bc_close(&f);
}

/* With weight = curvature the terms are nowhere softer than the energy. */
Test(contact_dbb, curvature_weights_are_not_below_the_hessian)
{
  static bc_fixture f;
  loom_quad q;
  bc_open(&f, "dbb", 1, 0, 1e-3, 0, sets[1]);
  bc_terms_open(&f, &q);
  const double closest = bc_check_majorant(&f, &q, f.x, 500, 11);
  cr_expect(closest > 0.2, "stiffer than five times the needed value: %g", 1 / closest);
  bc_terms_close(&f, &q);
  bc_close(&f);
}

/* ---- properties at any x ----
 */

Test(contact_dbb, self_contact_keeps_momentum)
{
  static bc_fixture f;
  const uint8_t fixed[N] = {0};
  double g[N3], K[N], sum[3] = {0}, turn[3] = {0}, size = 0.0;
  loom_query far = {.struct_size = sizeof far, .kinds = 3};
  uint32_t changed;
  loom_quad q;
  bc_open(&f, "dbb", 2, 0, 1e-3, 1e-4, plain);
  bc_terms_open(&f, &q);
  f.t.step.iter = 0;
  for (int k = 0; k < 2; ++k) f.t.obstacles[k].friction = 0;
  th_put(&f.t, f.t.scene.fixed, fixed); /* before corners are made anew */
  cr_assert_eq(f.ops->reset(f.self), LOOM_OK);
  cr_assert_eq(f.ops->plan(f.self, &f.t.step, &far), LOOM_OK); /* cloth with cloth alone */
  th_detect(&f.t, &far, &f.pairs);
  cr_assert_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_DETECT, &changed), LOOM_OK);
  cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK);
  cr_assert_gt(bc_terms_at(&f, f.x, &q), 100);
  int32_t *const v = th_get(&f.t, q.v);
  loom_real *const k = th_get(&f.t, q.k), *const p = th_get(&f.t, q.p);
  memset(K, 0, sizeof K);
  memset(g, 0, sizeof g);
  for (int64_t j = 2; j < q.count; ++j)
    for (int c = 0; c < 3; ++c)
      g[3 * v[4 * j] + c] += k[j] * (f.x[3 * v[4 * j] + c] - p[3 * j + c]);
  free(v), free(k), free(p);
  for (int i = 0; i < N; ++i) {
    double m[3];
    lk_cross3(f.x + 3 * i, g + 3 * i, m);
    for (int c = 0; c < 3; ++c) {
      sum[c] += g[3 * i + c];
      turn[c] += m[c];
      size = fmax(size, fabs(g[3 * i + c]));
    }
  }
  cr_assert(size > 1e-2);
  for (int c = 0; c < 3; ++c) {
    cr_assert(fabs(sum[c]) < 1e-12 * size * N, "%g of %g", sum[c], size);
    cr_assert(fabs(turn[c]) < 1e-12 * size * N * 0.03, "%g of %g", turn[c], size * 0.03);
  }
  bc_terms_close(&f, &q);
  bc_close(&f);
}

Test(contact_dbb, the_same_bits_for_any_number_of_threads)
{
  static double first[N3], G1[N3], K1[N];
  int64_t m1 = 0;
  for (int threads = 1; threads <= 4; threads *= 2) {
    static bc_fixture f;
    double g[N3], G[N3], K[N];
    loom_quad q;
    bc_open(&f, "dbb", threads, 0, 1e-3, 0, sets[0]);
    bc_terms_open(&f, &q);
    cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, threads == 1 ? first : g), LOOM_OK);
    const int64_t m = bc_terms_at(&f, f.x, &q);
    cr_assert_gt(m, 0, "no contact: the test would be empty");
    bc_terms_sum(&f, &q, f.x, threads == 1 ? G1 : G, threads == 1 ? K1 : K);
    if (threads == 1) {
      m1 = m;
    } else {
      cr_assert_eq(m, m1);
      cr_assert_eq(memcmp(first, g, sizeof g), 0, "%d threads", threads);
      cr_assert_eq(memcmp(G1, G, sizeof G), 0, "%d threads", threads);
      cr_assert_eq(memcmp(K1, K, sizeof K), 0, "%d threads", threads);
    }
    bc_terms_close(&f, &q);
    bc_close(&f);
  }
}

Test(contact_dbb, overlap_has_no_terms)
{
  static bc_fixture f;
  double x[N3], e;
  loom_quad q;
  bc_open(&f, "dbb", 1, 1, 1e-3, 2e-4, plain);
  bc_terms_open(&f, &q);
  memcpy(x, f.x, sizeof x);
  x[0] = 0.0086, x[1] = 0.0117, x[2] = -0.0322; /* the middle of the ball */
  cr_expect_eq(bc_eval(&f, x, &e, NULL, NULL), LOOM_REJECTED);
  th_put(&f.t, f.t.step.trial, x);
  q.count = 0;
  cr_expect_eq(f.ops->quad(f.self, &f.t.step, f.t.step.trial, &q), LOOM_E_NUMERIC);
  cr_expect(strstr(f.t.err.text, "overlap") != NULL, "%s", f.t.err.text);
  bc_terms_close(&f, &q);
  bc_close(&f);
}
