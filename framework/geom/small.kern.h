/* small.kern.h - dense algebra of 2 to 12 dimensions for kernel bodies.
 *
 * Matrices are row-major; 3x2 matrices are passed as their two columns.  No function
 * allocates.  Iterations have a fixed upper number of sweeps, so every element of a
 * launch does about the same work.  Degenerate input has a documented answer that does
 * not depend on the thread or the backend.
 */
#ifndef LOOM_GEOM_SMALL_KERN_H
#define LOOM_GEOM_SMALL_KERN_H

#include "loom/host.h"
#include "loom/kernel.h"

#ifdef LOOM_REAL_FLOAT
#define LK_EPSILON FLT_EPSILON
#define LK_TINY    1e-12f /* 1/LK_TINY^2 is still a number */
#else
#define LK_EPSILON DBL_EPSILON
#define LK_TINY    1e-100
#endif

/* Loops over at most 12 components, so that arrays stay in registers; loops that stay loops. */
#if defined(__CUDACC__)
#define LK_UNROLL _Pragma("unroll")
#define LK_ROLLED _Pragma("unroll 1")
#else
#define LK_UNROLL _Pragma("GCC unroll 12")
#define LK_ROLLED _Pragma("GCC unroll 1")
#endif

/* ---- vectors ---- */
LK_FN lk_real lk_dot3(const lk_real *a, const lk_real *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

LK_FN void lk_cross3(const lk_real *a, const lk_real *b, lk_real *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

LK_FN void lk_sub3(const lk_real *a, const lk_real *b, lk_real *c)
{
  c[0] = a[0] - b[0];
  c[1] = a[1] - b[1];
  c[2] = a[2] - b[2];
}

LK_FN lk_real lk_norm3(const lk_real *a) { return LK_SQRT(lk_dot3(a, a)); }

/* One unit vector perpendicular to g, the same one every time; e_z for g = 0. */
LK_FN void lk_perp3(const lk_real *g, lk_real *p)
{
  const int xy = LK_FABS(g[0]) > LK_FABS(g[2]);
  const lk_real p0 = xy ? -g[1] : LK_R(0.0);
  const lk_real p1 = xy ? g[0] : -g[2];
  const lk_real p2 = xy ? LK_R(0.0) : g[1];
  const lk_real q = LK_SQRT(p0 * p0 + p1 * p1 + p2 * p2);
  const int zero = !(q > LK_R(0.0));
  const lk_real inv = LK_R(1.0) / (zero ? LK_R(1.0) : q);
  p[0] = zero ? LK_R(0.0) : p0 * inv;
  p[1] = zero ? LK_R(0.0) : p1 * inv;
  p[2] = zero ? LK_R(1.0) : p2 * inv;
}

/* ---- 2x2 and 3x3 ---- */
/* Eigenvalues l[0] >= l[1] of {{a, b}, {b, d}}; the eigenvectors are (c, s) and (-s, c).
 * Half the angle of (h, b), h = (a - d)/2, comes from the larger of its cosine and sine.  This
 * avoids cancellation, and trigonometric functions: their last bit depends on the backend. */
LK_FN void lk_sym2_eig(lk_real a, lk_real b, lk_real d, lk_real *l, lk_real *c, lk_real *s)
{
  const lk_real h = LK_R(0.5) * (a - d), mean = LK_R(0.5) * (a + d);
  const lk_real r = LK_SQRT(h * h + b * b);
  const int isotropic = !(r > LK_R(0.0)); /* any basis will do */
  const lk_real inv = LK_R(1.0) / (isotropic ? LK_R(1.0) : r);
  const lk_real large = LK_SQRT(LK_R(0.5) + LK_R(0.5) * LK_FABS(h) * inv);
  const lk_real small = LK_R(0.5) * b * inv / (isotropic ? LK_R(1.0) : large);
  const lk_real sign = b < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  l[0] = mean + r;
  l[1] = mean - r;
  *c = isotropic ? LK_R(1.0) : h < LK_R(0.0) ? LK_FABS(small) : large;
  *s = h < LK_R(0.0) ? sign * large : small;
}

LK_FN void lk_mul33(const lk_real *A, const lk_real *B, lk_real *C) /* C = A B */
{
  LK_UNROLL
  for (int i = 0; i < 3; ++i) {
    LK_UNROLL
    for (int j = 0; j < 3; ++j)
      C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
  }
}

LK_FN void lk_mul33_bt(const lk_real *A, const lk_real *B, lk_real *C) /* C = A B' */
{
  LK_UNROLL
  for (int i = 0; i < 3; ++i) {
    LK_UNROLL
    for (int j = 0; j < 3; ++j) C[3 * i + j] = lk_dot3(A + 3 * i, B + 3 * j);
  }
}

LK_FN lk_real lk_det33(const lk_real *A)
{
  lk_real c[3];
  lk_cross3(A + 3, A + 6, c);
  return lk_dot3(A, c);
}

/* The largest sum of |entries| in a row, which bounds how A enlarges the largest component. */
LK_FN lk_real lk_row_norm33(const lk_real *A)
{
  lk_real most = LK_R(0.0);
  for (int r = 0; r < 3; ++r)
    most = LK_FMAX(most, LK_FABS(A[3 * r]) + LK_FABS(A[3 * r + 1]) + LK_FABS(A[3 * r + 2]));
  return most;
}

/* B = A^-1; returns det A, and leaves B alone if that is 0. */
LK_FN lk_real lk_inv33(const lk_real *A, lk_real *B)
{
  lk_real c0[3], c1[3], c2[3];
  lk_cross3(A + 3, A + 6, c0);
  lk_cross3(A + 6, A, c1);
  lk_cross3(A, A + 3, c2);
  const lk_real det = lk_dot3(A, c0);
  if (det == LK_R(0.0)) return det;
  const lk_real f = LK_R(1.0) / det;
  for (int i = 0; i < 3; ++i) {
    B[3 * i] = c0[i] * f;
    B[3 * i + 1] = c1[i] * f;
    B[3 * i + 2] = c2[i] * f;
  }
  return det;
}

/* ---- 3x2: plane and polar decomposition ---- */
/* Unit normal n of the plane of the columns f0, f1; returns |f0 x f1| = s1 s2.
 * Columns that are parallel within rounding span no plane: then n is a fixed choice
 * among the unit vectors perpendicular to the longer one, and 0 is returned.  n is
 * always perpendicular to the longer column, to rounding. */
LK_FN lk_real lk_normal32(const lk_real *f0, const lk_real *f1, lk_real *n)
{
  lk_real c[3], g[3], p[3];
  lk_cross3(f0, f1, c);
  const lk_real q0 = lk_dot3(f0, f0), q1 = lk_dot3(f1, f1), s = lk_norm3(c);
  const int first = q0 >= q1;
  const int flat = !(s > LK_R(16.0) * LK_EPSILON * (q0 + q1));
  g[0] = first ? f0[0] : f1[0];
  g[1] = first ? f0[1] : f1[1];
  g[2] = first ? f0[2] : f1[2];
  lk_perp3(g, p);
  c[0] = flat ? p[0] : c[0];
  c[1] = flat ? p[1] : c[1];
  c[2] = flat ? p[2] : c[2];
  const lk_real q = first ? q0 : q1;
  const lk_real k = q > LK_R(0.0) ? lk_dot3(c, g) / q : LK_R(0.0);
  n[0] = c[0] - k * g[0];
  n[1] = c[1] - k * g[1];
  n[2] = c[2] - k * g[2];
  const lk_real inv = LK_R(1.0) / lk_norm3(n);
  n[0] *= inv;
  n[1] *= inv;
  n[2] *= inv;
  return flat ? LK_R(0.0) : s;
}

/* Closest isometry R (columns r0, r1) of F = R S: with n as above and
 * tau = tr S = sqrt(|F|^2 + 2 s1 s2),   R = (F + [f1 x n, n x f0]) / tau.
 * This is F S^-1 with S^-1 = adj(S)/det(S) and S = (F'F + s1 s2 I)/tau, where the
 * division by the small number det(S) has cancelled.  F = 0 gives R = [e_x, e_y]. */
typedef struct lk_polar32 {
  lk_real r0[3], r1[3], n[3];
  lk_real det, tau; /* s1 s2 and s1 + s2 of the singular values s1 >= s2 >= 0 */
} lk_polar32;

LK_FN void lk_polar32_of(const lk_real *f0, const lk_real *f1, lk_polar32 *P)
{
  lk_real a[3], b[3];
  P->det = lk_normal32(f0, f1, P->n);
  P->tau = LK_SQRT(lk_dot3(f0, f0) + lk_dot3(f1, f1) + LK_R(2.0) * P->det);
  lk_cross3(f1, P->n, a);
  lk_cross3(P->n, f0, b);
  const int zero = !(P->tau > LK_R(0.0));
  const lk_real inv = LK_R(1.0) / (zero ? LK_R(1.0) : P->tau);
  P->r0[0] = zero ? LK_R(1.0) : (f0[0] + a[0]) * inv;
  P->r0[1] = (f0[1] + a[1]) * inv;
  P->r0[2] = (f0[2] + a[2]) * inv;
  P->r1[0] = (f1[0] + b[0]) * inv;
  P->r1[1] = zero ? LK_R(1.0) : (f1[1] + b[1]) * inv;
  P->r1[2] = (f1[2] + b[2]) * inv;
}

/* ---- symmetric n x n ---- */
/* The part of a kernel's room behind its first k numbers. */
LK_FN lk_room lk_room_behind(lk_room r, lk_int k)
{
  r.at += r.stride * k;
  return r;
}

/* An eigenvalue as a Hessian treatment wants it. */
LK_FN lk_real lk_psd(lk_real l, int how)
{
  if (how == LOOM_HESS_PSD_CLAMP) return LK_FMAX(l, LK_R(0.0));
  return how == LOOM_HESS_PSD_ABS ? LK_FABS(l) : l;
}

/* lk_sym_eig, lk_sym_definite, lk_sym_psd: unrolled, for n <= 5: matrices in registers. */
#define LK_SYM(name)    lk_sym_##name
#define LK_SYM_LOOP     LK_UNROLL
#define LK_SYM_MATRIX   lk_real *
#define LK_SYM_CONST    const lk_real *
#define LK_SYM_AT(A, k) A[k]
#include "geom/sym_body.kern.h"

/* lk_sym_eig_rolled, ...: as loops, for larger n, up to 12, with matrices in a kernel's room, as no
 * thread has registers for them.  Unrolled, 66 rotations of 12 rows make half a minute of
 * compilation for each kernel, and code that no instruction cache holds. */
#define LK_SYM(name)    lk_sym_##name##_rolled
#define LK_SYM_LOOP     LK_ROLLED
#define LK_SYM_MATRIX   lk_room
#define LK_SYM_CONST    lk_room
#define LK_SYM_AT(A, k) LK_SCRATCH(A, k)
#include "geom/sym_body.kern.h"

/* ---- 3x3 singular values ---- */
/* Exchange columns i and j of M, one of them negated: keeps the determinant. */
LK_FN void lk_swap_columns33(lk_real *M, int i, int j)
{
  LK_UNROLL
  for (int r = 0; r < 3; ++r) {
    const lk_real t = M[3 * r + i];
    M[3 * r + i] = M[3 * r + j];
    M[3 * r + j] = -t;
  }
}

LK_FN lk_real lk_column_sq33(const lk_real *M, int j)
{
  return M[j] * M[j] + M[3 + j] * M[3 + j] + M[6 + j] * M[6 + j];
}

/* F = U diag(s) V' with rotations U, V (det = +1) and s[0] >= s[1] >= |s[2]|; s[2] has
 * the sign of det F.  Hestenes' one-sided Jacobi: V is built from rotations that make
 * the columns of F V orthogonal, which keeps small singular values accurate.  Where
 * columns vanish, U is completed by a fixed choice of perpendicular vectors. */
LK_FN void lk_svd33(const lk_real *F, lk_real *U, lk_real *s, lk_real *V)
{
  lk_real B[9], u0[3], u1[3], u2[3];
  LK_UNROLL
  for (int i = 0; i < 9; ++i) {
    B[i] = F[i];
    V[i] = i % 4 == 0 ? LK_R(1.0) : LK_R(0.0);
  }
  for (int sweep = 0; sweep < 8; ++sweep) {
    LK_UNROLL
    for (int pair = 0; pair < 3; ++pair) {
      const int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2;
      const lk_real app = lk_column_sq33(B, p), aqq = lk_column_sq33(B, q);
      const lk_real apq = B[p] * B[q] + B[3 + p] * B[3 + q] + B[6 + p] * B[6 + q];
      if (!(LK_FABS(apq) > LK_R(0.25) * LK_EPSILON * LK_SQRT(app) * LK_SQRT(aqq))) continue;
      const lk_real tau = (aqq - app) / (LK_R(2.0) * apq);
      const lk_real root = LK_FABS(tau) + LK_SQRT(LK_R(1.0) + tau * tau);
      const lk_real t = (tau >= LK_R(0.0) ? LK_R(1.0) : LK_R(-1.0)) / root;
      const lk_real c = LK_R(1.0) / LK_SQRT(LK_R(1.0) + t * t), sn = t * c;
      LK_UNROLL
      for (int r = 0; r < 3; ++r) {
        const lk_real bp = B[3 * r + p], bq = B[3 * r + q];
        const lk_real vp = V[3 * r + p], vq = V[3 * r + q];
        B[3 * r + p] = c * bp - sn * bq;
        B[3 * r + q] = sn * bp + c * bq;
        V[3 * r + p] = c * vp - sn * vq;
        V[3 * r + q] = sn * vp + c * vq;
      }
    }
  }
  LK_UNROLL
  for (int pass = 0; pass < 3; ++pass) { /* descending column lengths */
    const int i = pass == 1 ? 1 : 0, j = i + 1;
    if (lk_column_sq33(B, i) < lk_column_sq33(B, j)) {
      lk_swap_columns33(B, i, j);
      lk_swap_columns33(V, i, j);
    }
  }
  /* u0 along the longest column, u1 from the next, u2 = u0 x u1: s[2] gets its sign */
  u0[0] = B[0], u0[1] = B[3], u0[2] = B[6];
  s[0] = lk_norm3(u0);
  const int none = !(s[0] > LK_R(0.0));
  const lk_real i0 = LK_R(1.0) / (none ? LK_R(1.0) : s[0]);
  u0[0] = none ? LK_R(1.0) : u0[0] * i0;
  u0[1] *= i0;
  u0[2] *= i0;
  u1[0] = B[1], u1[1] = B[4], u1[2] = B[7];
  const lk_real k = lk_dot3(u1, u0);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) u1[c] -= k * u0[c];
  s[1] = lk_norm3(u1);
  if (s[1] > LK_R(4.0) * LK_EPSILON * s[0]) {
    const lk_real i1 = LK_R(1.0) / s[1], k2 = lk_dot3(u1, u0);
    LK_UNROLL
    for (int c = 0; c < 3; ++c) u1[c] = (u1[c] - k2 * u0[c]) * i1;
  } else {
    lk_perp3(u0, u1);
  }
  lk_cross3(u0, u1, u2);
  s[2] = u2[0] * B[2] + u2[1] * B[5] + u2[2] * B[8];
  LK_UNROLL
  for (int r = 0; r < 3; ++r) {
    U[3 * r] = u0[r];
    U[3 * r + 1] = u1[r];
    U[3 * r + 2] = u2[r];
  }
}

/* The place at a share of the straight way from a to b; where both are one, it is that to the bit.
 */
LK_FN lk_real place_between(lk_real a, lk_real b, lk_real share)
{
  return a == b ? a : (LK_R(1.0) - share) * a + share * b;
}

#endif
