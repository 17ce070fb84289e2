/* bcsr.kern.c - see bcsr.kern.h.  Every row is written by its own element of the launch, which
 * takes corners in their order, so that bits are the same for any number of threads.  bcsr_scatter,
 * which adds as the paper does, is the exception. */
#include "kit/bcsr.kern.h"

#include "geom/sorted.kern.h"

enum { RUN = 8 };      /* columns that one lane sorts by insertion, a power of two */
enum { SLICE = 16 };   /* columns of a sorted row that are worth a lane */
#define NONE INT32_MAX /* in place of a column that is no row: the last one, once sorted */

LK_FN int64_t corner_of(const bcsr_args *a, int64_t e)
{
  return a->ptr != NULL ? a->ptr[e] : a->arity * e;
}
LK_FN int64_t element_block_index(const bcsr_args *a, int64_t e)
{
  return a->block != NULL ? a->block[e] : (int64_t)a->arity * a->arity * e;
}
LK_FN int is_bcsr_row(const bcsr_args *a, int32_t i) { return i >= 0 && i < a->n; }
/* Element of corner c; elements of one arity need no look-up. */
LK_FN int64_t element_of(const bcsr_args *a, int32_t c)
{
  if (a->ptr != NULL) return a->owner[c];
  return a->arity == 1 ? c : c / a->arity;
}
LK_FN int32_t column_of(const bcsr_args *a, int64_t c)
{
  return a->to != NULL ? a->to[c] : a->node[c];
}

LK_KERNEL_PLAIN(bcsr_corner, a, e)
{
  const int64_t lo = corner_of(a, e), hi = corner_of(a, (int64_t)e + 1);
  for (int64_t c = lo; c < hi; ++c) {
    a->key[c] = (uint64_t)(is_bcsr_row(a, a->node[c]) ? a->node[c] : a->n);
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
  if (a->ptr == NULL) {
    a->num[i] += (a->first[i + 1] - a->first[i]) * a->arity;
    return;
  }
  for (int64_t k = a->first[i]; k < a->first[i + 1]; ++k) {
    const int64_t e = a->owner[a->corner[k]];
    a->num[i] += corner_of(a, e + 1) - corner_of(a, e);
  }
}

LK_KERNEL_BLOCK(bcsr_collect, a, i, lane, lanes)
{
  const int64_t first = a->first[i], end = a->first[i + 1];
  int64_t all = a->num[i];
  int32_t *const list = a->list + a->room[i];
  /* lanes share the corners of the row, or the columns of each element where arities differ */
  const int64_t begin = a->ptr == NULL ? lane : 0, step = a->ptr == NULL ? lanes : 1;
  const int64_t own = a->ptr == NULL ? 0 : lane, stride = a->ptr == NULL ? 1 : lanes;
  for (int64_t k = first + begin; k < end; k += step) {
    const int64_t e = element_of(a, a->corner[k]), lo = corner_of(a, e), hi = corner_of(a, e + 1);
    const int64_t at = a->ptr == NULL ? all + (k - first) * a->arity : all;
    for (int64_t c = lo + own; c < hi; c += stride)
      list[at + c - lo] = is_bcsr_row(a, column_of(a, c)) ? column_of(a, c) : NONE;
    if (a->ptr != NULL) all += hi - lo;
  }
  if (a->ptr == NULL) all += (end - first) * a->arity;
  LK_SYNC();
  if (lane == 0) a->num[i] = all;
}

/* ---- sort of a row: by merging, in which lanes write equal shares of every pass ---- */

/* to [n] = from [n] in ascending order; they may be the same array. */
LK_FN void insertion_sort(const int32_t *from, int32_t *to, int64_t n)
{
  for (int64_t k = 0; k < n; ++k) {
    const int32_t v = from[k];
    int64_t at = k;
    for (; at > 0 && to[at - 1] > v; --at) to[at] = to[at - 1];
    to[at] = v;
  }
}

/* How many of the first `k` numbers of two merged runs come from the first run x [nx]; y [ny]. */
LK_FN int64_t find_merge_split(const int32_t *x, int64_t nx, const int32_t *y, int64_t ny,
                               int64_t k)
{
  int64_t lo = k > ny ? k - ny : 0, hi = k < nx ? k : nx;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (x[mid] <= y[k - mid - 1])
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Numbers lo to hi - 1 of the array [n] that merging runs of `width` numbers in pairs makes;
 * `width` is a power of two. */
LK_FN void merge_runs(const int32_t *from, int32_t *to, int64_t n, int64_t width, int64_t lo,
                      int64_t hi)
{
  while (lo < hi) {
    const int64_t base = lo & -(2 * width), left = n - base;
    const int64_t nx = left < width ? left : width, ny = (left < 2 * width ? left : 2 * width) - nx;
    const int32_t *const x = from + base, *const y = x + nx;
    const int64_t end = base + nx + ny < hi ? base + nx + ny : hi;
    int64_t p = find_merge_split(x, nx, y, ny, lo - base), q = lo - base - p;
    for (; lo < end; ++lo) to[lo] = q >= ny || (p < nx && x[p] <= y[q]) ? x[p++] : y[q++];
  }
}

/* The share of a lane: numbers *lo to *hi - 1 of n, where `lanes` lanes take part. */
LK_FN void find_lane_share(int64_t n, lk_int lane, lk_int lanes, int64_t *lo, int64_t *hi)
{
  const int64_t each = (n + lanes - 1) / lanes;
  *lo = each * lane < n ? each * lane : n;
  *hi = n - *lo < each ? n : *lo + each;
}

/* Sorts list [n] into spare [n]. */
LK_FN void sort_bcsr_row(int32_t *list, int32_t *spare, int64_t n, lk_int lane, lk_int lanes)
{
  int64_t lo, hi;
  int passes = 0;
  for (int64_t width = RUN; width < n; width *= 2) ++passes;
  int32_t *from = passes % 2 == 0 ? spare : list, *to = passes % 2 == 0 ? list : spare;
  for (int64_t k = (int64_t)RUN * lane; k < n; k += (int64_t)RUN * lanes)
    insertion_sort(list + k, from + k, n - k < RUN ? n - k : (int64_t)RUN);
  find_lane_share(n, lane, lanes, &lo, &hi);
  for (int64_t width = RUN; width < n; width *= 2) {
    LK_SYNC();
    merge_runs(from, to, n, width, lo, hi);
    int32_t *const swap = from;
    from = to;
    to = swap;
  }
  LK_SYNC();
}

LK_FN int is_new(const int32_t *sorted, int64_t k)
{
  return sorted[k] != NONE && (k == 0 || sorted[k] != sorted[k - 1]);
}

LK_KERNEL_BLOCK(bcsr_unique, a, i, lane, lanes)
{
  int32_t *const list = a->list + a->room[i], *const spare = a->spare + a->room[i];
  const int64_t n = a->num[i], slices = (n + SLICE - 1) / SLICE;
  const lk_int num = (lk_int)(slices < lanes ? slices : lanes); /* lanes that count and write */
  int64_t lo = 0, hi = 0, at = 0, mine = 0;
  if (n < 2) return; /* the diagonal alone */
  sort_bcsr_row(list, spare, n, lane, lanes);
  if (lane < num) find_lane_share(n, lane, num, &lo, &hi);
  for (int64_t k = lo; k < hi; ++k) mine += is_new(spare, k);
  if (lane < num) list[lane] = (int32_t)mine;
  LK_SYNC();
  for (lk_int l = 0; l < lane && l < num; ++l) at += list[l];
  LK_SYNC();
  for (int64_t k = lo; k < hi; ++k)
    if (is_new(spare, k)) list[at++] = spare[k];
  if (lane == num - 1) a->num[i] = at;
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
LK_FN int64_t find_bcsr_place(const bcsr_args *a, int32_t i, int32_t j)
{
  return lk_place_in_row(a->row, a->col, i, j);
}

/* to [b][b] += the block at K; its rows are `ld` numbers apart. */
LK_FN void add_bcsr_block(int b, int64_t ld, const lk_real *K, lk_real *to)
{
  for (int r = 0; r < b; ++r)
    for (int s = 0; s < b; ++s) to[b * r + s] += K[ld * r + s];
}

/* Row i += K; of each block all numbers, or number `only` if it is not negative. */
LK_FN void add_bcsr_row(const bcsr_args *a, lk_int i, int only)
{
  const int b = a->b, bb = b * b;
  for (int64_t k = a->first[i]; k < a->first[i + 1]; ++k) {
    const int32_t c = a->corner[k];
    const int64_t e = element_of(a, c);
    if (e < a->from) continue;
    if (e >= a->end) break; /* the corners of a row ascend */
    const int64_t lo = corner_of(a, e), hi = corner_of(a, e + 1);
    /* blocks of a row of blocks follow each other; in a dense matrix they lie side by side */
    const int64_t ld = a->dense ? b * (hi - lo) : b, next = a->dense ? b : bb;
    const int64_t block = element_block_index(a, e) - element_block_index(a, a->from);
    const lk_real *K = a->K + bb * (block + (c - lo) * (hi - lo));
    for (int64_t d = lo; d < hi; ++d, K += next) {
      if (!is_bcsr_row(a, column_of(a, d))) continue;
      lk_real *const to = a->val + bb * find_bcsr_place(a, i, column_of(a, d));
      if (only < 0)
        add_bcsr_block(b, ld, K, to);
      else
        to[only] += K[ld * (only / b) + only % b];
    }
  }
}

/* With `split` neighbouring threads read and write the numbers of one block together. */
LK_KERNEL_PLAIN(bcsr_add, a, i)
{
  const int bb = a->b * a->b;
  if (a->split)
    add_bcsr_row(a, i / bb, i % bb);
  else
    add_bcsr_row(a, i, -1);
}

LK_KERNEL_PLAIN(bcsr_scatter, a, k)
{
  const int b = a->b, bb = b * b;
  const int64_t e = a->from + k, lo = corner_of(a, e), hi = corner_of(a, e + 1);
  const int64_t ld = a->dense ? b * (hi - lo) : b, next = a->dense ? b : bb;
  for (int64_t c = lo; c < hi; ++c) {
    const lk_real *K = a->K + bb * (element_block_index(a, e) - element_block_index(a, a->from) +
                                    (c - lo) * (hi - lo));
    if (!is_bcsr_row(a, a->node[c])) continue;
    for (int64_t d = lo; d < hi; ++d, K += next) {
      if (!is_bcsr_row(a, column_of(a, d))) continue;
      lk_real *const to = a->val + bb * find_bcsr_place(a, a->node[c], column_of(a, d));
      if (!a->atomic)
        add_bcsr_block(b, ld, K, to);
      else
        for (int r = 0; r < bb; ++r) LK_ATOMIC_ADD(to + r, K[ld * (r / b) + r % b]);
    }
  }
}
