/* hinge_isometric.kern.c - kernels of quadratic bending. */
#include "elements/hinge_isometric/hinge_isometric.kern.h"

#include "elements/length.kern.h"

/* Direction n of y = K'x; returns |y|.  y is summed over differences to x0, which keeps
 * it exact under translation; the coefficients add up to zero. */
LK_FN lk_real hinge_direction(const elem_args *a, lk_int i, lk_real *n)
{
  lk_real x0[3], x1[3], x2[3], x3[3], y[3], c[3], ez[3], m[3];
  LK_LOAD3(x0, a->x, a->verts[4 * i]);
  LK_LOAD3(x1, a->x, a->verts[4 * i + 1]);
  LK_LOAD3(x2, a->x, a->verts[4 * i + 2]);
  LK_LOAD3(x3, a->x, a->verts[4 * i + 3]);
  const lk_real k1 = a->rest[4 * i], k2 = a->rest[4 * i + 1], k3 = a->rest[4 * i + 2];
  LK_UNROLL
  for (int d = 0; d < 3; ++d) {
    x1[d] -= x0[d];
    x2[d] -= x0[d];
    x3[d] -= x0[d];
    y[d] = k1 * x1[d] + k2 * x2[d] + k3 * x3[d];
  }
  /* without a direction of its own: the normal of the first triangle, or e_z */
  const lk_real side = a->rest[4 * i + 3] < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  ez[0] = LK_R(0.0), ez[1] = LK_R(0.0), ez[2] = LK_R(1.0);
  lk_cross3(x1, x2, c);
  length_direction(c, ez, m);
  m[0] *= side;
  m[1] *= side;
  m[2] *= side;
  return length_direction(y, m, n);
}

/* out [4][3] of hinge i = f K'^T n^T */
LK_FN void hinge_scatter(const elem_args *a, lk_int i, lk_real f, const lk_real *n)
{
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    const lk_real v1 = f * a->rest[4 * i] * n[c];
    const lk_real v2 = f * a->rest[4 * i + 1] * n[c];
    const lk_real v3 = f * a->rest[4 * i + 2] * n[c];
    a->out[12 * i + c] = -(v1 + v2 + v3);
    a->out[12 * i + 3 + c] = v1;
    a->out[12 * i + 6 + c] = v2;
    a->out[12 * i + 9 + c] = v3;
  }
}

LK_REDUCE_SUM_PLAIN(hinge_isometric_energy, a, i)
{
  lk_real n[3];
  const lk_real r = hinge_direction(a, i, n) - LK_FABS(a->rest[4 * i + 3]);
  return LK_R(0.5) * a->mat[i] * r * r;
}

LK_KERNEL_PLAIN(hinge_isometric_gradient, a, i)
{
  lk_real n[3];
  const lk_real r = hinge_direction(a, i, n) - LK_FABS(a->rest[4 * i + 3]);
  if (a->energy) a->energy[i] = LK_R(0.5) * a->mat[i] * r * r;
  hinge_scatter(a, i, a->mat[i] * r, n);
}

LK_KERNEL_PLAIN(hinge_isometric_project, a, i)
{
  lk_real n[3];
  hinge_direction(a, i, n);
  hinge_scatter(a, i, a->mat[i] * LK_FABS(a->rest[4 * i + 3]), n);
}

/* K' [4] */
LK_FN void hinge_coefficients(const elem_args *a, lk_int i, lk_real *K)
{
  LK_UNROLL
  for (int c = 0; c < 3; ++c) K[c + 1] = a->rest[4 * i + c];
  K[0] = -(K[1] + K[2] + K[3]);
}

LK_KERNEL_PLAIN(hinge_isometric_weights, a, i)
{
  lk_real K[4];
  hinge_coefficients(a, i, K);
  LK_UNROLL
  for (int v = 0; v < 4; ++v) {
    LK_UNROLL
    for (int u = 0; u < 4; ++u) a->out[16 * i + 4 * v + u] = a->mat[i] * (K[v] * K[u]);
  }
}

LK_KERNEL_PLAIN(hinge_isometric_hessian, a, i)
{
  lk_real n[3], K[4];
  lk_real *H = a->out + (int64_t)144 * i;
  hinge_coefficients(a, i, K);
  const lk_real L = LK_FABS(a->rest[4 * i + 3]);
  const lk_real t = length_transverse(hinge_direction(a, i, n), L, a->how);
  LK_UNROLL
  for (int v = 0; v < 4; ++v) {
    LK_UNROLL
    for (int u = 0; u < 4; ++u) {
      const lk_real w = a->mat[i] * (K[v] * K[u]);
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e)
          H[12 * (3 * v + d) + 3 * u + e] =
              w * ((d == e ? t : LK_R(0.0)) + (LK_R(1.0) - t) * (n[d] * n[e]));
      }
    }
  }
}

ELEM_LISTED(hinge_isometric, 4, 4, 1)
ELEM_CORNER(hinge_isometric, 4, 4, 1)
