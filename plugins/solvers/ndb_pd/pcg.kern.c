/* pcg.kern.c - see pcg.kern.h. */
#include "pcg.kern.h"

/* Rows of about 10 to 20 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 4096

LK_KERNEL_PLAIN(ndb_pd_pcg_jacobi, a, i)
{
  lk_real r[3];
  LK_LOAD3(r, a->x, (int64_t)i);
  for (int c = 0; c < 3; ++c) r[c] *= a->dinv[i];
  LK_STORE3(a->y, (int64_t)i, r);
}

LK_REDUCE_SUM_PLAIN(ndb_pd_pcg_multiply, a, i)
{
  lk_real p[3], y[3], q[3];
  const int64_t end = a->ptr[i + 1];
  LK_LOAD3(p, a->x, (int64_t)i);
  for (int c = 0; c < 3; ++c) q[c] = a->w[i] * p[c];
  for (int64_t k = a->ptr[i]; k < end; ++k) {
    const lk_real v = a->val[k];
    LK_LOAD3(y, a->x, (int64_t)a->col[k]);
    for (int c = 0; c < 3; ++c) q[c] += v * y[c];
  }
  LK_STORE3(a->y, (int64_t)i, q);
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}
