/* yarn_pair.kern.h - one pair of segments: movement bounds and the comparison of all points. */
#ifndef YARN_PAIR_KERN_H
#define YARN_PAIR_KERN_H

#include "yarn_grid.kern.h"

/* Interval m [6] of all lanes of P; four at a time, as vectors. */
LK_FN void yarn_grid_bounds(const lk_real *P, lk_real *m)
{
  for (int c = 0; c < 3; ++c) {
    const lk_real *const p = P + YARN_LANES * c;
    lk_real lo[4], hi[4];
    for (int k = 0; k < 4; ++k) {
      lo[k] = p[k] < p[k + 4] ? p[k] : p[k + 4];
      hi[k] = p[k] > p[k + 4] ? p[k] : p[k + 4];
    }
    for (int k = 0; k < 4; ++k) {
      lo[k] = lo[k] < p[k + 8] ? lo[k] : p[k + 8];
      hi[k] = hi[k] > p[k + 8] ? hi[k] : p[k + 8];
    }
    for (int k = 1; k < 4; ++k) {
      lo[0] = lo[k] < lo[0] ? lo[k] : lo[0];
      hi[0] = hi[k] > hi[0] ? hi[k] : hi[0];
    }
    m[c] = lo[0];
    m[3 + c] = hi[0];
  }
}

/* Interval m [6] of a displacement with control values q [4][3] over the points of a segment;
 * the lane behind the own points belongs to the next segment and does no harm. */
LK_FN void yarn_grid_interval(const yarn_line *l, const lk_real *q, lk_real *m)
{
  lk_real P[YARN_POS];
  yarn_lanes(l->basis, q, P);
  yarn_grid_bounds(P, m);
}

/* The same of x - from for segment s. */
LK_FN void yarn_grid_displacement(const yarn_line *l, const lk_real *x, const lk_real *from,
                                  int32_t s, lk_real *m)
{
  lk_real q[12], q0[12];
  spline_points(x, l->segs + 4 * s, q);
  spline_points(from, l->segs + 4 * s, q0);
  for (int c = 0; c < 12; ++c) q[c] -= q0[c];
  yarn_grid_interval(l, q, m);
}

/* Largest relative movement of two segments, m. */
LK_FN lk_real yarn_grid_relative(const lk_real *a, const lk_real *b)
{
  lk_real q = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    const lk_real up = LK_FABS(a[3 + c] - b[c]), down = LK_FABS(a[c] - b[3 + c]);
    const lk_real most = up > down ? up : down;
    q += most * most;
  }
  return LK_SQRT(q);
}

/* Boxes of points: the first range, then the second, as loom_query.exclude packs them. */
LK_FN void yarn_grid_unpack(uint64_t key, int32_t *u0, int32_t *u1, int32_t *v0, int32_t *v1)
{
  *u0 = (int32_t)(key >> 40);
  *v0 = (int32_t)(key >> 16 & 0xffffff);
  *u1 = *u0 + (int32_t)(key >> 8 & 0xff);
  *v1 = *v0 + (int32_t)(key & 0xff);
}

/* Marks the pairs of segments a < b that lie in boxes; 1 if there are any. */
LK_FN int yarn_grid_cover(const yarn_line *l, const yarn_grid_boxes *x, int32_t a, int32_t b,
                          uint16_t *mask)
{
  int any = 0;
  if (x->key == NULL) return 0;
  const int32_t a0 = l->pt0[a], a1 = l->pt0[a + 1] - 1, b0 = l->pt0[b], b1 = l->pt0[b + 1] - 1;
  for (int32_t n = x->at[a]; n < x->at[a + 1]; ++n) {
    int32_t u0, u1, v0, v1;
    yarn_grid_unpack(x->key[x->list[n]], &u0, &u1, &v0, &v1);
    if (v1 < b0 || v0 > b1 || u1 < a0 || u0 > a1) continue;
    any = 1;
    const int32_t i0 = u0 > a0 ? u0 - a0 : 0, i1 = (u1 < a1 ? u1 : a1) - a0;
    const int32_t j0 = v0 > b0 ? v0 - b0 : 0, j1 = (v1 < b1 ? v1 : b1) - b0;
    const unsigned bits = (2u << j1) - (1u << j0);
    for (int32_t i = i0; i <= i1; ++i) mask[i] = (uint16_t)(mask[i] | bits);
  }
  return any;
}

/* Compares all points of segments a < b: clearance, and the pairs of points that count. */
LK_FN void yarn_grid_compare(const yarn_line *l, const yarn_grid_boxes *x, const lk_real *P,
                             int32_t a, int32_t b, lk_real margin, yarn_grid_look *o)
{
  uint16_t mask[YARN_LANES];
  const lk_real *const A = P + YARN_POS * a, *const B = P + YARN_POS * b;
  const int na = l->pt0[a + 1] - l->pt0[a], nb = l->pt0[b + 1] - l->pt0[b];
  const lk_real reach = l->radius[a] + l->radius[b] + margin;
  int masked = yarn_adjacent(l, a, b);
  if (masked)
    yarn_rule(l, a, b, mask);
  else if (x->key != NULL)
    for (int i = 0; i < YARN_LANES; ++i) mask[i] = 0;
  masked |= yarn_grid_cover(l, x, a, b, mask);
  lk_real d2 = yarn_smallest(A, na, B, masked ? mask : NULL);
  o->full = 1;
  o->hits = 0;
  if (reach > LK_R(0.0) && d2 < reach * reach) {
    yarn_near h;
    yarn_nearest_pair(A, na, B, nb, masked ? mask : NULL, reach, &h);
    o->hits = h.hits;
    o->i = h.i;
    o->j = h.j;
    o->i0 = (uint8_t)h.i0;
    o->i1 = (uint8_t)h.i1;
    o->j0 = (uint8_t)h.j0;
    o->j1 = (uint8_t)h.j1;
    d2 = h.d2;
  }
  o->d = LK_SQRT(d2) - reach;
}

#endif
