/* bcsr.kern.c - see bcsr.kern.h.  Every row is written by its own element of the launch, which
 * takes corners in their order, so that bits are the same for any number of threads.  bcsr_scatter,
 * which adds as the paper does, is the exception. */
#include "kit/bcsr.kern.h"

#include "geom/sorted.kern.h"

enum { INSERTION_MAX = 32 }; /* columns; longer rows are sorted by heap */

LK_FN int64_t corner_of(const bcsr_args *a, int64_t e)
{
  return a->ptr != NULL ? a->ptr[e] : a->arity * e;
}
LK_FN int64_t block_of(const bcsr_args *a, int64_t e)
{
  return a->block != NULL ? a->block[e] : (int64_t)a->arity * a->arity * e;
}
LK_FN int is_row(const bcsr_args *a, int32_t i) { return i >= 0 && i < a->n; }
LK_FN int32_t column_of(const bcsr_args *a, int64_t c)
{
  return a->to != NULL ? a->to[c] : a->node[c];
}

LK_KERNEL_PLAIN(bcsr_corner, a, e)
{
  const int64_t lo = corner_of(a, e), hi = corner_of(a, (int64_t)e + 1);
  for (int64_t c = lo; c < hi; ++c) {
    a->key[c] = (uint64_t)(is_row(a, a->node[c]) ? a->node[c] : a->n);
    a->owner[c] = e;
  }
  if (a->squares != NULL) a->squares[e] = (hi - lo) * (hi - lo);
}

LK_KERNEL_PLAIN(bcsr_first, a, i) { a->first[i] = lk_lower_bound(a->key, a->corners, (uint64_t)i); }

LK_KERNEL_PLAIN(bcsr_start, a, i)
{
  const int64_t base = a->base_row != NULL ? a->base_row[i] : 0;
  a->num[i] = a->base_row != NULL ? a->base_row[i + 1] - base : 1;
  if (a->list == NULL) return;
  for (int64_t k = 0; k < a->num[i]; ++k)
    a->list[a->room[i] + k] = a->base_row != NULL ? a->base_col[base + k] : i;
}

LK_KERNEL_PLAIN(bcsr_count, a, i)
{
  for (int64_t k = a->first[i]; k < a->first[i + 1]; ++k) {
    const int64_t e = a->owner[a->corner[k]];
    a->num[i] += corner_of(a, e + 1) - corner_of(a, e);
  }
}

LK_KERNEL_PLAIN(bcsr_collect, a, i)
{
  for (int64_t k = a->first[i]; k < a->first[i + 1]; ++k) {
    const int64_t e = a->owner[a->corner[k]], end = corner_of(a, e + 1);
    for (int64_t c = corner_of(a, e); c < end; ++c)
      if (is_row(a, column_of(a, c))) a->list[a->room[i] + a->num[i]++] = column_of(a, c);
  }
}

/* Makes the subtree below `top` of list[0 .. n) a heap; the subtrees of its children are heaps. */
LK_FN void sift(int32_t *list, int64_t top, int64_t n)
{
  const int32_t v = list[top];
  for (int64_t child = 2 * top + 1; child < n; child = 2 * top + 1) {
    if (child + 1 < n && list[child + 1] > list[child]) ++child;
    if (list[child] <= v) break;
    list[top] = list[child];
    top = child;
  }
  list[top] = v;
}

LK_FN void sort(int32_t *list, int64_t n)
{
  if (n <= INSERTION_MAX) {
    for (int64_t k = 1; k < n; ++k) {
      const int32_t v = list[k];
      int64_t at = k;
      for (; at > 0 && list[at - 1] > v; --at) list[at] = list[at - 1];
      list[at] = v;
    }
    return;
  }
  for (int64_t k = n / 2; k-- > 0;) sift(list, k, n);
  for (int64_t k = n - 1; k > 0; --k) {
    const int32_t v = list[k];
    list[k] = list[0];
    list[0] = v;
    sift(list, 0, k);
  }
}

LK_KERNEL_PLAIN(bcsr_unique, a, i)
{
  int32_t *const list = a->list + a->room[i];
  const int64_t n = a->num[i];
  int64_t to = 0;
  sort(list, n);
  for (int64_t k = 0; k < n; ++k)
    if (k == 0 || list[k] != list[k - 1]) list[to++] = list[k];
  a->num[i] = to;
}

LK_KERNEL_PLAIN(bcsr_compact, a, i)
{
  const int64_t n = a->row[i + 1] - a->row[i];
  int64_t at = a->base_row != NULL ? a->base_row[i] : 0;
  const int64_t end = a->base_row != NULL ? a->base_row[i + 1] : 0;
  for (int64_t k = 0; k < n; ++k) {
    const int32_t j = a->list[a->room[i] + k];
    a->col[a->row[i] + k] = j;
    if (j == i) a->diag[i] = a->row[i] + k;
    if (at < end && a->base_col[at] == j) a->map[at++] = (int32_t)(a->row[i] + k);
  }
}

/* Place of column j in row i, which has it. */
LK_FN int64_t place_of(const bcsr_args *a, int32_t i, int32_t j)
{
  return lk_place_in_row(a->row, a->col, i, j);
}

/* to [b][b] += the block at K; its rows are `ld` numbers apart. */
LK_FN void add_block(int b, int64_t ld, const lk_real *K, lk_real *to)
{
  for (int r = 0; r < b; ++r)
    for (int s = 0; s < b; ++s) to[b * r + s] += K[ld * r + s];
}

LK_KERNEL_PLAIN(bcsr_add, a, i)
{
  const int b = a->b, bb = b * b;
  for (int64_t k = a->first[i]; k < a->first[i + 1]; ++k) {
    const int64_t c = a->corner[k], e = a->owner[c];
    if (e < a->from) continue;
    if (e >= a->end) break; /* the corners of a row ascend */
    const int64_t lo = corner_of(a, e), hi = corner_of(a, e + 1);
    /* blocks of a row of blocks follow each other; in a dense matrix they lie side by side */
    const int64_t ld = a->dense ? b * (hi - lo) : b, next = a->dense ? b : bb;
    const int64_t block = block_of(a, e) - block_of(a, a->from);
    const lk_real *K = a->K + bb * (block + (c - lo) * (hi - lo));
    for (int64_t d = lo; d < hi; ++d, K += next)
      if (is_row(a, column_of(a, d)))
        add_block(b, ld, K, a->val + bb * place_of(a, i, column_of(a, d)));
  }
}

LK_KERNEL_PLAIN(bcsr_scatter, a, k)
{
  const int b = a->b, bb = b * b;
  const int64_t e = a->from + k, lo = corner_of(a, e), hi = corner_of(a, e + 1);
  const int64_t ld = a->dense ? b * (hi - lo) : b, next = a->dense ? b : bb;
  for (int64_t c = lo; c < hi; ++c) {
    const lk_real *K = a->K + bb * (block_of(a, e) - block_of(a, a->from) + (c - lo) * (hi - lo));
    if (!is_row(a, a->node[c])) continue;
    for (int64_t d = lo; d < hi; ++d, K += next) {
      if (!is_row(a, column_of(a, d))) continue;
      lk_real *const to = a->val + bb * place_of(a, a->node[c], column_of(a, d));
      if (!a->atomic)
        add_block(b, ld, K, to);
      else
        for (int r = 0; r < bb; ++r) LK_ATOMIC_ADD(to + r, K[ld * (r / b) + r % b]);
    }
  }
}
