/* test_sorted.c - search in ascending keys and rows against loops over all of them. */
#include <criterion/criterion.h>

#include "geom/sorted.kern.h"

enum { NUM = 9, ROWS = 4, MOST = 12 };

static const int32_t list[NUM] = {1, 3, 4, 9, 0, 2, 2, 7, 10};

Test(sorted, lower_bounds)
{
  static const int32_t ascending[NUM] = {0, 1, 1, 4, 6, 6, 6, 8, 11};
  uint64_t keys[NUM];
  for (int k = 0; k < NUM; ++k) keys[k] = (uint64_t)ascending[k];
  for (int n = 0; n <= NUM; ++n)
    for (int32_t v = 0; v <= MOST; ++v) {
      int64_t below = 0;
      int there = 0;
      for (int k = 0; k < n; ++k) {
        below += ascending[k] < v;
        there |= ascending[k] == v;
      }
      cr_expect_eq(lk_lower_bound_i32(ascending, n, v), below, "%d of %d", v, n);
      cr_expect_eq(lk_lower_bound(keys, n, (uint64_t)v), below, "%d of %d", v, n);
      cr_expect_eq(lk_is_in(keys, n, (uint64_t)v), there, "%d of %d", v, n);
    }
}

/* Rows of 4, 0, 3 and 2 numbers. */
Test(sorted, rows)
{
  static const int32_t first[ROWS + 1] = {0, 4, 4, 7, 9};
  static const int64_t first64[ROWS + 1] = {0, 4, 4, 7, 9};
  for (int i = 0; i < ROWS; ++i)
    for (int32_t v = 0; v <= MOST; ++v) {
      int64_t at = -1;
      for (int32_t k = first[i + 1] - 1; k >= first[i]; --k)
        if (list[k] == v) at = k;
      cr_expect_eq(lk_is_in_row(first, list, i, v), at >= 0, "%d in row %d", v, i);
      if (at >= 0) cr_expect_eq(lk_place_in_row(first64, list, i, v), at, "%d in row %d", v, i);
    }
}
