/* intersect.c - does a closed segment meet a closed triangle, with exact signs. */
#include "audit/intersect.h"

#include <math.h>

#include "audit/orientation.h"

/* Lexicographic order of points; it is monotone along any straight line. */
static int lex_less(const double a[3], const double b[3])
{
  for (int k = 0; k < 3; ++k)
    if (a[k] != b[k]) return a[k] < b[k];
  return 0;
}

/* Segments pq and rs on one straight line. */
static int collinear_meet(const double *p, const double *q, const double *r, const double *s)
{
  const double *const lo_a = lex_less(p, q) ? p : q, *const hi_a = lo_a == p ? q : p;
  const double *const lo_b = lex_less(r, s) ? r : s, *const hi_b = lo_b == r ? s : r;
  return !lex_less(hi_a, lo_b) && !lex_less(hi_b, lo_a);
}

/* Segments pq and rs in one plane; (u, v) is a projection that is one to one on it,
 * or the four points lie on one straight line. */
static int planar_meet(const double *p, const double *q, const double *r, const double *s, int u,
                       int v)
{
  const int r_side = orientation_sign2(p, q, r, u, v), s_side = orientation_sign2(p, q, s, u, v);
  const int p_side = orientation_sign2(r, s, p, u, v), q_side = orientation_sign2(r, s, q, u, v);
  if (r_side * s_side > 0 || p_side * q_side > 0) return 0;
  if (r_side == 0 && s_side == 0 && p_side == 0 && q_side == 0) return collinear_meet(p, q, r, s);
  return 1;
}

static int segments_meet(const double *p, const double *q, const double *r, const double *s)
{
  if (orientation_sign3(p, q, r, s) != 0) return 0;
  for (int k = 0; k < 3; ++k) {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    /* three points that stay off a line in the projection span the common plane */
    if (orientation_sign2(p, q, r, u, v) != 0 || orientation_sign2(p, q, s, u, v) != 0 ||
        orientation_sign2(r, s, p, u, v) != 0)
      return planar_meet(p, q, r, s, u, v);
  }
  return collinear_meet(p, q, r, s);
}

/* Point p in the plane of the triangle; (u, v) as above. */
static int planar_inside(const double *p, const double *a, const double *b, const double *c, int u,
                         int v)
{
  const int s[3] = {orientation_sign2(a, b, p, u, v), orientation_sign2(b, c, p, u, v),
                    orientation_sign2(c, a, p, u, v)};
  const int pos = s[0] > 0 || s[1] > 0 || s[2] > 0, neg = s[0] < 0 || s[1] < 0 || s[2] < 0;
  return !(pos && neg);
}

/* Both ends lie in the plane of the triangle, or the triangle has no area. */
static int coplanar_meet(const double *p, const double *q, const double *a, const double *b,
                         const double *c)
{
  for (int k = 0; k < 3; ++k) {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    if (orientation_sign2(a, b, c, u, v) == 0) continue;
    return planar_inside(p, a, b, c, u, v) || planar_meet(p, q, a, b, u, v) ||
           planar_meet(p, q, b, c, u, v) || planar_meet(p, q, c, a, u, v);
  }
  /* no area: the triangle is the union of its sides */
  return segments_meet(p, q, a, b) || segments_meet(p, q, b, c) || segments_meet(p, q, c, a);
}

/* 1 only if a side of the triangle or the segment itself surely has the two apart, seen
 * along the axis in which the triangle shows most.  In flat sheets that are inclined this spares
 * nearly all exact determinants. */
static int surely_beside(const double *p, const double *q, const double *a, const double *b,
                         const double *c)
{
  const double *const corner[5] = {a, b, c, a, b};
  int u = 0;
  double largest = -1.0;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double area = fabs((b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]));
    if (area > largest) largest = area, u = i;
  }
  const int v = (u + 1) % 3;
  for (int k = 0; k < 3; ++k) {
    const double *const r = corner[k], *const s = corner[k + 1];
    const int side = orientation_filter2(r, s, corner[k + 2], u, v);
    if (side == 0 || side == EXACT_UNSURE) continue;
    if (orientation_filter2(r, s, p, u, v) == -side && orientation_filter2(r, s, q, u, v) == -side)
      return 1;
  }
  const int side = orientation_filter2(p, q, a, u, v);
  return side != 0 && side != EXACT_UNSURE && orientation_filter2(p, q, b, u, v) == side &&
         orientation_filter2(p, q, c, u, v) == side;
}

int isect_segment_triangle(const double p[3], const double q[3], const double a[3],
                           const double b[3], const double c[3])
{
  int p_side = orientation_filter3(a, b, c, p), q_side = orientation_filter3(a, b, c, q);
  if (p_side == EXACT_UNSURE || q_side == EXACT_UNSURE || (p_side == 0 && q_side == 0)) {
    if (surely_beside(p, q, a, b, c)) return 0;
    if (p_side == EXACT_UNSURE) p_side = orientation_sign3(a, b, c, p);
    if (q_side == EXACT_UNSURE) q_side = orientation_sign3(a, b, c, q);
  }
  if (p_side * q_side > 0) return 0;
  if (p_side == 0 && q_side == 0) return coplanar_meet(p, q, a, b, c);
  /* the line meets the plane in one point of the segment; these volumes are its
   * barycentric coordinates times one common nonzero factor */
  const int s[3] = {orientation_sign3(p, q, a, b), orientation_sign3(p, q, b, c),
                    orientation_sign3(p, q, c, a)};
  const int pos = s[0] > 0 || s[1] > 0 || s[2] > 0, neg = s[0] < 0 || s[1] < 0 || s[2] < 0;
  return !(pos && neg);
}

/* ---- where ---- */

static void segment_midpoint(const double *p, const double *q, double s, double t, double out[3])
{
  const double m = 0.5 * (s + t);
  for (int k = 0; k < 3; ++k) out[k] = p[k] + m * (q[k] - p[k]);
}

void isect_point(const double p[3], const double q[3], const double a[3], const double b[3],
                 const double c[3], double out[3])
{
  double u[3], v[3], n[3], dp = 0.0, dq = 0.0, lo = 0.0, hi = 1.0;
  for (int k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
  for (int k = 0; k < 3; ++k)
    n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  for (int k = 0; k < 3; ++k) dp += n[k] * (p[k] - a[k]), dq += n[k] * (q[k] - a[k]);
  if ((dp < 0) != (dq < 0)) { /* through the plane */
    segment_midpoint(p, q, dp / (dp - dq), dp / (dp - dq), out);
    return;
  }
  /* in the plane: the middle of the part in the box of the triangle and between its sides */
  for (int k = 0; k < 3; ++k) {
    const double d = q[k] - p[k], low = fmin(a[k], fmin(b[k], c[k]));
    const double high = fmax(a[k], fmax(b[k], c[k]));
    if (d == 0.0) continue;
    lo = fmax(lo, ((d > 0 ? low : high) - p[k]) / d);
    hi = fmin(hi, ((d > 0 ? high : low) - p[k]) / d);
  }
  const double *const corner[4] = {a, b, c, a};
  for (int i = 0; i < 3; ++i) {
    double sp = 0.0, sq = 0.0; /* distances from the side, positive inside */
    for (int k = 0; k < 3; ++k) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      const double inward =
          n[l] * (corner[i + 1][m] - corner[i][m]) - n[m] * (corner[i + 1][l] - corner[i][l]);
      sp += inward * (p[k] - corner[i][k]);
      sq += inward * (q[k] - corner[i][k]);
    }
    if (sp < 0 && sq > sp) lo = fmax(lo, sp / (sp - sq));
    if (sq < 0 && sp > sq) hi = fmin(hi, sp / (sp - sq));
  }
  segment_midpoint(p, q, fmin(lo, 1.0), fmin(hi, 1.0), out);
}
