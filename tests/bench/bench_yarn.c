/* bench_yarn.c - accuracy of contact between yarns, as a table: name, value, bound.
 *
 *   bench_yarn > yarn.csv
 *
 * A moving swatch without a solver; the bounds are those of the numerics notes (Y1, Y5 to Y8). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "geom/yarn.kern.h"
#include "support/yarn_run.h"

static const double k_contact = 3.5; /* N/m */
static const double squeeze[3] = {0.97, 0.97, 0.86};

static double largest(const double *g, int n3)
{
  double size = 0.0;
  for (int i = 0; i < n3; ++i) size = fmax(size, fabs(g[i]));
  return size;
}

/* Yarns that cross at right angles beside 2 pi k d f(d). */
static void crossing(double d, double bound)
{
  yarn_run f;
  const double axis[2][3] = {{1, 0, 0}, {0, 1, 0}}, mid[2][3] = {{0, 0, 0}, {0, 0, d}};
  yc_straight(&f.c, 2, 12, 5e-3, axis, mid, 1.25e-3);
  yr_open(&f, 1, "search=1", "yarn_penalty", "");
  double *const g = calloc(3 * (size_t)f.c.n, sizeof *g), force = 0.0;
  yr_detect(&f, f.c.x);
  (void)yr_eval(&f, f.c.x, g);
  for (int i = 0; i < f.c.yarn_vert[1]; ++i) force += g[3 * i + 2];
  free(g);
  yr_close(&f);
  const double want = 2.0 * acos(-1.0) * k_contact * d * yarn_f(d * d, 6.25e-6);
  printf("crossing force at %.1f mm off the analytic one,%.6g,%g\n", 1e3 * d,
         fabs(force / want - 1.0), bound);
}

/* Tolerance 0 beside the exact force, every one of 320 steps. */
static void exactness(void)
{
  yarn_run a, b;
  double worst = 0.0;
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
    (void)yr_eval(&a, x, g);
    (void)yr_eval(&b, x, want);
    const double size = largest(want, n3);
    for (int i = 0; i < n3; ++i) worst = fmax(worst, fabs(g[i] - want[i]) / size);
  }
  printf("force at tau 0 off the exact one in 320 steps,%.3g,1e-12\n", worst);
  free(x), free(g), free(want);
  yr_close(&a);
  yr_close(&b);
}

static void rigid(void)
{
  static const double shift[3] = {0.03, -0.02, 0.05}, none[3] = {0, 0, 0};
  yarn_run a;
  double worst = 0.0;
  yc_stitch(&a.c, 3, 4, squeeze, 3e-5);
  yr_open(&a, 1, "", "acl", "tolerance=1e9");
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  double *const want = calloc((size_t)n3, sizeof *want), *const h = calloc((size_t)n3, sizeof *h);
  yr_detect(&a, a.c.x);
  (void)yr_eval(&a, a.c.x, g);
  yr_turn(g, a.c.n, 0.7, none, want);
  yr_turn(a.c.x, a.c.n, 0.7, shift, x);
  (void)yr_eval(&a, x, h);
  for (int i = 0; i < n3; ++i) worst = fmax(worst, fabs(h[i] - want[i]) / largest(g, n3));
  printf("force after a turn of 0.7 rad off the turned one,%.3g,1e-10\n", worst);
  free(x), free(g), free(want), free(h);
  yr_close(&a);
}

/* Pairs outside of sets and in two of them, and the sum of all forces, over 300 steps. */
static void completeness(const char *tau)
{
  yarn_run a;
  char set[64];
  int64_t missed = 0, twice = 0, seen = 0;
  double worst = 0.0;
  snprintf(set, sizeof set, "tolerance=%s", tau);
  yc_stitch(&a.c, 3, 4, squeeze, 3e-5);
  yr_open(&a, 1, "", "acl", set);
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  for (int s = 0; s < 300; ++s) {
    int64_t m, t, p;
    double sum[3] = {0, 0, 0};
    yr_moving(&a.c, s, x);
    yr_detect(&a, x);
    yr_audit(&a, x, &m, &t, &p);
    missed += m, twice += t, seen += p;
    (void)yr_eval(&a, x, g);
    for (int i = 0; i < n3; ++i) sum[i % 3] += g[i];
    for (int c = 0; c < 3; ++c) worst = fmax(worst, fabs(sum[c]) / largest(g, n3));
  }
  printf("pairs of %lld outside of sets at tau %s,%lld,0\n", (long long)seen, tau,
         (long long)missed);
  printf("pairs of %lld in two sets at tau %s,%lld,0\n", (long long)seen, tau, (long long)twice);
  printf("sum of forces at tau %s over the largest,%.3g,1e-11\n", tau, worst);
  free(x), free(g);
  yr_close(&a);
}

int main(void)
{
  static const char *const tau[5] = {"0", "0.004", "0.04", "0.1", "0.3"};
  printf("name,value,bound\n");
  crossing(1.0e-3, 0.005);
  crossing(1.5e-3, 0.005);
  crossing(2.0e-3, 0.005);
  crossing(2.4e-3, 0.06);
  exactness();
  rigid();
  for (int i = 0; i < 5; ++i) completeness(tau[i]);
  return 0;
}
