/* cylinder.kern.h - size = outer radius, outer half length, radius of the rims; along the z axis.
 */
#ifndef LOOM_BODIES_CYLINDER_KERN_H
#define LOOM_BODIES_CYLINDER_KERN_H

#include "bodies/body.kern.h"

/* m [2]: gradient in the half plane of p, along its radius and along z; *bend: curvature of the
 * level line there, 1/m. */
LK_FN lk_real cylinder_profile(const obst_view *o, const lk_real *p, lk_real *m, lk_real *bend)
{
  const lk_real rim = o->size[2], up = p[2] < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  const lk_real side = LK_SQRT(p[0] * p[0] + p[1] * p[1]) - (o->size[0] - rim);
  const lk_real end = LK_FABS(p[2]) - (o->size[1] - rim);
  *bend = LK_R(0.0);
  if (side > LK_R(0.0) && end > LK_R(0.0)) { /* nearest to a rim */
    const lk_real len = LK_SQRT(side * side + end * end);
    m[0] = side / len;
    m[1] = up * end / len;
    *bend = LK_R(1.0) / len;
    return len - rim;
  }
  m[0] = side > end ? LK_R(1.0) : LK_R(0.0);
  m[1] = side > end ? LK_R(0.0) : up;
  return LK_FMAX(side, end) - rim;
}

/* As box_face(): the end that p is over, 0 or 1. */
LK_FN int cylinder_face(const obst_view *o, const lk_real *p, lk_real *room)
{
  const lk_real side = LK_SQRT(p[0] * p[0] + p[1] * p[1]) - (o->size[0] - o->size[2]);
  const lk_real end = LK_FABS(p[2]) - (o->size[1] - o->size[2]);
  *room = LK_FMIN(-side, LK_R(0.5) * (end - side));
  return *room > LK_R(0.0) ? p[2] < LK_R(0.0) : -1;
}

LK_FN lk_real cylinder_distance(const obst_view *o, const lk_real *p, lk_real *n)
{
  lk_real m[2], bend;
  const lk_real f = cylinder_profile(o, p, m, &bend);
  obst_revolved(p, m, n);
  return f;
}

LK_FN lk_real cylinder_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  lk_real m[2], bend;
  const lk_real f = cylinder_profile(o, p, m, &bend);
  obst_revolved(p, m, g);
  obst_revolved_hess(p, m, bend, C);
  return f;
}

#endif
