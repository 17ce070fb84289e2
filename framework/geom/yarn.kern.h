/* yarn.kern.h - the contact energy between yarns, by quadrature over pairs of segments.
 *
 * Points: YARN_B to a segment at u = 0, 1/B, ..., and the end of an open yarn belongs to its last
 * segment.  With trapezoid weights W (m, the rest length is in them) and x = |y_i - y_j|^2
 *   E = k sum_{i<j} W_i W_j f(x),   f = s/x + x/s - 2 where x < s = (r_i + r_j)^2, else 0
 * (J. M. Kaldor, D. L. James, S. Marschner, Simulating knitted cloth at the yarn level, 2008, and
 * Efficient yarn-based cloth with adaptive contact linearization, 2010, section 3.2).
 *
 *      yarn i   |             The 11 points of a segment on each yarn; forces act between the
 *               o             points that are nearer than r_i + r_j:
 *      yarn j   o
 *     --o--o--o-*-o--o--o--     f(x)
 *               o               |\
 *               o               | \          x = |y_i - y_j|^2
 *               |               |  '._____   f = 0 from x = s = (r_i + r_j)^2 on
 *                               +------s---- x
 *
 * DEVIATION: the double integral counts a pair twice, here and in the paper's code it counts once.
 * Points of one yarn that are not more than YARN_APART apart along it never interact.
 *
 * Positions stand in lanes, [3][YARN_LANES] to a segment, so that a row of pairs is three vector
 * operations wide; the lane behind a segment's own points holds YARN_FAR. */
#ifndef LOOM_YARN_KERN_H
#define LOOM_YARN_KERN_H

#include "geom/spline.kern.h"

enum { YARN_B = 11, YARN_LANES = 12, YARN_POS = 36, YARN_APART = 16 };
#define YARN_FAR LK_R(1e15) /* m */

/* The yarns of a scene; see loom_scene. */
typedef struct yarn_line {
  const int32_t *LK_RESTRICT segs;     /* [ns][4] */
  const int32_t *LK_RESTRICT seg_yarn; /* [ns] */
  const int32_t *LK_RESTRICT yarn_seg; /* [ny+1] */
  const uint8_t *LK_RESTRICT closed;   /* [ny] */
  const int32_t *LK_RESTRICT pt0;      /* [ns+1], the own points of s are pt0[s] to pt0[s+1]-1 */
  const lk_real *LK_RESTRICT weight;   /* [ns][YARN_LANES] m */
  const lk_real *LK_RESTRICT radius;   /* [ns] m */
  const lk_real *LK_RESTRICT basis;    /* [4][YARN_LANES] spline_weights at the points */
  int32_t num_segs, num_yarns, num_points, reserved;
} yarn_line;

/* ---- law ---- */

/* f, and its derivatives by x: C1 at x = s */
LK_FN lk_real yarn_f(lk_real x, lk_real s) { return s / x + x / s - LK_R(2.0); }
LK_FN lk_real yarn_df(lk_real x, lk_real s) { return LK_R(1.0) / s - s / (x * x); }
LK_FN lk_real yarn_ddf(lk_real x, lk_real s) { return LK_R(2.0) * s / (x * x * x); }

/* H [6] (xx xy xz yy yz zz): second derivative of f by y_i, d = y_i - y_j */
LK_FN void yarn_hess(const lk_real *d, lk_real s, lk_real *H)
{
  const lk_real x = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  const lk_real a = LK_R(2.0) * yarn_df(x, s), b = LK_R(4.0) * yarn_ddf(x, s);
  H[0] = a + b * d[0] * d[0];
  H[1] = b * d[0] * d[1];
  H[2] = b * d[0] * d[2];
  H[3] = a + b * d[1] * d[1];
  H[4] = b * d[1] * d[2];
  H[5] = a + b * d[2] * d[2];
}

/* ---- points ---- */

/* Lanes P [3][YARN_LANES] of all points of a curve with control points q [4][3]. */
LK_FN void yarn_lanes(const lk_real *basis, const lk_real *q, lk_real *P)
{
  for (int c = 0; c < 3; ++c)
    for (int k = 0; k < YARN_LANES; ++k)
      P[YARN_LANES * c + k] = basis[k] * q[c] + basis[YARN_LANES + k] * q[3 + c] +
                              basis[2 * YARN_LANES + k] * q[6 + c] +
                              basis[3 * YARN_LANES + k] * q[9 + c];
}

/* Positions of the own points of segment s; x [n][3] m */
LK_FN void yarn_points(const yarn_line *l, const lk_real *x, int32_t s, lk_real *P)
{
  lk_real q[12];
  spline_points(x, l->segs + 4 * s, q);
  yarn_lanes(l->basis, q, P);
  for (int k = l->pt0[s + 1] - l->pt0[s]; k < YARN_LANES; ++k)
    for (int c = 0; c < 3; ++c) P[YARN_LANES * c + k] = YARN_FAR;
}

/* Sum over the points of g [3][YARN_LANES] into the control points: out [4][3] */
LK_FN void yarn_to_vertices(const yarn_line *l, int32_t s, const lk_real *g, lk_real *out)
{
  for (int a = 0; a < 4; ++a)
    for (int c = 0; c < 3; ++c) {
      lk_real sum = LK_R(0.0);
      for (int k = 0; k < YARN_LANES; ++k)
        sum += l->basis[YARN_LANES * a + k] * g[YARN_LANES * c + k];
      out[3 * a + c] = sum;
    }
  const int32_t *const v = l->segs + 4 * s;
  for (int c = 0; c < 3; ++c) {
    if (v[0] < 0) { /* reflected: 2 q0 - q1 */
      out[3 + c] += LK_R(2.0) * out[c];
      out[6 + c] -= out[c];
      out[c] = LK_R(0.0);
    }
    if (v[3] < 0) {
      out[6 + c] += LK_R(2.0) * out[9 + c];
      out[3 + c] -= out[9 + c];
      out[9 + c] = LK_R(0.0);
    }
  }
}

/* Segment of point p of the yarn k. */
LK_FN int32_t yarn_seg_of(const yarn_line *l, int32_t k, int32_t p)
{
  const int32_t s = l->yarn_seg[k] + (p - l->pt0[l->yarn_seg[k]]) / YARN_B;
  return s < l->yarn_seg[k + 1] ? s : l->yarn_seg[k + 1] - 1;
}

/* ---- which pairs count ---- */

/* Points i, j of yarn k are far enough apart along it. */
LK_FN int yarn_apart(const yarn_line *l, int32_t k, int32_t i, int32_t j)
{
  const int32_t n = l->pt0[l->yarn_seg[k + 1]] - l->pt0[l->yarn_seg[k]];
  int32_t d = j > i ? j - i : i - j;
  if (l->closed[k] && n - d < d) d = n - d;
  return d > YARN_APART;
}

/* Segments a < b have pairs that never interact. */
LK_FN int yarn_adjacent(const yarn_line *l, int32_t a, int32_t b)
{
  const int32_t k = l->seg_yarn[a];
  if (k != l->seg_yarn[b]) return 0;
  return b - a <= 2 || (l->closed[k] && l->yarn_seg[k + 1] - l->yarn_seg[k] - (b - a) <= 2);
}

/* mask [YARN_LANES]: bit j of row i is set where the pair (i, j) of segments a < b is left out. */
LK_FN void yarn_rule(const yarn_line *l, int32_t a, int32_t b, uint16_t *mask)
{
  for (int i = 0; i < YARN_LANES; ++i) {
    mask[i] = 0;
    if (!yarn_adjacent(l, a, b)) continue;
    for (int j = 0; j < YARN_LANES; ++j)
      if (!yarn_apart(l, l->seg_yarn[a], l->pt0[a] + i, l->pt0[b] + j))
        mask[i] = (uint16_t)(mask[i] | 1u << j);
  }
}

/* ---- pairs of segments ----
 */

typedef struct yarn_near {
  lk_real d2;         /* m^2, smallest squared distance */
  int i, j;           /* where; rows and lanes */
  int i0, i1, j0, j1; /* range of rows and lanes of pairs nearer than `reach`, ends included */
  int hits;           /* their number */
} yarn_near;

/* Smallest squared distance of na rows of A to the lanes of B; mask: NULL or pairs left out. */
LK_FN lk_real yarn_smallest(const lk_real *A, int na, const lk_real *B, const uint16_t *mask)
{
  lk_real m[YARN_LANES], best = YARN_FAR * YARN_FAR;
  for (int j = 0; j < YARN_LANES; ++j) m[j] = best;
  for (int i = 0; i < na; ++i) {
    const lk_real ax = A[i], ay = A[YARN_LANES + i], az = A[2 * YARN_LANES + i];
    lk_real d[YARN_LANES];
    for (int j = 0; j < YARN_LANES; ++j) {
      const lk_real dx = ax - B[j], dy = ay - B[YARN_LANES + j], dz = az - B[2 * YARN_LANES + j];
      d[j] = dx * dx + dy * dy + dz * dz;
    }
    if (mask != NULL)
      for (int j = 0; j < YARN_LANES; ++j)
        if (mask[i] >> j & 1u) d[j] = best;
    for (int j = 0; j < YARN_LANES; ++j) m[j] = d[j] < m[j] ? d[j] : m[j];
  }
  for (int j = 0; j < YARN_LANES; ++j) best = m[j] < best ? m[j] : best;
  return best;
}

/* The nearest pair, and the range of the pairs nearer than `reach` (m). */
LK_FN void yarn_nearest_pair(const lk_real *A, int na, const lk_real *B, int nb,
                             const uint16_t *mask, lk_real reach, yarn_near *h)
{
  const lk_real r2 = reach * reach;
  h->d2 = YARN_FAR * YARN_FAR;
  h->i = h->j = h->hits = 0;
  h->i0 = h->j0 = YARN_LANES;
  h->i1 = h->j1 = -1;
  for (int i = 0; i < na; ++i) {
    const unsigned left = mask != NULL ? mask[i] : 0u;
    for (int j = 0; j < nb; ++j) {
      const lk_real dx = A[i] - B[j], dy = A[YARN_LANES + i] - B[YARN_LANES + j];
      const lk_real dz = A[2 * YARN_LANES + i] - B[2 * YARN_LANES + j];
      const lk_real d = dx * dx + dy * dy + dz * dz;
      if (left >> j & 1u) continue;
      if (d < h->d2) {
        h->d2 = d;
        h->i = i;
        h->j = j;
      }
      if (!(d < r2)) continue;
      ++h->hits;
      h->i0 = i < h->i0 ? i : h->i0;
      h->i1 = i;
      h->j0 = j < h->j0 ? j : h->j0;
      h->j1 = j > h->j1 ? j : h->j1;
    }
  }
}

/* A CPU's vector unit makes all forces of a row before they are summed; a thread of a GPU has no
 * registers to keep them in, and sums as it goes. */
#ifdef __CUDACC__
enum { YARN_ROW_IS_KEPT = 0 };
#else
enum { YARN_ROW_IS_KEPT = 1 };
#endif

/* Gradient (N per point) of the pairs of rows i0 to i1 with all lanes, added to ga and gb
 * [3][YARN_LANES]; returns their energy, J.  wa, wb: weights [YARN_LANES] m */
LK_FN lk_real yarn_pair_gradient(const lk_real *A, const lk_real *wa, int i0, int i1,
                                 const lk_real *B, const lk_real *wb, lk_real s, lk_real k,
                                 const uint16_t *mask, lk_real *ga, lk_real *gb)
{
  lk_real energy[YARN_LANES], sum = LK_R(0.0);
  const lk_real inv_s = LK_R(1.0) / s;
  for (int j = 0; j < YARN_LANES; ++j) energy[j] = LK_R(0.0);
  for (int i = i0; i <= i1; ++i) {
    const lk_real ax = A[i], ay = A[YARN_LANES + i], az = A[2 * YARN_LANES + i];
    lk_real gx[YARN_LANES], gy[YARN_LANES], gz[YARN_LANES];
    lk_real sx = ga[i], sy = ga[YARN_LANES + i], sz = ga[2 * YARN_LANES + i];
    const unsigned left = mask != NULL ? mask[i] : 0u;
    for (int j = 0; j < YARN_LANES; ++j) {
      const lk_real dx = ax - B[j], dy = ay - B[YARN_LANES + j], dz = az - B[2 * YARN_LANES + j];
      const lk_real x = dx * dx + dy * dy + dz * dz;
      const int in = x < s && !(left >> j & 1u);
      const lk_real inv = LK_R(1.0) / (in ? x : s);
      const lk_real w = in ? k * wa[i] * wb[j] : LK_R(0.0);
      const lk_real g = LK_R(2.0) * w * (inv_s - s * inv * inv);
      energy[j] += w * (s * inv + (in ? x : s) * inv_s - LK_R(2.0));
      gx[j] = g * dx;
      gy[j] = g * dy;
      gz[j] = g * dz;
      gb[j] -= gx[j];
      gb[YARN_LANES + j] -= gy[j];
      gb[2 * YARN_LANES + j] -= gz[j];
      if (!YARN_ROW_IS_KEPT) {
        sx += gx[j];
        sy += gy[j];
        sz += gz[j];
      }
    }
    for (int j = 0; YARN_ROW_IS_KEPT && j < YARN_LANES; ++j) {
      sx += gx[j];
      sy += gy[j];
      sz += gz[j];
    }
    ga[i] = sx;
    ga[YARN_LANES + i] = sy;
    ga[2 * YARN_LANES + i] = sz;
  }
  for (int j = 0; j < YARN_LANES; ++j) sum += energy[j];
  return sum;
}

#endif
