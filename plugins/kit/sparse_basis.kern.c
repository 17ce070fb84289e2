/* sparse_basis.kern.c - see sparse_basis.kern.h. */
#include "kit/sparse_basis.kern.h"

LK_KERNEL_PLAIN(sparse_basis_product, a, i)
{
  const int64_t end = a->ptr[i + 1];
  lk_real s[3], v[3];
  s[0] = s[1] = s[2] = LK_R(0.0);
  for (int64_t k = a->ptr[i]; k < end; ++k) {
    const lk_real w = a->val[k];
    LK_LOAD3(v, a->x, (int64_t)a->col[k]);
    for (int c = 0; c < 3; ++c) s[c] += w * v[c];
  }
  if (a->add) {
    LK_LOAD3(v, a->y, (int64_t)i);
    for (int c = 0; c < 3; ++c) s[c] += v[c];
  }
  LK_STORE3(a->y, (int64_t)i, s);
}
