/* test_ccd.c - times of impact: no impact is missed or found late, and the promised gap is left.
 *
 * LOOM_CCD_QUERIES: number of random queries per kind (default 20,000); an 80th of it is the
 * number of nearly degenerate ones of each of eight families. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "geom/ccd.kern.h"
#include "support/bufs.h"
#include "support/ccd_cases.h"
#include "support/ccd_oracle.h"

static const char *const method_name[] = {"additive", "cubic", "newton"};
enum { NUM_METHODS = 3 };

static int64_t num_queries(void)
{
  const char *text = getenv("LOOM_CCD_QUERIES");
  const long long n = text != NULL ? atoll(text) : 0;
  return n > 0 ? n : 20000;
}

static void to_real(const double *x, lk_real *out)
{
  for (int i = 0; i < 12; ++i) out[i] = (lk_real)x[i];
}

/* A query in loom's precision, and the same one for the oracle. */
static void fill_toi_query(int kind, int family, int64_t k, lk_real *r0, lk_real *r1, double *x0,
                           double *x1)
{
  ccd_case(kind, family, (uint64_t)k, x0, x1);
  to_real(x0, r0);
  to_real(x1, r1);
  for (int i = 0; i < 12; ++i) x0[i] = (double)r0[i], x1[i] = (double)r1[i];
}

/* ---- against the oracle ---- */
typedef struct counts {
  int64_t hits, missed[NUM_METHODS], late[NUM_METHODS], extra[NUM_METHODS];
} counts;

static counts run_family(int kind, int family, int64_t num)
{
  counts c = {0};
  int64_t hits = 0, missed[NUM_METHODS] = {0}, late[NUM_METHODS] = {0}, extra[NUM_METHODS] = {0};
#pragma omp parallel for schedule(dynamic, 64) \
    reduction(+ : hits, missed[ : NUM_METHODS], late[ : NUM_METHODS], extra[ : NUM_METHODS])
  for (int64_t k = 0; k < num; ++k) {
    const ccd_settings s = ccd_defaults();
    lk_real r0[12], r1[12];
    double x0[12], x1[12], first[2] = {2.0, 2.0};
    fill_toi_query(kind, family, k, r0, r1, x0, x1);
    const int truth = oracle_contact(kind, x0, x1, first);
    hits += truth;
    for (int m = 0; m < NUM_METHODS; ++m) {
      const double t = (double)ccd_toi(m, kind, r0, r1, &s);
      missed[m] += truth && t > 1.0;
      if (truth && t <= 1.0 && t > first[0] && first[1] > first[0]) {
        oracle_contact_exact(kind, x0, x1, &first[0]);
        first[1] = first[0];
      }
      late[m] += truth && t <= 1.0 && t > first[0];
      extra[m] += !truth && t <= 1.0;
    }
  }
  c.hits = hits;
  for (int m = 0; m < NUM_METHODS; ++m)
    c.missed[m] = missed[m], c.late[m] = late[m], c.extra[m] = extra[m];
  return c;
}

static void check_family(int kind, int family, int64_t num, int64_t least_hits)
{
  const counts c = run_family(kind, family, num);
  printf("%s %-8s %8lld queries %7lld impacts; reported without one:", kind == 0 ? "vt" : "ee",
         ccd_case_name[family], (long long)num, (long long)c.hits);
  for (int m = 0; m < NUM_METHODS; ++m) printf(" %s %lld", method_name[m], (long long)c.extra[m]);
  printf("\n");
  cr_assert_geq(c.hits, least_hits, "too few impacts to mean anything");
  for (int m = 0; m < NUM_METHODS; ++m) {
    cr_assert_eq(c.missed[m], 0, "%s missed %lld impacts", method_name[m], (long long)c.missed[m]);
    cr_assert_eq(c.late[m], 0, "%s found %lld impacts late", method_name[m], (long long)c.late[m]);
  }
}

/* The filter of the oracle against its exact stage. */
Test(ccd, oracle_agrees_with_itself)
{
  for (int64_t k = 0; k < 1500; ++k) {
    const int kind = (int)(k & 1), family = (int)(k / 2 % CASE_FAMILIES);
    double x0[12], x1[12], range[2] = {2.0, 2.0}, first = 2.0;
    ccd_case(kind, family, (uint64_t)k, x0, x1);
    const int truth = oracle_contact_exact(kind, x0, x1, &first);
    cr_assert_eq(oracle_contact(kind, x0, x1, range), truth, "query %lld", (long long)k);
    if (truth) cr_assert(range[0] <= first && first <= range[1], "%.17g", first);
  }
}

Test(ccd, no_random_impact_is_missed)
{
  for (int kind = 0; kind < 2; ++kind) check_family(kind, CASE_RANDOM, num_queries(), 100);
}

Test(ccd, no_degenerate_impact_is_missed)
{
  for (int kind = 0; kind < 2; ++kind)
    for (int f = 0; f < CASE_NUM_DEGENERATE; ++f) {
      const int64_t n = num_queries() / 80;
      check_family(kind, CASE_FIRST_DEGENERATE + f, n, n / 100);
    }
}

Test(ccd, no_cloth_impact_is_missed)
{
  for (int kind = 0; kind < 2; ++kind) check_family(kind, CASE_CLOTH, num_queries() / 10, 20);
}

/* ---- minimum separation ---- */
static double moving_pair_distance(int kind, const lk_real *x0, const lk_real *x1, double t)
{
  lk_real x[12], w[4];
  for (int i = 0; i < 12; ++i)
    x[i] = (lk_real)((double)x0[i] + t * ((double)x1[i] - (double)x0[i]));
  return sqrt((double)(kind == CCD_VT ? dist_vt(x, w) : dist_ee(x, w)));
}

/* Until the time of impact the distance stays above xi, at it the promised share is left; and
 * an impact of the additive method is one: the gap has fallen to the stated share. */
Test(ccd, keeps_the_separation)
{
  static const double xis[] = {0.0, 0.01, 0.3};
  enum { SAMPLES = 64 };
  const double noise = sizeof(lk_real) < 8 ? 1e-5 : 1e-12;
  int64_t undecided = 0, hits = 0;
  for (int64_t k = 0; k < 12000; ++k) {
    const int kind = (int)(k & 1), family = (int)(k / 2 % 9), m = (int)(k / 18 % 3);
    lk_real x0[12], x1[12];
    double d0[12], d1[12];
    ccd_pair P;
    fill_toi_query(kind, family, k, x0, x1, d0, d1);
    ccd_settings s = ccd_defaults();
    s.xi = (lk_real)xis[k % 5 % 3];
    const double t = (double)ccd_toi(m, kind, x0, x1, &s),
                 d = moving_pair_distance(kind, x0, x1, 0.0);
    const double xi = fmin((double)s.xi, (double)s.hold * d), gap = d - xi;
    double least = d;
    for (int i = 1; i <= SAMPLES; ++i)
      least = fmin(least, moving_pair_distance(kind, x0, x1, fmin(t, 1.0) * i / SAMPLES));
    if (t == 0.0) continue;
    if (m == CCD_ADDITIVE)
      cr_assert_geq(least, xi + (double)s.eta * gap - noise, "query %lld: %.17g, gap %g",
                    (long long)k, least, gap);
    else
      cr_assert_geq(least, xi - noise, "query %lld, %s", (long long)k, method_name[m]);
    if (t > 1.0 || m != CCD_ADDITIVE) continue;
    ++hits;
    ccd_open(kind, x0, x1, &P);
    const double stop = fmax(1.2001 * (double)s.eta * gap, 4.0 * (double)P.err);
    undecided += moving_pair_distance(kind, x0, x1, t) - xi > stop + noise;
  }
  printf("%lld of %lld impacts reported above the stated gap\n", (long long)undecided,
         (long long)hits);
  cr_assert_gt(hits, 500);
  cr_assert_leq(undecided, hits / 100);
}

/* Head-on: the time is known. */
Test(ccd, head_on)
{
  const lk_real x0[12] = {0.25, 0.25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  const lk_real x1[12] = {0.25, 0.25, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  ccd_settings s = ccd_defaults();
  const double eps = 64 * (double)LK_EPSILON;
  cr_assert_float_eq((double)ccd_toi(CCD_ADDITIVE, CCD_VT, x0, x1, &s), 0.45, eps);
  s.xi = LK_R(0.5); /* the gap is 0.5: 0.05 are kept above xi */
  cr_assert_float_eq((double)ccd_toi(CCD_ADDITIVE, CCD_VT, x0, x1, &s), 0.225, eps);
  /* 0.9 of the time; the tolerance is a gap of 1e-6, and in float the rounding bound more */
  for (int m = CCD_CUBIC; m <= CCD_NEWTON; ++m)
    cr_assert_float_eq((double)ccd_toi(m, CCD_VT, x0, x1, &s), 0.225,
                       2e-6 + 512 * (double)LK_EPSILON);
}

/* Barely above xi: a pair that a barrier keeps apart must not fall below it by a share of xi. */
Test(ccd, barely_above_the_separation)
{
  for (double above = 1e-3; above > 2e-11; above *= 0.1)
    for (int m = 0; m < NUM_METHODS; ++m) {
      lk_real x0[12] = {0.25, 0.25, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0}, x1[12];
      ccd_settings s = ccd_defaults();
      s.xi = LK_R(0.1);
      x0[2] = (lk_real)(0.1 * (1.0 + above));
      if (!(x0[2] > s.xi + 256 * LK_EPSILON)) continue; /* float */
      memcpy(x1, x0, sizeof x1);
      x1[2] = LK_R(-0.1);
      const double t = (double)ccd_toi(m, CCD_VT, x0, x1, &s);
      cr_assert(t < 1 && moving_pair_distance(CCD_VT, x0, x1, t) >= 0.1 - 64 * (double)LK_EPSILON,
                "%s, %g above: %.17g at %g", method_name[m], above,
                moving_pair_distance(CCD_VT, x0, x1, t), t);
    }
}

/* Within rounding of xi, which is a gap above half thicknesses: it may lose a share of
 * that gap.  Measured from zero (base 0) the share would be larger than the gap. */
Test(ccd, within_rounding_of_the_separation)
{
  if (sizeof(lk_real) < 8) return; /* the gap is below the rounding of float */
  for (int m = 0; m < NUM_METHODS; ++m)
    for (int k = -3; k <= 3; ++k) {
      const double thick = 2e-3, gap = 1e-8, size = 0.02;
      lk_real x0[12] = {0.25, 0.25, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0}, x1[12];
      for (int i = 0; i < 12; ++i) x0[i] *= (lk_real)size;
      x0[2] = (lk_real)(thick + gap + k * 1e-15);
      memcpy(x1, x0, sizeof x1);
      x1[2] = (lk_real)-thick;
      ccd_settings s = ccd_defaults();
      s.xi = (lk_real)(thick + gap);
      s.base = (lk_real)thick;
      const double t = (double)ccd_toi(m, CCD_VT, x0, x1, &s);
      const double left = moving_pair_distance(CCD_VT, x0, x1, t) - thick;
      cr_expect(t > 0 && t < 1 && left >= 0.999 * gap - 1e-14, "%s, %d: %g left", method_name[m], k,
                left);
      s.base = 0;
      const double lost = (double)ccd_toi(m, CCD_VT, x0, x1, &s);
      cr_expect(moving_pair_distance(CCD_VT, x0, x1, lost) < thick,
                "the control keeps the thickness");
    }
}

/* Below xi from the start: it may move away, and keeps its distance otherwise. */
Test(ccd, below_the_separation)
{
  const lk_real x0[12] = {0.25, 0.25, 0.5, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  lk_real x1[12];
  ccd_settings s = ccd_defaults();
  s.xi = 1;
  for (int m = 0; m < NUM_METHODS; ++m) {
    memcpy(x1, x0, sizeof x1);
    x1[2] = LK_R(0.8);
    s.hold = LK_R(0.999);
    cr_assert_eq((double)ccd_toi(m, CCD_VT, x0, x1, &s), (double)CCD_NONE);
    x1[2] = LK_R(-0.5);
    const double t = (double)ccd_toi(m, CCD_VT, x0, x1, &s);
    cr_assert(t > 1e-4 && moving_pair_distance(CCD_VT, x0, x1, t) >= 0.999 * 0.5, "%s: %g",
              method_name[m], t);
    s.hold = 0;
    cr_assert_eq((double)ccd_toi(m, CCD_VT, x0, x1, &s), 0.0);
  }
}

/* A common displacement of 2^10 sizes, exact in floating point, changes no bit. */
Test(ccd, common_motion_does_not_matter)
{
  for (int64_t k = 0; k < 600; ++k) {
    lk_real x0[12], x1[12], y1[12];
    double d0[12], d1[12];
    const int kind = (int)(k & 1);
    const ccd_settings s = ccd_defaults();
    fill_toi_query(kind, CASE_RANDOM, k, x0, x1, d0, d1);
    for (int i = 0; i < 12; ++i) {
      x1[i] = (lk_real)(floor((double)x1[i] * 4096) / 4096); /* leaves digits for the shift */
      y1[i] = x1[i] + (i % 3 == 1 ? LK_R(1024.0) : LK_R(-512.0));
    }
    for (int m = 0; m < NUM_METHODS; ++m)
      cr_assert_eq(ccd_toi(m, kind, x0, x1, &s), ccd_toi(m, kind, x0, y1, &s));
  }
}

Test(ccd, not_finite_is_an_impact)
{
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 2 * 24 * 3; ++k) {
    lk_real x0[12], x1[12];
    double d0[12], d1[12];
    const int kind = k & 1, at = k / 2 % 24;
    const ccd_settings s = ccd_defaults();
    fill_toi_query(kind, CASE_CLOTH, 1, x0, x1, d0, d1);
    (at < 12 ? x0 : x1)[at % 12] = (lk_real)bad[k / 48];
    for (int m = 0; m < NUM_METHODS; ++m)
      cr_assert_eq((double)ccd_toi(m, kind, x0, x1, &s), 0.0, "value %g at %d, %s", bad[k / 48], at,
                   method_name[m]);
  }
}

/* ---- cubics ---- */
/* c3 (t - a)(t - b)(t - c), also with double and complex roots: the first time in [0,1] at which
 * |f| = delta, found on a fine grid and by bisection, is not passed, and met within 1e-9. */
Test(ccd, first_root_of_cubics)
{
  uint64_t seed = 9;
  enum { GRID = 4000 };
  for (int k = 0; k < 20000; ++k) {
    ccd_cubic C;
    double r[3], c3 = t_uniform(&seed);
    for (int i = 0; i < 3; ++i) r[i] = 0.5 + 0.9 * t_uniform(&seed);
    if (k % 4 == 1) r[1] = r[0];
    if (k % 4 == 2) c3 *= 1e-9;                                    /* nearly a quadratic */
    const double add = k % 4 == 3 ? 0.05 * t_uniform(&seed) : 0.0; /* moves roots off the line */
    C.c[0] = (lk_real)(-c3 * r[0] * r[1] * r[2] + add);
    C.c[1] = (lk_real)(c3 * (r[0] * r[1] + r[1] * r[2] + r[2] * r[0]));
    C.c[2] = (lk_real)(-c3 * (r[0] + r[1] + r[2]));
    C.c[3] = (lk_real)c3;
    C.delta = (lk_real)(1e-4 * fabs(c3));
    const double f0 = (double)ccd_cubic_f(C.c, LK_R(0.0)), s = f0 < 0 ? -1.0 : 1.0;
    double first = 1.0;
    if (s * f0 <= (double)C.delta) continue;
    for (int i = 1; i <= GRID && first == 1.0; ++i) {
      double lo = (i - 1.0) / GRID, hi = (double)i / GRID;
      if (s * (double)ccd_cubic_f(C.c, (lk_real)hi) > (double)C.delta) continue;
      for (int b = 0; b < 60; ++b) {
        const double mid = 0.5 * (lo + hi);
        const int above = s * (double)ccd_cubic_f(C.c, (lk_real)mid) > (double)C.delta;
        lo = above ? mid : lo;
        hi = above ? hi : mid;
      }
      first = hi;
    }
    const double t = (double)ccd_cubic_next(&C, LK_R(0.0));
    const double u = (double)ccd_newton_next(&C, LK_R(0.0), LK_R(1e-6));
    const double slack = sizeof(lk_real) < 8 ? 1e-3 : 1e-9;
    /* the grid can miss a dip below delta between two points: then t is earlier */
    cr_assert(t <= first + slack, "cubic %d: %.17g passes %.17g", k, t, first);
    cr_assert(u <= first + slack, "newton %d: %.17g passes %.17g", k, u, first);
    if (t < first - slack)
      cr_assert(s * (double)ccd_cubic_f(C.c, (lk_real)t) <= 1.01 * (double)C.delta,
                "cubic %d: %.17g is too early, %.17g", k, t, first);
  }
}
