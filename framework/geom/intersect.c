/* intersect.c - does a closed segment meet a closed triangle, with exact signs. */
#include "geom/intersect.h"

#include "geom/exact.h"

int isect_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
  return exact_orient3(a, b, c, d);
}

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
  const int r_side = exact_orient2(p, q, r, u, v), s_side = exact_orient2(p, q, s, u, v);
  const int p_side = exact_orient2(r, s, p, u, v), q_side = exact_orient2(r, s, q, u, v);
  if (r_side * s_side > 0 || p_side * q_side > 0) return 0;
  if (r_side == 0 && s_side == 0 && p_side == 0 && q_side == 0) return collinear_meet(p, q, r, s);
  return 1;
}

static int segments_meet(const double *p, const double *q, const double *r, const double *s)
{
  if (exact_orient3(p, q, r, s) != 0) return 0;
  for (int k = 0; k < 3; ++k) {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    /* three points that stay off a line in the projection span the common plane */
    if (exact_orient2(p, q, r, u, v) != 0 || exact_orient2(p, q, s, u, v) != 0 ||
        exact_orient2(r, s, p, u, v) != 0)
      return planar_meet(p, q, r, s, u, v);
  }
  return collinear_meet(p, q, r, s);
}

/* Point p in the plane of the triangle; (u, v) as above. */
static int planar_inside(const double *p, const double *a, const double *b, const double *c, int u,
                         int v)
{
  const int s[3] = {exact_orient2(a, b, p, u, v), exact_orient2(b, c, p, u, v),
                    exact_orient2(c, a, p, u, v)};
  const int pos = s[0] > 0 || s[1] > 0 || s[2] > 0, neg = s[0] < 0 || s[1] < 0 || s[2] < 0;
  return !(pos && neg);
}

/* Both ends lie in the plane of the triangle, or the triangle has no area. */
static int coplanar_meet(const double *p, const double *q, const double *a, const double *b,
                         const double *c)
{
  for (int k = 0; k < 3; ++k) {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    if (exact_orient2(a, b, c, u, v) == 0) continue;
    return planar_inside(p, a, b, c, u, v) || planar_meet(p, q, a, b, u, v) ||
           planar_meet(p, q, b, c, u, v) || planar_meet(p, q, c, a, u, v);
  }
  /* no area: the triangle is the union of its sides */
  return segments_meet(p, q, a, b) || segments_meet(p, q, b, c) || segments_meet(p, q, c, a);
}

int isect_segment_triangle(const double p[3], const double q[3], const double a[3],
                           const double b[3], const double c[3])
{
  const int p_side = exact_orient3(a, b, c, p), q_side = exact_orient3(a, b, c, q);
  if (p_side * q_side > 0) return 0;
  if (p_side == 0 && q_side == 0) return coplanar_meet(p, q, a, b, c);
  /* the line meets the plane in one point of the segment; these volumes are its
   * barycentric coordinates times one common nonzero factor */
  const int s[3] = {exact_orient3(p, q, a, b), exact_orient3(p, q, b, c),
                    exact_orient3(p, q, c, a)};
  const int pos = s[0] > 0 || s[1] > 0 || s[2] > 0, neg = s[0] < 0 || s[1] < 0 || s[2] < 0;
  return !(pos && neg);
}
