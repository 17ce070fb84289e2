/* spatial_hash.kern.c - see spatial_hash.kern.h. */
#include "spatial_hash.kern.h"

#include "geom/sorted.kern.h"

/* ---- cells ---- */

/* Monotone, so clamping far away coordinates loses no pair. */
LK_FN uint32_t hash_cell_coordinate(const spatial_hash_args *a, lk_real x)
{
  const lk_real half = (lk_real)SPATIAL_HASH_HALF;
  const lk_real c = LK_FLOOR(x / a->cell) + half;
  return c > LK_R(0.0) ? (uint32_t)(c < LK_R(2.0) * half ? c : LK_R(2.0) * half - LK_R(1.0)) : 0;
}

LK_FN uint64_t hash_cell_key(uint32_t i, uint32_t j, uint32_t k)
{
  return (uint64_t)i << 42 | (uint64_t)j << 21 | (uint64_t)k;
}

/* Cells that the grown box of a triangle (n = 3) or an edge meets, from lo to hi. */
LK_FN void find_cell_range(const spatial_hash_args *a, const int32_t *v, int n, uint32_t *lo,
                           uint32_t *hi)
{
  lk_real x[3], b[6], size = LK_R(0.0);
  LK_LOAD3(b, a->m.x0, v[0]);
  LK_LOAD3(b + 3, a->m.x0, v[0]);
  for (int i = 1; i < n; ++i) {
    LK_LOAD3(x, a->m.x0, v[i]);
    for (int c = 0; c < 3; ++c) {
      b[c] = x[c] < b[c] ? x[c] : b[c];
      b[3 + c] = x[c] > b[3 + c] ? x[c] : b[3 + c];
    }
  }
  for (int c = 0; c < 3; ++c) size += b[3 + c] - b[c];
  const lk_real radius = side_radius(a->m.radius, v, n);
  lk_real grow = radius + a->reach;
  /* A negative growth becomes 0: no pair can be that near, but ranges must not be empty.  The
   * second term covers the rounding of the narrow phase, with some to spare. */
  grow = (grow > LK_R(0.0) ? grow : LK_R(0.0)) +
         LK_R(256.0) * LK_EPSILON * (size + LK_FABS(a->reach) + radius);
  for (int c = 0; c < 3; ++c) {
    lo[c] = hash_cell_coordinate(a, b[c] - grow);
    hi[c] = hash_cell_coordinate(a, b[3 + c] + grow);
  }
}

/* At most 2^40, so that the sum over all items is not too large for an integer. */
LK_FN int64_t num_cells(const spatial_hash_args *a, const int32_t *v, int n)
{
  const int64_t most = (int64_t)1 << 40;
  uint32_t lo[3], hi[3];
  find_cell_range(a, v, n, lo, hi);
  const int64_t plane = ((int64_t)hi[0] - lo[0] + 1) * ((int64_t)hi[1] - lo[1] + 1);
  const int64_t deep = (int64_t)hi[2] - lo[2] + 1;
  return plane < most / deep ? plane * deep : most;
}

LK_FN void write_cell_entries(const spatial_hash_args *a, const int32_t *v, int n, lk_int id)
{
  uint32_t lo[3], hi[3];
  int64_t at = a->place[id];
  find_cell_range(a, v, n, lo, hi);
  for (uint32_t i = lo[0]; i <= hi[0]; ++i)
    for (uint32_t j = lo[1]; j <= hi[1]; ++j)
      for (uint32_t k = lo[2]; k <= hi[2]; ++k) {
        a->key[at] = hash_cell_key(i, j, k);
        a->item[at++] = id;
      }
}

LK_KERNEL_PLAIN(spatial_hash_cells_tri, a, t) { a->count[t] = num_cells(a, a->m.tris + 3 * t, 3); }
LK_KERNEL_PLAIN(spatial_hash_cells_edge, a, e)
{
  a->count[e] = num_cells(a, a->m.edges + 2 * e, 2);
}
LK_KERNEL_PLAIN(spatial_hash_enter_tri, a, t) { write_cell_entries(a, a->m.tris + 3 * t, 3, t); }
LK_KERNEL_PLAIN(spatial_hash_enter_edge, a, e) { write_cell_entries(a, a->m.edges + 2 * e, 2, e); }
LK_KERNEL(spatial_hash_pad, a, i) { a->key[a->num_entries + i] = SPATIAL_HASH_NONE; }

/* ---- candidates ---- */

/* A vertex stands in one cell, where each triangle is entered once. */
LK_FN int64_t vertex_triangles(const spatial_hash_args *a, lk_int p, uint64_t *out)
{
  const mesh_view *const m = &a->m;
  lk_real x[3];
  int64_t n = 0;
  if (!(m->state[p] & MESH_SURFACE)) return 0;
  LK_LOAD3(x, m->x0, p);
  const uint64_t key = hash_cell_key(hash_cell_coordinate(a, x[0]), hash_cell_coordinate(a, x[1]),
                                     hash_cell_coordinate(a, x[2]));
  for (int64_t i = lk_lower_bound(a->key, a->num_entries, key);
       i < a->num_entries && a->key[i] == key; ++i) {
    const lk_int t = a->item[a->perm[i]];
    const int32_t *const v = m->tris + 3 * t;
    if (v[0] == p || v[1] == p || v[2] == p || mesh_same_group(m, p, v[0])) continue;
    if (!mesh_wants_pair(a->kinds, MESH_VT, p >= m->cloth_verts, t >= m->cloth_tris)) continue;
    if (out != NULL) out[n] = mesh_name_vt(p, t);
    ++n;
  }
  return n;
}

/* Later edges f of one cell, if this cell is the first that f has in common with e. */
LK_FN int64_t cell_edges(const spatial_hash_args *a, lk_int e, const uint32_t *lo,
                         const uint32_t *cell, uint64_t *out)
{
  const mesh_view *const m = &a->m;
  const uint64_t key = hash_cell_key(cell[0], cell[1], cell[2]);
  const int32_t *const u = m->edges + 2 * e;
  int64_t n = 0;
  for (int64_t i = lk_lower_bound(a->key, a->num_entries, key);
       i < a->num_entries && a->key[i] == key; ++i) {
    const lk_int f = a->item[a->perm[i]];
    const int32_t *const v = m->edges + 2 * f;
    uint32_t l[3], h[3];
    if (f <= e || u[0] == v[0] || u[0] == v[1] || u[1] == v[0] || u[1] == v[1]) continue;
    if (mesh_same_group(m, u[0], v[0])) continue;
    if (!mesh_wants_pair(a->kinds, MESH_EE, e >= m->cloth_edges, f >= m->cloth_edges)) continue;
    find_cell_range(a, v, 2, l, h);
    int first = 1;
    for (int c = 0; c < 3; ++c) first &= cell[c] == (l[c] > lo[c] ? l[c] : lo[c]);
    if (!first) continue;
    if (out != NULL) out[n] = mesh_name_ee(e, f);
    ++n;
  }
  return n;
}

LK_FN int64_t edge_edges(const spatial_hash_args *a, lk_int e, uint64_t *out)
{
  uint32_t lo[3], hi[3], cell[3];
  int64_t n = 0;
  find_cell_range(a, a->m.edges + 2 * e, 2, lo, hi);
  for (cell[0] = lo[0]; cell[0] <= hi[0]; ++cell[0])
    for (cell[1] = lo[1]; cell[1] <= hi[1]; ++cell[1])
      for (cell[2] = lo[2]; cell[2] <= hi[2]; ++cell[2])
        n += cell_edges(a, e, lo, cell, out != NULL ? out + n : out);
  return n;
}

LK_KERNEL_PLAIN(spatial_hash_count_vt, a, p) { a->count[p] = vertex_triangles(a, p, NULL); }
LK_KERNEL_PLAIN(spatial_hash_count_ee, a, e) { a->count[e] = edge_edges(a, e, NULL); }

LK_KERNEL_PLAIN(spatial_hash_list_vt, a, i)
{
  const lk_int p = a->first + i;
  if (a->place[p] != a->place[p + 1])
    (void)vertex_triangles(a, p, a->name + (a->place[p] - a->base));
}

LK_KERNEL_PLAIN(spatial_hash_list_ee, a, i)
{
  const lk_int e = a->first + i;
  if (a->place[e] != a->place[e + 1]) (void)edge_edges(a, e, a->name + (a->place[e] - a->base));
}
