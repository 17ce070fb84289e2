/* body.kern.h - a body as kernels see it, its motion within a step, and functions that the shapes
 * use.
 *
 * Kernels take an array of obst_view, filled on the host by obst_view_fill().
 *
 * Motion within a step, the same everywhere: at s in [0,1] the body's pose is
 *   R(s) = Rot(axis, s angle) R0,   t(s) = t0 + s (t1 - t0),
 * that is, the origin of the body frame moves on a straight line at constant speed while
 * the body turns about it at constant angular velocity, the short way round. */
#ifndef LOOM_BODIES_BODY_KERN_H
#define LOOM_BODIES_BODY_KERN_H

#include "geom/small.kern.h"
#include "loom/kernel.h"
#include "loom/scene.h"

typedef struct obst_view {
  int32_t shape;      /* BODY_SHAPE_*, which function is its distance; -1: it has none */
  int32_t convex;     /* 1: the distance is a convex function of position */
  int32_t moves;      /* 1: the poses at both ends differ */
  int32_t dims[3];    /* grid nodes */
  lk_real origin[3];  /* m, body frame, node (0,0,0) */
  lk_real spacing;    /* m */
  lk_real size[8];    /* as loom_obstacle.shape */
  lk_real lipschitz;  /* bound of the length of the distance's gradient, 1 */
  lk_real friction;   /* Coulomb coefficient, 1 */
  lk_real R0[9];      /* body to world at s = 0 and 1, row-major */
  lk_real R1[9];      /* = Rot(axis, angle) R0 */
  lk_real t0[3];      /* m */
  lk_real t1[3];      /* m */
  lk_real axis[3];    /* world frame, unit */
  lk_real angle;      /* rad, in [0, pi] */
  lk_real sweep;      /* m, how far any point of the body moves in its frame; 0: it does not bend */
  const lk_real *sdf; /* grid: [dims2][dims1][dims0], m, in execution memory */
  const void *field;  /* of a body that bends, in execution memory; see the header of its kind */
} obst_view;

typedef struct obst_pose {
  lk_real R[9];
  lk_real t[3]; /* m */
  lk_real s;    /* share of the step at which the body stands there */
} obst_pose;

/* ---- poses ---- */

/* At s of a motion from R0, t0 to R1 = Rot(axis, angle) R0, t1. */
LK_FN void obst_pose_between(const lk_real *R0, const lk_real *R1, const lk_real *t0,
                             const lk_real *t1, const lk_real *a, lk_real angle, lk_real s,
                             obst_pose *out)
{
  out->s = s;
  if (s <= LK_R(0.0) || s >= LK_R(1.0)) { /* the ends exactly */
    const int end = s >= LK_R(0.5);
    for (int i = 0; i < 9; ++i) out->R[i] = end ? R1[i] : R0[i];
    for (int c = 0; c < 3; ++c) out->t[c] = end ? t1[c] : t0[c];
    return;
  }
  const lk_real si = LK_SIN(s * angle), co = LK_COS(s * angle), vers = LK_R(1.0) - co;
  const lk_real Q[9] = {co + vers * a[0] * a[0],        vers * a[0] * a[1] - si * a[2],
                        vers * a[0] * a[2] + si * a[1], vers * a[0] * a[1] + si * a[2],
                        co + vers * a[1] * a[1],        vers * a[1] * a[2] - si * a[0],
                        vers * a[0] * a[2] - si * a[1], vers * a[1] * a[2] + si * a[0],
                        co + vers * a[2] * a[2]};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      out->R[3 * r + c] = Q[3 * r] * R0[c] + Q[3 * r + 1] * R0[3 + c] + Q[3 * r + 2] * R0[6 + c];
  for (int c = 0; c < 3; ++c) out->t[c] = t0[c] + s * (t1[c] - t0[c]);
}

LK_FN void obst_pose_at(const obst_view *o, lk_real s, obst_pose *out)
{
  const lk_real at = o->moves ? s : s >= LK_R(0.5) ? LK_R(1.0) : LK_R(0.0);
  obst_pose_between(o->R0, o->R1, o->t0, o->t1, o->axis, o->angle, at, out);
  out->s = s; /* a body that stands still may bend */
}

/* p = R^T (x - t): world point to body frame */
LK_FN void obst_to_body(const obst_pose *P, const lk_real *x, lk_real *p)
{
  const lk_real d[3] = {x[0] - P->t[0], x[1] - P->t[1], x[2] - P->t[2]};
  for (int c = 0; c < 3; ++c) p[c] = P->R[c] * d[0] + P->R[3 + c] * d[1] + P->R[6 + c] * d[2];
}

LK_FN void obst_rotate(const obst_pose *P, const lk_real *v, lk_real *out)
{
  for (int r = 0; r < 3; ++r) out[r] = lk_dot3(P->R + 3 * r, v);
}

LK_FN void obst_to_world(const obst_pose *P, const lk_real *p, lk_real *x)
{
  obst_rotate(P, p, x);
  for (int c = 0; c < 3; ++c) x[c] += P->t[c];
}

/* ---- functions for shapes ---- */

/* n = d / |d|, or `fallback` where d vanishes; returns |d| */
LK_FN lk_real obst_unit(const lk_real *d, const lk_real *fallback, lk_real *n)
{
  const lk_real len = lk_norm3(d);
  for (int c = 0; c < 3; ++c) n[c] = len > LK_R(0.0) ? d[c] / len : fallback[c];
  return len;
}

/* Some unit vector orthogonal to a. */
LK_FN void obst_orthogonal(const lk_real *a, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  const lk_real e[3] = {LK_FABS(a[0]) <= LK_FABS(a[1]) ? LK_R(1.0) : LK_R(0.0),
                        LK_FABS(a[0]) <= LK_FABS(a[1]) ? LK_R(0.0) : LK_R(1.0), LK_R(0.0)};
  lk_real d[3];
  lk_cross3(a, e, d);
  (void)obst_unit(d, up, n);
}

/* C = (P - n n') / r for the diagonal or given projector P [3][3] */
LK_FN void obst_round(const lk_real *P, const lk_real *n, lk_real r, lk_real *C)
{
  const lk_real inv = r > LK_R(0.0) ? LK_R(1.0) / r : LK_R(0.0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C[3 * i + j] = (P[3 * i + j] - n[i] * n[j]) * inv;
}

/* ---- figures of revolution about the z axis: the half plane of p, m = along its radius, along z -
 */

/* Unit vector along the radius of p; on the axis, x. */
LK_FN void obst_radial(const lk_real *p, lk_real *e)
{
  const lk_real x[3] = {LK_R(1.0), LK_R(0.0), LK_R(0.0)}, d[3] = {p[0], p[1], LK_R(0.0)};
  (void)obst_unit(d, x, e);
}

/* n = m in space */
LK_FN void obst_revolved(const lk_real *p, const lk_real *m, lk_real *n)
{
  lk_real e[3];
  obst_radial(p, e);
  n[0] = m[0] * e[0];
  n[1] = m[0] * e[1];
  n[2] = m[1];
}

/* Hessian of a distance with unit gradient m and a level line in the half plane of curvature
 * `bend` (1/m): C = bend t t' + (m0 / radius) a a', t along the line and a around the axis. */
LK_FN void obst_revolved_hess(const lk_real *p, const lk_real *m, lk_real bend, lk_real *C)
{
  const lk_real radius = LK_SQRT(p[0] * p[0] + p[1] * p[1]);
  const lk_real turn = radius > LK_R(0.0) ? m[0] / radius : LK_R(0.0);
  lk_real e[3];
  obst_radial(p, e);
  const lk_real t[3] = {-m[1] * e[0], -m[1] * e[1], m[0]}, a[3] = {-e[1], e[0], LK_R(0.0)};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C[3 * i + j] = bend * t[i] * t[j] + turn * a[i] * a[j];
}

#endif
