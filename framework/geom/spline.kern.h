/* spline.kern.h - the centre line of a yarn: uniform Catmull-Rom segments.
 *
 * y(u) = sum_a w_a(u) q_a, u in [0,1], runs from q_0 to q_1 with the neighbours q_-1 and q_2
 * (a = 0..3 stands for -1..2).  The end of an open yarn has no neighbour: the reflected point
 * 2 q_0 - q_1 stands for it, and its weight falls to the other two points, so that forces come
 * back to vertices that exist. */
#ifndef LOOM_SPLINE_KERN_H
#define LOOM_SPLINE_KERN_H

#include "loom/kernel.h"

/* w [4], 1: weights of the position at u; they add up to 1. */
LK_FN void spline_weights(lk_real u, lk_real *w)
{
  const lk_real u2 = u * u, u3 = u2 * u;
  w[0] = LK_R(0.5) * (LK_R(2.0) * u2 - u - u3);
  w[1] = LK_R(0.5) * (LK_R(2.0) - LK_R(5.0) * u2 + LK_R(3.0) * u3);
  w[2] = LK_R(0.5) * (u + LK_R(4.0) * u2 - LK_R(3.0) * u3);
  w[3] = LK_R(0.5) * (u3 - u2);
}

/* Weights of the derivative dy/du; they add up to 0. */
LK_FN void spline_slopes(lk_real u, lk_real *w)
{
  const lk_real u2 = u * u;
  w[0] = LK_R(0.5) * (LK_R(4.0) * u - LK_R(1.0) - LK_R(3.0) * u2);
  w[1] = LK_R(0.5) * (LK_R(9.0) * u2 - LK_R(10.0) * u);
  w[2] = LK_R(0.5) * (LK_R(1.0) + LK_R(8.0) * u - LK_R(9.0) * u2);
  w[3] = LK_R(0.5) * (LK_R(3.0) * u2 - LK_R(2.0) * u);
}

/* Control points q [4][3] of a segment, missing ones reflected.  x [n][3] m */
LK_FN void spline_points(const lk_real *x, const int32_t *seg, lk_real *q)
{
  lk_real a[3], b[3];
  LK_LOAD3(a, x, seg[1]);
  LK_LOAD3(b, x, seg[2]);
  for (int c = 0; c < 3; ++c) {
    q[c] = seg[0] < 0 ? LK_R(2.0) * a[c] - b[c] : x[3 * seg[0] + c];
    q[3 + c] = a[c];
    q[6 + c] = b[c];
    q[9 + c] = seg[3] < 0 ? LK_R(2.0) * b[c] - a[c] : x[3 * seg[3] + c];
  }
}

/* y [3] = sum_a w_a q_a over control points q [4][3] */
LK_FN void spline_at(const lk_real *q, const lk_real *w, lk_real *y)
{
  for (int c = 0; c < 3; ++c)
    y[c] = w[0] * q[c] + w[1] * q[3 + c] + w[2] * q[6 + c] + w[3] * q[9 + c];
}

#endif
