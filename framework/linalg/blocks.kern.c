/* blocks.kern.c - see blocks.kern.h. */
#include "linalg/blocks.kern.h"

#include "geom/sorted.kern.h"

LK_KERNEL(blocks_vertex_key, a, j) { a->key[j] = (uint64_t)(a->id[j] < 0 ? a->n : a->id[j]); }

LK_KERNEL_PLAIN(blocks_key_sum, a, i)
{
  int64_t lo = lk_lower_bound(a->key, a->m, (uint64_t)i);
  for (; lo < a->m && a->key[lo] == (uint64_t)i; ++lo) {
    const lk_int j = a->perm[lo];
    for (int c = 0; c < 3; ++c) a->out[3 * i + c] += a->val[3 * j + c];
  }
}

LK_KERNEL_PLAIN(blocks_apply, a, j)
{
  const lk_int i = a->col[j];
  lk_real d[3];
  for (int c = 0; c < 3; ++c) d[c] = a->p[3 * i + c] - (a->q ? a->q[3 * i + c] : LK_R(0.0));
  for (int c = 0; c < 3; ++c)
    a->val[3 * j + c] = a->H[9 * j + 3 * c] * d[0] + a->H[9 * j + 3 * c + 1] * d[1] +
                        a->H[9 * j + 3 * c + 2] * d[2];
}

LK_KERNEL(blocks_append, a, j)
{
  a->row2[j] = a->row[j];
  a->col2[j] = a->col[j];
  for (int c = 0; c < 9; ++c) a->val2[9 * j + c] = a->val[9 * j + c];
}
