/* spmv.kern.c - sparse matrix times vector, one row per element, columns in order. */
#include "linalg/spmv.kern.h"

LK_KERNEL_PLAIN(spmv_bsr3, a, i)
{
  const int64_t hi = a->row_ptr[i + 1];
  lk_real s[3] = {0, 0, 0};
  for (int64_t k = a->row_ptr[i]; k < hi; ++k) {
    const lk_real *v = a->val + 9 * k;
    lk_real x[3];
    LK_LOAD3(x, a->x, (int64_t)a->col[k]);
    s[0] += v[0] * x[0] + v[1] * x[1] + v[2] * x[2];
    s[1] += v[3] * x[0] + v[4] * x[1] + v[5] * x[2];
    s[2] += v[6] * x[0] + v[7] * x[1] + v[8] * x[2];
  }
  LK_STORE3(a->y, (int64_t)i, s);
}

LK_KERNEL_PLAIN(spmv_csr3, a, i)
{
  const int64_t hi = a->row_ptr[i + 1];
  lk_real s[3] = {0, 0, 0};
  for (int64_t k = a->row_ptr[i]; k < hi; ++k) {
    const lk_real v = a->val[k];
    lk_real x[3];
    LK_LOAD3(x, a->x, (int64_t)a->col[k]);
    s[0] += v * x[0];
    s[1] += v * x[1];
    s[2] += v * x[2];
  }
  LK_STORE3(a->y, (int64_t)i, s);
}
