/* tri_stvk.kern.c - kernels of the orthotropic Green-strain membrane. */
#include "elements/tri_stvk/tri_stvk.kern.h"

#include "elements/tri.kern.h"

/* Green strain G [3]: G00, G11, G01 */
LK_FN void tri_stvk_strain(const lk_real *f0, const lk_real *f1, lk_real *G)
{
  G[0] = LK_R(0.5) * (lk_dot3(f0, f0) - LK_R(1.0));
  G[1] = LK_R(0.5) * (lk_dot3(f1, f1) - LK_R(1.0));
  G[2] = LK_R(0.5) * lk_dot3(f0, f1);
}

/* Second Piola-Kirchhoff stress S [3]: S00, S11, S01 in N/m */
LK_FN void tri_stvk_stress(const elem_args *a, lk_int i, const lk_real *G, lk_real *S)
{
  S[0] = a->mat[4 * i] * G[0] + a->mat[4 * i + 1] * G[1];
  S[1] = a->mat[4 * i + 1] * G[0] + a->mat[4 * i + 2] * G[1];
  S[2] = a->mat[4 * i + 3] * G[2];
}

LK_REDUCE_SUM_PLAIN(tri_stvk_energy, a, i)
{
  lk_real f0[3], f1[3], G[3], S[3];
  tri_deformation(a, i, f0, f1);
  tri_stvk_strain(f0, f1, G);
  tri_stvk_stress(a, i, G, S);
  return tri_area(a, i) * (LK_R(0.5) * (S[0] * G[0] + S[1] * G[1]) + S[2] * G[2]);
}

LK_KERNEL_PLAIN(tri_stvk_gradient, a, i)
{
  lk_real f0[3], f1[3], p0[3], p1[3], G[3], S[3];
  const lk_real area = tri_area(a, i);
  tri_deformation(a, i, f0, f1);
  tri_stvk_strain(f0, f1, G);
  tri_stvk_stress(a, i, G, S);
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
LK_FN void tri_stvk_plane(const elem_args *a, lk_int i, const lk_real *S, const lk_real *u,
                          const lk_real *v, lk_real *M)
{
  const lk_real k0 = a->mat[4 * i], k1 = a->mat[4 * i + 1], k2 = a->mat[4 * i + 2];
  const lk_real k3 = LK_R(0.5) * a->mat[4 * i + 3];
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

/* Motions normal to the plane and in it do not mix, so they are treated apart: a 2x2
 * matrix (the stress) and a 4x4 one. */
LK_KERNEL_PLAIN(tri_stvk_hessian, a, i)
{
  lk_real f0[3], f1[3], t[6], n[3], u[2], v[2], g[6], G[3], S[3], l[2], c, s;
  lk_real M[16], V[16], D[16];
  lk_real *H = a->out + (int64_t)81 * i;
  const lk_real area = tri_area(a, i);
  tri_deformation(a, i, f0, f1);
  tri_shape(a, i, g);
  tri_stvk_strain(f0, f1, G);
  tri_stvk_stress(a, i, G, S);
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
  tri_stvk_plane(a, i, S, u, v, M);
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
        for (int k = 0; k < 2; ++k)
          B[2 * r + k] = gp[0] * gq[0] * M[4 * r + k] + gp[1] * gq[1] * M[4 * (r + 2) + k + 2] +
                         (gp[0] * gq[1] * M[4 * r + k + 2] + gp[1] * gq[0] * M[4 * (r + 2) + k]);
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
