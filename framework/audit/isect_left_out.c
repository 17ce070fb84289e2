/* isect_left_out.c - lists of pairs of vertices; the audit does not compare primitives that contain
 * a listed pair. */
#include <stdlib.h>
#include <string.h>

#include "audit/intersect.h"
#include "geom/sorted.kern.h"

static int compare_vertex_pair(const void *a, const void *b)
{
  const int32_t *const p = a, *const q = b;
  if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
  return (p[1] > q[1]) - (p[1] < q[1]);
}

int64_t isect_settle_pairs(int32_t *pairs, int64_t num)
{
  int64_t kept = 0, unique = 0;
  for (int64_t k = 0; k < num; ++k) {
    const int32_t a = pairs[2 * k], b = pairs[2 * k + 1];
    if (a == b) continue;
    pairs[2 * kept] = a < b ? a : b;
    pairs[2 * kept++ + 1] = a < b ? b : a;
  }
  if (kept > 1) qsort(pairs, (size_t)kept, 2 * sizeof *pairs, compare_vertex_pair);
  for (int64_t k = 0; k < kept; ++k) {
    if (unique > 0 && compare_vertex_pair(pairs + 2 * k, pairs + 2 * (unique - 1)) == 0) continue;
    memmove(pairs + 2 * unique++, pairs + 2 * k, 2 * sizeof *pairs);
  }
  return unique;
}

/* Pairs in ascending order fill each row in ascending order: the smaller partners come before the
 * larger ones. */
loom_status isect_left_out_make(loom_err *err, int64_t rows, const int32_t *pairs, int64_t num,
                                isect_left_out *out)
{
  isect_left_out_free(out);
  out->first = calloc((size_t)rows + 3, sizeof *out->first);
  out->other = calloc(2 * (size_t)num + 1, sizeof *out->other);
  if (out->first == NULL || out->other == NULL) {
    isect_left_out_free(out);
    return err_set(err, LOOM_E_NOMEM, "no memory for the list of %lld pairs that are left out",
                   (long long)num);
  }
  int32_t *const first = out->first;
  for (int64_t k = 0; k < 2 * num; ++k) ++first[pairs[k] + 2]; /* first[v + 2]: length of row v */
  for (int64_t v = 0; v < rows; ++v) first[v + 2] += first[v + 1];
  for (int64_t k = 0; k < num; ++k)
    for (int end = 0; end < 2; ++end)
      out->other[first[pairs[2 * k + end] + 1]++] = pairs[2 * k + 1 - end];
  return LOOM_OK;
}

void isect_left_out_free(isect_left_out *l)
{
  free(l->first);
  free(l->other);
  memset(l, 0, sizeof *l);
}

int isect_is_left_out(const isect_left_out *l, int64_t v, int64_t w)
{
  return lk_is_in_row(l->first, l->other, v, (int32_t)w);
}
