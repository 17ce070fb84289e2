/* box.kern.h - size = outer half extents[3], radius of the edges. */
#ifndef LOOM_BODIES_BOX_KERN_H
#define LOOM_BODIES_BOX_KERN_H

#include "bodies/body.kern.h"

/* Outer half extents size[0..2]; the edges are rounded by radius size[3] inside them. */
LK_FN lk_real box_distance(const obst_view *o, const lk_real *p, lk_real *n)
{
  const lk_real *const size = o->size;
  const lk_real r = size[3];
  lk_real q[3], out[3], sign[3];
  int widest = 0, outside = 0;
  for (int c = 0; c < 3; ++c) {
    sign[c] = p[c] < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
    q[c] = LK_FABS(p[c]) - (size[c] - r);
    out[c] = sign[c] * LK_FMAX(q[c], LK_R(0.0));
    if (q[c] > LK_R(0.0)) outside = 1;
    if (q[c] > q[widest]) widest = c;
  }
  for (int c = 0; c < 3; ++c) n[c] = c == widest ? sign[c] : LK_R(0.0);
  if (!outside) return q[widest] - r;
  const lk_real face[3] = {n[0], n[1], n[2]};
  return obst_unit(out, face, n) - r;
}

/* The face that p is over, from 0 to 5, and in *room how far (m) p may move while the distance
 * stays that of the face's plane; -1: p is over an edge, or near the middle. */
LK_FN int box_face(const obst_view *o, const lk_real *p, lk_real *room)
{
  lk_real q[3];
  int face = 0;
  for (int c = 0; c < 3; ++c) q[c] = LK_FABS(p[c]) - (o->size[c] - o->size[3]);
  for (int c = 1; c < 3; ++c)
    if (q[c] > q[face]) face = c;
  *room = LK_REAL_MAX;
  for (int c = 0; c < 3; ++c)
    if (c != face) *room = LK_FMIN(*room, LK_FMIN(-q[c], LK_R(0.5) * (q[face] - q[c])));
  return *room > LK_R(0.0) ? 2 * face + (p[face] < LK_R(0.0)) : -1;
}

LK_FN lk_real box_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  const lk_real f = box_distance(o, p, g);
  lk_real P[9];
  int outside = 0;
  for (int i = 0; i < 9; ++i) P[i] = C[i] = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    const int beyond = LK_FABS(p[c]) > o->size[c] - o->size[3];
    P[4 * c] = beyond ? LK_R(1.0) : LK_R(0.0);
    outside |= beyond;
  }
  if (outside) obst_round(P, g, f + o->size[3], C);
  return f;
}

#endif
