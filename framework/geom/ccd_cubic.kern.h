/* ccd_cubic.kern.h - steps up to the roots of the coplanarity cubic.
 *
 * f(t) = p . (q x r) with p, q, r linear in t: vertex-triangle p = v - a, q = b - a, r = c - a;
 * edge-edge p = a0 - b0, q = a1 - a0, r = b1 - b0.  |f| is the distance of the vertex from the
 * plane, or of the two parallel planes through the edges, times |n| = |q x r|: while
 * |f| > delta = g max|n| + rounding, the distance is above g.  The steps end where |f| = delta.
 */
#ifndef LOOM_CCD_CUBIC_KERN_H
#define LOOM_CCD_CUBIC_KERN_H

#include "geom/ccd_pair.kern.h"

typedef struct ccd_cubic {
  lk_real c[4];  /* f = c0 + c1 t + c2 t^2 + c3 t^3, m^3 */
  lk_real delta; /* m^3 */
} ccd_cubic;

enum { CCD_NEWTON_STEPS = 24, CCD_BRACKET_STEPS = 24 };

/* g, m: the distance to be certified */
LK_FN void ccd_cubic_open(const ccd_pair *P, lk_real g, ccd_cubic *C)
{
  const int vt = P->kind == CCD_VT;
  const lk_real *const x = P->x, *const v = P->v;
  lk_real p[3], q[3], r[3], u[3], w[3], z[3], n0[3], n1[3], n2[3], m[3], h[3];
  lk_sub3(x, x + (vt ? 3 : 6), p);
  lk_sub3(x + (vt ? 6 : 3), x + (vt ? 3 : 0), q);
  lk_sub3(x + 9, x + (vt ? 3 : 6), r);
  lk_sub3(v, v + (vt ? 3 : 6), u);
  lk_sub3(v + (vt ? 6 : 3), v + (vt ? 3 : 0), w);
  lk_sub3(v + 9, v + (vt ? 3 : 6), z);
  lk_cross3(q, r, n0);
  lk_cross3(w, r, m);
  lk_cross3(q, z, h);
  for (int c = 0; c < 3; ++c) n1[c] = m[c] + h[c]; /* n = n0 + n1 t + n2 t^2 */
  lk_cross3(w, z, n2);
  C->c[0] = lk_dot3(p, n0);
  C->c[1] = lk_dot3(u, n0) + lk_dot3(p, n1);
  C->c[2] = lk_dot3(u, n1) + lk_dot3(p, n2);
  C->c[3] = lk_dot3(u, n2);
  /* control vectors of n on [0,1]: n0, n0 + n1/2, n0 + n1 + n2 */
  for (int c = 0; c < 3; ++c) {
    m[c] = n0[c] + LK_R(0.5) * n1[c];
    h[c] = n0[c] + n1[c] + n2[c];
    /* end positions, for the bound of the rounding */
    u[c] += p[c];
    w[c] += q[c];
    z[c] += r[c];
  }
  const lk_real nm = ccd_max_norm(n0, m), nh = ccd_max_norm(m, h);
  const lk_real volume = ccd_max_norm(p, u) * ccd_max_norm(q, w) * ccd_max_norm(r, z);
  const lk_real area = ccd_max_norm(q, w) * ccd_max_norm(r, z);
  /* |c0| + ... + |c3| <= (1 + 6 + 12 + 8) volume, at most 8 roundings each; input err * area */
  C->delta = g * (nm > nh ? nm : nh) + LK_R(256.0) * LK_EPSILON * volume + P->err * area;
}

LK_FN lk_real ccd_cubic_f(const lk_real *c, lk_real t)
{
  return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

LK_FN lk_real ccd_cubic_slope(const lk_real *c, lk_real t)
{
  return c[1] + t * (LK_R(2.0) * c[2] + t * (LK_R(3.0) * c[3]));
}

/* Ends of the pieces of (t, 1] on which f is monotone and f'' keeps its sign, ascending; their
 * number.  A critical point off by a rounding changes f in second order only. */
LK_FN int ccd_cubic_pieces(const lk_real *c, lk_real t, lk_real *end)
{
  const lk_real half = c[2] * c[2] - LK_R(3.0) * c[1] * c[3];
  lk_real at[3];
  int num = 0;
  const lk_real root = half > LK_R(0.0) ? LK_SQRT(half) : LK_R(0.0);
  const lk_real q = -(c[2] + (c[2] < LK_R(0.0) ? -root : root)); /* no cancellation */
  at[0] = half > LK_R(0.0) && c[3] != LK_R(0.0) ? q / (LK_R(3.0) * c[3]) : LK_R(-1.0);
  at[1] = half > LK_R(0.0) && q != LK_R(0.0) ? c[1] / q : LK_R(-1.0);
  at[2] = c[3] != LK_R(0.0) ? -c[2] / (LK_R(3.0) * c[3]) : LK_R(-1.0);
  for (int i = 0; i < 3; ++i) {
    if (!(at[i] > t && at[i] < LK_R(1.0))) continue;
    int k = num++;
    for (; k > 0 && end[k - 1] > at[i]; --k) end[k] = end[k - 1];
    end[k] = at[i];
  }
  end[num++] = LK_R(1.0);
  return num;
}

/* g = s f - delta is monotone on [lo, hi] with one sign of curvature, g(lo) > 0 >= g(hi).
 * Newton's step from the end where g g'' > 0 and the chord from the other end stay on their
 * sides of the root; the returned lo is before it. */
LK_FN lk_real ccd_cubic_bracket(const ccd_cubic *C, lk_real s, lk_real lo, lk_real hi)
{
  lk_real glo = s * ccd_cubic_f(C->c, lo) - C->delta, ghi = s * ccd_cubic_f(C->c, hi) - C->delta;
  const lk_real mid = LK_R(0.5) * (lo + hi);
  const int convex = s * (LK_R(2.0) * C->c[2] + LK_R(6.0) * C->c[3] * mid) > LK_R(0.0);
  for (int k = 0; k < CCD_BRACKET_STEPS && hi - lo > LK_R(4.0) * LK_EPSILON; ++k) {
    const lk_real slope = s * ccd_cubic_slope(C->c, convex ? lo : hi);
    const lk_real chord = lo + (hi - lo) * (glo / (glo - ghi));
    const lk_real newton = convex ? lo - glo / slope : hi - ghi / slope;
    const lk_real tries[2] = {convex ? newton : chord, convex ? chord : newton};
    const lk_real before = hi - lo;
    for (int i = 0; i < 2; ++i) { /* the value decides on which side, so rounding cannot */
      if (!(tries[i] > lo && tries[i] < hi)) continue;
      const lk_real g = s * ccd_cubic_f(C->c, tries[i]) - C->delta;
      lo = g > LK_R(0.0) ? tries[i] : lo;
      glo = g > LK_R(0.0) ? g : glo;
      hi = g > LK_R(0.0) ? hi : tries[i];
      ghi = g > LK_R(0.0) ? ghi : g;
    }
    if (!(hi - lo < LK_R(0.5) * before)) { /* rounding: bisect */
      const lk_real t = LK_R(0.5) * (lo + hi), g = s * ccd_cubic_f(C->c, t) - C->delta;
      lo = g > LK_R(0.0) ? t : lo;
      glo = g > LK_R(0.0) ? g : glo;
      hi = g > LK_R(0.0) ? hi : t;
      ghi = g > LK_R(0.0) ? ghi : g;
    }
  }
  return lo;
}

/* The time up to which |f| stays above delta: t itself if it is not above, 1 if never below. */
LK_FN lk_real ccd_cubic_next(const ccd_cubic *C, lk_real t)
{
  lk_real end[4];
  const lk_real f = ccd_cubic_f(C->c, t), s = f < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  if (!(s * f > C->delta)) return t;
  const int num = ccd_cubic_pieces(C->c, t, end);
  for (int k = 0; k < num; ++k) {
    if (!(s * ccd_cubic_f(C->c, end[k]) > C->delta))
      return ccd_cubic_bracket(C, s, k > 0 ? end[k - 1] : t, end[k]);
  }
  return LK_R(1.0);
}

/* The same by steps g / -m with m the least slope of g = s f - delta from t to 1, a parabola:
 * g(u) >= g(t) + m (u - t).  Ends when a step is below the tolerance. */
LK_FN lk_real ccd_newton_next(const ccd_cubic *C, lk_real t, lk_real tolerance)
{
  const lk_real f = ccd_cubic_f(C->c, t), s = f < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  const lk_real turn = C->c[3] != LK_R(0.0) ? -C->c[2] / (LK_R(3.0) * C->c[3]) : LK_R(-1.0);
  for (int k = 0; k < CCD_NEWTON_STEPS; ++k) {
    const lk_real g = s * ccd_cubic_f(C->c, t) - C->delta;
    if (!(g > LK_R(0.0))) return t;
    lk_real m = s * ccd_cubic_slope(C->c, t);
    const lk_real end = s * ccd_cubic_slope(C->c, LK_R(1.0));
    const lk_real inner = s * ccd_cubic_slope(C->c, turn);
    m = end < m ? end : m;
    m = turn > t && turn < LK_R(1.0) && inner < m ? inner : m;
    if (m >= LK_R(0.0) || g >= -m * (LK_R(1.0) - t)) return LK_R(1.0);
    const lk_real step = g / -m;
    t += step;
    if (step < tolerance) return t;
  }
  return t;
}

#endif
