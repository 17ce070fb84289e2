/* ahead.kern.c - see ahead.kern.h. */
#include "kit/ahead.kern.h"

LK_KERNEL_PLAIN(ahead_move, a, i)
{
  const int free = !a->fixed[i] && a->mass[i] > LK_R(0.0);
  const lk_real weight = free ? a->h2 / a->mass[i] : LK_R(0.0);
  for (int k = 0; k < 3; ++k) {
    const lk_real on = a->x_start[3 * i + k] + a->h * a->v_start[3 * i + k];
    const lk_real target = free ? a->y[3 * i + k] : on;
    a->coast[3 * i + k] = on;
    a->outer[3 * i + k] = target;
    a->all[3 * i + k] = target - weight * a->pull[3 * i + k];
  }
  a->hold[3 * i] *= weight;
}
