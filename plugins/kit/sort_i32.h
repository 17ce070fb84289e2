/* sort_i32.h - sorts a list of numbers on the host, for plugins. */
#ifndef KIT_SORT_I32_H
#define KIT_SORT_I32_H

#include <stdint.h>
#include <stdlib.h>

static inline int sort_i32_compare(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static inline void sort_i32(int32_t *v, int64_t n)
{
  qsort(v, (size_t)n, sizeof *v, sort_i32_compare);
}

#endif
