/* tri_neohookean.kern.c - kernels of the Neo-Hookean sheet with a limit of stretch. */
#include "elements/tri_neohookean/tri_neohookean.kern.h"

#include "elements/tri.kern.h"

typedef struct nh_state {
  lk_real s[2];           /* singular values, s[0] >= s[1] >= 0 */
  lk_real J;              /* their product */
  lk_real v[2];           /* v1 = (v[0], v[1]), v2 = (-v[1], v[0]) */
  lk_real a1[3], a2[3];   /* F v_i = s_i a_i, orthonormal also where s_i = 0 */
  lk_real n[3];           /* normal */
  lk_real u[2];           /* above the onset of the limit, 1 */
  lk_real mu, bulk, k, d; /* material */
} nh_state;

LK_FN void nh_load(const elem_args *a, lk_int i, nh_state *q)
{
  lk_real f0[3], f1[3], l[2];
  lk_polar32 P;
  q->mu = a->mat[4 * i];
  q->bulk = a->mat[4 * i + 1];
  q->k = a->mat[4 * i + 2];
  q->d = LK_R(0.5) * a->mat[4 * i + 3];
  tri_deformation(a, i, f0, f1);
  lk_polar32_of(f0, f1, &P);
  lk_sym2_eig(lk_dot3(f0, f0), lk_dot3(f0, f1), lk_dot3(f1, f1), l, &q->v[0], &q->v[1]);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    q->a1[c] = q->v[0] * P.r0[c] + q->v[1] * P.r1[c];
    q->a2[c] = q->v[0] * P.r1[c] - q->v[1] * P.r0[c];
    q->n[c] = P.n[c];
  }
  q->s[0] = q->v[0] * lk_dot3(q->a1, f0) + q->v[1] * lk_dot3(q->a1, f1);
  q->s[1] = LK_FMAX(q->v[0] * lk_dot3(q->a2, f1) - q->v[1] * lk_dot3(q->a2, f0), LK_R(0.0));
  q->J = q->s[0] * q->s[1];
  LK_UNROLL
  for (int j = 0; j < 2; ++j) {
    const lk_real above = (q->s[j] - LK_R(1.0) - q->d) / q->d;
    q->u[j] = q->k > LK_R(0.0) ? LK_FMAX(above, LK_R(0.0)) : LK_R(0.0);
  }
}

/* Energy over A, J/m^2 */
LK_FN lk_real nh_energy(const nh_state *q)
{
  const lk_real shear = q->s[0] - q->s[1], area = q->J - LK_R(1.0);
  lk_real wall = LK_R(0.0);
  LK_UNROLL
  for (int j = 0; j < 2; ++j) wall += q->u[j] * q->u[j] * (q->u[j] * q->u[j]) * q->u[j];
  return LK_R(0.5) * (q->mu * shear * shear + q->bulk * area * area) +
         LK_R(0.2) * q->k * q->d * wall;
}

/* E_i over A, N/m */
LK_FN void nh_tension(const nh_state *q, lk_real *t)
{
  LK_UNROLL
  for (int j = 0; j < 2; ++j) {
    const lk_real own = q->s[j], other = q->s[1 - j], w = q->u[j] * q->u[j];
    t[j] = q->mu * (own - other) + q->bulk * (q->J - LK_R(1.0)) * other + q->k * (w * w);
  }
}

LK_REDUCE_SUM_PLAIN(tri_neohookean_energy, a, i)
{
  nh_state q;
  nh_load(a, i, &q);
  return tri_rest_area(a, i) * nh_energy(&q);
}

LK_KERNEL_PLAIN(tri_neohookean_gradient, a, i)
{
  nh_state q;
  lk_real t[2], p0[3], p1[3];
  const lk_real area = tri_rest_area(a, i);
  nh_load(a, i, &q);
  nh_tension(&q, t);
  if (a->energy) a->energy[i] = area * nh_energy(&q);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) { /* columns of t1 a1 v1' + t2 a2 v2' */
    const lk_real b1 = area * t[0] * q.a1[c], b2 = area * t[1] * q.a2[c];
    p0[c] = b1 * q.v[0] - b2 * q.v[1];
    p1[c] = b1 * q.v[1] + b2 * q.v[0];
  }
  tri_scatter(a, i, p0, p1);
}

/* Eigenvalues over A as `how` treats them: S [3] of the stretches (S00, S11, S01), of twist and
 * shear as the entries D (equal directions) and O (crossed), N [2] out of the plane. */
typedef struct nh_modes {
  lk_real S[3], D, O, N[2];
} nh_modes;

LK_FN void nh_modes_of(const nh_state *q, int how, nh_modes *m)
{
  lk_real t[2], l[2], c, s, w2[2];
  const lk_real area = q->bulk * (q->J - LK_R(1.0));
  nh_tension(q, t);
  LK_UNROLL
  for (int j = 0; j < 2; ++j) {
    const lk_real u2 = q->u[j] * q->u[j];
    w2[j] = q->k * (u2 * u2);
    m->S[j] =
        q->mu + q->bulk * q->s[1 - j] * q->s[1 - j] + LK_R(4.0) * q->k / q->d * (u2 * q->u[j]);
    m->N[j] = lk_psd(t[j] / LK_FMAX(q->s[j], LK_EPSILON * q->s[0] + LK_TINY), how);
  }
  m->S[2] = area + q->bulk * q->J - q->mu;
  if (how != LOOM_HESS_EXACT) {
    lk_sym2_eig(m->S[0], m->S[2], m->S[1], l, &c, &s);
    l[0] = lk_psd(l[0], how);
    l[1] = lk_psd(l[1], how);
    m->S[0] = l[0] * c * c + l[1] * s * s;
    m->S[1] = l[0] * s * s + l[1] * c * c;
    m->S[2] = (l[0] - l[1]) * c * s;
  }
  const lk_real sum = LK_FMAX(q->s[0] + q->s[1], LK_TINY);
  const lk_real both = (q->u[0] + q->u[1]) * (q->u[0] * q->u[0] + q->u[1] * q->u[1]) * q->k / q->d;
  const lk_real gap = LK_FMAX(q->s[0] - q->s[1], LK_TINY);
  const lk_real wall = q->u[1] > LK_R(0.0) ? both : w2[0] / gap;
  const lk_real twist = lk_psd(area + (w2[0] + w2[1]) / sum, how);
  const lk_real shear = lk_psd(LK_R(2.0) * q->mu - area + wall, how);
  m->D = LK_R(0.5) * (shear + twist);
  m->O = LK_R(0.5) * (shear - twist);
}

LK_KERNEL_PLAIN(tri_neohookean_hessian, a, i)
{
  nh_state q;
  nh_modes m;
  lk_real g[6];
  lk_real *H = a->out + (int64_t)81 * i;
  const lk_real area = tri_rest_area(a, i);
  nh_load(a, i, &q);
  nh_modes_of(&q, a->how, &m);
  tri_shape(a, i, g);
  LK_UNROLL
  for (int p = 0; p < 3; ++p) {
    const lk_real p1 = q.v[0] * g[2 * p] + q.v[1] * g[2 * p + 1];
    const lk_real p2 = q.v[0] * g[2 * p + 1] - q.v[1] * g[2 * p];
    LK_UNROLL
    for (int r = 0; r < 3; ++r) {
      const lk_real r1 = q.v[0] * g[2 * r] + q.v[1] * g[2 * r + 1];
      const lk_real r2 = q.v[0] * g[2 * r + 1] - q.v[1] * g[2 * r];
      const lk_real k11 = area * (m.S[0] * (p1 * r1) + m.D * (p2 * r2));
      const lk_real k22 = area * (m.S[1] * (p2 * r2) + m.D * (p1 * r1));
      const lk_real k12 = area * (m.S[2] * (p1 * r2) + m.O * (p2 * r1));
      const lk_real k21 = area * (m.S[2] * (p2 * r1) + m.O * (p1 * r2));
      const lk_real knn = area * (m.N[0] * (p1 * r1) + m.N[1] * (p2 * r2));
      LK_UNROLL
      for (int d = 0; d < 3; ++d) {
        LK_UNROLL
        for (int e = 0; e < 3; ++e)
          H[9 * (3 * p + d) + 3 * r + e] = knn * (q.n[d] * q.n[e]) + k11 * (q.a1[d] * q.a1[e]) +
                                           k22 * (q.a2[d] * q.a2[e]) +
                                           (k12 * (q.a1[d] * q.a2[e]) + k21 * (q.a2[d] * q.a1[e]));
      }
    }
  }
}

ELEM_CORNER(tri_neohookean, 3, 4, 4)
