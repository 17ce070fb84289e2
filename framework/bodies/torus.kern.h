/* torus.kern.h - size = ring radius, tube radius; the ring lies around the z axis. */
#ifndef LOOM_BODIES_TORUS_KERN_H
#define LOOM_BODIES_TORUS_KERN_H

#include "bodies/body.kern.h"

/* m [2]: gradient in the half plane of p, along its radius and along z. */
LK_FN lk_real torus_profile(const obst_view *o, const lk_real *p, lk_real *m)
{
  const lk_real d[2] = {LK_SQRT(p[0] * p[0] + p[1] * p[1]) - o->size[0], p[2]};
  const lk_real len = LK_SQRT(d[0] * d[0] + d[1] * d[1]);
  m[0] = len > LK_R(0.0) ? d[0] / len : LK_R(0.0);
  m[1] = len > LK_R(0.0) ? d[1] / len : LK_R(1.0);
  return len - o->size[1];
}

LK_FN lk_real torus_distance(const obst_view *o, const lk_real *p, lk_real *n)
{
  lk_real m[2];
  const lk_real f = torus_profile(o, p, m);
  obst_revolved(p, m, n);
  return f;
}

LK_FN lk_real torus_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  lk_real m[2];
  const lk_real f = torus_profile(o, p, m), r = f + o->size[1];
  obst_revolved(p, m, g);
  obst_revolved_hess(p, m, r > LK_R(0.0) ? LK_R(1.0) / r : LK_R(0.0), C);
  return f;
}

#endif
