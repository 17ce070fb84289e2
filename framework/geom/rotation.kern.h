/* rotation.kern.h - the rotation closest to a 3x3 matrix, without its singular vectors. */
#ifndef LOOM_GEOM_ROTATION_KERN_H
#define LOOM_GEOM_ROTATION_KERN_H

#include "geom/small.kern.h"

/* Below this share of |F|^3 of the denominator of R rounding takes the digits: lk_svd33 then. */
#ifdef LOOM_REAL_FLOAT
#define LK_ROTATION_GATE 3e-2f
#else
#define LK_ROTATION_GATE 1e-3
#endif
enum { LK_ROTATION_STEPS = 24 }; /* of Newton's method; 4 to 8 are usual */

/* The trace l of S in F = R S with the closest rotation R, for |F|^2 = q, det F = d and |cof F|^2 =
 * c: the largest root of
 *   p(l) = l^4 - 2 q l^2 - 8 d l + q^2 - 4 c,
 * of which all roots are real (+-s0 +-s1 +-s2 with an even number of minus signs, s2 with the sign
 * of d).  Newton's method from the bound sqrt(3 q) descends to it, as p is convex there. */
LK_FN lk_real lk_trace_of_stretch(lk_real q, lk_real d, lk_real c)
{
  const lk_real p0 = q * q - LK_R(4.0) * c;
  lk_real l = LK_SQRT(LK_R(3.0) * q);
  LK_ROLLED
  for (int k = 0; k < LK_ROTATION_STEPS; ++k) {
    const lk_real slope = LK_R(4.0) * (l * (l * l - q) - LK_R(2.0) * d);
    const lk_real p = l * (l * (l * l - LK_R(2.0) * q) - LK_R(8.0) * d) + p0;
    if (!(slope > LK_R(0.0))) break;
    const lk_real step = p / slope;
    if (!(step > LK_EPSILON * l)) break;
    l -= step;
  }
  return l;
}

/* R <- R (3 - R'R)/2: twice as many digits of R'R = 1. */
LK_FN void lk_orthonormal_step33(lk_real *R)
{
  lk_real A[9], B[9];
  LK_UNROLL
  for (int i = 0; i < 3; ++i) {
    LK_UNROLL
    for (int j = 0; j < 3; ++j)
      A[3 * i + j] = (i == j ? LK_R(1.5) : LK_R(0.0)) -
                     LK_R(0.5) * (R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j]);
  }
  lk_mul33(R, A, B);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) R[k] = B[k];
}

/* R [3][3], the rotation (det = +1, also for det F < 0) that is closest to F.  R is the gradient of
 * l = tr(R'F) by F, which the derivatives of p(l, F) = 0 give in closed form:
 *   R = ((l^2 + q) F + 2 l cof F - 2 F F'F) / (l^3 - q l - 2 d),
 * with the denominator 2 (s0 + s1) (s0 + s2) (s1 + s2); a step towards R'R = 1 makes the last
 * digits right. Where that is near 0, R jumps, and singular vectors choose it. */
LK_FN void lk_rotation33(const lk_real *F, lk_real *R)
{
  lk_real C[9], G[9], P[9];
  lk_cross3(F + 3, F + 6, C);
  lk_cross3(F + 6, F, C + 3);
  lk_cross3(F, F + 3, C + 6);
  lk_real q = LK_R(0.0), c = LK_R(0.0);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) {
    q += F[k] * F[k];
    c += C[k] * C[k];
  }
  const lk_real d = lk_dot3(F, C), l = lk_trace_of_stretch(q, d, c);
  const lk_real under = l * (l * l - q) - LK_R(2.0) * d;
  if (!(under > LK_ROTATION_GATE * q * LK_SQRT(q))) {
    lk_real U[9], V[9], s[3];
    lk_svd33(F, U, s, V);
    lk_mul33_bt(U, V, R);
    return;
  }
  lk_mul33_bt(F, F, G);
  lk_mul33(G, F, P);
  const lk_real inv = LK_R(1.0) / under;
  LK_UNROLL
  for (int k = 0; k < 9; ++k) R[k] = inv * ((l * l + q) * F[k] + LK_R(2.0) * (l * C[k] - P[k]));
  lk_orthonormal_step33(R);
}

#endif
