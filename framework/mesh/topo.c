/* topo.c - the edge table of a triangle mesh by counting sorts. */
#include "mesh/topo.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

void topo_side(const int32_t *tris, int32_t side, int32_t *from, int32_t *to, int32_t *opposite)
{
  const int32_t t = side / 3, c = side % 3;
  *from = tris[3 * t + c];
  *to = tris[3 * t + (c + 1) % 3];
  *opposite = tris[3 * t + (c + 2) % 3];
}

/* One stable pass: `in` reordered by column `c` of the rows. */
static void sort_pass(const int32_t *key, int64_t count, int width, int c, int64_t n,
                      const int32_t *in, int32_t *out, int64_t *start)
{
  memset(start, 0, (size_t)(n + 1) * sizeof *start);
  for (int64_t i = 0; i < count; ++i) ++start[key[width * i + c] + 1];
  for (int64_t v = 0; v < n; ++v) start[v + 1] += start[v];
  for (int64_t i = 0; i < count; ++i) out[start[key[width * (int64_t)in[i] + c]]++] = in[i];
}

loom_status topo_sort_rows(loom_err *err, const int32_t *key, int64_t count, int width, int64_t n,
                           int32_t *order)
{
  int32_t *other;
  int64_t *start;
  LOOM_TRY(mesh_alloc(err, count, sizeof *other, &other));
  const loom_status s = mesh_alloc(err, n + 1, sizeof *start, &start);
  if (s != LOOM_OK) {
    free(other);
    return s;
  }
  for (int64_t i = 0; i < count; ++i) order[i] = (int32_t)i;
  for (int c = width - 1; c >= 0; --c) { /* the last pass decides: most significant first column */
    sort_pass(key, count, width, c, n, order, other, start);
    memcpy(order, other, (size_t)count * sizeof *order);
  }
  free(start);
  free(other);
  return LOOM_OK;
}

void topo_free(topo *t)
{
  free(t->edges);
  free(t->first);
  free(t->sides);
  memset(t, 0, sizeof *t);
}

static loom_status group_sides(loom_err *err, const int32_t *ends, int64_t count, topo *out)
{
  int64_t m = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int32_t *e = ends + 2 * (int64_t)out->sides[k];
    const int32_t *last = k > 0 ? ends + 2 * (int64_t)out->sides[k - 1] : NULL;
    if (last == NULL || e[0] != last[0] || e[1] != last[1]) ++m;
  }
  out->num_edges = m;
  LOOM_TRY(mesh_alloc(err, 2 * m, sizeof *out->edges, &out->edges));
  LOOM_TRY(mesh_alloc(err, m + 1, sizeof *out->first, &out->first));
  m = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int32_t *e = ends + 2 * (int64_t)out->sides[k];
    if (m > 0 && out->edges[2 * m - 2] == e[0] && out->edges[2 * m - 1] == e[1]) continue;
    out->edges[2 * m] = e[0];
    out->edges[2 * m + 1] = e[1];
    out->first[m++] = k;
  }
  out->first[m] = count;
  return LOOM_OK;
}

loom_status topo_build(loom_err *err, const int32_t *tris, int64_t nt, int64_t n, topo *out)
{
  int32_t *ends;
  memset(out, 0, sizeof *out);
  LOOM_TRY(mesh_alloc(err, 6 * nt, sizeof *ends, &ends));
  for (int64_t s = 0; s < 3 * nt; ++s) {
    int32_t a, b, c;
    topo_side(tris, (int32_t)s, &a, &b, &c);
    ends[2 * s] = a < b ? a : b;
    ends[2 * s + 1] = a < b ? b : a;
  }
  loom_status s = mesh_alloc(err, 3 * nt, sizeof *out->sides, &out->sides);
  if (s == LOOM_OK) s = topo_sort_rows(err, ends, 3 * nt, 2, n, out->sides);
  if (s == LOOM_OK) s = group_sides(err, ends, 3 * nt, out);
  if (s != LOOM_OK) topo_free(out);
  free(ends);
  return s;
}
