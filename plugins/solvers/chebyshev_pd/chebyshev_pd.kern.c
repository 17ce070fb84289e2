/* chebyshev_pd.kern.c - see chebyshev_pd.kern.h. */
#include "chebyshev_pd.kern.h"

/* Wang 2015, algorithm 2, line 10.  At omega = 1 `before` drops out to the bit, so that its
 * contents after a restart do not matter. */
LK_KERNEL_PLAIN(chebyshev_pd_next, a, i)
{
  lk_real x[3], g[3], y[3], t[3];
  const lk_real step = a->gamma / (a->diag[i] + a->weight[i]);
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(g, a->grad, (int64_t)i);
  LK_LOAD3(y, a->before, (int64_t)i);
  for (int c = 0; c < 3; ++c) {
    t[c] = x[c] - step * g[c];
    if (a->omega != LK_R(1.0)) t[c] = a->omega * (t[c] - y[c]) + y[c];
  }
  LK_STORE3(a->before, (int64_t)i, x);
  LK_STORE3(a->trial, (int64_t)i, t);
}
