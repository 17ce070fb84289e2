/* step.kern.c - see step.kern.h; common subset of C11 and C++17. */
#include "run/step/step.kern.h"

/* Bodies of about 4 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

LK_FN lk_real damping_decay(lk_real c, lk_real h)
{
  return c > LK_R(0.0) ? LK_EXP(-(c * h)) : LK_R(1.0);
}

LK_KERNEL_PLAIN(run_predict, a, i)
{
  const lk_real d = damping_decay(a->damping[i], a->h);
  for (int c = 0; c < 3; ++c) {
    lk_real acc = a->g[c];
    if (a->fixed[i]) {
      a->y[3 * i + c] = a->x[3 * i + c];
      continue;
    }
    if (a->f) acc += a->f[3 * i + c] / a->m[i];
    a->y[3 * i + c] = a->x[3 * i + c] + a->h * (d * a->v[3 * i + c] + a->h * acc);
  }
}

LK_KERNEL_PLAIN(run_guess, a, i)
{
  const lk_real d = damping_decay(a->damping[i], a->h);
  for (int c = 0; c < 3; ++c)
    a->out[3 * i + c] =
        a->fixed[i] ? a->y[3 * i + c] : a->x[3 * i + c] + a->h * d * a->v[3 * i + c];
}

LK_KERNEL(run_velocity, a, i)
{
  for (int c = 0; c < 3; ++c) a->v[3 * i + c] = (a->x[3 * i + c] - a->x0[3 * i + c]) / a->h;
}

LK_KERNEL(run_blend, a, i)
{
  const lk_real t = a->fixed[i] || !a->t ? a->t_all : a->t[i];
  for (int c = 0; c < 3; ++c) {
    const lk_real p = a->a[3 * i + c], q = a->b[3 * i + c];
    /* t = 1 must give q exactly */
    a->out[3 * i + c] = t >= LK_R(1.0) ? q : p + t * (q - p);
  }
}
