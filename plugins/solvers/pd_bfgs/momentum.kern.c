/* momentum.kern.c - see momentum.kern.h. */
#include "momentum.kern.h"

#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

LK_REDUCE_MAX(pd_bfgs_longest, a, i)
{
  lk_real u[3];
  LK_LOAD3(u, a->u, (int64_t)i);
  return LK_SQRT(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

LK_REDUCE_SUM_PLAIN(pd_bfgs_uphill, a, i)
{
  lk_real x[3], u[3], g[3], b[3], sum = LK_R(0.0);
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(u, a->u, (int64_t)i);
  LK_LOAD3(g, a->grad, (int64_t)i);
  LK_LOAD3(b, a->before, (int64_t)i);
  for (int c = 0; c < 3; ++c) sum += g[c] * (x[c] + u[c] - b[c]);
  return sum;
}

/* t_k+1 = (1 + sqrt(1 + 4 t_k^2))/2, beta = (t_k - 1)/t_k+1; t = 1 anew where it leads uphill */
LK_KERNEL_PLAIN(pd_bfgs_weight, a, i)
{
  lk_real t = a->record[MOMENTUM_T];
  (void)i;
  if (a->first || a->record[MOMENTUM_UPHILL] > LK_R(0.0)) t = LK_R(1.0);
  const lk_real next = LK_R(0.5) * (LK_R(1.0) + LK_SQRT(LK_R(1.0) + LK_R(4.0) * t * t));
  a->record[MOMENTUM_BETA] = (t - LK_R(1.0)) / next;
  a->record[MOMENTUM_T] = next;
}

LK_KERNEL_PLAIN(pd_bfgs_extrapolate, a, i)
{
  const lk_real beta = a->record[MOMENTUM_BETA];
  lk_real x[3], u[3], b[3], out[3];
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(u, a->u, (int64_t)i);
  LK_LOAD3(b, a->before, (int64_t)i);
  for (int c = 0; c < 3; ++c) {
    const lk_real p = x[c] + u[c];
    out[c] = beta > LK_R(0.0) ? p + beta * (p - b[c]) : p;
    b[c] = p;
  }
  LK_STORE3(a->before, (int64_t)i, b);
  LK_STORE3(a->trial, (int64_t)i, out);
}
