/* orientation.c - orientation signs: a floating-point filter in front of integer arithmetic.
 *
 * The error bounds come from J. R. Shewchuk, "Adaptive precision floating-point
 * arithmetic and fast robust geometric predicates", Discrete & Computational Geometry 18
 * (1997), 305-363, sections 4.3 and 4.4 (bound A of ORIENT2D and ORIENT3D).  They leave
 * out underflow and overflow, so the filter only answers inside a range of magnitudes in
 * which neither can change the outcome.  Fused multiply-adds only lower the error.
 */
#include "audit/orientation.h"

#include <float.h>
#include <gmp.h>
#include <limits.h>
#include <math.h>

static const double half_ulp = 0.5 * DBL_EPSILON; /* epsilon of the paper, 2^-53 */
/* Up to large_number no product of three differences overflows.  An underflowing product is off
 * by less than 2^-1074; multiplied by large_number and summed this stays far below tiny_number. */
static const double large_number = 1e100;
static const double tiny_number = 1e-200;

/* Sign of value if |value| exceeds its error bound. */
static int filtered_sign(double value, double bound)
{
  if (value > bound) return 1;
  if (value < -bound) return -1;
  return EXACT_UNSURE;
}

/* ---- exact stage ---- */

/* Binary exponent e for which every x is an integer multiple of 2^e: the lowest mantissa bit. */
static int lowest_exponent(const double *x, int n)
{
  int low = INT_MAX;
  for (int i = 0; i < n; ++i) {
    int e;
    if (x[i] == 0.0) continue;
    (void)frexp(x[i], &e);
    if (e - DBL_MANT_DIG < low) low = e - DBL_MANT_DIG;
  }
  return low;
}

/* z = x / 2^low, an integer */
static void set_scaled(mpz_t z, double x, int low)
{
  int e;
  const double mantissa = frexp(x, &e);
  mpz_set_d(z, ldexp(mantissa, DBL_MANT_DIG));
  if (x != 0.0) mpz_mul_2exp(z, z, (mp_bitcnt_t)(e - DBL_MANT_DIG - low));
}

/* d[i] = p[i] - q[i] exactly, in a unit common to all */
static void exact_differences(mpz_t *d, const double *p, const double *q, int n)
{
  const int low_p = lowest_exponent(p, n), low_q = lowest_exponent(q, n);
  const int low = low_p < low_q ? low_p : low_q;
  mpz_t t;
  mpz_init(t);
  for (int i = 0; i < n; ++i) {
    mpz_init(d[i]);
    set_scaled(d[i], p[i], low);
    set_scaled(t, q[i], low);
    mpz_sub(d[i], d[i], t);
  }
  mpz_clear(t);
}

static int exact_sign3(const double p[9], const double q[9])
{
  mpz_t d[9], minor, det;
  exact_differences(d, p, q, 9);
  mpz_inits(minor, det, NULL);
  for (int k = 0; k < 3; ++k) { /* expansion along the first row */
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    mpz_mul(minor, d[3 + u], d[6 + v]);
    mpz_submul(minor, d[3 + v], d[6 + u]);
    mpz_addmul(det, d[k], minor);
  }
  const int s = mpz_sgn(det);
  for (int i = 0; i < 9; ++i) mpz_clear(d[i]);
  mpz_clears(minor, det, NULL);
  return s;
}

static int exact_sign2(const double p[4], const double q[4])
{
  mpz_t d[4], det;
  exact_differences(d, p, q, 4);
  mpz_init(det);
  mpz_mul(det, d[0], d[3]);
  mpz_submul(det, d[1], d[2]);
  const int s = mpz_sgn(det);
  for (int i = 0; i < 4; ++i) mpz_clear(d[i]);
  mpz_clear(det);
  return s;
}

/* ---- the two predicates ---- */

int orientation_filter3(const double a[3], const double b[3], const double c[3], const double d[3])
{
  double r[3][3], largest = 0.0;
  for (int k = 0; k < 3; ++k) {
    r[0][k] = b[k] - a[k];
    r[1][k] = c[k] - a[k];
    r[2][k] = d[k] - a[k];
  }
  for (int k = 0; k < 3; ++k) {
    /* a difference is 0 exactly when its terms are equal: a flat sheet on a coordinate
     * plane needs no exact stage */
    if (r[0][k] == 0.0 && r[1][k] == 0.0 && r[2][k] == 0.0) return 0;
    for (int i = 0; i < 3; ++i) /* no fmax: a call costs as much as the rest */
      if (fabs(r[i][k]) > largest) largest = fabs(r[i][k]);
  }
  if (!(largest <= large_number)) return EXACT_UNSURE;
  double det = 0.0, size = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double *const m = r[(i + 1) % 3], *const n = r[(i + 2) % 3];
    const double s = m[0] * n[1], t = m[1] * n[0];
    det += r[i][2] * (s - t);
    size += fabs(r[i][2]) * (fabs(s) + fabs(t));
  }
  return filtered_sign(det, (7.0 + 56.0 * half_ulp) * half_ulp * size + tiny_number);
}

int orientation_sign3(const double a[3], const double b[3], const double c[3], const double d[3])
{
  const int s = orientation_filter3(a, b, c, d);
  if (s != EXACT_UNSURE) return s;
  const double p[9] = {b[0], b[1], b[2], c[0], c[1], c[2], d[0], d[1], d[2]};
  const double q[9] = {a[0], a[1], a[2], a[0], a[1], a[2], a[0], a[1], a[2]};
  return exact_sign3(p, q);
}

int orientation_filter2(const double a[3], const double b[3], const double c[3], int u, int v)
{
  const double bu = b[u] - a[u], bv = b[v] - a[v], cu = c[u] - a[u], cv = c[v] - a[v];
  if ((bu == 0.0 && cu == 0.0) || (bv == 0.0 && cv == 0.0)) return 0;
  if (!(fabs(bu) <= large_number && fabs(bv) <= large_number && fabs(cu) <= large_number &&
        fabs(cv) <= large_number))
    return EXACT_UNSURE;
  const double s = bu * cv, t = bv * cu;
  return filtered_sign(s - t,
                       (3.0 + 16.0 * half_ulp) * half_ulp * (fabs(s) + fabs(t)) + tiny_number);
}

int orientation_sign2(const double a[3], const double b[3], const double c[3], int u, int v)
{
  const int s = orientation_filter2(a, b, c, u, v);
  if (s != EXACT_UNSURE) return s;
  const double p[4] = {b[u], b[v], c[u], c[v]};
  const double q[4] = {a[u], a[v], a[u], a[v]};
  return exact_sign2(p, q);
}
