/* shapes.kern.h - signed distance, normal, derivatives and impact of a body of any shape.
 *
 * Distances are negative inside.  A shape NAME has, in NAME.kern.h and in the body frame,
 *   NAME_distance(o, p, n)   the distance, m; the unit outward normal, 1
 *   NAME_hess(o, p, g, C)    the distance, m; its gradient g [3], 1, and Hessian C [3][3], 1/m
 * A field, the distance to a body that bends within a step, is asked at a share s of it:
 *   NAME_value(o, s, p)      the distance alone
 *   NAME_distance(o, s, p, n), NAME_hess(o, s, p, g, C)
 * Each stands in bodies.def and has its header included here.  Potentials of
 * the distance need its true derivatives; the normal is their direction.  At edges and medial
 * surfaces, where the distance has kinks, they are the derivatives of one side. */
#ifndef LOOM_BODIES_SHAPES_KERN_H
#define LOOM_BODIES_SHAPES_KERN_H

#include "bodies/baked.kern.h"
#include "bodies/bend.kern.h"
#include "bodies/box.kern.h"
#include "bodies/capsule.kern.h"
#include "bodies/capsules.kern.h"
#include "bodies/cylinder.kern.h"
#include "bodies/exact.kern.h"
#include "bodies/grid.kern.h"
#include "bodies/neural.kern.h"
#include "bodies/plane.kern.h"
#include "bodies/sphere.kern.h"
#include "bodies/torus.kern.h"

enum {
#define BODY_SHAPE(name) BODY_SHAPE_##name,
#include "bodies/bodies.def"
  BODY_NUM_SHAPES,
  BODY_BEFORE_FIELDS = BODY_NUM_SHAPES - 1,
#define BODY_FIELD_SHAPE(name) BODY_SHAPE_##name,
#include "bodies/bodies.def"
};

/* Which bodies a function is made for, a constant: a field, or one of these.  Kernels that launch
 * for one family hold only its data: fields need many times the registers and the
 * stack of a ball. */
enum { OBST_ANY = -1, OBST_RIGID = -2 };

/* Whether its distance takes many points at once (neural_many()). */
LK_FN int obst_takes_many(const obst_view *o)
{
  return o->shape == BODY_SHAPE_neural || o->shape == BODY_SHAPE_neural_wide;
}

/* Whether the body bends in a step. */
LK_FN int obst_bends(const obst_view *o) { return o->shape >= BODY_NUM_SHAPES; }

LK_FN int obst_is_of(int32_t family, const obst_view *o)
{
  return family == OBST_ANY || (family == OBST_RIGID ? !obst_bends(o) : o->shape == family);
}

/* Body frame, share s of the step: signed distance, m; n [3] unit normal.  Of no shape: infinitely
 * far. */
LK_FN lk_real obst_distance_in(int32_t family, const obst_view *o, lk_real s, const lk_real *p,
                               lk_real *n)
{
  switch (family < 0 ? o->shape : family) {
#define BODY_SHAPE(name)  \
  case BODY_SHAPE_##name: \
    return name##_distance(o, p, n);
#include "bodies/bodies.def"
#define BODY_FIELD_SHAPE(name)       \
  case BODY_SHAPE_##name:            \
    if (family == OBST_RIGID) break; \
    return name##_distance(o, s, p, n);
#include "bodies/bodies.def"
  default:
    break;
  }
  n[0] = n[1] = n[2] = LK_R(0.0);
  return LK_REAL_MAX;
}

LK_FN lk_real obst_distance_at(const obst_view *o, lk_real s, const lk_real *p, lk_real *n)
{
  return obst_distance_in(OBST_ANY, o, s, p, n);
}

/* Of the same bits, without the normal. */
LK_FN lk_real obst_value_in(int32_t family, const obst_view *o, lk_real s, const lk_real *p)
{
  lk_real n[3];
  switch (family < 0 ? o->shape : family) {
#define BODY_FIELD_SHAPE(name)       \
  case BODY_SHAPE_##name:            \
    if (family == OBST_RIGID) break; \
    return name##_value(o, s, p);
#include "bodies/bodies.def"
  default:
    break;
  }
  return obst_distance_in(OBST_RIGID, o, s, p, n);
}

/* At the end of the step. */
LK_FN lk_real obst_distance_body(const obst_view *o, const lk_real *p, lk_real *n)
{
  return obst_distance_at(o, LK_R(1.0), p, n);
}

/* Body frame, share s of the step: signed distance, m; g [3], 1; C [3][3], 1/m. */
LK_FN lk_real obst_hess_in(int32_t family, const obst_view *o, lk_real s, const lk_real *p,
                           lk_real *g, lk_real *C)
{
  switch (family < 0 ? o->shape : family) {
#define BODY_SHAPE(name)  \
  case BODY_SHAPE_##name: \
    return name##_hess(o, p, g, C);
#include "bodies/bodies.def"
#define BODY_FIELD_SHAPE(name)       \
  case BODY_SHAPE_##name:            \
    if (family == OBST_RIGID) break; \
    return name##_hess(o, s, p, g, C);
#include "bodies/bodies.def"
  default:
    break;
  }
  for (int c = 0; c < 3; ++c) g[c] = LK_R(0.0);
  for (int c = 0; c < 9; ++c) C[c] = LK_R(0.0);
  return LK_REAL_MAX;
}

LK_FN lk_real obst_hess_at(const obst_view *o, lk_real s, const lk_real *p, lk_real *g, lk_real *C)
{
  return obst_hess_in(OBST_ANY, o, s, p, g, C);
}

/* Signed distance (m) and outward normal at world point x of the body at pose P. */
LK_FN lk_real obst_distance_of(int32_t family, const obst_view *o, const obst_pose *P,
                               const lk_real *x, lk_real *n)
{
  lk_real p[3], nb[3];
  obst_to_body(P, x, p);
  const lk_real f = obst_distance_in(family, o, P->s, p, nb);
  obst_rotate(P, nb, n);
  return f;
}

LK_FN lk_real obst_distance(const obst_view *o, const obst_pose *P, const lk_real *x, lk_real *n)
{
  return obst_distance_of(OBST_ANY, o, P, x, n);
}

LK_FN lk_real obst_value_of(int32_t family, const obst_view *o, const obst_pose *P,
                            const lk_real *x)
{
  lk_real p[3];
  obst_to_body(P, x, p);
  return obst_value_in(family, o, P->s, p);
}

/* World frame, body at pose P. */
LK_FN lk_real obst_hess_of(int32_t family, const obst_view *o, const obst_pose *P, const lk_real *x,
                           lk_real *g, lk_real *C)
{
  lk_real p[3], gb[3], Cb[9], M[9];
  obst_to_body(P, x, p);
  const lk_real f = obst_hess_in(family, o, P->s, p, gb, Cb);
  obst_rotate(P, gb, g);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      M[3 * r + c] =
          P->R[3 * r] * Cb[c] + P->R[3 * r + 1] * Cb[3 + c] + P->R[3 * r + 2] * Cb[6 + c];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) C[3 * r + c] = lk_dot3(M + 3 * r, P->R + 3 * c);
  return f;
}

LK_FN lk_real obst_hess(const obst_view *o, const obst_pose *P, const lk_real *x, lk_real *g,
                        lk_real *C)
{
  return obst_hess_of(OBST_ANY, o, P, x, g, C);
}

/* to: world position at s1 of the material point of the body that is at x at s0; v [3], or NULL: a
 * direction that turns with it. */
LK_FN void obst_carry_of(int32_t family, const obst_view *o, lk_real s0, lk_real s1,
                         const lk_real *x, lk_real *to, lk_real *v)
{
  obst_pose P0, P1;
  lk_real p[3], q[3], u[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  obst_pose_at(o, s0, &P0);
  obst_pose_at(o, s1, &P1);
  obst_to_body(&P0, x, p);
  for (int c = 0; c < 3; ++c) q[c] = p[c];
  for (int c = 0; c < 3 && v != NULL; ++c)
    u[c] = P0.R[c] * v[0] + P0.R[3 + c] * v[1] + P0.R[6 + c] * v[2];
  if (family != OBST_RIGID && obst_bends(o)) bend_carry(o, s0, s1, p, q, v != NULL ? u : NULL);
  obst_to_world(&P1, q, to);
  if (v != NULL) obst_rotate(&P1, u, v);
}

LK_FN void obst_carry(const obst_view *o, lk_real s0, lk_real s1, const lk_real *x, lk_real *to,
                      lk_real *v)
{
  obst_carry_of(OBST_ANY, o, s0, s1, x, to, v);
}

/* Displacement over the step of the body's material point that is at x (world) at s = 1. */
LK_FN void obst_displacement(const obst_view *o, const lk_real *x, lk_real *d)
{
  lk_real start[3];
  obst_carry(o, LK_R(1.0), LK_R(0.0), x, start, NULL);
  for (int c = 0; c < 3; ++c) d[c] = o->moves || obst_bends(o) ? x[c] - start[c] : LK_R(0.0);
}

/* ---- impact ---- */

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
 * p = R^T (x - t)), so the distance, which has a gradient no longer than L, needs g / (L V).
 * A body that bends adds to V how far any point of it moves.  For convex shapes the distance lies
 * above its tangent plane as well: g(s + d) >= g + d n.p' - K d^2 / 2. */
LK_FN lk_real obst_safe_step(const obst_view *o, int convex, lk_real g, lk_real rate, lk_real V,
                             lk_real K)
{
  const lk_real far = LK_R(4.0); /* beyond any path */
  lk_real d = V * o->lipschitz * far > g ? g / (V * o->lipschitz) : far;
  if (convex) {
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
LK_FN lk_real obst_impact_of(int32_t family, const obst_view *o, const obst_path *w)
{
  lk_real c[3], turn[3], q0[3], q1[3], t = LK_R(0.0);
  const lk_real share = o->moves ? w->s1 - w->s0 : LK_R(0.0);
  const int convex = family < 0 && o->convex; /* no field is: their kernels need no normal here */
  for (int k = 0; k < 3; ++k) {
    const lk_real way = o->t1[k] - o->t0[k];
    c[k] = w->x1[k] - w->x0[k] - share * way;
    turn[k] = share * o->angle * o->axis[k];
    q0[k] = w->x0[k] - (o->t0[k] + w->s0 * way);
    q1[k] = w->x1[k] - (o->t0[k] + w->s1 * way);
  }
  const lk_real bend = LK_FABS(w->s1 - w->s0) * o->sweep;
  const lk_real w1 = lk_norm3(turn), c1 = lk_norm3(c);
  const lk_real reach = LK_SQRT(LK_FMAX(lk_dot3(q0, q0), lk_dot3(q1, q1)));
  const lk_real V = c1 + w1 * reach + bend, K = LK_R(2.0) * w1 * c1 + w1 * w1 * reach;
  for (int i = 0; i < w->max_iters; ++i) {
    obst_pose P;
    lk_real x[3], n[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, q[3], wq[3], rate = LK_R(0.0);
    obst_pose_at(o, w->s0 + t * (w->s1 - w->s0), &P);
    for (int k = 0; k < 3; ++k) {
      x[k] = w->x0[k] + t * (w->x1[k] - w->x0[k]);
      q[k] = x[k] - P.t[k];
    }
    const lk_real f =
        convex ? obst_distance_of(family, o, &P, x, n) : obst_value_of(family, o, &P, x);
    const lk_real g = f - w->radius - w->floor;
    if (!(g > w->tol)) return t; /* also a NaN stops here */
    lk_cross3(turn, q, wq);
    for (int k = 0; k < 3; ++k) rate += n[k] * (c[k] - wq[k]);
    t += obst_safe_step(o, convex, g, rate, V, K);
    if (t >= LK_R(1.0)) return LK_R(2.0);
  }
  return t;
}

LK_FN lk_real obst_impact(const obst_view *o, const obst_path *w)
{
  return obst_impact_of(OBST_ANY, o, w);
}

#endif
