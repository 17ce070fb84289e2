/* ccd_pair.kern.h - one query of continuous collision detection, and separating directions.
 *
 * Four vertices move linearly, x_i(t) = x_i + t v_i, t in [0,1]: a vertex against a triangle
 * (v; a, b, c) or an edge against an edge (a0, a1; b0, b1).  For any direction n
 *   n . (x_i - x_j) >= g |n|   for all vertices i of the first and j of the second primitive
 * proves that their distance is at least g.  With n fixed the left side is linear in t; with n a
 * product of two vectors that move it is a polynomial of degree 3, bounded by its Bernstein
 * coefficients.  All steps of the methods in ccd.kern.h are certified in this way.
 */
#ifndef LOOM_CCD_PAIR_KERN_H
#define LOOM_CCD_PAIR_KERN_H

#include "geom/distance.kern.h"

enum { CCD_VT = 0, CCD_EE = 1 };

/* Positions relative to vertex 0, which therefore rests in the origin: the common motion, in
 * which cloth is fast, cancels before anything is rounded. */
typedef struct ccd_pair {
  int32_t kind;
  lk_real x[12]; /* real [4][3], m, at t = 0 */
  lk_real v[12]; /* real [4][3], m, displacement from t = 0 to 1 */
  lk_real size;  /* m, largest coordinate at both ends */
  lk_real err;   /* m, bound of the rounding of any distance and any separation */
} ccd_pair;

/* Rounding, in units of epsilon times size: differences of the input 2 at both ends, positions
 * at t 4, distance 16 (DIST_ROUNDING of a largest difference of 2 size), separation 16. */
#define CCD_ROUNDING (LK_R(64.0) * LK_EPSILON)

LK_FN void ccd_open(int kind, const lk_real *x0, const lk_real *x1, ccd_pair *P)
{
  lk_real size = LK_R(0.0), sum = LK_R(0.0);
  P->kind = kind;
  LK_UNROLL
  for (int i = 0; i < 12; ++i) {
    const lk_real a = x0[i] - x0[i % 3], b = x1[i] - x1[i % 3];
    P->x[i] = a;
    P->v[i] = b - a;
    size = LK_FABS(a) > size ? LK_FABS(a) : size;
    size = LK_FABS(b) > size ? LK_FABS(b) : size;
    sum += a + b;
  }
  P->size = size;
  P->err = CCD_ROUNDING * size + LK_R(0.0) * sum; /* NaN if any input is not finite */
}

LK_FN void ccd_at(const ccd_pair *P, lk_real t, lk_real *x)
{
  LK_UNROLL
  for (int i = 0; i < 12; ++i) x[i] = P->x[i] + t * P->v[i];
}

LK_FN lk_real ccd_distance2(int kind, const lk_real *x, lk_real *w)
{
  return kind == CCD_VT ? dist_vt(x, w) : dist_ee(x, w);
}

/* r = sum_i W_i x_i; x[0] is the origin */
LK_FN void ccd_closest_vector(const lk_real *x, const lk_real *w, lk_real *r)
{
  LK_UNROLL
  for (int c = 0; c < 3; ++c) r[c] = w[1] * x[3 + c] + w[2] * x[6 + c] + w[3] * x[9 + c];
}

/* The largest s so that along the fixed direction n, of length len, the separation stays at
 * least g on [t, t + s]; x: positions at t.  Not above 0: n does not separate that far at t. */
LK_FN lk_real ccd_fixed_step(const ccd_pair *P, const lk_real *x, const lk_real *n, lk_real len,
                             lk_real g)
{
  const lk_real inv = LK_R(1.0) / len;
  lk_real y[4], u[4], best = LK_REAL_MAX;
  LK_UNROLL
  for (int i = 0; i < 4; ++i) {
    y[i] = lk_dot3(n, x + 3 * i) * inv;
    u[i] = lk_dot3(n, P->v + 3 * i) * inv;
  }
  const int first = P->kind == CCD_VT ? 1 : 2;
  LK_UNROLL
  for (int i = 0; i < 2; ++i) {
    LK_UNROLL
    for (int j = 1; j < 4; ++j) {
      if (i >= first || j < first) continue;
      const lk_real excess = y[i] - y[j] - g, rate = u[j] - u[i];
      /* an excess within rounding does not decide about the direction */
      const lk_real s = rate > LK_R(0.0)     ? excess / rate
                        : excess > LK_R(0.0) ? LK_REAL_MAX
                                             : excess;
      best = s < best ? s : best;
    }
  }
  return best;
}

/* ---- directions that follow a feature ---- */
/* A direction n(t) = a(t) x b(t) from the vectors a between the vertices a[0] -> a[1] and b,
 * either between b[0] -> b[1] or fixed. */
typedef struct ccd_direction {
  int32_t a[2], b[2];
  int32_t fixed_b; /* 1: fix[] instead of b */
  lk_real fix[3];
  lk_real sign;
} ccd_direction;

enum { CCD_NUM_DIRECTIONS = 5 };

/* The vertices of edge e of the pair: VT: the sides of the triangle; EE: the two edges. */
LK_FN void ccd_edge(int kind, int e, int32_t *first, int32_t *second)
{
  *first = kind == CCD_VT ? 1 + e : 2 * e;
  *second = kind == CCD_VT ? 1 + (e + 1) % 3 : 2 * e + 1;
}

LK_FN void ccd_between(const lk_real *x, const int32_t *pair, lk_real *out)
{
  lk_sub3(x + 3 * pair[1], x + 3 * pair[0], out);
}

/* Direction number k for positions x with the weights w of their closest points.
 *   0       the normal of the triangle or the common perpendicular of both edges
 *   1 ...   perpendicular to one edge, in the plane of that edge and the closest point of the
 *           other primitive: (e x p) x e, which is perpendicular to e to rounding however
 *           close p comes, unlike the difference of the closest points
 * Returns 0 where direction k does not exist. */
LK_FN int ccd_follow(int kind, int k, const lk_real *x, const lk_real *w, ccd_direction *D)
{
  lk_real a[3], b[3], n[3], r[3];
  ccd_closest_vector(x, w, r);
  if (k > (kind == CCD_VT ? 3 : 4)) return 0;
  if (k == 0) {
    D->a[0] = kind == CCD_VT ? 1 : 0;
    D->a[1] = kind == CCD_VT ? 2 : 1;
    D->b[0] = kind == CCD_VT ? 1 : 2;
    D->b[1] = 3;
    D->fixed_b = 0;
    ccd_between(x, D->a, a);
    ccd_between(x, D->b, b);
    lk_cross3(a, b, n);
    lk_sub3(x, x + 3 * D->b[0], r); /* v - a or a0 - b0: exact where the normal is */
    D->sign = lk_dot3(n, r) < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
    return 1;
  }
  /* EE: edge 0 with the nearer end of edge 1, edge 1 with the nearer end of edge 0, then both
   * with the farther end */
  const int e = kind == CCD_VT ? k - 1 : (k - 1) % 2;
  int point = 0;
  if (kind == CCD_EE) {
    const int late = e == 0 ? w[3] < LK_R(-0.5) : w[1] > LK_R(0.5);
    point = (e == 0 ? 2 : 0) + (k > 2 ? !late : late);
  }
  ccd_edge(kind, e, &D->a[0], &D->a[1]);
  ccd_between(x, D->a, a);
  lk_sub3(x + 3 * point, x + 3 * D->a[0], b);
  lk_cross3(b, a, D->fix); /* n = a x (b x a), towards the point */
  D->b[0] = D->b[1] = 0;
  D->fixed_b = 1;
  D->sign = kind == CCD_EE && e == 0 ? LK_R(-1.0) : LK_R(1.0); /* from second to first */
  return 1;
}

LK_FN lk_real ccd_max_norm(const lk_real *a, const lk_real *b)
{
  const lk_real p = lk_dot3(a, a), q = lk_dot3(b, b);
  return LK_SQRT(p > q ? p : q);
}

/* 1 if along the direction D the separation is at least g all the way from positions x to y
 * (linear in between).  Bernstein form: n has the control vectors n0, n1, n2, its length at
 * most the quadratic with coefficients |n0|, |n1|, |n2|, raised to degree 3. */
LK_FN int ccd_separated(const ccd_pair *P, const ccd_direction *D, const lk_real *x,
                        const lk_real *y, lk_real g)
{
  lk_real a0[3], a1[3], b0[3], b1[3], n0[3], n1[3], n2[3], h[3], p[3], q[3];
  ccd_between(x, D->a, a0);
  ccd_between(y, D->a, a1);
  if (D->fixed_b) {
    for (int c = 0; c < 3; ++c) b0[c] = b1[c] = D->fix[c];
  } else {
    ccd_between(x, D->b, b0);
    ccd_between(y, D->b, b1);
  }
  lk_cross3(a0, b0, n0);
  lk_cross3(a1, b1, n2);
  lk_cross3(a0, b1, n1);
  lk_cross3(a1, b0, h);
  for (int c = 0; c < 3; ++c) {
    n0[c] *= D->sign;
    n1[c] = LK_R(0.5) * D->sign * (n1[c] + h[c]);
    n2[c] *= D->sign;
  }
  const lk_real l0 = lk_norm3(n0), l1 = lk_norm3(n1), l2 = lk_norm3(n2);
  /* rounding of the products: 3 factors of at most 2 sqrt(3) size and 6 roundings each */
  const lk_real err = LK_R(2.0) * P->err * ccd_max_norm(a0, a1) * ccd_max_norm(b0, b1);
  const lk_real m0 = g * l0 + err, m1 = g * (l0 + LK_R(2.0) * l1) / LK_R(3.0) + err;
  const lk_real m2 = g * (l2 + LK_R(2.0) * l1) / LK_R(3.0) + err, m3 = g * l2 + err;
  const int first = P->kind == CCD_VT ? 1 : 2;
  int fine = 1;
  for (int i = 0; i < first; ++i)
    for (int j = first; j < 4; ++j) {
      lk_sub3(x + 3 * i, x + 3 * j, p);
      lk_sub3(y + 3 * i, y + 3 * j, q);
      const lk_real s1 = (lk_dot3(q, n0) + LK_R(2.0) * lk_dot3(p, n1)) / LK_R(3.0);
      const lk_real s2 = (lk_dot3(p, n2) + LK_R(2.0) * lk_dot3(q, n1)) / LK_R(3.0);
      fine = fine && lk_dot3(p, n0) > m0 && s1 > m1 && s2 > m2 && lk_dot3(q, n2) > m3;
    }
  return fine;
}

/* Direction D frozen at positions x. */
LK_FN void ccd_frozen(const ccd_direction *D, const lk_real *x, lk_real *n)
{
  lk_real a[3], b[3];
  ccd_between(x, D->a, a);
  ccd_between(x, D->b, b);
  lk_cross3(a, D->fixed_b ? D->fix : b, n);
  for (int c = 0; c < 3; ++c) n[c] *= D->sign;
}

#endif
