/* spatial_hash.c - collision plugin `spatial_hash`: triangle meshes in a uniform grid.
 *
 * The plain baseline: triangles and edges are entered into all cells that their boxes meet
 * (M. Teschner et al., Optimized spatial hashing for collision detection of deformable objects,
 * VMV 2003); vertices look for triangles in their cell, edges for edges in theirs.  DEVIATION:
 * cells are sorted and found by bisection instead of hashed, so there are no collisions of keys
 * and the order does not depend on threads. */
#include <math.h>

#include "kit/mesh_query.h"
#include "loom/plugin.h"
#include "spatial_hash.kern.h"

static const lk_entry k_cells[2] = {LK_ENTRY_MOVES(spatial_hash_cells_tri, 13, 5),
                                    LK_ENTRY_MOVES(spatial_hash_cells_edge, 9, 2)};
static const lk_entry k_enter[2] = {LK_ENTRY_MOVES(spatial_hash_enter_tri, 20, 12),
                                    LK_ENTRY_MOVES(spatial_hash_enter_edge, 13, 6)};
static const lk_entry k_pad = LK_ENTRY_MOVES(spatial_hash_pad, 1, 0);
static const lk_entry k_count[2] = {LK_ENTRY_MOVES(spatial_hash_count_vt, 23, 43),
                                    LK_ENTRY_MOVES(spatial_hash_count_ee, 206, 146)};
static const lk_entry k_list[2] = {LK_ENTRY_MOVES(spatial_hash_list_vt, 28, 43),
                                   LK_ENTRY_MOVES(spatial_hash_list_ee, 199, 133)};

typedef struct {
  double cell;
  int64_t max_cells;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, cell, 1.0, 0.01, 100.0, "1",
                    "Edge of a cell over the mean edge of the cloth at rest plus the distance at "
                    "which pairs count."),
    LOOM_PARAM_INT(settings, max_cells, 64, 8, 100000, "1",
                   "Mean number of cells of a triangle or edge above which cells are doubled: "
                   "bounds memory where few triangles are much larger than the others."),
};

typedef struct {
  mesh m;
  settings set;
  double mean_edge, max_radius;  /* m */
  loom_buf *count[2], *place[2]; /* i64 of entries: [triangles], [edges], + 1 */
  loom_buf *pairs[2], *at[2];    /* i64 of candidates: [vertices], [edges], + 1 */
  loom_buf *key, *item, *perm;   /* entries of the family under way */
  int64_t num_items[2], num_groups[2];
  spatial_hash_args args; /* of the family under way; no pointers */
} spatial_hash;

/* ---- life ---- */

/* Mean edge of the cloth at rest and the largest radius. */
static loom_status measure_cloth(spatial_hash *d)
{
  const loom_host *const host = d->m.host;
  const loom_scene *const sc = d->m.sc;
  const loom_real *x, *r;
  void *p;
  LOOM_TRY(host->map(host, d->m.e, sc->radius, LOOM_READ, LOOM_AT_HOST, &p));
  r = p;
  for (int32_t i = 0; i < sc->num_verts; ++i) d->max_radius = fmax(d->max_radius, (double)r[i]);
  LOOM_TRY(host->unmap(host, sc->radius));
  if (sc->num_edges == 0) return LOOM_OK;
  LOOM_TRY(host->map(host, d->m.e, sc->rest_x, LOOM_READ, LOOM_AT_HOST, &p));
  x = p;
  LOOM_TRY(host->map(host, d->m.e, sc->edges, LOOM_READ, LOOM_AT_HOST, &p));
  for (int32_t e = 0; e < sc->num_edges; ++e) {
    const int32_t *const v = (const int32_t *)p + 2 * (int64_t)e;
    double q = 0.0;
    for (int c = 0; c < 3; ++c)
      q += pow((double)(x[3 * (int64_t)v[0] + c] - x[3 * (int64_t)v[1] + c]), 2.0);
    d->mean_edge += sqrt(q) / sc->num_edges;
  }
  LOOM_TRY(host->unmap(host, sc->edges));
  LOOM_TRY(host->unmap(host, sc->rest_x));
  return LOOM_OK;
}

static loom_status spatial_hash_create(const loom_host *host, const loom_scene *sc,
                                       const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(spatial_hash), self));
  spatial_hash *const d = *self;
  d->set = *(const settings *)set;
  const mesh_params none = {.method = CCD_ADDITIVE};
  LOOM_TRY(mesh_create(&d->m, host, sc, e, &none));
  LOOM_TRY(measure_cloth(d));
  d->num_items[MESH_VT] = d->m.num_tris;
  d->num_items[MESH_EE] = d->num_groups[MESH_EE] = d->m.num_edges;
  d->num_groups[MESH_VT] = d->m.num_verts;
  for (int f = MESH_VT; f <= MESH_EE; ++f) {
    LOOM_TRY(host->buf_new(host, "cell counts", LOOM_I64, d->num_items[f], &d->count[f]));
    LOOM_TRY(host->buf_new(host, "cell places", LOOM_I64, d->num_items[f] + 1, &d->place[f]));
    LOOM_TRY(host->buf_new(host, "pair counts", LOOM_I64, d->num_groups[f], &d->pairs[f]));
    LOOM_TRY(host->buf_new(host, "pair places", LOOM_I64, d->num_groups[f] + 1, &d->at[f]));
  }
  LOOM_TRY(host->buf_new(host, "cells", LOOM_U64, 0, &d->key));
  LOOM_TRY(host->buf_new(host, "items", LOOM_I32, 0, &d->item));
  return host->buf_new(host, "order", LOOM_I32, 0, &d->perm);
}

/* ---- broad phase ---- */

/* Choose the cells, so that there are not too many entries; their number. */
static loom_status count_cell_entries(spatial_hash *d, int family, int64_t *num)
{
  const loom_host *const host = d->m.host;
  const int64_t most = d->set.max_cells * (d->num_items[family] + 1);
  for (;; d->args.cell *= LK_R(2.0)) {
    plug_maps m = plug_maps_on(host, d->m.e);
    spatial_hash_args args = d->args;
    args.count = plug_write(&m, d->count[family]);
    LOOM_TRY(plug_launch(&m, &k_cells[family], &args, d->num_items[family], NULL));
    LOOM_TRY(host->scan_i64(host, d->m.e, d->count[family], d->place[family], num));
    if (*num <= most) return LOOM_OK;
  }
}

/* Sorted entries of all triangles or edges. */
static loom_status make_entries(spatial_hash *d, int family)
{
  const loom_host *const host = d->m.host;
  int64_t num;
  LOOM_TRY(count_cell_entries(d, family, &num));
  LOOM_CHECK(host, num <= LK_MAX_ELEMS, LOOM_E_ARG,
             "%lld entries of the grid are more than %d; lower max_cells or use patch_bvh",
             (long long)num, (int)LK_MAX_ELEMS);
  LOOM_TRY(mesh_reserve(&d->m, d->key, num));
  const int64_t capacity = host->buf_count(host, d->key);
  LOOM_TRY(mesh_reserve(&d->m, d->item, capacity));
  LOOM_TRY(mesh_reserve(&d->m, d->perm, capacity));
  d->args.num_entries = num;
  plug_maps m = plug_maps_on(host, d->m.e);
  spatial_hash_args args = d->args;
  args.place = plug_read(&m, d->place[family]);
  args.key = plug_rdwr(&m, d->key);
  args.item = plug_rdwr(&m, d->item);
  LOOM_TRY(plug_run_on(&m, &k_enter[family], &args, d->num_items[family], NULL));
  LOOM_TRY(plug_launch(&m, &k_pad, &args, capacity - num, NULL));
  return host->sort_u64(host, d->m.e, d->key, d->perm);
}

/* Arguments with the sorted entries mapped. */
static spatial_hash_args open_entries(const spatial_hash *d, plug_maps *m)
{
  spatial_hash_args args = d->args;
  args.key = plug_rdwr(m, d->key);
  args.item = plug_rdwr(m, d->item);
  args.perm = plug_read(m, d->perm);
  return args;
}

static loom_status spatial_hash_list_candidates(void *self, const mesh_view *v, int family,
                                                int64_t first, int64_t end, int64_t base,
                                                loom_buf *place, loom_buf *name)
{
  spatial_hash *const d = self;
  plug_maps m = plug_maps_on(d->m.host, d->m.e);
  spatial_hash_args args = open_entries(d, &m);
  (void)v;
  args.place = plug_read(&m, place);
  args.name = plug_rdwr(&m, name);
  args.base = base;
  args.first = (lk_int)first;
  return plug_launch(&m, &k_list[family], &args, end - first, NULL);
}

static loom_status count_cell_candidates(spatial_hash *d, int family)
{
  const loom_host *const host = d->m.host;
  plug_maps m = plug_maps_on(host, d->m.e);
  spatial_hash_args args = open_entries(d, &m);
  args.count = plug_write(&m, d->pairs[family]);
  LOOM_TRY(plug_launch(&m, &k_count[family], &args, d->num_groups[family], NULL));
  return host->scan_i64(host, d->m.e, d->pairs[family], d->at[family], NULL);
}

static loom_status spatial_hash_find_candidates(void *self, const mesh_view *v,
                                                const mesh_wanted *w)
{
  spatial_hash *const d = self;
  const double near = fmax((double)w->reach, 0.0) + 2.0 * d->max_radius;
  int64_t listed = 0;
  for (int f = MESH_VT; f <= MESH_EE; ++f) {
    if (!(w->kinds & (f == MESH_VT ? MESH_VT_KINDS : MESH_EE_KINDS))) continue;
    if (d->num_items[f] == 0) continue;
    /* triangles grow by all of the distance, because vertices do not */
    d->args = (spatial_hash_args){.m = *v,
                                  .kinds = w->kinds,
                                  .cell = (lk_real)(d->set.cell * (d->mean_edge + near)),
                                  .reach = f == MESH_VT ? w->reach + (lk_real)d->max_radius
                                                        : LK_R(0.5) * w->reach};
    if (!(d->args.cell > LK_R(0.0))) d->args.cell = LK_R(1.0);
    LOOM_TRY(make_entries(d, f));
    LOOM_TRY(count_cell_candidates(d, f));
    LOOM_TRY(mesh_collect(&d->m, v, w, f, d->at[f], d->num_groups[f], spatial_hash_list_candidates,
                          d, &listed));
  }
  return LOOM_OK;
}

static loom_status spatial_hash_detect(void *self, const loom_step *s, const loom_query *q,
                                       loom_pairs *out)
{
  spatial_hash *const d = self;
  loom_query here = *q;
  here.what &= LOOM_DETECT_PROXIMITY | LOOM_DETECT_OVERLAP;
  return mesh_detect(&d->m, s, &here, out, spatial_hash_find_candidates, d);
}

/* ---- descriptor ----
 */

static const loom_collision_ops ops = {.struct_size = sizeof ops,
                                       .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_OVERLAP |
                                                   LOOM_COLL_MASKED | LOOM_COLL_EXCLUDE |
                                                   LOOM_COLL_LEAVES_OUT,
                                       .pair_kinds = MESH_KINDS,
                                       .create = spatial_hash_create,
                                       .destroy = plug_free,
                                       .detect = spatial_hash_detect};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LK_BACKENDS),
    .name = "spatial_hash",
    .version = "0.1.0",
    .summary = "triangle meshes in a uniform grid, proximity only: the plain baseline",
    .reference = "M. Teschner, B. Heidelberger, M. Mueller, D. Pomeranets, M. Gross, Optimized "
                 "spatial hashing for collision detection of deformable objects, VMV 2003",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
