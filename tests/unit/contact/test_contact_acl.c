/* test_contact_acl.c - adaptive contact linearization: exact at tolerance 0, exact for rigid
 * motion, complete at any tolerance, forces that add up to 0, order of the linear model. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/yarn_run.h"

static const double k_contact = 3.5;

static double largest_force_component(const double *g, int n3)
{
  double size = 0.0;
  for (int i = 0; i < n3; ++i) size = fmax(size, fabs(g[i]));
  return size;
}

/* numerics Y5: every step equals the exact force to 1e-12, over 300 steps */
Test(acl, tolerance_zero_is_exact)
{
  static const double squeeze[3] = {0.97, 0.97, 0.86};
  yarn_run a, b;
  double worst = 0.0, off = 0.0;
  yc_stitch(&a.c, 3, 4, squeeze, 3e-5);
  yc_stitch(&b.c, 3, 4, squeeze, 3e-5);
  yr_open(&a, 1, "", "acl", "tolerance=0");
  yr_open(&b, 1, "search=1", "yarn_penalty", "");
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  double *const want = calloc((size_t)n3, sizeof *want);
  for (int s = 0; s < 320; ++s) {
    yr_moving(&a.c, s, x);
    yr_detect(&a, x);
    yr_detect(&b, x);
    const double e = yr_eval(&a, x, g), e0 = yr_eval(&b, x, want);
    const double size = largest_force_component(want, n3);
    cr_assert_gt(size, 0.0, "no contact: the test would be empty");
    for (int i = 0; i < n3; ++i) worst = fmax(worst, fabs(g[i] - want[i]) / size);
    off = fmax(off, fabs(e - e0) / e0);
    if (s % 40) continue;
    int64_t pairs; /* and the reference is right */
    double *const all = calloc((size_t)n3, sizeof *all);
    (void)yc_brute(&a.c, x, k_contact, all, &pairs);
    for (int i = 0; i < n3; ++i) cr_assert_float_eq(want[i], all[i], 1e-12 * size, "step %d", s);
    free(all);
  }
  cr_expect_lt(worst, 1e-12, "off by %g of the largest force", worst);
  cr_expect_lt(off, 1e-12, "energy is off by %g", off);
  free(x), free(g), free(want);
  yr_close(&a);
  yr_close(&b);
}

/* numerics Y8, Y7: no pair in contact outside of a set, none in two; forces add up to 0 */
static void check_set_completeness(const char *settings, int steps, int every)
{
  static const double squeeze[3] = {0.97, 0.97, 0.88};
  yarn_run a;
  int64_t seen = 0;
  yc_stitch(&a.c, 3, 4, squeeze, 3e-5);
  yr_open(&a, 1, "", "acl", settings);
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  for (int s = 0; s < steps; ++s) {
    int64_t missed, twice, pairs;
    double sum[3] = {0, 0, 0};
    yr_moving(&a.c, s, x);
    yr_detect(&a, x);
    if (s % every) continue;
    yr_audit(&a, x, &missed, &twice, &pairs);
    seen += pairs;
    cr_assert_eq(missed, 0, "%s, step %d: %d of %d pairs are in no set", settings, s, (int)missed,
                 (int)pairs);
    cr_assert_eq(twice, 0, "%s, step %d: %d of %d pairs are in two sets", settings, s, (int)twice,
                 (int)pairs);
    (void)yr_eval(&a, x, g);
    for (int i = 0; i < n3; ++i) sum[i % 3] += g[i];
    for (int c = 0; c < 3; ++c)
      cr_assert_lt(fabs(sum[c]), 1e-11 * largest_force_component(g, n3), "%s, step %d: sum %g",
                   settings, s, sum[c]);
  }
  cr_expect_gt(seen, 1000, "too little contact: the test would be empty");
  free(x), free(g);
  yr_close(&a);
}

Test(acl, complete_at_any_tolerance)
{
  check_set_completeness("tolerance=0", 60, 2);
  check_set_completeness("tolerance=0.004", 60, 2);
  check_set_completeness("tolerance=0.04", 300, 3);
  check_set_completeness("tolerance=0.1", 60, 2);
  check_set_completeness("tolerance=0.3 stiction=0.05", 300, 3);
  check_set_completeness("tolerance=1e9", 100, 3);
}

/* numerics Y6: forces turn with the yarns, to 1e-10 of the largest, at every angle */
/* One yarn rocks on another along it: the set shrinks to one end, and detection has to find the
 * other end again when that comes back, though it had long been left out there. */
Test(acl, complete_where_a_set_has_let_go)
{
  const double axis[2][3] = {{1, 0, 0}, {1, 0, 0}}, mid[2][3] = {{0, 0, 0}, {0, 0, 2.45e-3}};
  yarn_run a;
  int64_t most = 0, least = INT64_MAX;
  yc_straight(&a.c, 2, 12, 1.8e-3, axis, mid, 1.25e-3);
  yr_open(&a, 1, "", "acl", "tolerance=0.04");
  double *const x = malloc(3 * (size_t)a.c.n * sizeof *x);
  for (int s = 0; s < 600; ++s) {
    const double tilt = 0.02 * sin(0.02 * s);
    int64_t missed, twice, pairs;
    memcpy(x, a.c.x, 3 * (size_t)a.c.n * sizeof *x);
    for (int i = 0; i < a.c.n; ++i)
      if (x[3 * i + 2] > 0) x[3 * i + 2] += tilt * (x[3 * i] - 6e-3);
    yr_detect(&a, x);
    yr_audit(&a, x, &missed, &twice, &pairs);
    cr_assert_eq(missed, 0, "step %d: %d of %d pairs are in no set", s, (int)missed, (int)pairs);
    cr_assert_eq(twice, 0, "step %d: %d of %d pairs are in two sets", s, (int)twice, (int)pairs);
    most = pairs > most ? pairs : most;
    least = pairs < least ? pairs : least;
  }
  cr_expect_lt(least, most / 2,
               "the contact does not move (%d to %d pairs): the test would be empty", (int)least,
               (int)most);
  free(x);
  yr_close(&a);
}

Test(acl, rigid_motion)
{
  static const double squeeze[3] = {0.97, 0.97, 0.85}, shift[3] = {0.03, -0.02, 0.05},
                      none[3] = {0, 0, 0}, angle[3] = {0.7, 2.9, -1.6};
  yarn_run a;
  yc_stitch(&a.c, 3, 3, squeeze, 4e-5);
  yr_open(&a, 1, "", "acl", "tolerance=1e9");
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  double *const want = calloc((size_t)n3, sizeof *want);
  yr_detect(&a, a.c.x);
  const double e = yr_eval(&a, a.c.x, g);
  const double size = largest_force_component(g, n3);
  cr_assert_gt(size, 0.0);
  for (int k = 0; k < 3; ++k) {
    yr_turn(g, a.c.n, angle[k], none, want);
    yr_turn(a.c.x, a.c.n, angle[k], shift, x);
    double *const h = calloc((size_t)n3, sizeof *h);
    cr_expect_float_eq(yr_eval(&a, x, h), e, 1e-10 * e, "energy after %g rad", angle[k]);
    for (int i = 0; i < n3; ++i)
      cr_assert_float_eq(h[i], want[i], 1e-10 * size, "%g rad, vertex %d", angle[k], i / 3);
    free(h);
  }
  free(x), free(g), free(want);
  yr_close(&a);
}

/* numerics Y6: the error of the model falls with the square of the displacement */
Test(acl, second_order)
{
  static const double squeeze[3] = {0.97, 0.97, 0.85};
  yarn_run a, b;
  yc_stitch(&a.c, 5, 5, squeeze, 4e-5);
  yc_stitch(&b.c, 5, 5, squeeze, 4e-5);
  yr_open(&a, 1, "", "acl", "tolerance=1e9");
  yr_open(&b, 1, "search=1", "yarn_penalty", "");
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  double *const want = calloc((size_t)n3, sizeof *want), error[5];
  yr_detect(&a, a.c.x);
  for (int k = 0; k < 5; ++k) {
    error[k] = 0.0;
    for (int i = 0; i < n3; ++i) x[i] = a.c.x[i] + 1e-5 / (1 << k) * sin(0.37 * i + 0.001 * i * i);
    yr_detect(&b, x);
    (void)yr_eval(&a, x, g);
    (void)yr_eval(&b, x, want);
    for (int i = 0; i < n3; ++i) error[k] += pow(g[i] - want[i], 2.0);
    error[k] = sqrt(error[k]);
  }
  /* over four halvings: pairs that come into contact meanwhile have a jump in f'' and err by 2.8 */
  const double ratio = pow(error[0] / error[4], 0.25);
  cr_expect(ratio > 3.0 && ratio < 4.5, "halving the displacement divides the error by %g", ratio);
  free(x), free(g), free(want);
  yr_close(&a);
  yr_close(&b);
}

/* Same bits for any number of threads. */
Test(acl, threads)
{
  static const double squeeze[3] = {0.97, 0.97, 0.88};
  double *first = NULL;
  for (int threads = 1; threads <= 4; threads *= 2) {
    yarn_run a;
    yc_stitch(&a.c, 8, 12, squeeze, 3e-5);
    yr_open(&a, threads, "", "acl", "tolerance=0.04 stiction=0.05");
    const int n3 = 3 * a.c.n;
    double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
    for (int s = 0; s < 40; ++s) {
      yr_moving(&a.c, s, x);
      yr_detect(&a, x);
    }
    (void)yr_eval(&a, x, g);
    cr_assert_gt(largest_force_component(g, n3), 0.0);
    if (first == NULL) {
      first = g;
    } else {
      cr_expect_eq(memcmp(first, g, sizeof *g * (size_t)n3), 0, "%d threads", threads);
      free(g);
    }
    free(x);
    yr_close(&a);
  }
  free(first);
}

/* Stiction: no force where the springs are made, a potential force beside it, none any more after
 * a step in which they have broken. */
Test(acl, stiction)
{
  const double axis[2][3] = {{1, 0, 0}, {0, 1, 0}}, mid[2][3] = {{0, 0, 0}, {0, 0, 2e-3}};
  yarn_run a;
  yc_straight(&a.c, 2, 6, 5e-3, axis, mid, 1.25e-3);
  yr_open(&a, 1, "", "acl", "stiffness=0 stiction=0.5 stiction_break=1e-9 tolerance=1e9");
  enum { MOST = 3 * 2 * 7 };
  const int n3 = 3 * a.c.n;
  double x[MOST], y[MOST], g[MOST], slope = 0.0, e[2];
  cr_assert_leq(n3, MOST);
  yr_detect(&a, a.c.x); /* the set appears */
  yr_detect(&a, a.c.x);
  cr_expect_float_eq(yr_eval(&a, a.c.x, g), 0.0, 1e-30);
  cr_expect_eq(largest_force_component(g, n3), 0.0);
  for (int i = 0; i < n3; ++i) x[i] = a.c.x[i] + (i >= n3 / 2 && i % 3 == 0 ? 2e-5 : 0.0);
  cr_expect_gt(yr_eval(&a, x, g), 0.0);
  cr_expect_gt(largest_force_component(g, n3), 0.0);
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < n3; ++i) y[i] = x[i] + (s ? -1e-9 : 1e-9) * sin(1.0 + i);
    e[s] = yr_eval(&a, y, NULL);
  }
  for (int i = 0; i < n3; ++i) slope += g[i] * sin(1.0 + i);
  cr_expect_float_eq((e[0] - e[1]) / 2e-9, slope, 1e-5 * fabs(slope));
  /* 0.4 mm along: k dl^2 / 2 is beyond the limit for the springs that are stretched most */
  for (int i = 0; i < n3; ++i) x[i] = a.c.x[i] + (i >= n3 / 2 && i % 3 == 0 ? 4e-4 : 0.0);
  yr_detect(&a, x);
  cr_expect_lt(yr_eval(&a, x, g), 4e-9, "springs hold more than they can");
  yr_close(&a);
}
