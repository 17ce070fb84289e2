/* tet_neohookean.kern.c - kernels of the stable Neo-Hookean solid. */
#include "elements/tet_neohookean/tet_neohookean.kern.h"

#include "elements/tet.kern.h"

typedef struct snh_state {
  lk_real F[9], C[9]; /* deformation gradient and its cofactors, dJ/dF */
  lk_real I, J;       /* |F|^2, det F */
  lk_real mu, la;     /* N/m^2 */
} snh_state;

LK_FN void snh_load(const elem_args *a, lk_int i, snh_state *q)
{
  q->mu = a->mat[2 * i];
  q->la = a->mat[2 * i + 1];
  tet_deformation(a, i, q->F);
  lk_cross3(q->F + 3, q->F + 6, q->C);
  lk_cross3(q->F + 6, q->F, q->C + 3);
  lk_cross3(q->F, q->F + 3, q->C + 6);
  q->J = lk_dot3(q->F, q->C);
  q->I = lk_dot3(q->F, q->F) + lk_dot3(q->F + 3, q->F + 3) + lk_dot3(q->F + 6, q->F + 6);
}

/* E/V, J/m^3 */
LK_FN lk_real snh_energy(const snh_state *q)
{
  const lk_real v = q->J - LK_R(1.0), i = q->I - LK_R(3.0);
  const lk_real ln = LK_LOG(LK_R(0.25) * (q->I + LK_R(1.0)));
  return LK_R(0.5) * (q->mu * (i - ln) + q->la * (v * v)) - LK_R(0.75) * q->mu * v;
}

/* Factors of F and of its cofactors in dE/dF over V. */
LK_FN lk_real snh_shear(const snh_state *q) { return q->mu * (q->I / (q->I + LK_R(1.0))); }
LK_FN lk_real snh_pressure(const snh_state *q)
{
  return q->la * (q->J - LK_R(1.0)) - LK_R(0.75) * q->mu;
}

LK_REDUCE_SUM_PLAIN(tet_neohookean_energy, a, i)
{
  snh_state q;
  snh_load(a, i, &q);
  return a->rest[10 * i + 9] * snh_energy(&q);
}

LK_KERNEL_PLAIN(tet_neohookean_gradient, a, i)
{
  snh_state q;
  lk_real P[9];
  const lk_real volume = a->rest[10 * i + 9];
  snh_load(a, i, &q);
  const lk_real f = volume * snh_shear(&q), c = volume * snh_pressure(&q);
  if (a->energy) a->energy[i] = volume * snh_energy(&q);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) P[k] = f * q.F[k] + c * q.C[k];
  tet_scatter(a, i, P);
}

/* Eigenvalues as `how` treats them: A [3][3] of the stretches, and of each pair of directions the
 * entries D (equal) and O (crossed) of twist and flip, D[k] for the two directions but k. */
typedef struct snh_modes {
  lk_real A[9], D[3], O[3];
} snh_modes;

LK_FN void snh_modes_of(const snh_state *q, const lk_real *s, int how, snh_modes *m)
{
  lk_real vectors[9], values[3];
  const lk_real f = snh_shear(q), p = snh_pressure(q), one = q->I + LK_R(1.0);
  const lk_real b = LK_R(2.0) * q->mu / (one * one);
  const lk_real c[3] = {s[1] * s[2], s[0] * s[2], s[0] * s[1]};
  LK_UNROLL
  for (int i = 0; i < 3; ++i) {
    const lk_real twist = lk_psd(f + p * s[i], how), flip = lk_psd(f - p * s[i], how);
    m->D[i] = LK_R(0.5) * (flip + twist);
    m->O[i] = LK_R(0.5) * (flip - twist);
    LK_UNROLL
    for (int j = 0; j < 3; ++j)
      m->A[3 * i + j] =
          b * (s[i] * s[j]) + q->la * (c[i] * c[j]) + (i == j ? f : p * s[(6 - i - j) % 3]);
  }
  if (how != LOOM_HESS_EXACT) lk_sym_psd(3, m->A, vectors, values, how);
}

LK_KERNEL_PLAIN(tet_neohookean_hessian, a, i)
{
  snh_state q;
  snh_modes m;
  lk_real U[9], V[9], s[3], g[12], h[12];
  lk_real *const H = a->out + (int64_t)144 * i;
  const lk_real volume = a->rest[10 * i + 9];
  snh_load(a, i, &q);
  lk_svd33(q.F, U, s, V);
  snh_modes_of(&q, s, a->how, &m);
  tet_shape(a, i, g);
  LK_UNROLL
  for (int v = 0; v < 4; ++v) { /* shape gradients in the directions of V */
    LK_UNROLL
    for (int k = 0; k < 3; ++k)
      h[3 * v + k] = V[k] * g[3 * v] + V[3 + k] * g[3 * v + 1] + V[6 + k] * g[3 * v + 2];
  }
  LK_UNROLL
  for (int v = 0; v < 4; ++v) {
    LK_UNROLL
    for (int u = 0; u < 4; ++u) {
      const lk_real *const x = h + 3 * v, *const y = h + 3 * u;
      lk_real M[9], W[9]; /* the block in the directions of U */
      LK_UNROLL
      for (int j = 0; j < 3; ++j) {
        LK_UNROLL
        for (int k = 0; k < 3; ++k) {
          const int l = (6 - j - k) % 3;
          M[3 * j + k] = j == k ? m.A[4 * j] * (x[j] * y[j]) +
                                      m.D[(j + 2) % 3] * (x[(j + 1) % 3] * y[(j + 1) % 3]) +
                                      m.D[(j + 1) % 3] * (x[(j + 2) % 3] * y[(j + 2) % 3])
                                : m.A[3 * j + k] * (x[j] * y[k]) + m.O[l] * (x[k] * y[j]);
        }
      }
      lk_mul33(U, M, W);
      lk_mul33_bt(W, U, M);
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e) H[12 * (3 * v + d) + 3 * u + e] = volume * M[3 * d + e];
      }
    }
  }
}

ELEM_CORNER(tet_neohookean, 4, 10, 2)
