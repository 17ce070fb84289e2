/* test_contact_yarn.c - the contact energy of yarns: its law by finite differences, crossing
 * yarns against the analytic force, `yarn_penalty` with every search against brute force. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/yarn.kern.h"
#include "support/yarn_run.h"

static const double k_contact = 3.5; /* N/m */

Test(yarn_contact, law)
{
  const double s = 6.25e-6;
  for (int i = 1; i < 20; ++i) {
    const double x = s * i / 20.0, h = 1e-5 * x;
    const double df = (yarn_f(x + h, s) - yarn_f(x - h, s)) / (2.0 * h);
    const double ddf = (yarn_df(x + h, s) - yarn_df(x - h, s)) / (2.0 * h);
    cr_expect_float_eq(yarn_df(x, s), df, 1e-8 * fabs(df) + 1e-5, "f' at %g", x);
    cr_expect_float_eq(yarn_ddf(x, s), ddf, 1e-8 * fabs(ddf), "f'' at %g", x);
  }
  cr_expect_float_eq(yarn_f(s, s), 0.0, 1e-15);
  cr_expect_float_eq(yarn_df(s, s) * s, 0.0, 1e-15);
  const double d[3] = {5e-4, -9e-4, 7e-4};
  double H[6];
  yarn_hess(d, s, H);
  for (int a = 0, m = 0; a < 3; ++a)
    for (int b = a; b < 3; ++b, ++m) {
      double up[3], down[3];
      memcpy(up, d, sizeof d);
      memcpy(down, d, sizeof d);
      up[b] += 1e-9, down[b] -= 1e-9;
      const double x1 = up[0] * up[0] + up[1] * up[1] + up[2] * up[2];
      const double x0 = down[0] * down[0] + down[1] * down[1] + down[2] * down[2];
      const double fd = 2.0 * (yarn_df(x1, s) * up[a] - yarn_df(x0, s) * down[a]) / 2e-9;
      cr_expect_float_eq(H[m], fd, 1e-6 * fabs(H[0]), "H %d %d", a, b);
    }
}

/* Two long yarns that cross at right angles, centre lines d apart: 2 pi k d f(d) (numerics 1.1). */
static double measure_crossing_force(double d, double shift, double seg)
{
  yarn_run f;
  const double axis[2][3] = {{1, 0, 0}, {0, 1, 0}};
  const double mid[2][3] = {{0, 0, 0}, {shift, 0.37 * shift, d}};
  yc_straight(&f.c, 2, 12, seg, axis, mid, 1.25e-3);
  yr_open(&f, 1, "search=1", "yarn_penalty", "");
  double *const g = calloc(3 * (size_t)f.c.n, sizeof *g);
  double force = 0.0;
  yr_detect(&f, f.c.x);
  (void)yr_eval(&f, f.c.x, g);
  for (int i = 0; i < f.c.yarn_vert[1]; ++i) force += g[3 * i + 2];
  free(g);
  yr_close(&f);
  const double s = 6.25e-6;
  return force / (2.0 * acos(-1.0) * k_contact * d * yarn_f(d * d, s));
}

/* numerics Y1: 0.5 % up to 0.2 cm, 6 % at 0.24 cm, segments of 0.5 cm */
Test(yarn_contact, crossing_force)
{
  const double d[4] = {1.0e-3, 1.5e-3, 2.0e-3, 2.4e-3}, bar[4] = {0.005, 0.005, 0.005, 0.06};
  for (int i = 0; i < 4; ++i)
    cr_expect_float_eq(measure_crossing_force(d[i], 0.0, 5e-3), 1.0, bar[i],
                       "d = %g m: %g of the analytic force", d[i],
                       measure_crossing_force(d[i], 0.0, 5e-3));
}

/* A swatch pressed together: every search gives the energy and the gradient of all pairs. */
Test(yarn_contact, equals_brute_force)
{
  static const double squeeze[3] = {0.97, 0.97, 0.85};
  static const char *const search[3] = {"search=0", "search=1", "search=2"};
  for (int s = 0; s < 3; ++s) {
    yarn_run f;
    int64_t pairs;
    yc_stitch(&f.c, 4, 5, squeeze, 4e-5);
    yr_open(&f, 2, search[s], "yarn_penalty", "");
    const int n = f.c.n;
    double *const g = calloc(3 * (size_t)n, sizeof *g), *const want =
                                                            calloc(3 * (size_t)n, sizeof *g);
    double size = 0.0;
    yr_detect(&f, f.c.x);
    const double e = yr_eval(&f, f.c.x, g), e0 = yc_brute(&f.c, f.c.x, k_contact, want, &pairs);
    cr_assert_gt(pairs, 100, "no contact: the test would be empty");
    for (int i = 0; i < 3 * n; ++i) size = fmax(size, fabs(want[i]));
    cr_expect_float_eq(e, e0, 1e-12 * e0, "%s: %g J, not %g J", search[s], e, e0);
    for (int i = 0; i < 3 * n; ++i) /* rounding of sums of some hundred terms */
      cr_expect_float_eq(g[i], want[i], 1e-13 * size, "%s: vertex %d: %g, not %g", search[s], i / 3,
                         g[i], want[i]);
    free(g), free(want);
    yr_close(&f);
  }
}

/* The energy by the schedule and by cells, of two yarns that rest until entries wait in the longest
 * bin and then approach, `gain` m more in every step; `gain` falls by the factor `fall` a step. One
 * may be shaken by +-shake m for 200 steps before. */
static void compare_approach_searches(double shake, double gain, double fall)
{
  /* the third one keeps the border between two cells, which is at the mean of all, away */
  const double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
  const double mid[3][3] = {{0, 0, 0}, {0, 0, 3.5e-3}, {0, 0, -0.02}};
  static const char *const search[2] = {"search=0 cell=0.05", "search=1 cell=0.05"};
  yarn_run f[2];
  int touched = 0;
  for (int k = 0; k < 2; ++k) {
    yc_straight(&f[k].c, 3, 12, 1.8e-3, axis, mid, 1.25e-3);
    yr_open(&f[k], 1, search[k], "yarn_penalty", "");
  }
  const int n3 = 3 * f[0].c.n;
  double *const x = malloc((size_t)n3 * sizeof *x);
  double depth = 0.0, speed = 0.0;
  for (int s = 0; s < 600 && depth < 1.5e-3; ++s) {
    if (s > 257) {
      speed += gain;
      depth += speed;
      gain *= fall;
    }
    const double now = depth + (s > 50 && s <= 250 && s % 2 ? shake : 0.0);
    memcpy(x, f[0].c.x, (size_t)n3 * sizeof *x);
    for (int i = 2; i < n3; i += 3)
      if (x[i] > 1e-3) x[i] -= now;
    for (int k = 0; k < 2; ++k) yr_detect(&f[k], x);
    const double e = yr_eval(&f[0], x, NULL), want = yr_eval(&f[1], x, NULL);
    touched += want > 0.0;
    cr_assert_eq(e, want, "shaken by %g m, %d steps after: %g J, not %g", shake, s - 257, e, want);
  }
  cr_expect_gt(touched, 1, "the yarns do not meet: the test would be empty");
  free(x);
  for (int k = 0; k < 2; ++k) yr_close(&f[k]);
}

Test(yarn_contact, schedule_foresees_an_approach)
{
  const double alarm = 6e-6 / 5; /* m, a fifth of omega: less wakes no entries */
  compare_approach_searches(0, 0.99 * alarm, 1);
  compare_approach_searches(3e-6, 0.99 * alarm, 1);
  compare_approach_searches(3e-6, 3e-6, 1 - 1.0 / 64);
  compare_approach_searches(0, 2e-5, 1);
}

/* A run that has blown up ends with a message instead of filling memory with cells. */
Test(yarn_contact, yarns_across_too_many_cells_are_refused)
{
  static const double squeeze[3] = {1, 1, 1};
  static const char *const search[2] = {"search=0", "search=1"};
  for (int s = 0; s < 2; ++s) {
    yarn_run f;
    yc_stitch(&f.c, 4, 5, squeeze, 0);
    yr_open(&f, 1, search[s], "yarn_penalty", "");
    double *const x = calloc(3 * (size_t)f.c.n, sizeof *x);
    for (int i = 0; i < 3 * f.c.n; ++i) x[i] = 1e3 * f.c.x[i];
    yc_place(&f.t, x);
    const loom_query q = {.struct_size = sizeof q,
                          .what = LOOM_DETECT_PROXIMITY,
                          .kinds = LOOM_PAIR_MASK_ALL,
                          .x0 = f.t.step.x_start,
                          .x1 = f.t.step.x_start};
    cr_expect_eq(f.grid->ops.collision->detect(f.find, &f.t.step, &q, &f.pairs), LOOM_E_NUMERIC);
    cr_expect(strstr(f.t.err.text, "blown up") != NULL, "%s: %s", search[s], f.t.err.text);
    free(x);
    yr_close(&f);
  }
}

Test(yarn_contact, gradient_of_energy)
{
  static const double squeeze[3] = {0.97, 0.97, 0.85};
  yarn_run f;
  yc_stitch(&f.c, 3, 3, squeeze, 4e-5);
  yr_open(&f, 1, "", "yarn_penalty", "margin=2e-4");
  const int n3 = 3 * f.c.n;
  double *const g = calloc((size_t)n3, sizeof *g), *const y = calloc((size_t)n3, sizeof *y);
  uint64_t seed = 5;
  double size = 0.0;
  yr_detect(&f, f.c.x);
  (void)yr_eval(&f, f.c.x, g);
  for (int i = 0; i < n3; ++i) size += g[i] * g[i];
  cr_assert(size > 0, "no contact: the test would be empty");
  for (int k = 0; k < 20; ++k) {
    const double h = 1e-8;
    double slope = 0.0, e[2];
    double *const dir = calloc((size_t)n3, sizeof *dir);
    for (int i = 0; i < n3; ++i) slope += g[i] * (dir[i] = th_random(&seed));
    for (int s = 0; s < 2; ++s) {
      for (int i = 0; i < n3; ++i) y[i] = f.c.x[i] + (s ? -h : h) * dir[i];
      e[s] = yr_eval(&f, y, NULL);
    }
    cr_expect_float_eq((e[0] - e[1]) / (2.0 * h), slope, 1e-6 * sqrt(size) * sqrt(n3 / 3.0));
    free(dir);
  }
  free(g), free(y);
  yr_close(&f);
}

/* Closed yarns and several of them: two rings through each other, with ends that meet. */
Test(yarn_contact, rings)
{
  enum { N = 24 };
  double x[2 * N * 3];
  const int verts[2] = {N, N};
  const uint8_t closed[2] = {1, 1};
  yarn_run f;
  int64_t pairs;
  for (int i = 0; i < 2 * N; ++i) {
    const double a = 2.0 * acos(-1.0) * (i % N) / N, R = 0.02;
    const double out = R * cos(a), up = R * sin(a);
    /* the second one goes through the first, 1.9 mm from its vertex 0, where both begin */
    x[3 * i] = i < N ? out : 2.0 * R - 1.9e-3 - out;
    x[3 * i + 1] = i < N ? up : 0.0;
    x[3 * i + 2] = i < N ? 0.0 : up;
  }
  yc_new(&f.c, 2, verts, closed, x, 1.25e-3);
  yr_open(&f, 1, "", "yarn_penalty", "");
  double g[2 * N * 3], want[2 * N * 3] = {0}, size = 0.0;
  yr_detect(&f, x);
  const double e = yr_eval(&f, x, g), e0 = yc_brute(&f.c, x, k_contact, want, &pairs);
  cr_assert_gt(pairs, 0, "no contact: the test would be empty");
  for (int i = 0; i < 2 * N * 3; ++i) size = fmax(size, fabs(want[i]));
  cr_expect_float_eq(e, e0, 1e-12 * e0);
  for (int i = 0; i < 2 * N * 3; ++i) cr_expect_float_eq(g[i], want[i], 1e-13 * size);
  yr_close(&f);
}
