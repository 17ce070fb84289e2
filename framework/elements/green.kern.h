/* green.kern.h - membranes that are quadratic in the Green strain G = (F'F - I)/2:
 *   E = A [ k0/2 G00^2 + k1 G00 G11 + k2/2 G11^2 + k3 G01^2 ]
 * with moduli k [4], N/m, of each triangle.  TRI_REST as in elements/tri.kern.h. */
#ifndef LOOM_ELEM_GREEN_KERN_H
#define LOOM_ELEM_GREEN_KERN_H

#include "elements/tri.kern.h"

/* Green strain G [3]: G00, G11, G01 */
LK_FN void green_strain(const lk_real *f0, const lk_real *f1, lk_real *G)
{
  G[0] = LK_R(0.5) * (lk_dot3(f0, f0) - LK_R(1.0));
  G[1] = LK_R(0.5) * (lk_dot3(f1, f1) - LK_R(1.0));
  G[2] = LK_R(0.5) * lk_dot3(f0, f1);
}

/* Second Piola-Kirchhoff stress S [3]: S00, S11, S01 in N/m */
LK_FN void green_stress(const lk_real *k, const lk_real *G, lk_real *S)
{
  S[0] = k[0] * G[0] + k[1] * G[1];
  S[1] = k[1] * G[0] + k[2] * G[1];
  S[2] = k[3] * G[2];
}

/* Energy of triangle i, J */
LK_FN lk_real green_energy(const elem_args *a, lk_int i, const lk_real *k)
{
  lk_real f0[3], f1[3], G[3], S[3];
  tri_deformation(a, i, f0, f1);
  green_strain(f0, f1, G);
  green_stress(k, G, S);
  return tri_rest_area(a, i) * (LK_R(0.5) * (S[0] * G[0] + S[1] * G[1]) + S[2] * G[2]);
}

/* out [3][3] and, where it is wanted, energy of triangle i */
LK_FN void green_gradient(const elem_args *a, lk_int i, const lk_real *k)
{
  lk_real f0[3], f1[3], p0[3], p1[3], G[3], S[3];
  const lk_real area = tri_rest_area(a, i);
  tri_deformation(a, i, f0, f1);
  green_strain(f0, f1, G);
  green_stress(k, G, S);
  if (a->energy) a->energy[i] = area * (LK_R(0.5) * (S[0] * G[0] + S[1] * G[1]) + S[2] * G[2]);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    p0[c] = area * (S[0] * f0[c] + S[2] * f1[c]);
    p1[c] = area * (S[2] * f0[c] + S[1] * f1[c]);
  }
  tri_scatter(a, i, p0, p1);
}

/* In-plane part of the Hessian by F, divided by A: M [4][4] on (du_1, du_2, dv_1, dv_2),
 * where u and v are the columns of F in a basis of their plane:
 *   S00 |du|^2 + S11 |dv|^2 + 2 S01 du.dv + k0 (u.du)^2 + k2 (v.dv)^2
 *   + 2 k1 (u.du)(v.dv) + k3/2 (v.du + u.dv)^2 */
LK_FN void green_plane(const lk_real *k, const lk_real *S, const lk_real *u, const lk_real *v,
                       lk_real *M)
{
  const lk_real k0 = k[0], k1 = k[1], k2 = k[2], k3 = LK_R(0.5) * k[3];
  LK_UNROLL
  for (int p = 0; p < 2; ++p) {
    LK_UNROLL
    for (int q = 0; q < 2; ++q) {
      const lk_real one = p == q ? LK_R(1.0) : LK_R(0.0);
      const lk_real uv = one * S[2] + k1 * (u[p] * v[q]) + k3 * (v[p] * u[q]);
      M[4 * p + q] = one * S[0] + k0 * (u[p] * u[q]) + k3 * (v[p] * v[q]);
      M[4 * (p + 2) + q + 2] = one * S[1] + k2 * (v[p] * v[q]) + k3 * (u[p] * u[q]);
      M[4 * p + q + 2] = uv;
      M[4 * (q + 2) + p] = uv;
    }
  }
}

/* out [3][3][3][3] of triangle i.  Motions normal to the plane and in it do not mix, so they are
 * treated apart: a 2x2 matrix (the stress) and a 4x4 one. */
LK_FN void green_hessian(const elem_args *a, lk_int i, const lk_real *k)
{
  lk_real f0[3], f1[3], t[6], n[3], u[2], v[2], g[6], G[3], S[3], l[2], c, s;
  lk_real M[16], V[16], D[16];
  lk_real *H = a->out + (int64_t)81 * i;
  const lk_real area = tri_rest_area(a, i);
  tri_deformation(a, i, f0, f1);
  tri_shape(a, i, g);
  green_strain(f0, f1, G);
  green_stress(k, G, S);
  /* orthonormal basis t[0..2], t[3..5] of the plane, the first along the longer column */
  lk_normal32(f0, f1, n);
  const int first = G[0] >= G[1];
  LK_UNROLL
  for (int d = 0; d < 3; ++d) t[d] = first ? f0[d] : f1[d];
  const lk_real len = lk_norm3(t);
  const int zero = !(len > LK_R(0.0)); /* F = 0: n = e_z, any basis */
  const lk_real inv = LK_R(1.0) / (zero ? LK_R(1.0) : len);
  t[0] = zero ? LK_R(1.0) : t[0] * inv;
  t[1] *= inv;
  t[2] *= inv;
  lk_cross3(n, t, t + 3);
  u[0] = lk_dot3(f0, t), u[1] = lk_dot3(f0, t + 3);
  v[0] = lk_dot3(f1, t), v[1] = lk_dot3(f1, t + 3);
  green_plane(k, S, u, v, M);
  lk_sym2_eig(S[0], S[2], S[1], l, &c, &s);
  if (a->how != LOOM_HESS_EXACT) lk_sym_psd(4, M, V, D, a->how);
  const lk_real l0 = lk_psd(l[0], a->how), l1 = lk_psd(l[1], a->how);
  LK_UNROLL
  for (int p = 0; p < 3; ++p) {
    LK_UNROLL
    for (int q = 0; q < 3; ++q) {
      const lk_real *gp = g + 2 * p, *gq = g + 2 * q;
      const lk_real nn = l0 * ((c * gp[0] + s * gp[1]) * (c * gq[0] + s * gq[1])) +
                         l1 * ((c * gp[1] - s * gp[0]) * (c * gq[1] - s * gq[0]));
      lk_real B[4];
      LK_UNROLL
      for (int r = 0; r < 2; ++r) {
        LK_UNROLL
        for (int w = 0; w < 2; ++w)
          B[2 * r + w] = gp[0] * gq[0] * M[4 * r + w] + gp[1] * gq[1] * M[4 * (r + 2) + w + 2] +
                         (gp[0] * gq[1] * M[4 * r + w + 2] + gp[1] * gq[0] * M[4 * (r + 2) + w]);
      }
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e)
          H[9 * (3 * p + d) + 3 * q + e] =
              area * (nn * (n[d] * n[e]) + B[0] * (t[d] * t[e]) + B[3] * (t[3 + d] * t[3 + e]) +
                      (B[1] * (t[d] * t[3 + e]) + B[2] * (t[3 + d] * t[e])));
      }
    }
  }
}

#endif
