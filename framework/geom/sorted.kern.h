/* sorted.kern.h - search in ascending keys. */
#ifndef LOOM_SORTED_KERN_H
#define LOOM_SORTED_KERN_H

#include "loom/kernel.h"

/* The first of n ascending keys that is not below `key`, n if all are. */
LK_FN int64_t lk_lower_bound(const uint64_t *keys, int64_t n, uint64_t key)
{
  int64_t lo = 0, hi = n;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (keys[mid] < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

LK_FN int lk_is_in(const uint64_t *keys, int64_t n, uint64_t key)
{
  const int64_t at = lk_lower_bound(keys, n, key);
  return at < n && keys[at] == key;
}

/* The same in numbers of 32 bits. */
LK_FN int64_t lk_lower_bound_i32(const int32_t *list, int64_t n, int32_t value)
{
  int64_t lo = 0, hi = n;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (list[mid] < value)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* ---- ascending rows of a table: row i is list[first[i]] to list[first[i + 1] - 1] ---- */

LK_FN int lk_is_in_row(const int32_t *first, const int32_t *list, int64_t i, int32_t value)
{
  const int32_t *const row = list + first[i];
  const int64_t n = first[i + 1] - first[i], at = lk_lower_bound_i32(row, n, value);
  return at < n && row[at] == value;
}

/* Where in the list the value is, which row i has: its last place is not looked at. */
LK_FN int64_t lk_place_in_row(const int64_t *first, const int32_t *list, int64_t i, int32_t value)
{
  return first[i] + lk_lower_bound_i32(list + first[i], first[i + 1] - first[i] - 1, value);
}

#endif
