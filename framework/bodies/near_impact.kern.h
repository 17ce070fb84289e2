/* near_impact.kern.h - first impact of an edge or a triangle on its way with a body of closed form.
 *
 * The way is certified part by part.  During a part an element's cell lies, but for a drift where
 * the body turns, in the hull of its corners at both ends in the body frame.  With c the hull's
 * middle, R its radius and n the normal at c, f >= f(c) + min n.(p - c) - k R^2 / 2 over its
 * corners p, k = 0 for convex shapes and 1 / (distance from the axis) for a torus.  Small cells
 * lose the square of their size and way, so parts that pass close to the body, or roll on it, stay
 * long. */
#ifndef LOOM_BODIES_NEAR_IMPACT_KERN_H
#define LOOM_BODIES_NEAR_IMPACT_KERN_H

#include "bodies/near.kern.h"

typedef struct near_path {
  int corners;
  lk_real x0[3][3], x1[3][3]; /* m, world, straight paths of the corners */
  lk_real radius;             /* m, of the element */
  lk_real floor, tol;         /* m, as in obst_path */
  lk_real s0, s1;
  int32_t max_iters;
} near_path;

/* Bounds of the corners' speed and acceleration in the body frame, m per unit of t, as in
 * obst_impact_of(). */
LK_FN void near_speeds(const obst_view *o, const near_path *w, lk_real *V, lk_real *K)
{
  const lk_real share = o->moves ? w->s1 - w->s0 : LK_R(0.0);
  const lk_real turn = LK_FABS(share) * o->angle;
  *V = *K = LK_R(0.0);
  for (int k = 0; k < w->corners; ++k) {
    lk_real v[3], q0[3], q1[3];
    for (int c = 0; c < 3; ++c) {
      const lk_real way = o->t1[c] - o->t0[c];
      v[c] = w->x1[k][c] - w->x0[k][c] - share * way;
      q0[c] = w->x0[k][c] - (o->t0[c] + w->s0 * way);
      q1[c] = w->x1[k][c] - (o->t0[c] + w->s1 * way);
    }
    const lk_real own = lk_norm3(v);
    const lk_real reach = LK_SQRT(LK_FMAX(lk_dot3(q0, q0), lk_dot3(q1, q1)));
    *V = LK_FMAX(*V, own + turn * reach);
    *K = LK_FMAX(*K, LK_R(2.0) * turn * own + turn * turn * reach);
  }
}

/* The element at share t of its way, in the frame of the body. */
LK_FN void near_path_at(const obst_view *o, const near_path *w, lk_real t, near_element *e)
{
  obst_pose P;
  e->o = o;
  e->corners = w->corners;
  e->longest = LK_R(0.0);
  obst_pose_at(o, w->s0 + t * (w->s1 - w->s0), &P);
  for (int k = 0; k < w->corners; ++k) {
    lk_real x[3];
    for (int c = 0; c < 3; ++c) x[c] = w->x0[k][c] + t * (w->x1[k][c] - w->x0[k][c]);
    obst_to_body(&P, x, e->p[k]);
  }
}

typedef struct near_span { /* a cell of the element during a part of its way */
  lk_real f;               /* m, at its middle */
  lk_real least;           /* m, lower bound of f over it */
  lk_real size, way;       /* m, how far its middle is from its corners and from both ends */
} near_span;

/* From a to b, which no point's way leaves by more than `drift` (m). */
LK_FN void near_span_of(const near_element *a, const near_element *b, lk_real w[3][3],
                        lk_real drift, near_span *s)
{
  lk_real mid[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, n[3];
  lk_real slope = LK_REAL_MAX, radius = LK_R(0.0);
  for (int i = 0; i < a->corners; ++i)
    for (int k = 0; k < a->corners; ++k)
      for (int c = 0; c < 3; ++c)
        mid[c] += LK_R(0.5) * w[i][k] * (a->p[k][c] + b->p[k][c]) / (lk_real)a->corners;
  s->f = obst_distance_in(OBST_RIGID, a->o, LK_R(1.0), mid, n);
  s->size = s->way = LK_R(0.0);
  for (int i = 0; i < a->corners; ++i) {
    lk_real d[2][3], half[3];
    for (int c = 0; c < 3; ++c) {
      d[0][c] = d[1][c] = -mid[c];
      for (int k = 0; k < a->corners; ++k) {
        d[0][c] += w[i][k] * a->p[k][c];
        d[1][c] += w[i][k] * b->p[k][c];
      }
      half[c] = LK_R(0.5) * (d[1][c] - d[0][c]);
    }
    for (int end = 0; end < 2; ++end) {
      slope = LK_FMIN(slope, lk_dot3(n, d[end]));
      radius = LK_FMAX(radius, lk_norm3(d[end]));
    }
    for (int c = 0; c < 3; ++c) d[0][c] += half[c];
    s->way = LK_FMAX(s->way, lk_norm3(half));
    s->size = LK_FMAX(s->size, lk_norm3(d[0]));
  }
  radius += drift;
  s->least = s->f - radius;
  if (a->o->convex) s->least = LK_FMAX(s->least, s->f + slope - drift);
  if (a->o->convex) return;
  const lk_real off = LK_SQRT(mid[0] * mid[0] + mid[1] * mid[1]) - radius;
  if (off > LK_R(0.0))
    s->least = LK_FMAX(s->least, s->f + slope - drift - LK_R(0.5) * radius * radius / off);
}

/* Whether f certainly stays above `level` (m) all over the element on its way from a to b.  Cells
 * smaller than their way are not halved: a shorter way says more. */
LK_FN_CALLED int near_stays_above(const near_element *a, const near_element *b, lk_real level,
                                  lk_real drift)
{
  const int parts = a->corners == 3 ? 4 : 2;
  uint64_t digits = 0;
  int depth = 0;
  for (int left = NEAR_CELLS; left > 0; --left) {
    lk_real w[3][3];
    near_span s;
    near_cell(a, digits, depth, w);
    near_span_of(a, b, w, drift, &s);
    if (!(s.f > level)) return 0;
    if (!(s.least > level)) {
      if (depth == NEAR_LEVELS || s.size < LK_R(0.25) * s.way) return 0;
      ++depth;
      digits <<= 2;
      continue;
    }
    while (depth > 0 && (int)(digits & 3) == parts - 1) {
      --depth;
      digits >>= 2;
    }
    if (depth == 0) return 1;
    ++digits;
  }
  return 0;
}

/* First t in [0,1] at which the element's gap falls to the floor, as obst_impact_of() has it: never
 * later, and earlier by at most the time the corners take for the tolerance.  Parts of the way are
 * certified one after the other; where one is not, half of it is tried. */
LK_FN lk_real near_impact(const obst_view *o, const near_path *w)
{
  const lk_real level = w->radius + w->floor;
  lk_real V, K, t = LK_R(0.0), d = LK_R(1.0);
  near_element a, b;
  if (!near_sees(o)) return LK_R(2.0);
  near_speeds(o, w, &V, &K);
  near_path_at(o, w, t, &a);
  const lk_real shortest = LK_R(0.25) * LK_FMAX(w->tol, NEAR_SHARE * near_longest(&a));
  for (int i = 0; i < w->max_iters; ++i) {
    const lk_real to = LK_FMIN(t + d, LK_R(1.0));
    d = to - t;
    near_path_at(o, w, to, &b);
    if (near_stays_above(&a, &b, level, K * d * d / LK_R(8.0))) {
      if (to >= LK_R(1.0)) return LK_R(2.0);
      t = to;
      a = b;
      d *= LK_R(2.0);
    } else {
      if (!(d * V > shortest)) return t; /* also a NaN stops here */
      d *= LK_R(0.5);
    }
  }
  return t;
}

#endif
