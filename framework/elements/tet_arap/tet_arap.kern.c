/* tet_arap.kern.c - kernels of the as-rigid-as-possible tetrahedron. */
#include "elements/tet_arap/tet_arap.kern.h"

#include "elements/tet.kern.h"
#include "geom/rotation.kern.h"

LK_REDUCE_SUM_PLAIN(tet_arap_energy, a, i)
{
  lk_real F[9], R[9], s = LK_R(0.0);
  tet_deformation(a, i, F);
  lk_rotation33(F, R);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) s += (F[k] - R[k]) * (F[k] - R[k]);
  return LK_R(0.5) * a->mat[i] * a->rest[10 * i + 9] * s;
}

LK_KERNEL_PLAIN(tet_arap_gradient, a, i)
{
  lk_real F[9], R[9];
  const lk_real w = a->mat[i] * a->rest[10 * i + 9];
  tet_deformation(a, i, F);
  lk_rotation33(F, R);
  lk_real s = LK_R(0.0);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) {
    const lk_real d = F[k] - R[k];
    s += d * d;
    F[k] = w * d;
  }
  if (a->energy) a->energy[i] = LK_R(0.5) * w * s;
  tet_scatter(a, i, F);
}

LK_KERNEL_PLAIN(tet_arap_project, a, i)
{
  lk_real F[9], R[9];
  const lk_real w = a->mat[i] * a->rest[10 * i + 9];
  tet_deformation(a, i, F);
  lk_rotation33(F, R);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) R[k] *= w;
  tet_scatter(a, i, R);
}

LK_KERNEL_PLAIN(tet_arap_weights, a, i)
{
  lk_real g[12];
  const lk_real w = a->mat[i] * a->rest[10 * i + 9];
  tet_shape(a, i, g);
  LK_UNROLL
  for (int v = 0; v < 4; ++v) {
    LK_UNROLL
    for (int u = 0; u < 4; ++u) a->out[16 * i + 4 * v + u] = w * lk_dot3(g + 3 * v, g + 3 * u);
  }
}

/* J_ij of the twist in the plane of singular directions i, j, in the order (1,2), (0,2),
 * (0,1): mode [4][3] = U J_ij V' g_a for the four vertices. */
LK_FN void tet_twist(const lk_real *U, const lk_real *V, const lk_real *g, int i, int j,
                     lk_real *mode)
{
  LK_UNROLL
  for (int v = 0; v < 4; ++v) {
    lk_real vi = LK_R(0.0), vj = LK_R(0.0);
    LK_UNROLL
    for (int c = 0; c < 3; ++c) {
      vi += V[3 * c + i] * g[3 * v + c];
      vj += V[3 * c + j] * g[3 * v + c];
    }
    LK_UNROLL
    for (int c = 0; c < 3; ++c) mode[3 * v + c] = U[3 * c + j] * vi - U[3 * c + i] * vj;
  }
}

LK_KERNEL_PLAIN(tet_arap_hessian, a, i)
{
  lk_real F[9], U[9], V[9], s[3], g[12], mode[36], k[3];
  lk_real *H = a->out + (int64_t)144 * i;
  const lk_real w = a->mat[i] * a->rest[10 * i + 9];
  tet_deformation(a, i, F);
  tet_shape(a, i, g);
  lk_svd33(F, U, s, V);
  tet_twist(U, V, g, 1, 2, mode);
  tet_twist(U, V, g, 0, 2, mode + 12);
  tet_twist(U, V, g, 0, 1, mode + 24);
  const lk_real small = LK_EPSILON * s[0] + LK_TINY;
  k[0] = LK_FMAX(s[1] + s[2], small);
  k[1] = LK_FMAX(s[0] + s[2], small);
  k[2] = LK_FMAX(s[0] + s[1], small);
  LK_UNROLL
  for (int t = 0; t < 3; ++t) /* change of the identity by the twist; 1/2 normalises J */
    k[t] = LK_R(0.5) * (lk_psd(LK_R(1.0) - LK_R(2.0) / k[t], a->how) - LK_R(1.0));
  LK_UNROLL
  for (int v = 0; v < 4; ++v) {
    LK_UNROLL
    for (int u = 0; u < 4; ++u) {
      const lk_real iso = lk_dot3(g + 3 * v, g + 3 * u);
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e) {
          const int p = 3 * v + d, q = 3 * u + e;
          H[12 * p + q] =
              w * ((d == e ? iso : LK_R(0.0)) + k[0] * (mode[p] * mode[q]) +
                   k[1] * (mode[12 + p] * mode[12 + q]) + k[2] * (mode[24 + p] * mode[24 + q]));
        }
      }
    }
  }
}

ELEM_LISTED(tet_arap, 4, 10, 1)
ELEM_CORNER(tet_arap, 4, 10, 1)
