/* grid.kern.h - a signed distance on a regular grid, interpolated: dims, origin, spacing, sdf.
 *
 * The normal is the direction of the gradient of the interpolated values; the Hessian jumps from
 * cell to cell. */
#ifndef LOOM_BODIES_GRID_KERN_H
#define LOOM_BODIES_GRID_KERN_H

#include "bodies/body.kern.h"

/* Trilinear value and gradient at p inside the box of the grid. */
LK_FN lk_real grid_value(const obst_view *o, const lk_real *p, lk_real *grad)
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
LK_FN lk_real grid_distance(const obst_view *o, const lk_real *p, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  lk_real q[3], away[3], grad[3];
  for (int c = 0; c < 3; ++c) {
    const lk_real hi = o->origin[c] + o->spacing * (lk_real)(o->dims[c] - 1);
    q[c] = LK_FMIN(LK_FMAX(p[c], o->origin[c]), hi);
    away[c] = p[c] - q[c];
  }
  const lk_real f = grid_value(o, q, grad);
  const lk_real d = lk_norm3(away);
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

/* Mixed second derivatives of the trilinear interpolant, m[0..2] = yz, xz, xy, 1/m; the pure
 * ones vanish.  p lies within the box of the grid. */
LK_FN void grid_mixed(const obst_view *o, const lk_real *p, lk_real *m)
{
  const lk_real inv = LK_R(1.0) / o->spacing;
  const int64_t row = o->dims[0], slab = (int64_t)o->dims[0] * o->dims[1];
  int64_t at = 0;
  lk_real f[3];
  for (int c = 0; c < 3; ++c) { /* the cell as in grid_value() */
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

/* As grid_distance(): value, gradient g, Hessian C. */
LK_FN lk_real grid_hess(const obst_view *o, const lk_real *p, lk_real *g, lk_real *C)
{
  lk_real q[3], away[3], grad[3], m[3];
  for (int c = 0; c < 3; ++c) {
    const lk_real hi = o->origin[c] + o->spacing * (lk_real)(o->dims[c] - 1);
    q[c] = LK_FMIN(LK_FMAX(p[c], o->origin[c]), hi);
    away[c] = p[c] - q[c];
  }
  const lk_real f = grid_value(o, q, grad);
  const lk_real d = lk_norm3(away);
  grid_mixed(o, q, m);
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

#endif
