/* body_turn.kern.h - the change of an affine body's rotation, as a part of its Hessian.
 *
 * The Hessian of the body's energy w V/2 |F - R(F)|^2 is the projective operator plus a matrix of
 * rank 3 on its four control points (A. Smith, F. De Goes, T. Kim 2019, doi 10.1145/3241041),
 *   C = w V sum_t k_t m_t m_t',   k_t = -1/(s_i + s_j), at least -1/2,
 * with the three twists m_t of F = U diag(s) V'; the bound keeps the body's Hessian semidefinite.
 */
#ifndef KIT_BODY_TURN_KERN_H
#define KIT_BODY_TURN_KERN_H

#include "geom/small.kern.h"

/* Largest turn of a body in one iteration, 1: C is that of a small turn. */
#define BODY_TURN_MOST LK_R(0.2)

typedef struct body_turn { /* of one body at x */
  lk_real g[12];           /* [4][3], 1/m, gradients of the corners' shape functions */
  lk_real R[9];
  lk_real m[3][12], k[3]; /* m_t, 1/m, and w V k_t, N m */
} body_turn;

/* F = [x1-x0, x2-x0, x3-x0] B and its twists U J_ij V' g_a.
 * x [n][3], m; v [4]: the control points; rest [10]: B, 1/m, and V, m^3, of tet_arap; w, N/m^2 */
LK_FN void body_turn_find(const lk_real *x, const int32_t *v, const lk_real *rest, lk_real w,
                          body_turn *t)
{
  lk_real D[9], F[9], U[9], V[9], s[3];
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) D[3 * c + k] = x[3 * v[k + 1] + c] - x[3 * v[0] + c];
  lk_mul33(D, rest, F);
  lk_svd33(F, U, s, V);
  for (int c = 0; c < 3; ++c) {
    t->g[c] = LK_R(0.0);
    for (int a = 1; a < 4; ++a) {
      t->g[3 * a + c] = rest[3 * (a - 1) + c];
      t->g[c] -= t->g[3 * a + c];
    }
    for (int d = 0; d < 3; ++d) {
      t->R[3 * c + d] = LK_R(0.0);
      for (int k = 0; k < 3; ++k) t->R[3 * c + d] += U[3 * c + k] * V[3 * d + k];
    }
  }
  for (int p = 0; p < 3; ++p) {
    const int i = p == 0 ? 1 : 0, j = p == 2 ? 1 : 2;
    const lk_real sum = s[i] + s[j];
    t->k[p] = -w * rest[9] * (sum > LK_R(2.0) ? LK_R(1.0) / sum : LK_R(0.5));
    for (int a = 0; a < 4; ++a) {
      lk_real vi = LK_R(0.0), vj = LK_R(0.0);
      for (int c = 0; c < 3; ++c) {
        vi += V[3 * c + i] * t->g[3 * a + c];
        vj += V[3 * c + j] * t->g[3 * a + c];
      }
      for (int c = 0; c < 3; ++c) t->m[p][3 * a + c] = U[3 * c + j] * vi - U[3 * c + i] * vj;
    }
  }
}

/* Row p and column q of C, 0 to 11, N/m */
LK_FN lk_real body_turn_entry(const body_turn *t, int p, int q)
{
  lk_real sum = LK_R(0.0);
  for (int k = 0; k < 3; ++k) sum += t->k[k] * t->m[k][p] * t->m[k][q];
  return sum;
}

/* |angle| of the body's turn by the displacements u [4][3], m: the skew part of dF R' */
LK_FN lk_real body_turn_angle(const body_turn *t, const lk_real *u)
{
  lk_real G[9], W[9];
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      G[3 * c + d] = LK_R(0.0);
      for (int a = 0; a < 4; ++a) G[3 * c + d] += u[3 * a + c] * t->g[3 * a + d];
    }
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      W[3 * c + d] = LK_R(0.0);
      for (int k = 0; k < 3; ++k) W[3 * c + d] += G[3 * c + k] * t->R[3 * d + k];
    }
  const lk_real a = LK_R(0.5) * (W[7] - W[5]), b = LK_R(0.5) * (W[2] - W[6]);
  const lk_real e = LK_R(0.5) * (W[3] - W[1]);
  return LK_SQRT(a * a + b * b + e * e);
}

#endif
