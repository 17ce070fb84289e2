/* prim_cpu.c - parallel scan and stable radix sort, the same result for any thread count.
 *
 * The sort takes one byte per pass, lowest first, and skips the bytes in which all keys
 * agree.  Every thread owns a contiguous part; within one digit value the parts keep their
 * order, so each pass is stable and the sorted order is unique.
 */
#include <string.h>

#include "linalg/prim.h"

enum { RADIX = 256, PARALLEL_MIN = 8192, MAX_PARTS = 256 };

static int num_parts(int threads, int64_t n)
{
  if (n < PARALLEL_MIN || threads <= 1) return 1;
  return threads < MAX_PARTS ? threads : MAX_PARTS;
}

static int64_t part_begin(int64_t n, int part, int parts) { return n * part / parts; }

void prim_scan_cpu(int threads, const int64_t *in, int64_t *out, int64_t n)
{
  int64_t start[MAX_PARTS];
  const int parts = num_parts(threads, n);
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int p = 0; p < parts; ++p) {
    int64_t s = 0;
    for (int64_t i = part_begin(n, p, parts), hi = part_begin(n, p + 1, parts); i < hi; ++i)
      s += in[i];
    start[p] = s;
  }
  int64_t total = 0;
  for (int p = 0; p < parts; ++p) {
    const int64_t s = start[p];
    start[p] = total;
    total += s;
  }
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int p = 0; p < parts; ++p) {
    int64_t s = start[p];
    for (int64_t i = part_begin(n, p, parts), hi = part_begin(n, p + 1, parts); i < hi; ++i) {
      out[i] = s;
      s += in[i];
    }
  }
  out[n] = total;
}

int64_t prim_sort_cpu_bytes(int threads, int64_t n)
{
  return n * (int64_t)(sizeof(uint64_t) + sizeof(int32_t)) +
         (int64_t)num_parts(threads, n) * RADIX * (int64_t)sizeof(int32_t) + 64;
}

typedef struct items {
  uint64_t *key;
  int32_t *index; /* NULL: item i has index i */
} items;

static void count_digits(const uint64_t *key, int64_t n, int shift, int parts, int32_t *hist)
{
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int p = 0; p < parts; ++p) {
    int32_t *h = hist + (ptrdiff_t)p * RADIX;
    memset(h, 0, RADIX * sizeof *h);
    for (int64_t i = part_begin(n, p, parts), hi = part_begin(n, p + 1, parts); i < hi; ++i)
      ++h[key[i] >> shift & (RADIX - 1)];
  }
  int32_t sum = 0;
  for (int d = 0; d < RADIX; ++d) {
    for (int p = 0; p < parts; ++p) {
      const int32_t c = hist[p * RADIX + d];
      hist[p * RADIX + d] = sum;
      sum += c;
    }
  }
}

static void scatter_by_digit(items from, items to, int64_t n, int shift, int parts, int32_t *hist)
{
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int p = 0; p < parts; ++p) {
    int32_t *h = hist + (ptrdiff_t)p * RADIX;
    for (int64_t i = part_begin(n, p, parts), hi = part_begin(n, p + 1, parts); i < hi; ++i) {
      const int32_t at = h[from.key[i] >> shift & (RADIX - 1)]++;
      to.key[at] = from.key[i];
      to.index[at] = from.index != NULL ? from.index[i] : (int32_t)i;
    }
  }
}

static void copy_items(items from, items to, int64_t n, int parts)
{
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int p = 0; p < parts; ++p) {
    const int64_t lo = part_begin(n, p, parts), len = part_begin(n, p + 1, parts) - lo;
    memcpy(to.key + lo, from.key + lo, (size_t)len * sizeof *to.key);
    memcpy(to.index + lo, from.index + lo, (size_t)len * sizeof *to.index);
  }
}

void prim_sort_cpu(int threads, uint64_t *key, int32_t *perm, int64_t n, void *work)
{
  const int parts = num_parts(threads, n);
  uint64_t differ = 0;
  items here = {key, perm};
  items there = {(uint64_t *)work, (int32_t *)((uint64_t *)work + n)};
  int32_t *hist = there.index + n;
  if (n == 0) return;
#pragma omp parallel for schedule(static) num_threads(parts) reduction(| : differ)
  for (int64_t i = 0; i < n; ++i) differ |= key[i] ^ key[0];
  items from = {key, NULL}, to = there;
  for (int shift = 0; shift < 64; shift += 8) {
    if ((differ >> shift & (RADIX - 1)) == 0) continue;
    count_digits(from.key, n, shift, parts, hist);
    scatter_by_digit(from, to, n, shift, parts, hist);
    from = to;
    to = from.key == key ? there : here;
  }
  if (from.index == NULL)
    for (int64_t i = 0; i < n; ++i) perm[i] = (int32_t)i;
  else if (from.key != key)
    copy_items(from, here, n, parts);
}
