/* heavy_ball.kern.c - the search direction of the heavy-ball method and its longest row, for CPU
 * and CUDA alike. */
#include "heavy_ball.kern.h"

/* Bodies of about 4 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

/* d_i = -sigma h^2 r_i / m_i + beta (x_k - x_k-1)_i */
LK_KERNEL(heavy_ball_direction, a, i)
{
  const lk_real f = -a->factor / a->mass[i];
  lk_real r[3], l[3], d[3];
  LK_LOAD3(r, a->grad, i);
  LK_LOAD3(l, a->last, i);
  d[0] = f * r[0] + a->beta * l[0];
  d[1] = f * r[1] + a->beta * l[1];
  d[2] = f * r[2] + a->beta * l[2];
  LK_STORE3(a->dir, i, d);
}

LK_REDUCE_MAX(heavy_ball_longest, a, i)
{
  lk_real d[3];
  LK_LOAD3(d, a->dir, i);
  return LK_SQRT(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}
