/* distance.kern.h - distance of a vertex and a triangle and of two edges, with the weights of the
 * closest points.
 *
 * r = sum_i W_i x_i is the vector between the closest points of the four vertices x [4][3], with
 *   vertex-triangle (v; a, b, c)        W = {1, -wa, -wb, -wc},   wa + wb + wc = 1, all >= 0
 *   edge-edge       (a0, a1; b0, b1)    W = {1-s, s, -(1-t), -t},    0 <= s, t <= 1
 * The gradient of the squared distance is 2 W_i r.
 *
 * Every candidate (inside, and each piece of the boundary) has admissible weights, so each of
 * its distances bounds the true one from above, and the smallest is taken.  That stays correct
 * for triangles and edges collapsed to lines and points and for parallel edges: there the inside
 * is wrong by a shift within its own plane, which changes the distance in second order, or is
 * refused.  Only differences of positions enter: with L the largest of them, the distance is
 * right within DIST_ROUNDING L (tests/unit/geom/test_distance.c, against rational arithmetic).
 * No branches: the functions vectorise inside LK_KERNEL.
 */
#ifndef LOOM_DISTANCE_KERN_H
#define LOOM_DISTANCE_KERN_H

#include "geom/small.kern.h"
#include "loom/kernel.h"

#define DIST_ROUNDING (LK_R(8.0) * LK_EPSILON)

/* Into [0, 1]; NaN, from an edge of length 0, becomes 0. */
LK_FN lk_real dist_clamp(lk_real t)
{
  const lk_real low = t > LK_R(0.0) ? t : LK_R(0.0);
  return low < LK_R(1.0) ? low : LK_R(1.0);
}

LK_FN lk_real dist_inverse(lk_real q) { return q > LK_R(0.0) ? LK_R(1.0) / q : LK_R(0.0); }

/* r = p - s e and its squared length */
LK_FN lk_real dist_minus(const lk_real *p, lk_real s, const lk_real *e, lk_real *r)
{
  r[0] = p[0] - s * e[0];
  r[1] = p[1] - s * e[1];
  r[2] = p[2] - s * e[2];
  return lk_dot3(r, r);
}

/* Coordinates of the point of the plane spanned by e and f that is closest to p, p ~ m e + n f,
 * by the parts g of f and o of p perpendicular to e: unlike the 2x2 determinant this loses no
 * digits to nearly parallel vectors (both parts have rounding along e, which only meets in the
 * product).  0 if f is parallel to e within rounding. */
LK_FN int dist_plane(const lk_real *p, const lk_real *e, const lk_real *f, lk_real inv_ee,
                     lk_real *m, lk_real *n)
{
  lk_real g[3], o[3];
  const lk_real k = lk_dot3(e, f) * inv_ee, l = lk_dot3(e, p) * inv_ee;
  const lk_real gg = dist_minus(f, k, e, g), noise = LK_R(4.0) * LK_EPSILON;
  (void)dist_minus(p, l, e, o);
  *n = lk_dot3(o, g) * dist_inverse(gg);
  *m = l - *n * k;
  return gg > noise * noise * lk_dot3(f, f);
}

/* Squared distance, m^2, of vertex x[0] and triangle x[1] x[2] x[3]; x real [4][3], m. */
LK_FN lk_real dist_vt(const lk_real *x, lk_real *w)
{
  lk_real p[3], q[3], e[3], f[3], h[3], r[3], best, m, n, t, d;
  lk_sub3(x, x + 3, p);
  lk_sub3(x, x + 6, q);
  lk_sub3(x + 6, x + 3, e);
  lk_sub3(x + 9, x + 3, f);
  lk_sub3(x + 9, x + 6, h);
  const lk_real inv_ee = dist_inverse(lk_dot3(e, e));
  const int plane = dist_plane(p, e, f, inv_ee, &m, &n);
  const int inside = plane & (m >= LK_R(0.0)) & (n >= LK_R(0.0)) & (m + n <= LK_R(1.0));
  (void)dist_minus(p, m, e, r);
  d = dist_minus(r, n, f, r);
  best = inside ? d : LK_REAL_MAX;
  lk_real wb = m, wc = n, wa = LK_R(1.0) - m - n;
  int closer;

  t = dist_clamp(lk_dot3(p, e) * inv_ee); /* edge ab */
  d = dist_minus(p, t, e, r);
  closer = d < best;
  best = closer ? d : best;
  wa = closer ? LK_R(1.0) - t : wa;
  wb = closer ? t : wb;
  wc = closer ? LK_R(0.0) : wc;

  t = dist_clamp(lk_dot3(p, f) * dist_inverse(lk_dot3(f, f))); /* edge ac */
  d = dist_minus(p, t, f, r);
  closer = d < best;
  best = closer ? d : best;
  wa = closer ? LK_R(1.0) - t : wa;
  wb = closer ? LK_R(0.0) : wb;
  wc = closer ? t : wc;

  t = dist_clamp(lk_dot3(q, h) * dist_inverse(lk_dot3(h, h))); /* edge bc */
  d = dist_minus(q, t, h, r);
  closer = d < best;
  best = closer ? d : best;
  wa = closer ? LK_R(0.0) : wa;
  wb = closer ? LK_R(1.0) - t : wb;
  wc = closer ? t : wc;

  w[0] = LK_R(1.0);
  w[1] = -wa;
  w[2] = -wb;
  w[3] = -wc;
  return best;
}

/* Squared distance, m^2, of the edges x[0] x[1] and x[2] x[3]; x real [4][3], m. */
LK_FN lk_real dist_ee(const lk_real *x, lk_real *w)
{
  lk_real p[3], q[3], z[3], u[3], v[3], r[3], best, m, n, d;
  lk_sub3(x, x + 6, p);     /* a0 - b0 */
  lk_sub3(x + 3, x + 6, q); /* a1 - b0 */
  lk_sub3(x, x + 9, z);     /* a0 - b1 */
  lk_sub3(x + 3, x, u);
  lk_sub3(x + 9, x + 6, v);
  const lk_real inv_uu = dist_inverse(lk_dot3(u, u)), inv_vv = dist_inverse(lk_dot3(v, v));
  const int plane = dist_plane(p, u, v, inv_uu, &m, &n); /* p ~ m u + n v: s = -m, t = n */
  const int inside =
      plane & (m <= LK_R(0.0)) & (m >= LK_R(-1.0)) & (n >= LK_R(0.0)) & (n <= LK_R(1.0));
  (void)dist_minus(p, m, u, r);
  d = dist_minus(r, n, v, r);
  best = inside ? d : LK_REAL_MAX;
  lk_real s = -m, t = n, c;
  int closer;

  c = dist_clamp(lk_dot3(p, v) * inv_vv); /* a0 */
  d = dist_minus(p, c, v, r);
  closer = d < best;
  best = closer ? d : best;
  s = closer ? LK_R(0.0) : s;
  t = closer ? c : t;

  c = dist_clamp(lk_dot3(q, v) * inv_vv); /* a1 */
  d = dist_minus(q, c, v, r);
  closer = d < best;
  best = closer ? d : best;
  s = closer ? LK_R(1.0) : s;
  t = closer ? c : t;

  c = dist_clamp(-lk_dot3(p, u) * inv_uu); /* b0 */
  d = dist_minus(p, -c, u, r);
  closer = d < best;
  best = closer ? d : best;
  s = closer ? c : s;
  t = closer ? LK_R(0.0) : t;

  c = dist_clamp(-lk_dot3(z, u) * inv_uu); /* b1 */
  d = dist_minus(z, -c, u, r);
  closer = d < best;
  best = closer ? d : best;
  s = closer ? c : s;
  t = closer ? LK_R(1.0) : t;

  w[0] = LK_R(1.0) - s;
  w[1] = s;
  w[2] = t - LK_R(1.0);
  w[3] = -t;
  return best;
}

#endif
