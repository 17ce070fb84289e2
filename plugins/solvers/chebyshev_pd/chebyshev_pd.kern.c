/* chebyshev_pd.kern.c - see chebyshev_pd.kern.h. */
#include "chebyshev_pd.kern.h"

/* Wang 2015, algorithm 2, line 10.  At omega = 1 `before` drops out to the bit, so that its
 * contents after a restart do not matter. */
LK_FN void extrapolate_row(const chebyshev_pd_args *a, lk_int i, const lk_real *x, lk_real *t)
{
  lk_real y[3];
  LK_LOAD3(y, a->before, (int64_t)i);
  for (int c = 0; c < 3; ++c)
    if (a->omega != LK_R(1.0)) t[c] = a->omega * (t[c] - y[c]) + y[c];
  LK_STORE3(a->before, (int64_t)i, x);
  LK_STORE3(a->trial, (int64_t)i, t);
}

LK_FN void find_jacobi_step(const chebyshev_pd_args *a, lk_int i, lk_real *x, lk_real *t)
{
  lk_real g[3];
  const lk_real step = a->gamma / (a->diag[i] + a->weight[i]);
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(g, a->grad, (int64_t)i);
  for (int c = 0; c < 3; ++c) t[c] = x[c] - step * g[c];
}

LK_KERNEL_PLAIN(chebyshev_pd_next, a, i)
{
  lk_real x[3], t[3];
  find_jacobi_step(a, i, x, t);
  extrapolate_row(a, i, x, t);
}

LK_KERNEL_PLAIN(chebyshev_pd_jacobi, a, i)
{
  lk_real x[3], t[3];
  find_jacobi_step(&a->of, i, x, t);
  LK_STORE3(a->of.trial, (int64_t)i, t);
}

LK_KERNEL_PLAIN(chebyshev_pd_residual, a, i)
{
  const int32_t v = a->vert[i];
  lk_real r[3];
  for (int c = 0; c < 3; ++c) {
    r[c] = -a->of.grad[3 * (int64_t)v + c];
    a->total[3 * (int64_t)v + c] = LK_R(0.0);
  }
  for (int64_t k = a->ptr[v]; k < a->ptr[v + 1]; ++k) {
    const int64_t j = 3 * (int64_t)a->col[k];
    for (int c = 0; c < 3; ++c) r[c] -= a->val[k] * (a->of.trial[j + c] - a->of.x[j + c]);
  }
  LK_STORE3(a->r, (int64_t)v, r);
}

LK_KERNEL_PLAIN(chebyshev_pd_extrapolate, a, i)
{
  lk_real x[3], t[3], d[3];
  LK_LOAD3(x, a->of.x, (int64_t)i);
  LK_LOAD3(t, a->of.trial, (int64_t)i);
  LK_LOAD3(d, a->total, (int64_t)i);
  for (int c = 0; c < 3; ++c) t[c] += d[c];
  extrapolate_row(&a->of, i, x, t);
}
