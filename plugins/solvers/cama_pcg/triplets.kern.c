/* triplets.kern.c - see triplets.kern.h. */
#include "triplets.kern.h"

#include "geom/sorted.kern.h"

/* Keys of slot s, of the block in row i and column j. */
LK_FN void write_keys(const triplet_write_args *a, int64_t s, uint64_t i, uint64_t j)
{
  if (!a->entries) {
    a->key[s] = i << 32 | j;
    return;
  }
  for (uint64_t c = 0; c < 9; ++c)
    a->key[9 * s + (int64_t)c] = (3 * i + c / 3) << 32 | (3 * j + c % 3);
}

LK_KERNEL_PLAIN(triplet_write, a, e)
{
  const int32_t n = a->arity;
  const int64_t slot = a->first + (int64_t)n * n * e;
  const lk_real *const K = a->K + 9 * (int64_t)n * n * e;
  for (int32_t i = 0; i < n; ++i)
    for (int32_t j = 0; j < n; ++j) {
      const int64_t s = slot + n * i + j;
      const int32_t to = a->to != NULL ? a->to[e] : a->node[n * (int64_t)e + j];
      write_keys(a, s, (uint64_t)a->node[n * (int64_t)e + i], (uint64_t)to);
      for (int c = 0; c < 9; ++c)
        a->val[9 * s + c] = K[(int64_t)(3 * i + c / 3) * 3 * n + 3 * j + c % 3];
    }
}

LK_KERNEL_PLAIN(triplet_diagonal, a, i)
{
  const int64_t s = a->first + i;
  write_keys(a, s, (uint64_t)i, (uint64_t)i);
  for (int c = 0; c < 9; ++c) a->val[9 * s + c] = LK_R(0.0);
}

LK_KERNEL_PLAIN(triplet_head, a, s) { a->head[s] = s == 0 || a->key[s] != a->key[s - 1]; }

LK_KERNEL_PLAIN(triplet_list, a, s)
{
  if ((int64_t)s + 1 == a->keys) a->start[a->place[s] + a->head[s]] = a->keys;
  if (a->head[s]) a->start[a->place[s]] = s;
}

/* A row of blocks makes three rows of numbers, and each of these has the columns of all its blocks.
 */
LK_KERNEL_PLAIN(triplet_rows, a, i)
{
  const uint64_t first = (uint64_t)(a->entries ? 3 * (int64_t)i : i);
  const int64_t places = a->place[lk_lower_bound(a->key, a->keys, first << 32)];
  a->row[i] = a->entries ? places / 9 : places;
}

LK_FN void sum_block(const triplet_sum_args *a, int64_t place, lk_real *to)
{
  for (int c = 0; c < 9; ++c) to[c] = LK_R(0.0);
  for (int64_t s = a->start[place]; s < a->start[place + 1]; ++s)
    for (int c = 0; c < 9; ++c) to[c] += a->each[9 * (int64_t)a->perm[s] + c];
}

LK_FN lk_real sum_number(const triplet_sum_args *a, int64_t place)
{
  lk_real sum = LK_R(0.0);
  for (int64_t s = a->start[place]; s < a->start[place + 1]; ++s) sum += a->each[a->perm[s]];
  return sum;
}

LK_KERNEL_PLAIN(triplet_sum, a, i)
{
  const int64_t first = a->row[i], blocks = a->row[i + 1] - first;
  for (int64_t k = 0; k < blocks; ++k) {
    const int64_t place = a->entries ? 9 * first + 3 * k : first + k;
    const uint64_t column = a->key[a->start[place]] & UINT64_C(0xffffffff);
    const int32_t j = (int32_t)(a->entries ? column / 3 : column);
    lk_real *const to = a->val + 9 * (first + k);
    a->col[first + k] = j;
    if (j == i) a->diag[i] = first + k;
    if (!a->entries) sum_block(a, place, to);
    for (int c = 0; c < 9 && a->entries; ++c)
      to[c] = sum_number(a, 9 * first + 3 * blocks * (c / 3) + 3 * k + c % 3);
  }
}
