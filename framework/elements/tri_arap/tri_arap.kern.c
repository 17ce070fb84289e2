/* tri_arap.kern.c - kernels of the as-rigid-as-possible membrane. */
#include "elements/tri_arap/tri_arap.kern.h"

#include "elements/tri.kern.h"

LK_REDUCE_SUM(tri_arap_energy, a, i)
{
  lk_real f0[3], f1[3];
  lk_polar32 P;
  tri_deformation(a, i, f0, f1);
  lk_polar32_of(f0, f1, &P);
  lk_real s = LK_R(0.0);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    const lk_real d0 = f0[c] - P.r0[c], d1 = f1[c] - P.r1[c];
    s += d0 * d0 + d1 * d1;
  }
  return LK_R(0.5) * a->mat[i] * tri_rest_area(a, i) * s;
}

LK_KERNEL(tri_arap_gradient, a, i)
{
  lk_real f0[3], f1[3];
  lk_polar32 P;
  tri_deformation(a, i, f0, f1);
  lk_polar32_of(f0, f1, &P);
  const lk_real w = a->mat[i] * tri_rest_area(a, i);
  lk_real s = LK_R(0.0);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    const lk_real d0 = f0[c] - P.r0[c], d1 = f1[c] - P.r1[c];
    s += d0 * d0 + d1 * d1;
    f0[c] = w * d0;
    f1[c] = w * d1;
  }
  if (a->energy) a->energy[i] = LK_R(0.5) * w * s;
  tri_scatter(a, i, f0, f1);
}

LK_KERNEL(tri_arap_project, a, i)
{
  lk_real f0[3], f1[3];
  lk_polar32 P;
  tri_deformation(a, i, f0, f1);
  lk_polar32_of(f0, f1, &P);
  const lk_real w = a->mat[i] * tri_rest_area(a, i);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    f0[c] = w * P.r0[c];
    f1[c] = w * P.r1[c];
  }
  tri_scatter(a, i, f0, f1);
}

LK_KERNEL_PLAIN(tri_arap_weights, a, i)
{
  lk_real g[6];
  const lk_real w = a->mat[i] * tri_rest_area(a, i);
  tri_shape(a, i, g);
  LK_UNROLL
  for (int v = 0; v < 3; ++v) {
    LK_UNROLL
    for (int u = 0; u < 3; ++u)
      a->out[9 * i + 3 * v + u] = w * (g[2 * v] * g[2 * u] + g[2 * v + 1] * g[2 * u + 1]);
  }
}

LK_KERNEL_PLAIN(tri_arap_hessian, a, i)
{
  lk_real f0[3], f1[3], g[6], twist[9], tilt[6], l[2], c, s;
  lk_polar32 P;
  lk_real *H = a->out + (int64_t)81 * i;
  const lk_real w = a->mat[i] * tri_rest_area(a, i);
  tri_deformation(a, i, f0, f1);
  tri_shape(a, i, g);
  lk_polar32_of(f0, f1, &P);
  /* singular values: the larger from sum and difference, the smaller from the product */
  const lk_real small = LK_EPSILON * P.tau + LK_TINY;
  const lk_real q0 = lk_dot3(f0, f0), q1 = lk_dot3(f1, f1);
  const lk_real gap = LK_SQRT(LK_FMAX(q0 + q1 - LK_R(2.0) * P.det, LK_R(0.0)));
  const lk_real s1 = LK_FMAX(LK_R(0.5) * (P.tau + gap), small);
  const lk_real s2 = LK_FMAX(P.det / s1, small);
  lk_sym2_eig(q0, lk_dot3(f0, f1), q1, l, &c, &s);
  /* change of the identity by each special mode */
  const lk_real kt = lk_psd(LK_R(1.0) - LK_R(2.0) / LK_FMAX(P.tau, small), a->how) - LK_R(1.0);
  const lk_real k1 = lk_psd(LK_R(1.0) - LK_R(1.0) / s1, a->how) - LK_R(1.0);
  const lk_real k2 = lk_psd(LK_R(1.0) - LK_R(1.0) / s2, a->how) - LK_R(1.0);
  LK_UNROLL
  for (int v = 0; v < 3; ++v) {
    LK_UNROLL
    for (int d = 0; d < 3; ++d) /* R J g_v, J = {{0, -1}, {1, 0}} */
      twist[3 * v + d] = P.r1[d] * g[2 * v] - P.r0[d] * g[2 * v + 1];
    tilt[2 * v] = c * g[2 * v] + s * g[2 * v + 1];
    tilt[2 * v + 1] = c * g[2 * v + 1] - s * g[2 * v];
  }
  LK_UNROLL
  for (int v = 0; v < 3; ++v) {
    LK_UNROLL
    for (int u = 0; u < 3; ++u) {
      const lk_real iso = g[2 * v] * g[2 * u] + g[2 * v + 1] * g[2 * u + 1];
      const lk_real nn =
          k1 * (tilt[2 * v] * tilt[2 * u]) + k2 * (tilt[2 * v + 1] * tilt[2 * u + 1]);
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e)
          H[9 * (3 * v + d) + 3 * u + e] =
              w * ((d == e ? iso : LK_R(0.0)) + nn * (P.n[d] * P.n[e]) +
                   LK_R(0.5) * kt * (twist[3 * v + d] * twist[3 * u + e]));
      }
    }
  }
}

ELEM_LISTED(tri_arap, 3, 4, 1)
ELEM_CORNER(tri_arap, 3, 4, 1)
