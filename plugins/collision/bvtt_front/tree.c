/* tree.c - see tree.h. */
#include "tree.h"

#include <string.h>

#include "leaves.h"

static const lk_entry k_key = LK_ENTRY_MOVES(bvtt_front_key, 19, 3),
                      k_sort = LK_ENTRY_MOVES(bvtt_front_sort, 0, 12);
static const lk_entry k_see = LK_ENTRY_MOVES(bvtt_front_see, 15, 5),
                      k_fit = LK_ENTRY_MOVES(bvtt_front_fit, 14, 60);

/* ---- places of the vertices ---- */

/* Bodies side by side, each in its own frame: a curve through all of them visits one after the
 * other.  Without frames (a body of another kind) they stay at 0, and leaves in their order. */
static loom_status line_up_bodies(const mesh *m, loom_real *x)
{
  const loom_host *const host = m->host;
  int64_t at = 0;
  double shift = 0.0;
  for (int32_t b = 0; b < m->sc->num_obstacles; ++b) {
    loom_buf *const verts = m->sc->obstacles[b].verts;
    const int64_t n = verts != NULL ? host->buf_count(host, verts) / 3 : 0;
    double least = 0.0, most = 0.0;
    void *p;
    if (n == 0 || at + n > m->sc->num_body_verts) continue;
    LOOM_TRY(host->map(host, m->e, verts, LOOM_READ, LOOM_AT_HOST, &p));
    const loom_real *const from = p;
    for (int64_t i = 0; i < n; ++i) {
      if (i == 0 || (double)from[3 * i] < least) least = (double)from[3 * i];
      if (i == 0 || (double)from[3 * i] > most) most = (double)from[3 * i];
    }
    for (int64_t i = 0; i < 3 * n; ++i)
      x[3 * at + i] = from[i] + (i % 3 == 0 ? (loom_real)(shift - least) : 0);
    LOOM_TRY(host->unmap(host, verts));
    shift += most - least;
    at += n;
  }
  return LOOM_OK;
}

/* real [nv][3], m: the cloth at rest, bodies beside each other */
static loom_status make_places(const mesh *m, loom_buf **out)
{
  const loom_host *const host = m->host;
  const int64_t n = m->sc->num_verts;
  void *p, *q;
  LOOM_TRY(host->buf_new(host, "places", LOOM_REAL, 3 * (int64_t)m->num_verts, out));
  if (m->num_verts == 0) return LOOM_OK;
  LOOM_TRY(host->map(host, m->e, *out, LOOM_WRITE, LOOM_AT_HOST, &p));
  memset(p, 0, 3 * (size_t)m->num_verts * sizeof(loom_real));
  if (n > 0) {
    LOOM_TRY(host->map(host, m->e, m->sc->rest_x, LOOM_READ, LOOM_AT_HOST, &q));
    memcpy(p, q, 3 * (size_t)n * sizeof(loom_real));
    LOOM_TRY(host->unmap(host, m->sc->rest_x));
  }
  LOOM_TRY(line_up_bodies(m, (loom_real *)p + 3 * n));
  return host->unmap(host, *out);
}

/* ---- building ---- */

/* Leaves in the order of the mesh, corner and owned as in leaf_set. */
static loom_status make_leaves(tree *t, loom_buf **corner, loom_buf **owned)
{
  mesh *const m = t->m;
  leaf_set s;
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_faces faces = mesh_faces_bind(m, &maps);
  LOOM_TRY(maps.status);
  const int ok = leaves_make(&faces, &s);
  loom_status status = plug_unbind(&maps);
  if (status == LOOM_OK && !ok)
    status =
        LOOM_FAIL(m->host, LOOM_E_NOMEM, "no memory for the leaves of %d triangles", m->num_tris);
  t->num = s.num;
  t->num_cloth = s.num_cloth;
  const int64_t items = 4 * (int64_t)s.num;
  if (status == LOOM_OK)
    status = plug_put_new(m->host, m->e, "leaf corners", LOOM_I32, s.corner, items, corner);
  if (status == LOOM_OK)
    status = plug_put_new(m->host, m->e, "owned edges", LOOM_I32, s.owned, items, owned);
  leaves_free(&s);
  return status;
}

static loom_status find_order(tree *t, loom_buf *corner, loom_buf *order)
{
  mesh *const m = t->m;
  const loom_host *const host = m->host;
  loom_buf *place, *key, *bounds;
  LOOM_TRY(make_places(m, &place));
  LOOM_TRY(host->buf_new(host, "curve places", LOOM_U64, t->num, &key));
  LOOM_TRY(host->buf_new(host, "bounds", LOOM_REAL, 6, &bounds));
  plug_maps maps = plug_maps_on(host, m->e);
  const bvtt_front_key_args args = {.corner = plug_read(&maps, corner),
                                    .x = plug_read(&maps, place),
                                    .group = plug_read(&maps, m->group),
                                    .bounds = plug_rdwr(&maps, bounds),
                                    .key = plug_write(&maps, key),
                                    .num_cloth = t->num_cloth};
  LOOM_TRY(maps.status);
  LOOM_TRY(box_measure(&maps, args.x, m->num_verts, (lk_real *)args.bounds));
  LOOM_TRY(plug_launch(&maps, &k_key, &args, t->num, NULL));
  LOOM_TRY(host->sort_u64(host, m->e, key, order));
  host->buf_free(host, place);
  host->buf_free(host, key);
  host->buf_free(host, bounds);
  return LOOM_OK;
}

static loom_status sort_rows(const tree *t, loom_buf *order, loom_buf *from, const char *name,
                             loom_buf **to)
{
  const mesh *const m = t->m;
  LOOM_TRY(m->host->buf_new(m->host, name, LOOM_I32, 4 * (int64_t)t->num, to));
  plug_maps maps = plug_maps_on(m->host, m->e);
  const bvtt_front_sort_args args = {.order = plug_read(&maps, order),
                                     .from = plug_read(&maps, from),
                                     .to = plug_write(&maps, *to)};
  LOOM_TRY(plug_launch(&maps, &k_sort, &args, t->num, NULL));
  m->host->buf_free(m->host, from);
  return LOOM_OK;
}

loom_status front_tree_create(tree *t, mesh *m)
{
  const loom_host *const host = m->host;
  loom_buf *corner = NULL, *owned = NULL, *order;
  t->m = m;
  LOOM_TRY(make_leaves(t, &corner, &owned));
  LOOM_CHECK(host, t->num < BVTT_FRONT_MAX_LEAVES, LOOM_E_ARG,
             "%d triangles and loose edges; at most %d", t->num, (int)BVTT_FRONT_MAX_LEAVES - 1);
  t->num_nodes = t->num;
  box_levels_make(&t->cloth, 0, t->num_cloth, &t->num_nodes);
  box_levels_make(&t->body, t->num_cloth, t->num - t->num_cloth, &t->num_nodes);
  t->corner = corner;
  t->owned = owned;
  if (t->num == 0) return LOOM_OK;
  LOOM_TRY(host->buf_new(host, "leaf order", LOOM_I32, t->num, &order));
  LOOM_TRY(find_order(t, corner, order));
  LOOM_TRY(sort_rows(t, order, corner, "sorted leaf corners", &t->corner));
  LOOM_TRY(sort_rows(t, order, owned, "sorted owned edges", &t->owned));
  host->buf_free(host, order);
  return LOOM_OK;
}

/* ---- boxes of one kind of query ---- */

loom_status sight_create(sight *g, tree *t)
{
  const loom_host *const host = t->m->host;
  g->t = t;
  LOOM_TRY(host->buf_new(host, "seen vertices", LOOM_U8, 0, &g->vert));
  LOOM_TRY(host->buf_new(host, "flags", LOOM_U8, 0, &g->flag));
  LOOM_TRY(host->buf_new(host, "edge boxes", LOOM_U8, 0, &g->edge));
  return host->buf_new(host, "nodes", LOOM_U8, 0, &g->node);
}

/* Kinds of queries that a run never makes take no memory. */
static loom_status allocate_sight(sight *g)
{
  const loom_host *const host = g->t->m->host;
  const int64_t nv = g->t->m->num_verts;
  if (host->buf_count(host, g->flag) == nv) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, g->vert, nv * (int64_t)sizeof(bvtt_front_vert)));
  LOOM_TRY(host->buf_resize(host, g->node, g->t->num_nodes * (int64_t)sizeof(box_node)));
  LOOM_TRY(host->buf_resize(host, g->edge, 3 * (int64_t)g->t->num * (int64_t)sizeof(box_node)));
  return host->buf_resize(host, g->flag, nv);
}

loom_status sight_refit(sight *g, const mesh_view *v, double reach, double share, int32_t bits)
{
  const tree *const t = g->t;
  LOOM_TRY(allocate_sight(g));
  plug_maps maps = plug_maps_on(t->m->host, t->m->e);
  const bvtt_front_see_args see = {.m = *v,
                                   .vert = plug_rdwr(&maps, g->vert),
                                   .flag = plug_rdwr(&maps, g->flag),
                                   .keep = g->due,
                                   .all = bits,
                                   .reach = (lk_real)reach,
                                   .share = (lk_real)share};
  const bvtt_front_fit_args fit = {.corner = plug_read(&maps, t->corner),
                                   .owned = plug_read(&maps, t->owned),
                                   .vert = see.vert,
                                   .flag = see.flag,
                                   .node = plug_write(&maps, g->node),
                                   .edge = plug_rdwr(&maps, g->edge)};
  LOOM_TRY(plug_run_on(&maps, &k_see, &see, t->m->num_verts, NULL));
  g->due = bits;
  LOOM_TRY(plug_run_on(&maps, &k_fit, &fit, t->num, NULL));
  LOOM_TRY(box_join_levels(&maps, &t->cloth, fit.node));
  LOOM_TRY(box_join_levels(&maps, &t->body, fit.node));
  return plug_unbind(&maps);
}

bvtt_front_view sight_view(const sight *g, plug_maps *m, int bodies)
{
  const tree *const t = g->t;
  return (bvtt_front_view){.node = plug_read(m, g->node),
                           .corner = plug_read(m, t->corner),
                           .owned = plug_read(m, t->owned),
                           .vert = plug_read(m, g->vert),
                           .edge = plug_read(m, g->edge),
                           .first = t->cloth,
                           .second = bodies ? t->body : t->cloth,
                           .self = !bodies,
                           .bit = bodies ? 2 : 1};
}
