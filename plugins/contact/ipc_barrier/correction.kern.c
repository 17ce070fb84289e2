/* correction.kern.c - see correction.kern.h. */
#include "correction.kern.h"

LK_KERNEL_PLAIN(correction_target, a, i)
{
  const int64_t end = a->ptr[i + 1];
  lk_real d = LK_R(1.0);
  for (int64_t k = a->ptr[i]; k < end; ++k)
    if (a->col[k] == i) d = a->val[9 * k];
  for (int c = 0; c < 3; ++c) a->target[3 * (int64_t)i + c] -= a->grad[3 * (int64_t)i + c] / d;
}
