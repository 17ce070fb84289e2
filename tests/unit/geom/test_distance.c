/* test_distance.c - closest points of vertex-triangle and edge-edge pairs against the exact
 * minimum in rational arithmetic, and against every other admissible choice of weights. */
#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geom/distance.kern.h"
#include "support/bufs.h"

enum { NUM = 12000, VT = 0, EE = 1 };

/* ---- exact minimum ---- */
typedef struct rational3 {
  mpq_t c[3];
} rational3;

static void init_rational3(rational3 *a)
{
  for (int k = 0; k < 3; ++k) mpq_init(a->c[k]);
}
static void clear_rational3(rational3 *a)
{
  for (int k = 0; k < 3; ++k) mpq_clear(a->c[k]);
}
static void dot_rational3(mpq_t out, rational3 *a, rational3 *b)
{
  mpq_t t, s;
  mpq_inits(t, s, NULL);
  for (int k = 0; k < 3; ++k) {
    mpq_mul(t, a->c[k], b->c[k]);
    mpq_add(s, s, t);
  }
  mpq_set(out, s);
  mpq_clears(t, s, NULL);
}
static void subtract_points(rational3 *out, const lk_real *a, const lk_real *b)
{
  mpq_t t;
  mpq_init(t);
  for (int k = 0; k < 3; ++k) {
    mpq_set_d(out->c[k], (double)a[k]);
    mpq_set_d(t, (double)b[k]);
    mpq_sub(out->c[k], out->c[k], t);
  }
  mpq_clear(t);
}
/* p -= s e */
static void subtract_rational_multiple(rational3 *p, const mpq_t s, rational3 *e)
{
  mpq_t t;
  mpq_init(t);
  for (int k = 0; k < 3; ++k) {
    mpq_mul(t, s, e->c[k]);
    mpq_sub(p->c[k], p->c[k], t);
  }
  mpq_clear(t);
}
static void update_least_norm2(mpq_t best, rational3 *r)
{
  mpq_t d;
  mpq_init(d);
  dot_rational3(d, r, r);
  if (mpq_sgn(best) < 0 || mpq_cmp(d, best) < 0) mpq_set(best, d);
  mpq_clear(d);
}

/* squared distance of point p and edge a b */
static void exact_edge(mpq_t best, const lk_real *p, const lk_real *a, const lk_real *b)
{
  rational3 r, e;
  mpq_t l, t, one;
  init_rational3(&r), init_rational3(&e);
  mpq_inits(l, t, one, NULL);
  mpq_set_ui(one, 1, 1);
  subtract_points(&r, p, a);
  subtract_points(&e, b, a);
  dot_rational3(l, &e, &e);
  dot_rational3(t, &r, &e);
  if (mpq_sgn(l) > 0) mpq_div(t, t, l);
  if (mpq_sgn(t) < 0) mpq_set_ui(t, 0, 1);
  if (mpq_cmp(t, one) > 0) mpq_set(t, one);
  subtract_rational_multiple(&r, t, &e);
  update_least_norm2(best, &r);
  mpq_clears(l, t, one, NULL);
  clear_rational3(&r), clear_rational3(&e);
}

/* squared distance of p and the point m e + n f of their plane, if m and n are admissible */
static void exact_plane(mpq_t best, int kind, rational3 *p, rational3 *e, rational3 *f)
{
  mpq_t ee, ef, ff, pe, pf, det, m, n, t, one;
  mpq_inits(ee, ef, ff, pe, pf, det, m, n, t, one, NULL);
  mpq_set_ui(one, 1, 1);
  dot_rational3(ee, e, e), dot_rational3(ef, e, f), dot_rational3(ff, f, f),
      dot_rational3(pe, p, e), dot_rational3(pf, p, f);
  mpq_mul(det, ee, ff);
  mpq_mul(t, ef, ef);
  mpq_sub(det, det, t);
  if (mpq_sgn(det) > 0) {
    mpq_mul(m, pe, ff), mpq_mul(t, pf, ef), mpq_sub(m, m, t), mpq_div(m, m, det);
    mpq_mul(n, pf, ee), mpq_mul(t, pe, ef), mpq_sub(n, n, t), mpq_div(n, n, det);
    if (kind == VT)
      mpq_add(t, m, n);
    else
      mpq_set(t, mpq_cmp(m, n) > 0 ? m : n);
    if (mpq_sgn(m) >= 0 && mpq_sgn(n) >= 0 && mpq_cmp(t, one) <= 0) {
      subtract_rational_multiple(p, m, e);
      subtract_rational_multiple(p, n, f);
      update_least_norm2(best, p);
    }
  }
  mpq_clears(ee, ef, ff, pe, pf, det, m, n, t, one, NULL);
}

static double compute_exact_distance(int kind, const lk_real *x)
{
  rational3 p, e, f;
  mpq_t best;
  init_rational3(&p), init_rational3(&e), init_rational3(&f);
  mpq_init(best);
  mpq_set_si(best, -1, 1);
  if (kind == VT) {
    for (int i = 0; i < 3; ++i) exact_edge(best, x, x + 3 + 3 * i, x + 3 + 3 * ((i + 1) % 3));
    subtract_points(&p, x, x + 3);
    subtract_points(&e, x + 6, x + 3);
    subtract_points(&f, x + 9, x + 3);
  } else {
    for (int i = 0; i < 2; ++i) {
      exact_edge(best, x + 3 * i, x + 6, x + 9);
      exact_edge(best, x + 6 + 3 * i, x, x + 3);
    }
    subtract_points(&p, x, x + 6);
    subtract_points(&e, x, x + 3); /* p ~ s (a0 - a1) + t (b1 - b0) */
    subtract_points(&f, x + 9, x + 6);
  }
  exact_plane(best, kind, &p, &e, &f);
  /* the square root outside the rationals: scaled by 2^600, so that no product underflows */
  mpq_mul_2exp(best, best, 600);
  const double d = sqrt(mpq_get_d(best)) * 0x1p-300;
  mpq_clear(best);
  clear_rational3(&p), clear_rational3(&e), clear_rational3(&f);
  return d;
}

/* ---- cases ---- */
/* Random pairs, and ones that are degenerate exactly or nearly. */
static void make_case(int kind, unsigned k, uint64_t *seed, lk_real *x)
{
  static const double thin[] = {1e-1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18, 0};
  const double small = thin[k / 8 % 8], shift = k % 16 < 8 ? 0.0 : 1e3;
  for (int i = 0; i < 12; ++i) x[i] = (lk_real)t_uniform(seed);
  const double s = t_uniform(seed), t = t_uniform(seed), u = t_uniform(seed), l = 1.0 - s - t;
  for (int c = 0; c < 3; ++c) {
    lk_real *a = x + c, *b = x + 3 + c, *p = x + 6 + c, *q = x + 9 + c;
    switch (k % 8) {
    case 1: /* parallel edges; a triangle with nearly parallel sides */
      *q = *p + (lk_real)(u * (double)(*b - *a) + small * t_uniform(seed));
      if (kind == VT) *q = *b + (lk_real)(u * (double)(*p - *b) + small * t_uniform(seed));
      break;
    case 2: /* an edge or a triangle side shrunk to a point */
      *q = *p + (lk_real)(small * t_uniform(seed));
      break;
    case 3: /* contact: in the plane of the other, inside or outside */
      if (kind == VT)
        *a = (lk_real)(s * (double)*b + t * (double)*p + l * (double)*q + small * t_uniform(seed));
      else
        *q = *p + (lk_real)(3.0 * ((double)*a + s * (double)(*b - *a) - (double)*p) +
                            small * t_uniform(seed));
      break;
    case 4: /* all four in one line */
      *p = *a + (lk_real)(s * (double)(*b - *a) + small * t_uniform(seed));
      *q = *a + (lk_real)(t * (double)(*b - *a) + small * t_uniform(seed));
      break;
    case 5: /* everything small */
      *a *= (lk_real)small, *b *= (lk_real)small, *p *= (lk_real)small, *q *= (lk_real)small;
      break;
    case 6: /* one of the two much larger */
      *p *= LK_R(1e6), *q *= LK_R(1e6);
      break;
    case 7: /* two vertices coincide */
      *(kind == VT ? b : p) = *a;
      break;
    default:
      break;
    }
  }
  for (int i = 0; i < 12; ++i) x[i] += (lk_real)shift;
}

static double pair_extent(const lk_real *x)
{
  double size = 0.0;
  for (int i = 0; i < 12; ++i)
    for (int j = i + 3; j < 12; j += 3) size = fmax(size, fabs((double)x[i] - (double)x[j]));
  return size;
}

static void weighted_sum(const lk_real *w, const lk_real *x, long double *r)
{
  for (int c = 0; c < 3; ++c) /* differences first: the weights of each side sum to 1 */
    r[c] = (long double)w[0] * ((long double)x[c] - x[9 + c]) +
           (long double)w[1] * ((long double)x[3 + c] - x[9 + c]) +
           (long double)w[2] * ((long double)x[6 + c] - x[9 + c]);
}

static void check_weights(int kind, unsigned k, const lk_real *w)
{
  for (int i = 0; i < 4; ++i) {
    const int positive = i == 0 || (kind == EE && i == 1);
    cr_assert(positive ? w[i] >= 0 && w[i] <= 1 : w[i] <= 0 && w[i] >= -1, "case %u: w[%d] = %.17g",
              k, i, (double)w[i]);
  }
  if (kind == VT)
    cr_assert(w[0] == 1 && fabs((double)(w[1] + w[2] + w[3]) + 1.0) <= 4 * LK_EPSILON);
  if (kind == EE)
    cr_assert(fabs((double)(w[0] + w[1]) - 1.0) <= LK_EPSILON &&
              fabs((double)(w[2] + w[3]) + 1.0) <= LK_EPSILON);
}

static double check_exact(int kind)
{
  uint64_t seed = 11;
  double worst = 0.0;
  for (unsigned k = 0; k < NUM; ++k) {
    lk_real x[12], w[4];
    long double r[3];
    make_case(kind, k, &seed, x);
    const double d = sqrt((double)(kind == VT ? dist_vt(x, w) : dist_ee(x, w)));
    check_weights(kind, k, w);
    const double exact = compute_exact_distance(kind, x), size = pair_extent(x);
    if (size < 1e-18) continue; /* squares underflow: both are 0 or tiny */
    worst = fmax(worst, fabs(d - exact) / size);
    cr_assert(fabs(d - exact) <= (double)DIST_ROUNDING * size, "%s case %u: %.17g, exact %.17g",
              kind == VT ? "vt" : "ee", k, d, exact);
    weighted_sum(w, x, r);
    const double from_weights = (double)sqrtl(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    cr_assert(fabs(from_weights - exact) <= (double)DIST_ROUNDING * size,
              "%s case %u: weights give %.17g, exact %.17g", kind == VT ? "vt" : "ee", k,
              from_weights, exact);
  }
  return worst;
}

Test(distance, vertex_triangle_is_exact)
{
  printf("worst error of vt: %g of the size\n", check_exact(VT));
}
Test(distance, edge_edge_is_exact)
{
  printf("worst error of ee: %g of the size\n", check_exact(EE));
}

/* No other admissible point is closer: optimality without any formula. */
Test(distance, no_sample_is_closer)
{
  enum { GRID = 12 };
  uint64_t seed = 5;
  for (unsigned k = 0; k < 800; ++k) {
    const int kind = (int)(k & 1);
    lk_real x[12], w[4], other[4];
    long double r[3];
    make_case(kind, k / 2, &seed, x);
    const double d = (double)(kind == VT ? dist_vt(x, w) : dist_ee(x, w));
    const double slack = (double)DIST_ROUNDING * pair_extent(x);
    for (int i = 0; i <= GRID; ++i)
      for (int j = 0; j <= (kind == VT ? GRID - i : GRID); ++j) {
        const double s = (double)i / GRID, t = (double)j / GRID;
        other[0] = (lk_real)(kind == VT ? 1.0 : 1.0 - s);
        other[1] = (lk_real)(kind == VT ? s + t - 1.0 : s);
        other[2] = (lk_real)(kind == VT ? -s : t - 1.0);
        other[3] = (lk_real)-t;
        weighted_sum(other, x, r);
        const double e = (double)sqrtl(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        cr_assert(sqrt(d) <= e + slack, "kind %d case %u: %g, sample %g", kind, k, sqrt(d), e);
      }
  }
}

/* d(D)/dx_i = 2 W_i r, also where the closest point lies on an edge or a corner. */
Test(distance, weights_are_the_gradient)
{
  const double h = sizeof(lk_real) < 8 ? 1e-3 : 1e-6, bound = sizeof(lk_real) < 8 ? 1e-2 : 1e-7;
  uint64_t seed = 3;
  int checked = 0;
  for (unsigned k = 0; k < 400; ++k) {
    const int kind = (int)(k & 1);
    lk_real x[12], y[12], w[4], v[4];
    long double r[3];
    make_case(kind, 0, &seed, x);
    (void)(kind == VT ? dist_vt(x, w) : dist_ee(x, w));
    weighted_sum(w, x, r);
    for (int i = 0; i < 12; ++i) {
      memcpy(y, x, sizeof y);
      y[i] = (lk_real)((double)x[i] + h);
      const double up = (double)(kind == VT ? dist_vt(y, v) : dist_ee(y, v));
      int same = 1; /* the weights are continuous, but only piecewise smooth */
      for (int j = 0; j < 4; ++j) same = same && ((v[j] == 0) == (w[j] == 0));
      y[i] = (lk_real)((double)x[i] - h);
      const double down = (double)(kind == VT ? dist_vt(y, v) : dist_ee(y, v));
      for (int j = 0; j < 4; ++j) same = same && ((v[j] == 0) == (w[j] == 0));
      if (!same) continue;
      const double slope = 2.0 * (double)w[i / 3] * (double)r[i % 3];
      cr_assert(fabs((up - down) / (2.0 * h) - slope) <= bound, "kind %d case %u: %g, %g", kind, k,
                (up - down) / (2.0 * h), slope);
      ++checked;
    }
  }
  cr_assert(checked > 4000, "%d", checked);
}
