/* corners.c - see corners.h. */
#include "kit/corners.h"

#include <stdlib.h>

loom_status corners_sort(corners *k, const loom_host *host, int32_t n)
{
  const int64_t all = (int64_t)k->num_elems * k->arity;
  k->ptr = calloc((size_t)n + 2, sizeof *k->ptr);
  k->elem = malloc((size_t)(all + 1) * sizeof *k->elem);
  k->at = malloc((size_t)(all + 1) * sizeof *k->at);
  LOOM_CHECK(host, k->ptr != NULL && k->elem != NULL && k->at != NULL, LOOM_E_NOMEM,
             "no memory for the corners of %d elements", k->num_elems);
  for (int64_t q = 0; q < all; ++q) ++k->ptr[k->verts[q] + 2];
  for (int32_t v = 0; v < n; ++v) k->ptr[v + 2] += k->ptr[v + 1];
  for (int64_t q = 0; q < all; ++q) {
    const int64_t to = k->ptr[k->verts[q] + 1]++;
    k->elem[to] = (int32_t)(q / k->arity);
    k->at[to] = (int32_t)(q % k->arity);
  }
  return LOOM_OK;
}

void corners_free(corners *k)
{
  free(k->ptr);
  free(k->elem);
  free(k->at);
}
