/* test_contact_ipc.c - the barrier as a plugin: against brute force over all pairs, finite
 * differences, and properties at any x. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/barrier_case.h"

static const char *const plain = "d_hat=4e-3 stiffness=200 slack=2e-3";
static const char *const rubbing = "d_hat=4e-3 stiffness=200 slack=2e-3 self_friction=0.4 "
                                   "epsilon_v=0.02";

/* ---- values ---- */

Test(contact_ipc, energy_equals_brute_force_wherever_it_is_asked_for)
{
  static bc_fixture f;
  for (int thick = 0; thick < 2; ++thick) {
    const double radius = thick ? 2e-4 : 0.0;
    int found = 0, rejected = 0;
    bc_open(&f, "ipc_barrier", 2, thick == 0, 1e-3, radius, plain);
    for (int k = 0; k < 60; ++k) {
      uint64_t seed = 100 + (uint64_t)(k / 2);
      double x[N3], e;
      int active;
      /* near, then further than the slack, then far away; each followed by a point within half
       * of the slack of it, for which the candidates must do */
      const int place = k / 2 % 3;
      const double reach = place == 0 ? 2e-4 : place == 1 ? 1.5e-3 : 1e-3;
      for (int i = 0; i < N3; ++i) x[i] = f.x[i] + reach * th_random(&seed);
      if (place == 2)
        for (int i = 0; i < SHEET; ++i) x[3 * i] += 0.004, x[3 * i + 1] -= 0.003;
      if (k % 2 == 1)
        for (int i = 0; i < N3; ++i) x[i] += 5.7e-4 * th_random(&seed);
      const int64_t before = f.t.counters[LOOM_C_DETECT];
      const loom_status s = bc_eval(&f, x, &e, NULL, NULL);
      const double want = bc_brute_energy(&f, x, radius, BARRIER_SQUARED, &active);
      if (k % 2 == 1) cr_assert_eq(f.t.counters[LOOM_C_DETECT], before, "detected again");
      if (s == LOOM_REJECTED) {
        cr_assert(!isfinite(want) || thick, "rejected, but the energy is %g", want);
        ++rejected;
        continue;
      }
      cr_assert(fabs(e - want) < 1e-11 * want, "point %d: %.15g, want %.15g", k, e, want);
      found += active;
    }
    cr_expect(found > 1000, "only %d active pairs in all", found);
    cr_expect(f.t.counters[LOOM_C_DETECT] > 8, "no detection while evaluating");
    cr_expect(rejected < 30, "%d rejected", rejected);
    bc_close(&f);
  }
}

/* Friction in an expansion of a step is k |u|^2 / 2 with u the slip when bodies have
 * arrived, at any `progress`; cloth that has gone with the bodies has not slipped. */
Test(contact_ipc, an_expansion_has_friction_in_the_frame_of_bodies)
{
  static bc_fixture f;
  static const double way[3] = {1e-3, -5e-4, 2e-4}; /* of the bodies, in the step */
  double x[N3], g[N3], gone, d[4], t[2], slope = 0.0;
  bc_open(&f, "ipc_barrier", 1, 0, 1e-3, 0, rubbing);
  f.t.step.expansion = LOOM_EXPAND_STEP;
  loom_real *const start = th_get(&f.t, f.t.step.x_start);
  for (int i = 0; i < N3; ++i) x[i] = start[i] + way[i % 3];
  cr_assert_eq(bc_eval(&f, x, NULL, &gone, NULL), LOOM_OK);
  for (int k = 0; k < 4; ++k) { /* along a line D is a parabola */
    for (int i = 0; i < N3; ++i) x[i] = start[i] + k * (f.x[i] - start[i]);
    cr_assert_eq(bc_eval(&f, x, NULL, &d[k], NULL), LOOM_OK);
  }
  cr_expect_lt(gone, 1e-12 * d[0], "%g J where no cloth slips, %g J where cloth stays", gone, d[0]);
  cr_expect_lt(fabs(d[3] - 3 * d[2] + 3 * d[1] - d[0]), 1e-10 * d[0], "%g %g %g %g J", d[0], d[1],
               d[2], d[3]);
  cr_assert_eq(bc_eval(&f, start, NULL, NULL, g), LOOM_OK); /* and the gradient its slope */
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < N3; ++i) { /* two vertices are held */
      const double way_of = i / 3 == 4 || i / 3 == SHEET + 1 ? 0.0 : f.x[i] - start[i];
      x[i] = start[i] + (k - 0.5) * 2e-3 * way_of;
      if (k == 0) slope += g[i] * way_of;
    }
    t[k] = bc_total(&f, x);
  }
  const double moved = (t[1] - t[0]) / 2e-3;
  cr_expect_lt(fabs(slope - moved), 1e-5 * fabs(slope), "%g J, by differences %g J", slope, moved);
  free(start);
  bc_close(&f);
}

/* To the bit the same from any list of candidates. */
Test(contact_ipc, values_do_not_depend_on_when_detection_ran)
{
  static bc_fixture f;
  double x[N3], y[N3], g[N3], g2[N3], e, e2;
  uint64_t seed = 5;
  bc_open(&f, "ipc_barrier", 2, 0, 1e-3, 0, plain);
  for (int i = 0; i < N3; ++i) {
    x[i] = f.x[i] + 4e-4 * th_random(&seed); /* within slack/2 of the candidates */
    y[i] = x[i] + 0.002 * (i % 3 == 0) * (i < N3 / 2);
  }
  const int64_t before = f.t.counters[LOOM_C_DETECT];
  cr_assert_eq(bc_eval(&f, x, &e, NULL, g), LOOM_OK);
  cr_assert_eq(f.t.counters[LOOM_C_DETECT], before, "candidates were good enough");
  cr_assert_eq(bc_eval(&f, y, &e2, NULL, NULL), LOOM_OK);
  cr_assert_eq(f.t.counters[LOOM_C_DETECT], before + 1, "a vertex moved by 2 mm");
  cr_assert_eq(bc_eval(&f, x, &e2, NULL, g2), LOOM_OK);
  cr_assert_eq(f.t.counters[LOOM_C_DETECT], before + 2);
  cr_assert_eq(memcmp(&e, &e2, sizeof e), 0, "%.17g %.17g", e, e2);
  cr_assert_eq(memcmp(g, g2, sizeof g), 0);
  bc_close(&f);
}

Test(contact_ipc, plan_keeps_candidates_that_are_good)
{
  static bc_fixture f;
  uint32_t changed = 9;
  double x[N3], e;
  bc_open(&f, "ipc_barrier", 1, 1, 1e-3, 0, plain);
  const int64_t before = f.t.counters[LOOM_C_DETECT];
  f.t.step.iter = 0;
  bc_detect(&f, &changed);
  cr_expect_eq(f.t.counters[LOOM_C_DETECT], before);
  cr_expect_eq(changed, LOOM_CHANGED_NONE, "candidates are no part of the problem");
  memcpy(x, f.x, sizeof x);
  x[0] += 1.1e-3;
  th_put(&f.t, f.t.step.x, x);
  bc_detect(&f, &changed);
  cr_expect_eq(f.t.counters[LOOM_C_DETECT], before + 1);
  cr_expect_eq(changed, LOOM_CHANGED_NONE);
  /* bodies have moved on: candidates are worthless */
  f.t.step.progress = 0.7;
  cr_assert_eq(bc_eval(&f, x, &e, NULL, NULL), LOOM_OK);
  cr_expect_eq(f.t.counters[LOOM_C_DETECT], before + 2);
  bc_close(&f);
}

Test(contact_ipc, overlap_is_rejected_and_named_at_the_start_of_a_step)
{
  static bc_fixture f;
  double x[N3], e, g[N3];
  bc_open(&f, "ipc_barrier", 1, 1, 1e-3, 2e-4, plain);
  memcpy(x, f.x, sizeof x);
  x[0] = 0.008, x[1] = 0.012, x[2] = -0.0322 + 0.03 + 1e-4; /* 0.1 mm above the ball, radius 0.2 */
  for (int c = 0; c < 3; ++c) x[c] += f.t.step.progress * (c == 0 ? 1e-3 : c == 1 ? -5e-4 : 2e-4);
  cr_expect_eq(bc_eval(&f, x, &e, NULL, g), LOOM_REJECTED);
  x[2] -= 0.01; /* inside the ball */
  cr_expect_eq(bc_eval(&f, x, &e, NULL, NULL), LOOM_REJECTED);
  cr_expect_eq(bc_eval(&f, f.x, &e, NULL, NULL), LOOM_OK);
  loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN};
  th_put(&f.t, f.t.step.x, x);
  cr_assert_eq(f.ops->metrics(f.self, &f.t.step, &m), LOOM_OK);
  cr_expect(m.min_gap < -5e-3 && isnan(m.max_force), "%g %g", m.min_gap, m.max_force);
  uint32_t changed;
  loom_query q = {.struct_size = sizeof q, .kinds = f.ops->pair_kinds, .progress0 = 0.6};
  f.t.step.iter = -1;
  cr_assert_eq(f.ops->plan(f.self, &f.t.step, &q), LOOM_OK);
  th_detect(&f.t, &q, &f.pairs);
  cr_assert_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_DETECT, &changed),
               LOOM_E_NUMERIC);
  cr_expect(strstr(f.t.err.text, "overlap") != NULL && strstr(f.t.err.text, "body") != NULL, "%s",
            f.t.err.text);
  bc_close(&f);
}

/* ---- derivatives ---- */

/* jitter 1e-4 m: edges of both sheets are nearly parallel, the mollifier acts */
static void check_ipc_derivatives(double jitter, double radius, const char *settings, int parts)
{
  static bc_fixture f;
  static double H[N3][N3];
  double x[N3];
  uint64_t seed = 31;
  bc_open(&f, "ipc_barrier", 2, 0, jitter, radius, settings);
  for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.3 * jitter * th_random(&seed);
  /* 1e-16 E / e by rounding; e^2 b''' and jumps of the curvature between cases of features
   * by the difference */
  const double largest = bc_check_derivatives(&f, x, 1e-3, 2e-6);
  for (int part = 0; part < parts; ++part) { /* the treated Hessian is not indefinite */
    bc_hessian(&f, x, part ? LOOM_HESS_PSD_ABS : LOOM_HESS_PSD_CLAMP, H);
    for (int trial = 0; trial < 500; ++trial) {
      double d[N3], q = 0.0;
      for (int i = 0; i < N3; ++i) d[i] = th_random(&seed);
      for (int i = 0; i < N3; ++i)
        for (int k = 0; k < N3; ++k) q += d[i] * H[i][k] * d[k];
      cr_assert(q >= -1e-11 * largest);
    }
  }
  bc_close(&f);
}

Test(contact_ipc, derivatives_by_differences) { check_ipc_derivatives(1e-3, 0, plain, 2); }
Test(contact_ipc, derivatives_with_thickness) { check_ipc_derivatives(1e-3, 2e-4, plain, 2); }
Test(contact_ipc, derivatives_of_nearly_parallel_edges)
{
  check_ipc_derivatives(6e-5, 0, plain, 2);
}
Test(contact_ipc, derivatives_with_friction) { check_ipc_derivatives(1e-3, 1e-4, rubbing, 1); }

Test(contact_ipc, gauss_newton_is_not_indefinite_and_close)
{
  static bc_fixture f;
  static double H[N3][N3], E[N3][N3];
  double far2 = 0.0, all2 = 0.0;
  uint64_t seed = 3;
  bc_open(&f, "ipc_barrier", 1, 0, 1e-3, 0, plain);
  bc_hessian(&f, f.x, LOOM_HESS_EXACT, E);
  bc_close(&f);
  bc_open(&f, "ipc_barrier", 1, 0, 1e-3, 0, "d_hat=4e-3 stiffness=200 slack=2e-3 hessian=1");
  bc_hessian(&f, f.x, LOOM_HESS_EXACT, H);
  for (int i = 0; i < N3; ++i)
    for (int k = 0; k < N3; ++k) {
      far2 += (H[i][k] - E[i][k]) * (H[i][k] - E[i][k]);
      all2 += E[i][k] * E[i][k];
    }
  for (int trial = 0; trial < 500; ++trial) {
    double d[N3], q = 0.0;
    for (int i = 0; i < N3; ++i) d[i] = th_random(&seed);
    for (int i = 0; i < N3; ++i)
      for (int k = 0; k < N3; ++k) q += d[i] * H[i][k] * d[k];
    cr_assert(q >= -1e-11 * sqrt(all2));
  }
  cr_expect(far2 < 0.25 * all2 && far2 > 0, "off by %g of %g", sqrt(far2), sqrt(all2));
  bc_close(&f);
}

/* ---- properties at any x ----
 */

Test(contact_ipc, self_contact_keeps_momentum)
{
  static bc_fixture f;
  double g[N3], sum[3] = {0}, turn[3] = {0}, size = 0.0;
  const uint8_t fixed[N] = {0};
  bc_open(&f, "ipc_barrier", 2, 0, 1e-3, 1e-4, rubbing);
  f.t.step.iter = 0;
  th_put(&f.t, f.t.scene.fixed, fixed); /* before corners are made anew */
  cr_assert_eq(f.ops->reset(f.self), LOOM_OK);
  loom_query q = {.struct_size = sizeof q, .kinds = 3};
  uint32_t changed;
  cr_assert_eq(f.ops->plan(f.self, &f.t.step, &q), LOOM_OK);
  cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK);
  cr_assert_eq(f.ops->plan(f.self, &f.t.step, &q), LOOM_OK);
  th_detect(&f.t, &q, &f.pairs);
  cr_assert_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_DETECT, &changed), LOOM_OK);
  cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, g), LOOM_OK);
  for (int i = 0; i < N; ++i) {
    lk_real m[3];
    lk_cross3(f.x + 3 * i, g + 3 * i, m);
    for (int c = 0; c < 3; ++c) {
      sum[c] += g[3 * i + c];
      turn[c] += m[c];
      size = fmax(size, fabs(g[3 * i + c]));
    }
  }
  cr_assert(size > 1e-2);
  for (int c = 0; c < 3; ++c) cr_assert(fabs(sum[c]) < 1e-13 * size * N, "%g of %g", sum[c], size);
  /* friction acts at the frozen weights, a little beside the point: no exact balance of torque;
   * the normal part alone has it */
  bc_close(&f);
  bc_open(&f, "ipc_barrier", 2, 0, 1e-3, 1e-4, "d_hat=4e-3 stiffness=200 slack=2e-3");
  th_put(&f.t, f.t.scene.fixed, fixed);
  cr_assert_eq(f.ops->reset(f.self), LOOM_OK);
  cr_assert_eq(f.ops->plan(f.self, &f.t.step, &q), LOOM_OK);
  th_detect(&f.t, &q, &f.pairs);
  cr_assert_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_DETECT, &changed), LOOM_OK);
  for (int k = 0; k < 2; ++k) f.t.obstacles[k].friction = 0;
  cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK);
  cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, g), LOOM_OK);
  turn[0] = turn[1] = turn[2] = 0.0;
  for (int i = 0; i < N; ++i) {
    lk_real m[3];
    lk_cross3(f.x + 3 * i, g + 3 * i, m);
    for (int c = 0; c < 3; ++c) turn[c] += m[c];
  }
  for (int c = 0; c < 3; ++c)
    cr_assert(fabs(turn[c]) < 1e-13 * size * N * 0.03, "%g of %g", turn[c], size * 0.03);
  bc_close(&f);
}

Test(contact_ipc, the_same_bits_for_any_number_of_threads)
{
  static double first[N3], H1[N3][N3];
  for (int threads = 1; threads <= 4; threads *= 2) {
    static bc_fixture f;
    static double H[N3][N3];
    double g[N3];
    bc_open(&f, "ipc_barrier", threads, 0, 1e-3, 0, rubbing);
    cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, threads == 1 ? first : g), LOOM_OK);
    cr_assert_gt(bc_hessian(&f, f.x, LOOM_HESS_PSD_CLAMP, threads == 1 ? H1 : H), 0,
                 "no contact: the test would be empty");
    if (threads > 1) {
      cr_assert_eq(memcmp(first, g, sizeof g), 0, "%d threads", threads);
      cr_assert_eq(memcmp(H1, H, sizeof H), 0, "%d threads", threads);
    }
    bc_close(&f);
  }
}

/* ---- stiffness and friction over iterates ---- */

Test(contact_ipc, stiffness_doubles_while_the_gap_stays_tiny)
{
  static bc_fixture f;
  uint32_t changed;
  double x[N3], soft, stiff;
  bc_open(&f, "ipc_barrier", 1, 1, 1e-3, 0, "d_hat=4e-3 slack=2e-3");
  for (int k = 0; k < 2; ++k) f.t.obstacles[k].friction = 0;
  cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK);
  memcpy(x, f.x, sizeof x);
  x[0] = 0.008 + 6e-4, x[1] = 0.012 - 3e-4, x[2] = -0.0322 + 0.03 + 1.2e-4 + 1e-5; /* 10 um */
  th_put(&f.t, f.t.step.x, x);
  cr_assert_eq(bc_eval(&f, x, &soft, NULL, NULL), LOOM_OK);
  f.t.step.iter = 0;
  cr_assert_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_ACCEPT, &changed), LOOM_OK);
  cr_expect_eq(changed, LOOM_CHANGED_NONE, "once is not enough");
  cr_assert_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_ACCEPT, &changed), LOOM_OK);
  cr_expect_eq(changed, LOOM_CHANGED_VALUES);
  cr_assert_eq(bc_eval(&f, x, &stiff, NULL, NULL), LOOM_OK);
  cr_expect(fabs(stiff / soft - 2) < 1e-12, "%g", stiff / soft);
  /* curvature m/h^2 = 100 N/m at half of d_hat */
  const double unit = barrier_g2(0.25) + 2 * barrier_g1(0.25);
  int active;
  const double want =
      bc_brute_energy(&f, x, 0, BARRIER_SQUARED, &active) / bc_kappa * (0.01 / 1e-4 / unit);
  cr_expect(fabs(soft / want - 1) < 1e-11, "%g, want %g", soft, want);
  bc_close(&f);
}

Test(contact_ipc, friction_follows_iterates_or_stays)
{
  for (int mode = 0; mode < 3; ++mode) { /* iteration; step, the default; one round */
    static bc_fixture f;
    static const char *const sets[3] = {
        "d_hat=4e-3 stiffness=200 slack=2e-3 self_friction=0.4 friction_lag=1",
        "d_hat=4e-3 stiffness=200 slack=2e-3 self_friction=0.4",
        "d_hat=4e-3 stiffness=200 slack=2e-3 self_friction=0.4 friction_lag=1 lag_rounds=1"};
    uint32_t changed;
    double before, after, x[N3], d;
    bc_open(&f, "ipc_barrier", 1, 1, 1e-3, 0, sets[mode]);
    memcpy(x, f.x, sizeof x);
    for (int i = 0; i < SHEET; ++i) x[3 * i + 2] += 2e-4; /* sheets come closer */
    cr_assert_eq(bc_eval(&f, x, NULL, &before, NULL), LOOM_OK);
    cr_expect(before > 0);
    f.t.step.iter = 0;
    th_put(&f.t, f.t.step.x, x);
    cr_assert_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_ACCEPT, &changed), LOOM_OK);
    cr_expect_eq((changed & LOOM_CHANGED_VALUES) != 0, mode == 0, "mode %d: %u", mode, changed);
    cr_assert_eq(bc_eval(&f, x, NULL, &after, NULL), LOOM_OK);
    if (mode == 0) cr_expect(after > 1.05 * before, "%g %g", before, after);
    if (mode > 0) cr_expect_eq(after, before);
    loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN};
    cr_assert_eq(f.ops->metrics(f.self, &f.t.step, &m), LOOM_OK);
    cr_assert_eq(bc_eval(&f, x, &d, NULL, NULL), LOOM_OK);
    cr_expect(m.active > 50 && m.dissipated > 0 && m.max_force > 0 && m.min_gap > 0);
    bc_close(&f);
  }
}

Test(contact_ipc, warns_where_neighbours_are_closer_than_the_force_reaches)
{
  static bc_fixture f;
  bc_open(&f, "ipc_barrier", 1, 0, 1e-3, 0, plain);
  cr_expect_eq(strlen(f.t.log), 0, "%s", f.t.log); /* height 7.07 mm */
  bc_close(&f);
  bc_open(&f, "ipc_barrier", 1, 0, 1e-3, 0, "d_hat=7.1e-3 stiffness=200");
  cr_expect(strstr(f.t.log, "0.00707") != NULL, "%s", f.t.log);
  bc_close(&f);
}
