/* triplets.kern.c - see triplets.kern.h. */
#include "triplets.kern.h"

#include "geom/sorted.kern.h"

LK_KERNEL_PLAIN(triplet_write, a, e)
{
  const int32_t n = a->arity;
  const int64_t slot = a->first + (int64_t)n * n * e;
  const lk_real *const K = a->K + 9 * (int64_t)n * n * e;
  for (int32_t i = 0; i < n; ++i)
    for (int32_t j = 0; j < n; ++j) {
      const int64_t s = slot + n * i + j;
      const int32_t to = a->to != NULL ? a->to[e] : a->node[n * (int64_t)e + j];
      a->key[s] = (uint64_t)a->node[n * (int64_t)e + i] << 32 | (uint64_t)to;
      for (int c = 0; c < 9; ++c)
        a->val[9 * s + c] = K[(int64_t)(3 * i + c / 3) * 3 * n + 3 * j + c % 3];
    }
}

LK_KERNEL_PLAIN(triplet_diagonal, a, i)
{
  const int64_t s = a->first + i;
  a->key[s] = (uint64_t)i << 32 | (uint64_t)i;
  for (int c = 0; c < 9; ++c) a->val[9 * s + c] = LK_R(0.0);
}

LK_KERNEL_PLAIN(triplet_head, a, s) { a->head[s] = s == 0 || a->key[s] != a->key[s - 1]; }

LK_KERNEL_PLAIN(triplet_list, a, s)
{
  const int64_t block = a->place[s];
  if ((int64_t)s + 1 == a->slots) a->start[block + a->head[s]] = a->slots;
  if (!a->head[s]) return;
  const uint64_t row = a->key[s] >> 32, col = a->key[s] & UINT64_C(0xffffffff);
  a->start[block] = s;
  a->col[block] = (int32_t)col;
  if (row == col) a->diag[row] = block;
}

LK_KERNEL_PLAIN(triplet_rows, a, i)
{
  a->row[i] = a->place[lk_lower_bound(a->key, a->slots, (uint64_t)i << 32)];
}

LK_KERNEL_PLAIN(triplet_sum, a, b)
{
  lk_real sum[9];
  for (int c = 0; c < 9; ++c) sum[c] = LK_R(0.0);
  for (int64_t s = a->start[b]; s < a->start[b + 1]; ++s)
    for (int c = 0; c < 9; ++c) sum[c] += a->each[9 * (int64_t)a->perm[s] + c];
  for (int c = 0; c < 9; ++c) a->val[9 * (int64_t)b + c] = sum[c];
}
