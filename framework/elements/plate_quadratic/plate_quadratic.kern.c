/* plate_quadratic.kern.c - kernels of the plate's quadratic form. */
#include "elements/plate_quadratic/plate_quadratic.kern.h"

#include "elements/length.kern.h"

#define PLATE_QUADRATIC_SIDE 36

LK_FN const lk_real *plate_quadratic_rows(const elem_args *a, lk_int i)
{
  return a->rest + (int64_t)PLATE_QUADRATIC_REST * i;
}

/* Y [3][3] = K x, summed over differences to x0, which keeps it exact under translation; n is the
 * direction of its first row, whose length is returned. */
LK_FN lk_real plate_quadratic_strain(const elem_args *a, lk_int i, lk_real *Y, lk_real *n)
{
  const lk_real *const K = plate_quadratic_rows(a, i);
  const int32_t *const v = a->verts + (int64_t)12 * i;
  lk_real x0[3], x[3], e[3], c[3], ez[3], m[3];
  LK_LOAD3(x0, a->x, v[0]);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) Y[k] = LK_R(0.0);
  e[0] = e[1] = e[2] = LK_R(0.0);
  c[0] = c[1] = c[2] = LK_R(0.0);
  LK_ROLLED
  for (int j = 0; j < 11; ++j) {
    LK_LOAD3(x, a->x, v[j + 1]);
    lk_sub3(x, x0, x);
    if (j == 0) e[0] = x[0], e[1] = x[1], e[2] = x[2];
    if (j == 1) lk_cross3(e, x, c);
    LK_UNROLL
    for (int k = 0; k < 9; ++k) Y[k] += K[11 * (k / 3) + j] * x[k % 3];
  }
  ez[0] = LK_R(0.0), ez[1] = LK_R(0.0), ez[2] = LK_R(1.0);
  length_direction(c, ez, m);
  return length_direction(Y, m, n);
}

/* Coefficient of vertex v in row r */
LK_FN lk_real plate_quadratic_at(const lk_real *K, int r, int v)
{
  lk_real sum = LK_R(0.0);
  if (v > 0) return K[11 * r + v - 1];
  LK_UNROLL
  for (int j = 0; j < 11; ++j) sum += K[11 * r + j];
  return -sum;
}

LK_FN lk_real plate_quadratic_sum(const elem_args *a, lk_int i, const lk_real *Y, lk_real len)
{
  const lk_real r = len - plate_quadratic_rows(a, i)[33];
  return LK_R(0.5) * a->mat[i] * (r * r + (lk_dot3(Y + 3, Y + 3) + lk_dot3(Y + 6, Y + 6)));
}

LK_REDUCE_SUM_PLAIN(plate_quadratic_energy, a, i)
{
  lk_real Y[9], n[3];
  const lk_real len = plate_quadratic_strain(a, i, Y, n);
  return plate_quadratic_sum(a, i, Y, len);
}

/* out [12][3] of patch i = D K'F */
LK_FN void plate_quadratic_scatter(const elem_args *a, lk_int i, const lk_real *F)
{
  const lk_real *const K = plate_quadratic_rows(a, i);
  lk_real *const out = a->out + (int64_t)PLATE_QUADRATIC_SIDE * i;
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    lk_real sum = LK_R(0.0);
    LK_ROLLED
    for (int j = 0; j < 11; ++j) {
      const lk_real f = a->mat[i] * (K[j] * F[c] + K[11 + j] * F[3 + c] + K[22 + j] * F[6 + c]);
      out[3 * j + 3 + c] = f;
      sum += f;
    }
    out[c] = -sum;
  }
}

LK_KERNEL_PLAIN(plate_quadratic_gradient, a, i)
{
  lk_real Y[9], n[3];
  const lk_real len = plate_quadratic_strain(a, i, Y, n);
  const lk_real r = len - plate_quadratic_rows(a, i)[33];
  if (a->energy) a->energy[i] = plate_quadratic_sum(a, i, Y, len);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) Y[c] = r * n[c];
  plate_quadratic_scatter(a, i, Y);
}

LK_KERNEL_PLAIN(plate_quadratic_project, a, i)
{
  lk_real Y[9], n[3];
  plate_quadratic_strain(a, i, Y, n);
  const lk_real L = plate_quadratic_rows(a, i)[33];
  LK_UNROLL
  for (int k = 0; k < 9; ++k) Y[k] = k < 3 ? L * n[k] : LK_R(0.0);
  plate_quadratic_scatter(a, i, Y);
}

LK_KERNEL_PLAIN(plate_quadratic_weights, a, i)
{
  const lk_real *const K = plate_quadratic_rows(a, i);
  for (int v = 0; v < 12; ++v) {
    const lk_real k0 = plate_quadratic_at(K, 0, v), k1 = plate_quadratic_at(K, 1, v),
                  k2 = plate_quadratic_at(K, 2, v);
    for (int u = 0; u < 12; ++u)
      a->out[(int64_t)144 * i + 12 * v + u] =
          a->mat[i] * (k0 * plate_quadratic_at(K, 0, u) +
                       (k1 * plate_quadratic_at(K, 1, u) + k2 * plate_quadratic_at(K, 2, u)));
  }
}

/* Entry (d, e) of the block between vertices with the coefficients k and l. */
LK_FN lk_real plate_quadratic_block(const lk_real *k, const lk_real *l, const lk_real *n, lk_real t,
                                    int d, int e)
{
  const lk_real one = d == e ? LK_R(1.0) : LK_R(0.0);
  return k[0] * l[0] * (one * t + (LK_R(1.0) - t) * (n[d] * n[e])) +
         one * (k[1] * l[1] + k[2] * l[2]);
}

LK_KERNEL_PLAIN(plate_quadratic_hessian, a, i)
{
  const lk_real *const K = plate_quadratic_rows(a, i);
  lk_real *const H = a->out + (int64_t)PLATE_QUADRATIC_SIDE * PLATE_QUADRATIC_SIDE * i;
  lk_real Y[9], n[3], k[3], l[3];
  const lk_real len = plate_quadratic_strain(a, i, Y, n);
  const lk_real t = length_transverse(len, K[33], a->how);
  for (int v = 0; v < 12; ++v) {
    LK_UNROLL
    for (int r = 0; r < 3; ++r) k[r] = plate_quadratic_at(K, r, v);
    for (int u = 0; u < 12; ++u) {
      LK_UNROLL
      for (int r = 0; r < 3; ++r) l[r] = plate_quadratic_at(K, r, u);
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e)
          H[PLATE_QUADRATIC_SIDE * (3 * v + d) + 3 * u + e] =
              a->mat[i] * plate_quadratic_block(k, l, n, t, d, e);
      }
    }
  }
}

ELEM_LISTED(plate_quadratic, 12, PLATE_QUADRATIC_REST, 1)

/* As ELEM_CORNER; the columns of all corners on the same vertex count, as a vertex may stand
 * several times in a patch. */
LK_KERNEL_PLAIN(plate_quadratic_corner, a, i)
{
  const lk_int e = a->elem[i];
  const int corner = a->corner[i];
  const lk_real *const K = plate_quadratic_rows(&a->all, e);
  const int32_t *const v = a->all.verts + (int64_t)12 * e;
  lk_real Y[9], n[3], own[3], all[3];
  const lk_real len = plate_quadratic_strain(&a->all, e, Y, n);
  const lk_real t = length_transverse(len, K[33], a->all.how);
  LK_UNROLL
  for (int r = 0; r < 3; ++r) {
    own[r] = plate_quadratic_at(K, r, corner);
    all[r] = LK_R(0.0);
    for (int u = 0; u < 12; ++u)
      if (v[u] == v[corner]) all[r] += plate_quadratic_at(K, r, u);
  }
  LK_UNROLL
  for (int d = 0; d < 3; ++d) {
    a->grad[3 * (int64_t)i + d] =
        a->all.mat[e] * (own[0] * ((len - K[33]) * n[d]) + own[1] * Y[3 + d] + own[2] * Y[6 + d]);
    LK_UNROLL
    for (int s = 0; s < 3; ++s)
      a->diag[9 * (int64_t)i + 3 * d + s] =
          a->all.mat[e] * plate_quadratic_block(own, all, n, t, d, s);
  }
}
