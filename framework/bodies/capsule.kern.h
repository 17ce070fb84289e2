/* capsule.kern.h - size = end points a[3], b[3], radius. */
#ifndef LOOM_BODIES_CAPSULE_KERN_H
#define LOOM_BODIES_CAPSULE_KERN_H

#include "bodies/body.kern.h"

LK_FN lk_real capsule_distance(const obst_view *o, const lk_real *p, lk_real *n)
{
  const lk_real *const size = o->size;
  lk_real ab[3], d[3], side[3];
  for (int c = 0; c < 3; ++c) {
    ab[c] = size[3 + c] - size[c];
    d[c] = p[c] - size[c];
  }
  const lk_real ll = lk_dot3(ab, ab);
  lk_real u = ll > LK_R(0.0) ? lk_dot3(d, ab) / ll : LK_R(0.0);
  u = LK_FMIN(LK_FMAX(u, LK_R(0.0)), LK_R(1.0));
  for (int c = 0; c < 3; ++c) d[c] -= u * ab[c];
  obst_orthogonal(ab, side);
  return obst_unit(d, side, n) - size[6];
}

LK_FN lk_real capsule_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  lk_real P[9], a[3], len2 = LK_R(0.0), u = LK_R(0.0);
  const lk_real f = capsule_distance(o, p, g);
  for (int i = 0; i < 9; ++i) P[i] = i % 4 == 0 ? LK_R(1.0) : LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    a[c] = o->size[3 + c] - o->size[c];
    len2 += a[c] * a[c];
    u += a[c] * (p[c] - o->size[c]);
  }
  if (u > LK_R(0.0) && u < len2) /* beside the cylinder */
    for (int i = 0; i < 9; ++i) P[i] -= a[i / 3] * a[i % 3] / len2;
  obst_round(P, g, f + o->size[6], C);
  return f;
}

#endif
