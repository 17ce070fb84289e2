/* islands.kern.c - kernels of islands.h, common subset of C11 and C++17. */
#include "run/objects/islands.kern.h"

LK_KERNEL_PLAIN(run_island_box, a, s)
{
  lk_real most[ISLAND_BOX];
  for (int c = 0; c < ISLAND_BOX; ++c) most[c] = -LK_REAL_MAX;
  for (lk_int i = a->first[s]; i < a->end[s]; ++i)
    for (int c = 0; c < 3; ++c) {
      most[c] = LK_FMAX(most[c], a->x[3 * i + c]);
      most[c + 3] = LK_FMAX(most[c + 3], -a->x[3 * i + c]);
    }
  for (int c = 0; c < ISLAND_BOX; ++c) a->to[(int64_t)ISLAND_BOX * s + c] = most[c];
}

LK_KERNEL_PLAIN(run_island_top, a, s)
{
  for (int c = 0; c < a->width; ++c) {
    lk_real most = -LK_REAL_MAX;
    for (lk_int j = a->first[s]; j < a->end[s]; ++j)
      most = LK_FMAX(most, a->from[(int64_t)a->width * j + c]);
    a->to[(int64_t)a->width * s + c] = most;
  }
}

LK_KERNEL_PLAIN(run_island_dot, a, s)
{
  lk_real sum = LK_R(0.0);
  for (lk_int i = a->first[s]; i < a->end[s]; ++i)
    for (int c = 0; c < 3; ++c) sum += a->x[3 * i + c] * a->y[3 * i + c];
  a->to[s] = sum;
}

LK_KERNEL(run_island_blend, a, i)
{
  const lk_real t = a->share[a->object[i]];
  for (int c = 0; c < 3; ++c) {
    const lk_real p = a->a[3 * i + c], q = a->b[3 * i + c];
    /* t = 1 must give q exactly */
    a->out[3 * i + c] = t >= LK_R(1.0) ? q : p + t * (q - p);
  }
}

LK_KERNEL(run_island_step, a, i)
{
  const lk_real t = a->share[a->object[i]];
  for (int c = 0; c < 3; ++c) a->out[3 * i + c] = a->a[3 * i + c] + t * a->b[3 * i + c];
}

LK_KERNEL(run_island_add, a, i)
{
  const lk_real t = a->share[a->object[i]];
  for (int c = 0; c < 3; ++c) a->out[3 * i + c] += t * a->b[3 * i + c];
}

LK_KERNEL_PLAIN(run_island_beyond, a, k)
{
  lk_real num = LK_R(0.0);
  for (lk_int o = 0; o < a->num; ++o)
    num += a->island[o] == k && !(a->ratio[o] <= LK_R(1.0)) ? LK_R(1.0) : LK_R(0.0);
  a->out[k] = num;
}
