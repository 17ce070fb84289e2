/* obstacle.kern.h - signed distance, outward normal, motion and impact of obstacles.
 *
 * Kernels take an array of obst_view, filled on the host by obst_view_fill().  Distances
 * are negative inside.  All shapes but the grid are convex and their distance is exact.
 *
 * Motion within a step, the same everywhere: at s in [0,1] the body's pose is
 *   R(s) = Rot(axis, s angle) R0,   t(s) = t0 + s (t1 - t0),
 * that is, the origin of the body frame moves on a straight line at constant speed while
 * the body turns about it at constant angular velocity, the short way round. */
#ifndef LOOM_OBSTACLE_KERN_H
#define LOOM_OBSTACLE_KERN_H

#include "loom/kernel.h"
#include "loom/scene.h"

enum {
  LOOM_OBST_PLANE = 0,
  LOOM_OBST_SPHERE = 1,
  LOOM_OBST_SDF = 2,
  LOOM_OBST_MESH = 3,
  LOOM_OBST_BOX = 5,
  LOOM_OBST_CAPSULE = 6
};

typedef struct obst_view {
  int32_t kind;       /* LOOM_OBST_*; a MESH with a grid is LOOM_OBST_SDF here */
  int32_t convex;     /* 1: the distance is a convex function of position */
  int32_t moves;      /* 1: the poses at both ends differ */
  int32_t dims[3];    /* grid nodes */
  lk_real origin[3];  /* m, body frame, node (0,0,0) */
  lk_real spacing;    /* m */
  lk_real shape[8];   /* as loom_obstacle.shape */
  lk_real lipschitz;  /* bound of the length of the distance's gradient, 1 */
  lk_real friction;   /* Coulomb coefficient, 1 */
  lk_real R0[9];      /* body to world at s = 0 and 1, row-major */
  lk_real R1[9];      /* = Rot(axis, angle) R0 */
  lk_real t0[3];      /* m */
  lk_real t1[3];      /* m */
  lk_real axis[3];    /* world frame, unit */
  lk_real angle;      /* rad, in [0, pi] */
  const lk_real *sdf; /* grid: [dims2][dims1][dims0], m, in execution memory */
} obst_view;

typedef struct obst_pose {
  lk_real R[9];
  lk_real t[3]; /* m */
} obst_pose;

LK_FN lk_real obst_dot(const lk_real *a, const lk_real *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

LK_FN void obst_cross(lk_real *out, const lk_real *a, const lk_real *b)
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- poses --------------------------------------------------------------------------- */

LK_FN void obst_pose_at(const obst_view *o, lk_real s, obst_pose *out)
{
  if (s <= LK_R(0.0) || s >= LK_R(1.0) || !o->moves) { /* the ends exactly */
    const int end = s >= LK_R(0.5);
    for (int i = 0; i < 9; ++i) out->R[i] = end ? o->R1[i] : o->R0[i];
    for (int c = 0; c < 3; ++c) out->t[c] = end ? o->t1[c] : o->t0[c];
    return;
  }
  const lk_real si = LK_SIN(s * o->angle), co = LK_COS(s * o->angle), vers = LK_R(1.0) - co;
  const lk_real *const a = o->axis;
  const lk_real Q[9] = {co + vers * a[0] * a[0],        vers * a[0] * a[1] - si * a[2],
                        vers * a[0] * a[2] + si * a[1], vers * a[0] * a[1] + si * a[2],
                        co + vers * a[1] * a[1],        vers * a[1] * a[2] - si * a[0],
                        vers * a[0] * a[2] - si * a[1], vers * a[1] * a[2] + si * a[0],
                        co + vers * a[2] * a[2]};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      out->R[3 * r + c] =
          Q[3 * r] * o->R0[c] + Q[3 * r + 1] * o->R0[3 + c] + Q[3 * r + 2] * o->R0[6 + c];
  for (int c = 0; c < 3; ++c) out->t[c] = o->t0[c] + s * (o->t1[c] - o->t0[c]);
}

/* p = R^T (x - t): world point to body frame */
LK_FN void obst_to_body(const obst_pose *P, const lk_real *x, lk_real *p)
{
  const lk_real d[3] = {x[0] - P->t[0], x[1] - P->t[1], x[2] - P->t[2]};
  for (int c = 0; c < 3; ++c) p[c] = P->R[c] * d[0] + P->R[3 + c] * d[1] + P->R[6 + c] * d[2];
}

LK_FN void obst_rotate(const obst_pose *P, const lk_real *v, lk_real *out)
{
  for (int r = 0; r < 3; ++r) out[r] = obst_dot(P->R + 3 * r, v);
}

LK_FN void obst_to_world(const obst_pose *P, const lk_real *p, lk_real *x)
{
  obst_rotate(P, p, x);
  for (int c = 0; c < 3; ++c) x[c] += P->t[c];
}

/* Displacement over the step of the body's material point that is at x (world) at s = 1. */
LK_FN void obst_displacement(const obst_view *o, const lk_real *x, lk_real *d)
{
  obst_pose P0, P1;
  lk_real p[3], start[3];
  obst_pose_at(o, LK_R(0.0), &P0);
  obst_pose_at(o, LK_R(1.0), &P1);
  obst_to_body(&P1, x, p);
  obst_to_world(&P0, p, start);
  for (int c = 0; c < 3; ++c) d[c] = o->moves ? x[c] - start[c] : LK_R(0.0);
}

/* ---- shapes, in the body frame: value returned, unit normal in n ------------------------ */

/* n = d / |d|, or `fallback` where d vanishes; returns |d| */
LK_FN lk_real obst_unit(const lk_real *d, const lk_real *fallback, lk_real *n)
{
  const lk_real len = LK_SQRT(obst_dot(d, d));
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
  obst_cross(d, a, e);
  (void)obst_unit(d, up, n);
}

/* Outer half extents shape[0..2]; the edges are rounded by radius shape[3] inside them. */
LK_FN lk_real obst_box(const lk_real *shape, const lk_real *p, lk_real *n)
{
  const lk_real r = shape[3];
  lk_real q[3], out[3], sign[3];
  int widest = 0, outside = 0;
  for (int c = 0; c < 3; ++c) {
    sign[c] = p[c] < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
    q[c] = LK_FABS(p[c]) - (shape[c] - r);
    out[c] = sign[c] * LK_FMAX(q[c], LK_R(0.0));
    if (q[c] > LK_R(0.0)) outside = 1;
    if (q[c] > q[widest]) widest = c;
  }
  for (int c = 0; c < 3; ++c) n[c] = c == widest ? sign[c] : LK_R(0.0);
  if (!outside) return q[widest] - r;
  const lk_real face[3] = {n[0], n[1], n[2]};
  return obst_unit(out, face, n) - r;
}

LK_FN lk_real obst_capsule(const lk_real *shape, const lk_real *p, lk_real *n)
{
  lk_real ab[3], d[3], side[3];
  for (int c = 0; c < 3; ++c) {
    ab[c] = shape[3 + c] - shape[c];
    d[c] = p[c] - shape[c];
  }
  const lk_real ll = obst_dot(ab, ab);
  lk_real u = ll > LK_R(0.0) ? obst_dot(d, ab) / ll : LK_R(0.0);
  u = LK_FMIN(LK_FMAX(u, LK_R(0.0)), LK_R(1.0));
  for (int c = 0; c < 3; ++c) d[c] -= u * ab[c];
  obst_orthogonal(ab, side);
  return obst_unit(d, side, n) - shape[6];
}

/* Trilinear value and gradient at p inside the box of the grid. */
LK_FN lk_real obst_trilinear(const obst_view *o, const lk_real *p, lk_real *grad)
{
  const lk_real inv = LK_R(1.0) / o->spacing;
  const int64_t row = o->dims[0], slab = (int64_t)o->dims[0] * o->dims[1];
  int64_t at = 0;
  lk_real f[3];
  for (int c = 0; c < 3; ++c) {
    const lk_real u = (p[c] - o->origin[c]) * inv;
    const lk_real last = (lk_real)(o->dims[c] - 2);
    const lk_real cell = LK_FMIN(LK_FMAX(LK_FLOOR(u), LK_R(0.0)), last);
    f[c] = LK_FMIN(LK_FMAX(u - cell, LK_R(0.0)), LK_R(1.0));
    at += (int64_t)cell * (c == 0 ? 1 : c == 1 ? row : slab);
  }
  const lk_real *const a = o->sdf + at, *const b = a + row, *const c = a + slab,
                       *const d = b + slab;
  const lk_real ax = a[1] - a[0], bx = b[1] - b[0], cx = c[1] - c[0], dx = d[1] - d[0];
  const lk_real va = a[0] + f[0] * ax, vb = b[0] + f[0] * bx;
  const lk_real vc = c[0] + f[0] * cx, vd = d[0] + f[0] * dx;
  const lk_real low = va + f[1] * (vb - va), high = vc + f[1] * (vd - vc);
  const lk_real gx0 = ax + f[1] * (bx - ax), gx1 = cx + f[1] * (dx - cx);
  grad[0] = inv * (gx0 + f[2] * (gx1 - gx0));
  grad[1] = inv * ((vb - va) + f[2] * ((vd - vc) - (vb - va)));
  grad[2] = inv * (high - low);
  return low + f[2] * (high - low);
}

/* Grid.  Outside its box, with q the nearest point of the box, d = |p - q|, f = value at q:
 * sqrt(d^2 + f^2), a lower bound of the distance as long as the body lies within the grid,
 * because the box is convex (the angle at q is at least 90 degrees).  Where the body
 * reaches the grid's side (f <= 0) it ends there: f + d. */
LK_FN lk_real obst_grid(const obst_view *o, const lk_real *p, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  lk_real q[3], away[3], grad[3];
  for (int c = 0; c < 3; ++c) {
    const lk_real hi = o->origin[c] + o->spacing * (lk_real)(o->dims[c] - 1);
    q[c] = LK_FMIN(LK_FMAX(p[c], o->origin[c]), hi);
    away[c] = p[c] - q[c];
  }
  const lk_real f = obst_trilinear(o, q, grad);
  const lk_real d = LK_SQRT(obst_dot(away, away));
  if (d <= LK_R(0.0)) {
    (void)obst_unit(grad, up, n);
    return f;
  }
  for (int c = 0; c < 3; ++c) {
    const lk_real along = away[c] != LK_R(0.0) ? LK_R(0.0) : grad[c];
    grad[c] = f > LK_R(0.0) ? away[c] + f * along : away[c] / d + along;
  }
  (void)obst_unit(grad, up, n);
  return f > LK_R(0.0) ? LK_SQRT(d * d + f * f) : f + d;
}

LK_FN lk_real obst_distance_body(const obst_view *o, const lk_real *p, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  lk_real d[3];
  switch (o->kind) {
  case LOOM_OBST_PLANE:
    for (int c = 0; c < 3; ++c) n[c] = o->shape[c];
    return obst_dot(n, p) - o->shape[3];
  case LOOM_OBST_SPHERE:
    for (int c = 0; c < 3; ++c) d[c] = p[c] - o->shape[c];
    return obst_unit(d, up, n) - o->shape[3];
  case LOOM_OBST_BOX:
    return obst_box(o->shape, p, n);
  case LOOM_OBST_CAPSULE:
    return obst_capsule(o->shape, p, n);
  default:
    return obst_grid(o, p, n);
  }
}

/* Signed distance (m) and outward normal at world point x of the body at pose P. */
LK_FN lk_real obst_distance(const obst_view *o, const obst_pose *P, const lk_real *x, lk_real *n)
{
  lk_real p[3], nb[3];
  obst_to_body(P, x, p);
  const lk_real f = obst_distance_body(o, p, nb);
  obst_rotate(P, nb, n);
  return f;
}

/* ---- impact ------------------------------------------------------------------------------- */

typedef struct obst_path {
  lk_real x0[3], x1[3]; /* m, straight path of a point */
  lk_real radius;       /* m, of the point */
  lk_real floor;        /* m, gap that counts as impact */
  lk_real tol;          /* m, so much above the floor counts as well */
  lk_real s0, s1;       /* shares of its motion at which the body stands at x0 and x1 */
  int32_t max_iters;
} obst_path;

/* Largest step d for which gap(s + d) > floor is certain, given gap(s) = floor + g.
 *
 * In the body frame the point moves with speed |p'| <= V and |p''| <= K (the derivatives of
 * p = R^T (x - t)), so the distance, whose gradient is no longer than L, needs g / (L V).
 * For convex shapes the distance lies above its tangent plane as well:
 *   g(s + d) >= g + d n.p' - K d^2 / 2. */
LK_FN lk_real obst_safe_step(const obst_view *o, lk_real g, lk_real rate, lk_real V, lk_real K)
{
  const lk_real far = LK_R(4.0); /* beyond any path */
  lk_real d = V * o->lipschitz * far > g ? g / (V * o->lipschitz) : far;
  if (o->convex) {
    const lk_real root = LK_SQRT(rate * rate + LK_R(2.0) * K * g);
    lk_real up = far;
    if (rate < LK_R(0.0))
      up = LK_R(2.0) * g / (root - rate);
    else if (K * far > rate + root)
      up = (rate + root) / K;
    d = LK_FMAX(d, up);
  }
  return d;
}

/* First t in [0,1] at which the point's gap falls to the floor, never later than it really
 * does and at most `tol` above it; 2 if it does not.  0 if it is there at the start.  A
 * search that needs more than max_iters steps ends at the safe t it has reached. */
LK_FN lk_real obst_impact(const obst_view *o, const obst_path *w)
{
  lk_real c[3], turn[3], q0[3], q1[3], t = LK_R(0.0);
  const lk_real share = o->moves ? w->s1 - w->s0 : LK_R(0.0);
  for (int k = 0; k < 3; ++k) {
    const lk_real way = o->t1[k] - o->t0[k];
    c[k] = w->x1[k] - w->x0[k] - share * way;
    turn[k] = share * o->angle * o->axis[k];
    q0[k] = w->x0[k] - (o->t0[k] + w->s0 * way);
    q1[k] = w->x1[k] - (o->t0[k] + w->s1 * way);
  }
  const lk_real w1 = LK_SQRT(obst_dot(turn, turn)), c1 = LK_SQRT(obst_dot(c, c));
  const lk_real reach = LK_SQRT(LK_FMAX(obst_dot(q0, q0), obst_dot(q1, q1)));
  const lk_real V = c1 + w1 * reach, K = LK_R(2.0) * w1 * c1 + w1 * w1 * reach;
  for (int i = 0; i < w->max_iters; ++i) {
    obst_pose P;
    lk_real x[3], n[3], q[3], wq[3], rate = LK_R(0.0);
    obst_pose_at(o, w->s0 + t * (w->s1 - w->s0), &P);
    for (int k = 0; k < 3; ++k) {
      x[k] = w->x0[k] + t * (w->x1[k] - w->x0[k]);
      q[k] = x[k] - P.t[k];
    }
    const lk_real g = obst_distance(o, &P, x, n) - w->radius - w->floor;
    if (!(g > w->tol)) return t; /* also a NaN stops here */
    obst_cross(wq, turn, q);
    for (int k = 0; k < 3; ++k) rate += n[k] * (c[k] - wq[k]);
    t += obst_safe_step(o, g, rate, V, K);
    if (t >= LK_R(1.0)) return LK_R(2.0);
  }
  return t;
}

#endif
