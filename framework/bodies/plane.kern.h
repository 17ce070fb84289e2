/* plane.kern.h - the half space below a plane: size = unit normal n[3], d with n.x = d. */
#ifndef LOOM_BODIES_PLANE_KERN_H
#define LOOM_BODIES_PLANE_KERN_H

#include "bodies/body.kern.h"

LK_FN lk_real plane_distance(const obst_view *o, const lk_real *p, lk_real *n)
{
  for (int c = 0; c < 3; ++c) n[c] = o->size[c];
  return lk_dot3(n, p) - o->size[3];
}

LK_FN lk_real plane_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  for (int i = 0; i < 9; ++i) C[i] = LK_R(0.0);
  return plane_distance(o, p, g);
}

#endif
