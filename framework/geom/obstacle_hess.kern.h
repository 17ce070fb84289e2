/* obstacle_hess.kern.h - gradient and Hessian of the signed distance to an obstacle.
 *
 * obst_distance() gives the unit normal, which for grids is only the direction of the
 * gradient of what is interpolated; potentials of the distance need its true derivatives.
 * At edges and medial surfaces, where the distance has kinks, the derivatives are those of
 * one side; the Hessian of grids jumps from cell to cell. */
#ifndef LOOM_OBSTACLE_HESS_KERN_H
#define LOOM_OBSTACLE_HESS_KERN_H

#include "geom/obstacle.kern.h"

/* C = (P - n n') / r for the diagonal or given projector P [3][3] */
LK_FN void obst_round(const lk_real *P, const lk_real *n, lk_real r, lk_real *C)
{
  const lk_real inv = r > LK_R(0.0) ? LK_R(1.0) / r : LK_R(0.0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C[3 * i + j] = (P[3 * i + j] - n[i] * n[j]) * inv;
}

/* Mixed second derivatives of the trilinear interpolant, m[0..2] = yz, xz, xy, 1/m; the pure
 * ones vanish.  p lies within the box of the grid. */
LK_FN void obst_trilinear_mixed(const obst_view *o, const lk_real *p, lk_real *m)
{
  const lk_real inv = LK_R(1.0) / o->spacing;
  const int64_t row = o->dims[0], slab = (int64_t)o->dims[0] * o->dims[1];
  int64_t at = 0;
  lk_real f[3];
  for (int c = 0; c < 3; ++c) { /* the cell as in obst_trilinear() */
    const lk_real u = (p[c] - o->origin[c]) * inv;
    const lk_real last = (lk_real)(o->dims[c] - 2);
    const lk_real cell = LK_FMIN(LK_FMAX(LK_FLOOR(u), LK_R(0.0)), last);
    f[c] = LK_FMIN(LK_FMAX(u - cell, LK_R(0.0)), LK_R(1.0));
    at += (int64_t)cell * (c == 0 ? 1 : c == 1 ? row : slab);
  }
  const lk_real *const a = o->sdf + at, *const b = a + row, *const c = a + slab,
                       *const d = b + slab;
  const lk_real ax = a[1] - a[0], bx = b[1] - b[0], cx = c[1] - c[0], dx = d[1] - d[0];
  const lk_real ay = b[0] - a[0], cy = d[0] - c[0];
  const lk_real low_xy = bx - ax, high_xy = dx - cx;
  m[2] = inv * inv * (low_xy + f[2] * (high_xy - low_xy));
  m[1] = inv * inv * (cx - ax + f[1] * ((dx - bx) - (cx - ax)));
  m[0] = inv * inv * (cy - ay + f[0] * (high_xy - low_xy));
}

/* As obst_grid(): value, gradient g, Hessian C. */
LK_FN lk_real obst_grid_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  lk_real q[3], away[3], grad[3], m[3];
  for (int c = 0; c < 3; ++c) {
    const lk_real hi = o->origin[c] + o->spacing * (lk_real)(o->dims[c] - 1);
    q[c] = LK_FMIN(LK_FMAX(p[c], o->origin[c]), hi);
    away[c] = p[c] - q[c];
  }
  const lk_real f = obst_trilinear(o, q, grad);
  const lk_real d = LK_SQRT(obst_dot(away, away));
  obst_trilinear_mixed(o, q, m);
  for (int c = 0; c < 3; ++c) /* only along the box does q move with p */
    if (away[c] != LK_R(0.0)) {
      grad[c] = LK_R(0.0);
      m[(c + 1) % 3] = m[(c + 2) % 3] = LK_R(0.0);
    }
  const lk_real X[9] = {LK_R(0.0), m[2], m[1], m[2], LK_R(0.0), m[0], m[1], m[0], LK_R(0.0)};
  if (d <= LK_R(0.0)) {
    for (int c = 0; c < 3; ++c) g[c] = grad[c];
    for (int i = 0; i < 9; ++i) C[i] = X[i];
    return f;
  }
  const int near_side = f <= LK_R(0.0);
  const lk_real F = near_side ? f + d : LK_SQRT(d * d + f * f);
  for (int c = 0; c < 3; ++c)
    g[c] = near_side ? away[c] / d + grad[c] : (away[c] + f * grad[c]) / F;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const lk_real out = i == j && away[i] != LK_R(0.0) ? LK_R(1.0) : LK_R(0.0);
      C[3 * i + j] = near_side ? (out - away[i] * away[j] / (d * d)) / d + X[3 * i + j]
                               : (out + grad[i] * grad[j] + f * X[3 * i + j] - g[i] * g[j]) / F;
    }
  return F;
}

/* Body frame: signed distance, m; g [3], 1; C [3][3], 1/m. */
LK_FN lk_real obst_hess_body(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  lk_real P[9];
  for (int i = 0; i < 9; ++i) P[i] = i % 4 == 0 ? LK_R(1.0) : LK_R(0.0);
  if (o->kind == LOOM_OBST_SDF) return obst_grid_hess(o, p, g, C);
  const lk_real f = obst_distance_body(o, p, g);
  for (int i = 0; i < 9; ++i) C[i] = LK_R(0.0);
  if (o->kind == LOOM_OBST_SPHERE) obst_round(P, g, f + o->shape[3], C);
  if (o->kind == LOOM_OBST_CAPSULE) {
    lk_real a[3], len2 = LK_R(0.0), u = LK_R(0.0);
    for (int c = 0; c < 3; ++c) {
      a[c] = o->shape[3 + c] - o->shape[c];
      len2 += a[c] * a[c];
      u += a[c] * (p[c] - o->shape[c]);
    }
    if (u > LK_R(0.0) && u < len2) /* beside the cylinder */
      for (int i = 0; i < 9; ++i) P[i] -= a[i / 3] * a[i % 3] / len2;
    obst_round(P, g, f + o->shape[6], C);
  }
  if (o->kind == LOOM_OBST_BOX) {
    int outside = 0;
    for (int c = 0; c < 3; ++c) {
      const int beyond = LK_FABS(p[c]) > o->shape[c] - o->shape[3];
      P[4 * c] = beyond ? LK_R(1.0) : LK_R(0.0);
      outside |= beyond;
    }
    if (outside) obst_round(P, g, f + o->shape[3], C);
  }
  return f;
}

/* World frame, body at pose P. */
LK_FN lk_real obst_hess(const obst_view *o, const obst_pose *P, const lk_real *x, lk_real *g,
                        lk_real *C)
{
  lk_real p[3], gb[3], Cb[9], M[9];
  obst_to_body(P, x, p);
  const lk_real f = obst_hess_body(o, p, gb, Cb);
  obst_rotate(P, gb, g);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      M[3 * r + c] =
          P->R[3 * r] * Cb[c] + P->R[3 * r + 1] * Cb[3 + c] + P->R[3 * r + 2] * Cb[6 + c];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) C[3 * r + c] = obst_dot(M + 3 * r, P->R + 3 * c);
  return f;
}

#endif
