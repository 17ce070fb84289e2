/* elastic.kern.c - see elastic.kern.h. */
#include "elastic.kern.h"

/* Corners of patches that repeat a vertex in place of a missing one have zero blocks. */
LK_KERNEL_PLAIN(elastic_add, a, i)
{
  lk_real *const sum = a->sum + 9 * i;
  const int64_t rows = 3 * (int64_t)a->arity;
  for (int64_t q = a->first[i]; q < a->first[i + 1]; ++q) {
    const int64_t place = a->corner[q] / a->arity - a->from, row = 3 * (a->corner[q] % a->arity);
    if (place < 0 || place >= a->count) continue;
    const lk_real *const H = a->dense + (place * rows + row) * rows + row;
    for (int k = 0; k < 9; ++k) sum[k] += H[(k / 3) * rows + k % 3];
  }
}
