/* bcsr_steady.kern.c - see bcsr_steady.kern.h.  A row is written by one index of a launch, which
 * takes elements in their order. */
#include "kit/bcsr_steady.kern.h"

#include "geom/sorted.kern.h"

/* A segment takes a microsecond. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 128

LK_FN int is_steady_row(const steady_args *a, int32_t i) { return i >= 0 && i < a->n; }

LK_KERNEL_PLAIN(steady_corner, a, c)
{
  const uint64_t part = (uint64_t)(c / a->arity / a->part);
  a->key[c] = part << 32 | (uint64_t)(is_steady_row(a, a->node[c]) ? a->node[c] : a->n);
}

LK_KERNEL_PLAIN(steady_head, a, k) { a->head[k] = k == 0 || a->key[k] != a->key[k - 1]; }

LK_KERNEL_PLAIN(steady_from, a, p)
{
  a->from[p] = a->seg[lk_lower_bound(a->key, a->corners, (uint64_t)p << 32)];
}

LK_KERNEL_PLAIN(steady_list, a, k)
{
  const int64_t s = a->seg[k];
  const int32_t row = (int32_t)(a->key[k] & UINT64_C(0xffffffff));
  const int32_t *const node = a->node + a->corner[k] / a->arity * (int64_t)a->arity;
  if ((int64_t)k + 1 == a->corners) a->start[s + a->head[k]] = (int32_t)a->corners;
  if (a->head[k]) {
    a->row[s] = row;
    a->start[s] = k;
  }
  for (int32_t d = 0; d < a->arity; ++d)
    a->place[(int64_t)a->arity * k + d] =
        row < a->n && is_steady_row(a, node[d])
            ? (int32_t)lk_place_in_row(a->base_row, a->base_col, row, node[d])
            : -1;
}

/* Segment s += K; of each block all numbers, or number `only` if it is not negative. */
LK_FN void add_segment(const steady_args *a, int64_t s, int only)
{
  const int32_t arity = a->arity, side = 3 * arity;
  const int64_t lo = a->start[a->first + s], hi = a->start[a->first + s + 1];
  for (int64_t k = lo; k < hi; ++k) {
    const int32_t c = a->corner[k], e = c / arity;
    const lk_real *K = a->K + (int64_t)side * (side * (e - a->elem) + 3 * (c - arity * e));
    const int32_t *const place = a->place + arity * k;
    for (int32_t d = 0; d < arity; ++d, K += 3) {
      if (place[d] < 0) continue;
      lk_real *const to = a->val + 9 * (int64_t)a->map[place[d]];
      if (only >= 0) {
        to[only] += K[side * (only / 3) + only % 3];
        continue;
      }
      for (int r = 0; r < 3; ++r)
        for (int t = 0; t < 3; ++t) to[3 * r + t] += K[side * r + t];
    }
  }
}

/* With `split` neighbouring threads read and write the numbers of one block together. */
LK_KERNEL_PLAIN(steady_add, a, s)
{
  if (a->split)
    add_segment(a, s / 9, s % 9);
  else
    add_segment(a, s, -1);
}
