/* yarn_bend.kern.c - bending of a yarn; see rod.kern.h.  mat [3]: k_b (N m^2), and of
 * rod_state (rod.h) the plastic limits of |wbar - w| and |wbar| (1; 0: elastic). */
#include "elements/yarn_bend/yarn_bend.kern.h"

/* Energy; g = dE/dkb and torque [2] = dE/dtheta^j */
LK_FN lk_real rod_bend_energy(const rod *q, const lk_real *rest, lk_real k_b, lk_real *g,
                              lk_real *torque)
{
  const lk_real k = k_b / (rest[ROD_LENGTH] + rest[ROD_LENGTH + 1]);
  lk_real E = LK_R(0.0);
  for (int c = 0; c < 3; ++c) g[c] = LK_R(0.0);
  for (int j = 0; j < 2; ++j) {
    lk_real m1[3], m2[3], w[2];
    rod_curvature(q, rest, j, m1, m2, w);
    const lk_real d0 = w[0] - rest[ROD_WBAR + 2 * j], d1 = w[1] - rest[ROD_WBAR + 2 * j + 1];
    E += LK_R(0.5) * k * (d0 * d0 + d1 * d1);
    for (int c = 0; c < 3; ++c) g[c] += k * (d0 * m2[c] - d1 * m1[c]);
    torque[j] = k * (d0 * w[1] - d1 * w[0]);
  }
  return E;
}

LK_REDUCE_SUM_PLAIN(yarn_bend_energy, a, i)
{
  rod q;
  lk_real g[3], torque[2];
  const lk_real *rest = a->rest + (int64_t)ROD_REST * i;
  rod_load(a->x, a->verts + 3 * i, rest, &q);
  return rod_bend_energy(&q, rest, a->mat[3 * i], g, torque);
}

LK_KERNEL_PLAIN(yarn_bend_gradient, a, i)
{
  rod q;
  lk_real g[3], torque[2], d[2][3], c0[3], c1[3];
  const lk_real *rest = a->rest + (int64_t)ROD_REST * i;
  rod_load(a->x, a->verts + 3 * i, rest, &q);
  const lk_real E = rod_bend_energy(&q, rest, a->mat[3 * i], g, torque);
  if (a->energy) a->energy[i] = E;
  /* dkb/de^0: 2 de^0 x e^1 - kb (e^1.de^0) over den; the same with roles exchanged for e^1 */
  const lk_real p = lk_dot3(g, q.kb), s = LK_R(1.0) / q.den;
  lk_cross3(q.e[1], g, c0);
  lk_cross3(g, q.e[0], c1);
  for (int j = 0; j < 2; ++j) rod_turning(&q, rest, j, d[j]);
  for (int k = 0; k < 3; ++k) {
    c0[k] = s * (LK_R(2.0) * c0[k] - p * q.e[1][k]) + torque[0] * d[0][k];
    c1[k] = s * (LK_R(2.0) * c1[k] - p * q.e[0][k]) + torque[1] * d[1][k];
  }
  rod_scatter(c0, c1, a->out + 9 * i);
}
