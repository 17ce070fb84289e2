/* yarn_twist.kern.c - twist of a yarn; see rod.kern.h.  mat [1]: k_t (N m^2). */
#include "elements/yarn_twist/yarn_twist.kern.h"

LK_REDUCE_SUM_PLAIN(yarn_twist_energy, a, i)
{
  rod q;
  const lk_real *rest = a->rest + (int64_t)ROD_REST * i;
  rod_load(a->x, a->verts + 3 * i, rest, &q);
  const lk_real m = rod_twist(&q, rest);
  return a->mat[i] * m * m / (rest[ROD_LENGTH] + rest[ROD_LENGTH + 1]);
}

LK_KERNEL_PLAIN(yarn_twist_gradient, a, i)
{
  rod q;
  lk_real d[2][3], c[3];
  const lk_real *rest = a->rest + (int64_t)ROD_REST * i;
  rod_load(a->x, a->verts + 3 * i, rest, &q);
  const lk_real m = rod_twist(&q, rest);
  const lk_real k = a->mat[i] / (rest[ROD_LENGTH] + rest[ROD_LENGTH + 1]);
  if (a->energy) a->energy[i] = k * m * m;
  /* dm/de^j = kb/(2 |e^j|) with kb of the present lengths; unlike bending's it is exact */
  lk_cross3(q.e[0], q.e[1], c);
  const lk_real ll = q.len[0] * q.len[1];
  const lk_real s = LK_R(1.0) / LK_FMAX(ll + lk_dot3(q.e[0], q.e[1]), LK_EPSILON * ll);
  for (int j = 0; j < 2; ++j) rod_turning(&q, rest, j, d[j]);
  for (int b = 0; b < 3; ++b) {
    d[0][b] = LK_R(2.0) * k * m * (s * c[b] / q.len[0] - d[0][b]);
    d[1][b] = LK_R(2.0) * k * m * (s * c[b] / q.len[1] + d[1][b]);
  }
  rod_scatter(d[0], d[1], a->out + 9 * i);
}
