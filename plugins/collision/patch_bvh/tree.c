/* tree.c - see tree.h. */
#include "tree.h"

#include <string.h>

static const lk_entry k_key = LK_ENTRY_MOVES(patch_bvh_key, 81, 26),
                      k_refit = LK_ENTRY_MOVES(patch_bvh_refit, 366, 285);
static const lk_entry k_size = LK_ENTRY_MOVES(patch_bvh_size, 0, 6);

/* Bodies have boxes for step bounds of their own from this share of the cloth's patches on. */
enum { BODY_SHARE = 4 };

/* ---- arrays ---- */

static loom_status new_i32(tree *t, const char *name, int64_t count, const int32_t *values,
                           loom_buf **out)
{
  return plug_put_new(t->m->host, t->m->e, name, LOOM_I32, values, count, out);
}

/* Corners of the listed items: [num / 8][arity][8], -1 for none. */
static loom_status new_corners(tree *t, const char *name, loom_buf *corners, int arity, int32_t num,
                               const int32_t *items, loom_buf **out)
{
  const loom_host *const host = t->m->host;
  void *p, *q;
  LOOM_TRY(new_i32(t, name, (int64_t)arity * num, NULL, out));
  if (num == 0 || host->buf_count(host, corners) == 0) {
    if (num == 0) return LOOM_OK;
    LOOM_TRY(host->map(host, t->m->e, *out, LOOM_WRITE, LOOM_AT_HOST, &p));
    memset(p, 0xff, (size_t)arity * (size_t)num * sizeof(int32_t));
    return host->unmap(host, *out);
  }
  LOOM_TRY(host->map(host, t->m->e, *out, LOOM_WRITE, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, t->m->e, corners, LOOM_READ, LOOM_AT_HOST, &q));
  for (int32_t i = 0; i < num; ++i)
    for (int c = 0; c < arity; ++c)
      ((int32_t *)p)[PATCH_LANES * ((int64_t)arity * (i / PATCH_LANES) + c) + i % PATCH_LANES] =
          items[i] < 0 ? -1 : ((const int32_t *)q)[(int64_t)arity * items[i] + c];
  LOOM_TRY(host->unmap(host, corners));
  return host->unmap(host, *out);
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
  /* cloth needs its boxes anew for each query: a second set is worth its memory for bodies alone */
  t->of[TREE_BOUND] = t->num - t->num_cloth > t->num_cloth / BODY_SHARE ? TREE_BOUND : 0;
  for (int k = 0; k <= t->of[TREE_BOUND]; ++k) {
    tree_boxes *const b = &t->boxes[k];
    LOOM_TRY(new_i32(t, "triangle boxes", 6 * PATCH_TRIS * (int64_t)s->num, NULL, &b->tri_box));
    LOOM_TRY(
        new_i32(t, "edge boxes", 6 * PATCH_LANES * (int64_t)s->num_blocks, NULL, &b->edge_box));
    LOOM_TRY(new_i32(t, "vertex boxes", 6 * (int64_t)s->num_verts, NULL, &b->vert_box));
  }
  return LOOM_OK;
}

static loom_status make_patches(tree *t)
{
  mesh *const m = t->m;
  patch_set s;
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_faces faces = mesh_faces_bind(m, &maps);
  LOOM_TRY(maps.status);
  const int ok = patches_make(&faces, &s);
  loom_status status = plug_unbind(&maps);
  if (status == LOOM_OK && !ok)
    status =
        LOOM_FAIL(m->host, LOOM_E_NOMEM, "no memory for the patches of %d triangles", m->num_tris);
  if (status == LOOM_OK) status = store_patches(t, &s);
  patches_free(&s);
  return status;
}

loom_status patch_tree_create(tree *t, mesh *m)
{
  const loom_host *const host = m->host;
  t->m = m;
  LOOM_TRY(make_patches(t));
  t->num_nodes = t->num;
  box_levels_make(&t->cloth, 0, t->num_cloth, &t->num_nodes);
  box_levels_make(&t->body, t->num_cloth, t->num - t->num_cloth, &t->num_nodes);
  const int64_t bytes = (int64_t)t->num_nodes * (int64_t)sizeof(box_node);
  for (int k = 0; k <= t->of[TREE_BOUND]; ++k) {
    tree_boxes *const b = &t->boxes[k];
    LOOM_TRY(host->buf_new(host, "nodes", LOOM_U8, bytes, &b->node));
    LOOM_TRY(host->buf_new(host, "patches in their frames", LOOM_U8,
                           (int64_t)t->num * (int64_t)sizeof(patch_bvh_own), &b->own));
  }
  LOOM_TRY(host->buf_new(host, "leaf order", LOOM_I32, t->num, &t->order));
  LOOM_TRY(host->buf_new(host, "curve places", LOOM_U64, t->num, &t->key));
  return host->buf_new(host, "bounds", LOOM_REAL, 8, &t->bounds);
}

/* ---- views ---- */

/* boxes: 1: map the boxes and nodes, too */
static loom_status open_view(tree *t, int boxes, patch_bvh_view *out)
{
  plug_maps *const m = &t->maps;
  const tree_boxes *const now = &t->boxes[t->now];
  *m = plug_maps_on(t->m->host, t->m->e);
  *out = (patch_bvh_view){.tri = plug_read(m, t->tri),
                          .tri_verts = plug_read(m, t->tri_verts),
                          .first_block = plug_read(m, t->first_block),
                          .edge = plug_read(m, t->edge),
                          .edge_verts = plug_read(m, t->edge_verts),
                          .first_vert = plug_read(m, t->first_vert),
                          .vert = plug_read(m, t->vert),
                          .order = plug_read(m, t->order),
                          .node = plug_read(m, boxes ? now->node : NULL),
                          .own = plug_read(m, boxes ? now->own : NULL),
                          .tri_box = plug_read(m, boxes ? now->tri_box : NULL),
                          .edge_box = plug_read(m, boxes ? now->edge_box : NULL),
                          .vert_box = plug_read(m, boxes ? now->vert_box : NULL),
                          .cloth = t->cloth,
                          .body = t->body};
  return m->status;
}

loom_status tree_open(tree *t, patch_bvh_view *out) { return open_view(t, 1, out); }
loom_status tree_close(tree *t) { return plug_unbind(&t->maps); }

/* ---- building and refitting ----
 */

loom_status tree_build(tree *t, const mesh_view *v)
{
  mesh *const m = t->m;
  patch_bvh_view b;
  for (int k = 0; k < TREE_BOXES; ++k) t->boxes[k].still = 0; /* leaves become others */
  if (t->num == 0) return LOOM_OK;
  plug_maps maps = plug_maps_on(m->host, m->e);
  lk_real *const bounds = plug_rdwr(&maps, t->bounds);
  LOOM_TRY(maps.status);
  LOOM_TRY(box_measure(&maps, v->x0, m->num_verts, bounds));
  LOOM_TRY(open_view(t, 0, &b));
  const patch_bvh_key_args ka = {.b = b,
                                 .x = v->x0,
                                 .group = v->group,
                                 .bounds = bounds,
                                 .key = plug_write(&maps, t->key),
                                 .num_cloth = t->num_cloth};
  LOOM_TRY(plug_run_on(&maps, &k_key, &ka, t->num, NULL));
  LOOM_TRY(tree_close(t));
  LOOM_TRY(plug_unbind(&maps));
  return m->host->sort_u64(m->host, m->e, t->key, t->order);
}

loom_status tree_refit(tree *t, const mesh_view *v, int kind, double reach, double share,
                       int frames)
{
  patch_bvh_view b;
  tree_boxes *const to = &t->boxes[t->of[kind]];
  /* boxes of bodies that do not move depend on nothing else */
  const int kept = to->still > 0 && to->still == t->m->still && to->reach == reach;
  to->still = 0;
  t->now = t->of[kind];
  LOOM_TRY(open_view(t, 0, &b));
  plug_maps maps = plug_maps_on(t->m->host, t->m->e);
  const patch_bvh_refit_args args = {.m = *v,
                                     .b = b,
                                     .node = plug_rdwr(&maps, to->node),
                                     .own = plug_rdwr(&maps, to->own),
                                     .tri_box = plug_rdwr(&maps, to->tri_box),
                                     .edge_box = plug_rdwr(&maps, to->edge_box),
                                     .vert_box = plug_rdwr(&maps, to->vert_box),
                                     .reach = (lk_real)reach,
                                     .share = (lk_real)share,
                                     .frames = frames};
  LOOM_TRY(plug_run_on(&maps, &k_refit, &args, kept ? t->num_cloth : t->num, NULL));
  LOOM_TRY(box_join_levels(&maps, &t->cloth, args.node));
  if (!kept) LOOM_TRY(box_join_levels(&maps, &t->body, args.node));
  LOOM_TRY(plug_unbind(&maps));
  LOOM_TRY(tree_close(t));
  to->still = t->m->still;
  to->reach = reach;
  return LOOM_OK;
}

loom_status tree_quality(tree *t, double *out)
{
  mesh *const m = t->m;
  double sum[2];
  *out = 1.0;
  if (t->num == 0) return LOOM_OK;
  plug_maps maps = plug_maps_on(m->host, m->e);
  lk_real *const sums = plug_rdwr(&maps, t->bounds);
  const patch_bvh_size_args leaves = {.node = plug_read(&maps, t->boxes[t->now].node), .first = 0};
  const patch_bvh_size_args inner = {.node = leaves.node, .first = t->num};
  LOOM_TRY(plug_run_on(&maps, &k_size, &leaves, t->num, sums));
  LOOM_TRY(plug_launch(&maps, &k_size, &inner, t->num_nodes - t->num, sums + 1));
  LOOM_TRY(plug_fetch(m->host, m->e, t->bounds, 2, sum));
  LOOM_CHECK(m->host, sum[0] + sum[1] < LK_REAL_MAX, LOOM_E_NUMERIC,
             "positions at the start of the step are not finite");
  *out = sum[0] > 0.0 ? 1.0 + sum[1] / sum[0] : 1.0;
  return LOOM_OK;
}
