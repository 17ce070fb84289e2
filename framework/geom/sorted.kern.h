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

#endif
