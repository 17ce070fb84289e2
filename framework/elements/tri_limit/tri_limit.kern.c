/* tri_limit.kern.c - kernels of the limits of stretch. */
#include "elements/tri_limit/tri_limit.kern.h"

#include "elements/tri.kern.h"

typedef struct limit_modes {
  lk_real u0[3], u1[3], n[3]; /* left singular vectors and the normal */
  lk_real c, s;               /* right ones: (c, s) and (-s, c) */
  lk_real sv[2], kept[2];     /* singular values, the larger first, and what P makes of them */
} limit_modes;

LK_FN void limit_modes_of(const elem_args *a, lk_int i, limit_modes *q)
{
  lk_real f0[3], f1[3], l[2];
  tri_deformation(a, i, f0, f1);
  const lk_real det = lk_normal32(f0, f1, q->n);
  lk_sym2_eig(lk_dot3(f0, f0), lk_dot3(f0, f1), lk_dot3(f1, f1), l, &q->c, &q->s);
  LK_UNROLL
  for (int k = 0; k < 3; ++k) q->u0[k] = q->c * f0[k] + q->s * f1[k];
  const lk_real len = lk_norm3(q->u0);
  const int zero = !(len > LK_R(0.0)); /* F = 0: n = e_z */
  const lk_real inv = LK_R(1.0) / (zero ? LK_R(1.0) : len);
  q->u0[0] = zero ? LK_R(1.0) : q->u0[0] * inv;
  q->u0[1] *= inv;
  q->u0[2] *= inv;
  lk_cross3(q->n, q->u0, q->u1);
  q->sv[0] = len;
  q->sv[1] = LK_FMIN(det * inv, len);
  LK_UNROLL
  for (int k = 0; k < 2; ++k)
    q->kept[k] = LK_FMIN(LK_FMAX(q->sv[k], a->mat[3 * i + 1]), a->mat[3 * i + 2]);
}

/* Columns p0, p1 of t0 u0 v0' + t1 u1 v1'. */
LK_FN void limit_columns(const limit_modes *q, lk_real t0, lk_real t1, lk_real *p0, lk_real *p1)
{
  LK_UNROLL
  for (int k = 0; k < 3; ++k) {
    p0[k] = t0 * q->c * q->u0[k] - t1 * q->s * q->u1[k];
    p1[k] = t0 * q->s * q->u0[k] + t1 * q->c * q->u1[k];
  }
}

LK_REDUCE_SUM(tri_limit_energy, a, i)
{
  limit_modes q;
  limit_modes_of(a, i, &q);
  const lk_real d0 = q.sv[0] - q.kept[0], d1 = q.sv[1] - q.kept[1];
  return LK_R(0.5) * a->mat[3 * i] * tri_rest_area(a, i) * (d0 * d0 + d1 * d1);
}

LK_KERNEL(tri_limit_gradient, a, i)
{
  limit_modes q;
  lk_real p0[3], p1[3];
  limit_modes_of(a, i, &q);
  const lk_real w = a->mat[3 * i] * tri_rest_area(a, i);
  const lk_real d0 = q.sv[0] - q.kept[0], d1 = q.sv[1] - q.kept[1];
  if (a->energy) a->energy[i] = LK_R(0.5) * w * (d0 * d0 + d1 * d1);
  limit_columns(&q, w * d0, w * d1, p0, p1);
  tri_scatter(a, i, p0, p1);
}

LK_KERNEL(tri_limit_project, a, i)
{
  limit_modes q;
  lk_real p0[3], p1[3];
  limit_modes_of(a, i, &q);
  const lk_real w = a->mat[3 * i] * tri_rest_area(a, i);
  limit_columns(&q, w * q.kept[0], w * q.kept[1], p0, p1);
  tri_scatter(a, i, p0, p1);
}

LK_KERNEL_PLAIN(tri_limit_weights, a, i)
{
  lk_real g[6];
  const lk_real w = a->mat[3 * i] * tri_rest_area(a, i);
  tri_shape(a, i, g);
  LK_UNROLL
  for (int v = 0; v < 3; ++v) {
    LK_UNROLL
    for (int u = 0; u < 3; ++u)
      a->out[9 * i + 3 * v + u] = w * (g[2 * v] * g[2 * u] + g[2 * v + 1] * g[2 * u + 1]);
  }
}

/* The modes of the header, each as a vector of three corners: k_m of mode m, and the products of
 * g_v with the right singular vectors in place of v_i'. */
LK_KERNEL_PLAIN(tri_limit_hessian, a, i)
{
  limit_modes q;
  lk_real g[6], k[6];
  lk_real *H = a->out + (int64_t)81 * i;
  const lk_real w = a->mat[3 * i] * tri_rest_area(a, i);
  limit_modes_of(a, i, &q);
  tri_shape(a, i, g);
  const lk_real s0 = q.sv[0], s1 = q.sv[1], d0 = s0 - q.kept[0], d1 = s1 - q.kept[1];
  const lk_real small = LK_EPSILON * s0 + LK_TINY;
  k[0] = d0 != LK_R(0.0) ? LK_R(1.0) : LK_R(0.0);
  k[1] = d1 != LK_R(0.0) ? LK_R(1.0) : LK_R(0.0);
  /* both on one side of the limits, or so near to each other that rounding decides: the same */
  k[2] = s0 - s1 > small ? (d0 - d1) / (s0 - s1) : k[0] * k[1];
  k[3] = lk_psd((d0 + d1) / LK_FMAX(s0 + s1, small), a->how);
  k[4] = lk_psd(d0 / LK_FMAX(s0, small), a->how);
  k[5] = lk_psd(d1 / LK_FMAX(s1, small), a->how);
  LK_UNROLL
  for (int v = 0; v < 3; ++v) {
    const lk_real gv0 = q.c * g[2 * v] + q.s * g[2 * v + 1];
    const lk_real gv1 = q.c * g[2 * v + 1] - q.s * g[2 * v];
    LK_UNROLL
    for (int u = 0; u < 3; ++u) {
      const lk_real gu0 = q.c * g[2 * u] + q.s * g[2 * u + 1];
      const lk_real gu1 = q.c * g[2 * u + 1] - q.s * g[2 * u];
      const lk_real uu = k[0] * (gv0 * gu0) + LK_R(0.5) * (k[2] + k[3]) * (gv1 * gu1);
      const lk_real tt = k[1] * (gv1 * gu1) + LK_R(0.5) * (k[2] + k[3]) * (gv0 * gu0);
      const lk_real ut = LK_R(0.5) * (k[2] - k[3]) * (gv1 * gu0);
      const lk_real tu = LK_R(0.5) * (k[2] - k[3]) * (gv0 * gu1);
      const lk_real nn = k[4] * (gv0 * gu0) + k[5] * (gv1 * gu1);
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e)
          H[9 * (3 * v + d) + 3 * u + e] =
              w * (uu * (q.u0[d] * q.u0[e]) + tt * (q.u1[d] * q.u1[e]) + nn * (q.n[d] * q.n[e]) +
                   (ut * (q.u0[d] * q.u1[e]) + tu * (q.u1[d] * q.u0[e])));
      }
    }
  }
}

ELEM_LISTED(tri_limit, 3, 4, 3)
ELEM_CORNER(tri_limit, 3, 4, 3)
