/* tree.c - see tree.h. */
#include "tree.h"

#include <string.h>

static const lk_entry k_bounds = LK_ENTRY(bvh_bounds), k_key = LK_ENTRY(bvh_key);
static const lk_entry k_refit = LK_ENTRY(bvh_refit), k_join = LK_ENTRY(bvh_join);
static const lk_entry k_size = LK_ENTRY(bvh_size);

/* ---- arrays ----------------------------------------------------------------------------- */

static loom_status new_i32(tree *t, const char *name, int64_t count, const int32_t *values,
                           loom_buf **out)
{
  const loom_host *const h = t->m->h;
  void *p;
  LOOM_TRY(h->buf_new(h, name, LOOM_I32, count, out));
  if (count == 0 || values == NULL) return LOOM_OK;
  LOOM_TRY(h->map(h, t->m->e, *out, LOOM_WRITE, LOOM_AT_HOST, &p));
  memcpy(p, values, (size_t)count * sizeof *values);
  return h->unmap(h, *out);
}

/* Corners of the listed items: [num / 8][arity][8], -1 for none. */
static loom_status new_corners(tree *t, const char *name, loom_buf *corners, int arity, int32_t num,
                               const int32_t *items, loom_buf **out)
{
  const loom_host *const h = t->m->h;
  void *p, *q;
  LOOM_TRY(new_i32(t, name, (int64_t)arity * num, NULL, out));
  if (num == 0 || h->buf_count(h, corners) == 0) {
    if (num == 0) return LOOM_OK;
    LOOM_TRY(h->map(h, t->m->e, *out, LOOM_WRITE, LOOM_AT_HOST, &p));
    memset(p, 0xff, (size_t)arity * (size_t)num * sizeof(int32_t));
    return h->unmap(h, *out);
  }
  LOOM_TRY(h->map(h, t->m->e, *out, LOOM_WRITE, LOOM_AT_HOST, &p));
  LOOM_TRY(h->map(h, t->m->e, corners, LOOM_READ, LOOM_AT_HOST, &q));
  for (int32_t i = 0; i < num; ++i)
    for (int c = 0; c < arity; ++c)
      ((int32_t *)p)[PATCH_LANES * ((int64_t)arity * (i / PATCH_LANES) + c) + i % PATCH_LANES] =
          items[i] < 0 ? -1 : ((const int32_t *)q)[(int64_t)arity * items[i] + c];
  LOOM_TRY(h->unmap(h, corners));
  return h->unmap(h, *out);
}

static loom_status store_patches(tree *t, const patch_set *s)
{
  mesh *const m = t->m;
  t->num = s->num;
  t->num_cloth = s->num_cloth;
  LOOM_TRY(new_i32(t, "patch triangles", PATCH_TRIS * (int64_t)s->num, s->tri, &t->tri));
  LOOM_TRY(new_i32(t, "patch edges", PATCH_LANES * (int64_t)s->num_blocks, s->edge, &t->edge));
  LOOM_TRY(new_i32(t, "patch vertices", s->num_verts, s->vert, &t->vert));
  LOOM_TRY(new_i32(t, "first edge blocks", (int64_t)s->num + 1, s->first_block, &t->first_block));
  LOOM_TRY(new_i32(t, "first vertices", (int64_t)s->num + 1, s->first_vert, &t->first_vert));
  LOOM_TRY(new_corners(t, "patch triangle corners", m->tris, 3, PATCH_TRIS * s->num, s->tri,
                       &t->tri_verts));
  LOOM_TRY(new_corners(t, "patch edge corners", m->edges, 2, PATCH_LANES * s->num_blocks, s->edge,
                       &t->edge_verts));
  LOOM_TRY(new_i32(t, "triangle boxes", 6 * PATCH_TRIS * (int64_t)s->num, NULL, &t->tri_box));
  LOOM_TRY(new_i32(t, "edge boxes", 6 * PATCH_LANES * (int64_t)s->num_blocks, NULL, &t->edge_box));
  return new_i32(t, "vertex boxes", 6 * (int64_t)s->num_verts, NULL, &t->vert_box);
}

static loom_status make_patches(tree *t)
{
  mesh *const m = t->m;
  patch_set s;
  void *p[2];
  const plug_map a[2] = {{m->num_tris > 0 ? m->tris : NULL, LOOM_READ},
                         {m->num_edges > 0 ? m->edges : NULL, LOOM_READ}};
  for (int i = 0; i < 2; ++i) {
    p[i] = NULL;
    if (a[i].b != NULL) LOOM_TRY(m->h->map(m->h, m->e, a[i].b, LOOM_READ, LOOM_AT_HOST, &p[i]));
  }
  const patch_mesh pm = {.num_verts = m->num_verts,
                         .num_tris = m->num_tris,
                         .num_edges = m->num_edges,
                         .cloth_tris = m->sc->num_tris,
                         .cloth_edges = m->sc->num_edges,
                         .tris = p[0],
                         .edges = p[1]};
  const int ok = patches_make(&pm, &s);
  loom_status status = plug_unmap_all(m->h, 2, a);
  if (status == LOOM_OK && !ok)
    status =
        LOOM_FAIL(m->h, LOOM_E_NOMEM, "no memory for the patches of %d triangles", m->num_tris);
  if (status == LOOM_OK) status = store_patches(t, &s);
  patches_free(&s);
  return status;
}

/* Levels over `num` leaves from node `first` on; inner nodes from *next on. */
static void make_levels(bvh_tree *t, int32_t first, int32_t num, int32_t *next)
{
  memset(t, 0, sizeof *t);
  if (num == 0) return;
  t->first[0] = first;
  t->count[0] = num;
  for (t->num_levels = 1; num > 1; ++t->num_levels) {
    num = (num + 1) / 2;
    t->first[t->num_levels] = *next;
    t->count[t->num_levels] = num;
    *next += num;
  }
}

loom_status tree_create(tree *t, mesh *m)
{
  const loom_host *const h = m->h;
  t->m = m;
  LOOM_TRY(make_patches(t));
  t->num_nodes = t->num;
  make_levels(&t->cloth, 0, t->num_cloth, &t->num_nodes);
  make_levels(&t->body, t->num_cloth, t->num - t->num_cloth, &t->num_nodes);
  const int64_t bytes = (int64_t)t->num_nodes * (int64_t)sizeof(bvh_node);
  LOOM_TRY(h->buf_new(h, "nodes", LOOM_U8, bytes, &t->node));
  LOOM_TRY(h->buf_new(h, "leaf order", LOOM_I32, t->num, &t->order));
  LOOM_TRY(h->buf_new(h, "curve places", LOOM_U64, t->num, &t->key));
  return h->buf_new(h, "bounds", LOOM_REAL, 8, &t->bounds);
}

void tree_destroy(tree *t)
{
  if (t->m == NULL) return;
  loom_buf *const all[] = {t->tri,        t->tri_verts, t->first_block, t->edge,  t->edge_verts,
                           t->first_vert, t->vert,      t->order,       t->node,  t->tri_box,
                           t->edge_box,   t->vert_box,  t->key,         t->bounds};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) t->m->h->buf_free(t->m->h, all[i]);
}

/* ---- views ---------------------------------------------------------------------------------- */

/* boxes: 1: map the boxes and nodes, too */
static loom_status open_view(tree *t, int boxes, bvh_view *out)
{
  loom_buf *const all[TREE_MAPS] = {t->tri,
                                    t->tri_verts,
                                    t->first_block,
                                    t->edge,
                                    t->edge_verts,
                                    t->first_vert,
                                    t->vert,
                                    t->order,
                                    boxes ? t->node : NULL,
                                    boxes ? t->tri_box : NULL,
                                    boxes ? t->edge_box : NULL,
                                    boxes ? t->vert_box : NULL};
  void *p[TREE_MAPS];
  for (int i = 0; i < TREE_MAPS; ++i) t->maps[i] = (plug_map){all[i], LOOM_READ};
  LOOM_TRY(plug_map_all(t->m->h, t->m->e, TREE_MAPS, t->maps, p));
  *out = (bvh_view){.tri = p[0],
                    .tri_verts = p[1],
                    .first_block = p[2],
                    .edge = p[3],
                    .edge_verts = p[4],
                    .first_vert = p[5],
                    .vert = p[6],
                    .order = p[7],
                    .node = p[8],
                    .tri_box = p[9],
                    .edge_box = p[10],
                    .vert_box = p[11],
                    .cloth = t->cloth,
                    .body = t->body};
  return LOOM_OK;
}

loom_status tree_open(tree *t, bvh_view *out) { return open_view(t, 1, out); }
loom_status tree_close(tree *t) { return plug_unmap_all(t->m->h, TREE_MAPS, t->maps); }

/* ---- building and refitting ---------------------------------------------------------------------
 */

loom_status tree_build(tree *t, const mesh_view *v)
{
  mesh *const m = t->m;
  bvh_view b;
  void *p[2];
  const plug_map a[2] = {{t->bounds, LOOM_RDWR}, {t->key, LOOM_WRITE}};
  if (t->num == 0) return LOOM_OK;
  LOOM_TRY(plug_map_all(m->h, m->e, 2, a, p));
  for (int c = 0; c < 6; ++c) {
    const bvh_bounds_args ba = {v->x0, c % 3, c < 3 ? LK_R(1.0) : LK_R(-1.0)};
    LOOM_TRY(plug_run(m->h, m->e, &k_bounds, &ba, m->num_verts, (lk_real *)p[0] + c));
  }
  LOOM_TRY(open_view(t, 0, &b));
  const bvh_key_args ka = {b, v->x0, p[0], p[1], t->num_cloth};
  LOOM_TRY(plug_run(m->h, m->e, &k_key, &ka, t->num, NULL));
  LOOM_TRY(tree_close(t));
  LOOM_TRY(plug_unmap_all(m->h, 2, a));
  return m->h->sort_u64(m->h, m->e, t->key, t->order);
}

static loom_status join_levels(tree *t, const bvh_tree *levels, bvh_node *node)
{
  for (int l = 1; l < levels->num_levels; ++l) {
    const bvh_join_args args = {node, levels->first[l - 1], levels->count[l - 1], levels->first[l]};
    LOOM_TRY(plug_run(t->m->h, t->m->e, &k_join, &args, levels->count[l], NULL));
  }
  return LOOM_OK;
}

loom_status tree_refit(tree *t, const mesh_view *v, double reach, double share)
{
  mesh *const m = t->m;
  bvh_view b;
  void *p[4];
  const plug_map a[4] = {{t->node, LOOM_WRITE},
                         {t->tri_box, LOOM_WRITE},
                         {t->edge_box, LOOM_WRITE},
                         {t->vert_box, LOOM_WRITE}};
  LOOM_TRY(open_view(t, 0, &b));
  LOOM_TRY(plug_map_all(m->h, m->e, 4, a, p));
  const bvh_refit_args args = {.m = *v,
                               .b = b,
                               .node = p[0],
                               .tri_box = p[1],
                               .edge_box = p[2],
                               .vert_box = p[3],
                               .reach = (lk_real)reach,
                               .share = (lk_real)share};
  LOOM_TRY(plug_run(m->h, m->e, &k_refit, &args, t->num, NULL));
  LOOM_TRY(join_levels(t, &t->cloth, p[0]));
  LOOM_TRY(join_levels(t, &t->body, p[0]));
  LOOM_TRY(plug_unmap_all(m->h, 4, a));
  return tree_close(t);
}

loom_status tree_quality(tree *t, double *out)
{
  mesh *const m = t->m;
  double sum[2];
  void *p[2];
  const plug_map a[2] = {{t->node, LOOM_READ}, {t->bounds, LOOM_RDWR}};
  *out = 1.0;
  if (t->num == 0) return LOOM_OK;
  LOOM_TRY(plug_map_all(m->h, m->e, 2, a, p));
  const bvh_size_args leaves = {p[0], 0}, inner = {p[0], t->num};
  LOOM_TRY(plug_run(m->h, m->e, &k_size, &leaves, t->num, p[1]));
  LOOM_TRY(plug_run(m->h, m->e, &k_size, &inner, t->num_nodes - t->num, (lk_real *)p[1] + 1));
  LOOM_TRY(plug_unmap_all(m->h, 2, a));
  LOOM_TRY(plug_fetch(m->h, m->e, t->bounds, 2, sum));
  LOOM_CHECK(m->h, sum[0] + sum[1] < LK_REAL_MAX, LOOM_E_NUMERIC,
             "positions at the start of the step are not finite");
  *out = sum[0] > 0.0 ? 1.0 + sum[1] / sum[0] : 1.0;
  return LOOM_OK;
}
