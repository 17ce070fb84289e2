/* sphere.kern.h - size = centre c[3], radius. */
#ifndef LOOM_BODIES_SPHERE_KERN_H
#define LOOM_BODIES_SPHERE_KERN_H

#include "bodies/body.kern.h"

LK_FN lk_real sphere_distance(const obst_view *o, const lk_real *p, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  lk_real d[3];
  for (int c = 0; c < 3; ++c) d[c] = p[c] - o->size[c];
  return obst_unit(d, up, n) - o->size[3];
}

LK_FN lk_real sphere_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  lk_real P[9];
  const lk_real f = sphere_distance(o, p, g);
  for (int i = 0; i < 9; ++i) P[i] = i % 4 == 0 ? LK_R(1.0) : LK_R(0.0);
  obst_round(P, g, f + o->size[3], C);
  return f;
}

#endif
