/* distance_hess.kern.h - second derivatives of the squared distance of vertex-triangle and
 * edge-edge pairs, and of functions b(D) of it, for every case of the closest features.
 *
 * With the weights W of distance.kern.h, r = sum_i W_i x_i = d n, D = r.r and the free
 * parameters a of the closest points (two inside, one on an edge, none at a vertex; dW/da moves
 * the closest point along it):
 *   dD/dx_i = 2 W_i r,
 *   d2D/dx2 = 2 W W' (x) I - sum_a G_a G_a' / (2 r_a.r_a),   G_a = 2 (dW/da (x) r + W (x) r_a)
 * where r_a = sum_i (dW_i/da) x_i, made orthogonal to each other, are tangential: n.r_a = 0.
 * With t_a = r_a / |r_a| and u_a = dW/da / |r_a| the tangential parts cancel,
 *   d2D/dx2 = 2 (W n)(W n)'
 *             - 2 sum_a [ d^2 (u_a n)(u_a n)' + d (u_a n)(W t_a)' + d (W t_a)(u_a n)' ]
 *             + 2 sum over tangents t that no parameter moves along (W t)(W t)',
 * writing W n for W (x) n.  So the Hessian b'' dD dD' + b' d2D of b(D) lives in the five
 * vectors W n, u_1 n, u_2 n, W t_1, W t_2 of the twelve dimensions.  In an orthonormal basis
 * q_0, q_1, q_2 of W, u_1, u_2 it is a symmetric 5 x 5 matrix with the same nonzero eigenvalues.
 * Making these nonnegative is exact and costs a fraction of the work for 12 x 12.
 *
 * At the borders between cases the Hessian jumps; the gradient does not, except between
 * parallel edges. */
#ifndef LOOM_DISTANCE_HESS_KERN_H
#define LOOM_DISTANCE_HESS_KERN_H

#include "geom/distance.kern.h"

typedef struct dist_frame {
  lk_real d;       /* m */
  lk_real W[4];    /* weights of the closest points */
  lk_real F[3][3]; /* n, t_1, t_2: orthonormal */
  lk_real q[3][4]; /* q_0, q_1, q_2 as above; zero where there is no parameter */
  lk_real T[3][3]; /* W = T00 q_0, u_1 = T01 q_0 + T11 q_1, u_2 = T02 q_0 + T12 q_1 + T22 q_2 */
  int32_t k;       /* number of free parameters */
} dist_frame;

/* Directions dW/da in which the weights are free; returns their number. */
LK_FN int dist_free(int edges, const lk_real *w, lk_real dW[2][4])
{
  int k = 0;
  for (int a = 0; a < 2; ++a)
    for (int i = 0; i < 4; ++i) dW[a][i] = LK_R(0.0);
  if (edges) {
    for (int e = 0; e < 4; e += 2) {
      if (w[e] == LK_R(0.0) || w[e + 1] == LK_R(0.0)) continue;
      dW[k][e] = LK_R(-1.0);
      dW[k][e + 1] = LK_R(1.0);
      ++k;
    }
    return k;
  }
  int first = 0;
  for (int i = 1; i < 4; ++i) {
    if (w[i] == LK_R(0.0)) continue;
    if (first == 0) {
      first = i;
    } else {
      dW[k][first] = LK_R(1.0);
      dW[k][i] = LK_R(-1.0);
      ++k;
    }
  }
  return k;
}

/* sum_i c_i x_i for coefficients that add up to zero, from differences alone */
LK_FN void dist_combine(const lk_real *x, const lk_real *c, lk_real *r)
{
  r[0] = r[1] = r[2] = LK_R(0.0);
  for (int i = 1; i < 4; ++i)
    for (int k = 0; k < 3; ++k) r[k] += c[i] * (x[3 * i + k] - x[k]);
}

LK_FN lk_real dist_dot4(const lk_real *a, const lk_real *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* q_0, q_1, q_2 and T from W and the k vectors u (Gram-Schmidt; they are independent: only W
 * has a part in the moving vertex, or different sums over the two edges). */
LK_FN void dist_basis(dist_frame *f, lk_real u[2][4])
{
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) f->T[a][b] = LK_R(0.0);
  for (int a = 0; a < 3; ++a) {
    lk_real v[4];
    for (int i = 0; i < 4; ++i) {
      v[i] = a == 0 ? f->W[i] : u[a > 0 ? a - 1 : 0][i];
      f->q[a][i] = LK_R(0.0);
    }
    if (a > f->k) continue;
    for (int b = 0; b < a; ++b) {
      f->T[b][a] = dist_dot4(f->q[b], v);
      for (int i = 0; i < 4; ++i) v[i] -= f->T[b][a] * f->q[b][i];
    }
    f->T[a][a] = LK_SQRT(dist_dot4(v, v));
    for (int i = 0; i < 4; ++i) f->q[a][i] = v[i] / f->T[a][a];
  }
}

/* The frame of a pair at distance > 0; x real [4][3], m; w from dist_vt (edges = 0) or dist_ee. */
LK_FN void dist_frame_of(int edges, const lk_real *x, const lk_real *w, dist_frame *f)
{
  lk_real r[3], ra[2][3], dW[2][4], u[2][4];
  for (int i = 0; i < 4; ++i) f->W[i] = w[i];
  dist_combine(x, w, r);
  f->d = lk_norm3(r);
  for (int c = 0; c < 3; ++c) f->F[0][c] = r[c] / f->d;
  f->k = dist_free(edges, w, dW);
  for (int a = 0; a < 2; ++a) dist_combine(x, dW[a], ra[a]);
  if (f->k == 2) { /* the part of the second that is orthogonal to the first */
    const lk_real whole = lk_dot3(ra[1], ra[1]), noise = LK_R(4.0) * LK_EPSILON;
    const lk_real m = lk_dot3(ra[0], ra[1]) * dist_inverse(lk_dot3(ra[0], ra[0]));
    for (int c = 0; c < 3; ++c) ra[1][c] -= m * ra[0][c];
    for (int i = 0; i < 4; ++i) dW[1][i] -= m * dW[0][i];
    if (!(lk_dot3(ra[1], ra[1]) > noise * noise * whole)) f->k = 1;
  }
  /* t_1 along r_1, or any tangent; t_2 = n x t_1 */
  if (f->k > 0) {
    const lk_real along = lk_dot3(ra[0], f->F[0]);
    for (int c = 0; c < 3; ++c) f->F[1][c] = ra[0][c] - along * f->F[0][c];
    const lk_real len = lk_norm3(f->F[1]);
    if (!(len > LK_R(0.0))) f->k = 0;
    for (int c = 0; c < 3 && len > LK_R(0.0); ++c) f->F[1][c] /= len;
  }
  if (f->k == 0) lk_perp3(f->F[0], f->F[1]);
  lk_cross3(f->F[0], f->F[1], f->F[2]);
  for (int a = 0; a < 2; ++a) {
    const lk_real len = a < f->k ? lk_dot3(ra[a], f->F[1 + a]) : LK_R(1.0);
    for (int i = 0; i < 4; ++i) u[a][i] = dW[a][i] / len;
  }
  dist_basis(f, u);
}

/* Hessian of b(D) in the orthonormal basis q_0 n, q_1 n, q_2 n, q_0 t_1, q_0 t_2:
 * S [5][5], treated as `how` (LOOM_HESS_*) says; b1 = b', N/m; b2 = b'', N/m^3. */
LK_FN void dist_hessian(const dist_frame *f, lk_real b1, lk_real b2, int how, lk_real *S)
{
  lk_real N[3], V[25], D[25];
  const lk_real d = f->d, size = f->T[0][0];
  N[0] = LK_R(4.0) * d * d * b2 + LK_R(2.0) * b1;
  for (int a = 0; a < 2; ++a) N[1 + a] = a < f->k ? LK_R(-2.0) * b1 * d * d : LK_R(0.0);
  for (int i = 0; i < 25; ++i) S[i] = LK_R(0.0);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      for (int m = 0; m < 3; ++m) S[5 * r + c] += f->T[r][m] * N[m] * f->T[c][m];
  for (int a = 0; a < 2; ++a) {
    const int t = 3 + a;
    if (a >= f->k) {
      S[5 * t + t] = LK_R(2.0) * b1 * size * size;
      continue;
    }
    for (int r = 0; r < 3; ++r) {
      S[5 * r + t] = LK_R(-2.0) * b1 * d * f->T[r][1 + a] * size;
      S[5 * t + r] = S[5 * r + t];
    }
  }
  if (how != LOOM_HESS_EXACT) lk_sym_psd(5, S, V, D, how);
}

/* The same without curvature of the distance, where it is never negative:
 * (4 D b'' + 2 b') (W n)(W n)' */
LK_FN void dist_gauss_newton(const dist_frame *f, lk_real b1, lk_real b2, lk_real *S)
{
  const lk_real k = LK_R(4.0) * f->d * f->d * b2 + LK_R(2.0) * b1;
  for (int i = 0; i < 25; ++i) S[i] = LK_R(0.0);
  S[0] = LK_FMAX(k, LK_R(0.0)) * f->T[0][0] * f->T[0][0];
}

/* Block (i, j) of the 12 x 12 matrix that S stands for, H [3][3]. */
LK_FN void dist_block(const dist_frame *f, const lk_real *S, int i, int j, lk_real *H)
{
  lk_real L[9], M[9]; /* in the frame n, t_1, t_2; L times its transpose */
  for (int e = 0; e < 9; ++e) L[e] = LK_R(0.0);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) L[0] += f->q[a][i] * S[5 * a + b] * f->q[b][j];
  for (int t = 0; t < 2; ++t)
    for (int a = 0; a < 3; ++a) {
      L[1 + t] += f->q[a][i] * S[5 * a + 3 + t] * f->q[0][j];
      L[3 * (1 + t)] += f->q[0][i] * S[5 * (3 + t) + a] * f->q[a][j];
    }
  for (int s = 0; s < 2; ++s)
    for (int t = 0; t < 2; ++t)
      L[3 * (1 + s) + 1 + t] = f->q[0][i] * S[5 * (3 + s) + 3 + t] * f->q[0][j];
  for (int s = 0; s < 3; ++s)
    for (int c = 0; c < 3; ++c)
      M[3 * s + c] = L[3 * s] * f->F[0][c] + L[3 * s + 1] * f->F[1][c] + L[3 * s + 2] * f->F[2][c];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      H[3 * r + c] = f->F[0][r] * M[c] + f->F[1][r] * M[3 + c] + f->F[2][r] * M[6 + c];
}

#endif
