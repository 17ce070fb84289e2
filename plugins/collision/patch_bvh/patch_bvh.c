/* patch_bvh.c - collision plugin `patch_bvh`: cloth against itself and against body meshes by a
 * hierarchy of boxes over small patches of triangles.
 *
 * L. Lan et al., "Efficient GPU cloth simulation with non-distance barriers and subspace reuse",
 * ACM TOG 43(6), 2024, section 8.1: an incomplete hierarchy with patches of 5 to 8 connected
 * triangles as leaves, boxes swept over the motion and inflated, culling from the top, all
 * elementary tests of near patches at the leaves.  DEVIATION: the tree is an implicit one over
 * the patches in Hilbert order (patch_bvh.kern.h) instead of one built top-down, so it is built
 * by one sort on any backend.
 *
 * One query: refit, pairs of leaves (count, scan, fill), for each family their candidates
 * (count, scan, fill in chunks), quick and exact test (kit/mesh_query).
 */
#include "loom/plug.h"
#include "loom/plugin.h"
#include "tree.h"

static const lk_entry k_meet_count = LK_ENTRY_MOVES(patch_bvh_meet_count, 1, 412);
static const lk_entry k_meet_list = LK_ENTRY_MOVES(patch_bvh_meet_list, 8, 400);
static const lk_entry k_count[2] = {LK_ENTRY_MOVES(patch_bvh_count_vt, 1, 115),
                                    LK_ENTRY_MOVES(patch_bvh_count_ee, 1, 392)};
static const lk_entry k_list[2] = {LK_ENTRY_MOVES(patch_bvh_list_vt, 4, 88),
                                   LK_ENTRY_MOVES(patch_bvh_list_ee, 8, 511)};

typedef struct {
  int32_t ccd;
  double keep;
  int64_t max_steps;
  int32_t shape;
  double rebuild;
  double crowd;
} settings;

static const loom_param params[] = {
    MESH_CCD_PARAMS(settings),
    MESH_VERTEX_PARAMS(settings),
    LOOM_PARAM_REAL(settings, rebuild, 1.3, 1.0, 1e6, "1",
                    "The tree is built anew at the start of a step when the ratio of half "
                    "perimeters, inner boxes over leaves, has grown by this factor."),
    LOOM_PARAM_REAL(settings, crowd, 300, 1, 1e9, "1",
                    "A step bound looks at half of the way, and again, while a patch meets more "
                    "than this many others on average, and more than twice as many as without "
                    "motion: bounds the work that a step across the whole scene would make."),
};

typedef struct {
  mesh m;
  tree t;
  double rebuild, crowd;
  double share;                      /* growth of boxes by displacements, of the last refit */
  double most;                       /* pairs of leaves that a step bound looks at, and ... */
  int knows_rest;                    /* ... whether it is known how many there are without motion */
  loom_buf *leaf_count, *leaf_place; /* i64 [leaves of the cloth], [... + 1] */
  loom_buf *pair;                    /* u64 [.] pairs of leaves */
  loom_buf *count, *place;           /* i64 [.], [. + 1]: candidates of each */
  int64_t num_pairs;
  patch_bvh_view view; /* while a query runs */
  uint32_t kinds;
  int may_cut; /* a step bound, not a detection */
} patch_bvh;

/* ---- life ---- */

static loom_status patch_bvh_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                    const void *set, void **self)
{
  const settings *const s = set;
  LOOM_TRY(plug_new(host, sizeof(patch_bvh), self));
  patch_bvh *const d = *self;
  d->rebuild = s->rebuild;
  d->crowd = s->crowd;
  const mesh_params p = {
      .method = s->ccd, .keep = s->keep, .max_steps = s->max_steps, .shape = s->shape};
  d->m.watch = 1;
  LOOM_TRY(mesh_create(&d->m, host, sc, e, &p));
  d->m.by_parts = 1;
  LOOM_TRY(patch_tree_create(&d->t, &d->m));
  LOOM_TRY(host->buf_new(host, "leaf counts", LOOM_I64, d->t.num_cloth, &d->leaf_count));
  LOOM_TRY(
      host->buf_new(host, "leaf places", LOOM_I64, (int64_t)d->t.num_cloth + 1, &d->leaf_place));
  LOOM_TRY(host->buf_new(host, "leaf pairs", LOOM_U64, 0, &d->pair));
  LOOM_TRY(host->buf_new(host, "candidate counts", LOOM_I64, 0, &d->count));
  return host->buf_new(host, "candidate places", LOOM_I64, 1, &d->place);
}

static loom_status patch_bvh_reset(void *self)
{
  patch_bvh *const d = self;
  d->t.quality = 0.0;
  mesh_reset(&d->m);
  return LOOM_OK;
}

/* Build the tree, or look whether it is still good. */
static loom_status patch_bvh_begin_step(void *self, const loom_step *s)
{
  patch_bvh *const d = self;
  const mesh_motion motion = {.x0 = s->x_start, .progress0 = 0.0};
  mesh_view v;
  double now = 0.0;
  LOOM_TRY(mesh_open(&d->m, s, &motion, &v));
  if (d->t.quality > 0.0) {
    LOOM_TRY(tree_refit(&d->t, &v, TREE_DETECTION, 0.0, 0.0, 0));
    LOOM_TRY(tree_quality(&d->t, &now));
  }
  if (!(d->t.quality > 0.0) || now > d->rebuild * d->t.quality) {
    LOOM_TRY(tree_build(&d->t, &v));
    LOOM_TRY(tree_refit(&d->t, &v, TREE_DETECTION, 0.0, 0.0, 0));
    LOOM_TRY(tree_quality(&d->t, &d->t.quality));
  }
  return mesh_close(&d->m);
}

/* ---- broad phase ---- */

/* How many pairs of leaves meet. */
static loom_status count_meetings(patch_bvh *d)
{
  const loom_host *const host = d->m.host;
  plug_maps m = plug_maps_on(host, d->m.e);
  const patch_bvh_meet_args args = {
      .b = d->view, .kinds = d->kinds, .count = plug_write(&m, d->leaf_count)};
  LOOM_TRY(plug_launch(&m, &k_meet_count, &args, d->t.num_cloth, NULL));
  return host->scan_i64(host, d->m.e, d->leaf_count, d->leaf_place, &d->num_pairs);
}

/* Writes the pairs of leaves with boxes that meet to d->pair. */
static loom_status list_leaf_pairs(patch_bvh *d)
{
  const loom_host *const host = d->m.host;
  LOOM_CHECK(host, d->num_pairs <= LK_MAX_ELEMS, LOOM_E_ARG,
             "%lld pairs of patches are near each other; make the margin or the step smaller",
             (long long)d->num_pairs);
  LOOM_TRY(mesh_reserve(&d->m, d->pair, d->num_pairs));
  plug_maps m = plug_maps_on(host, d->m.e);
  const patch_bvh_meet_args args = {.b = d->view,
                                    .kinds = d->kinds,
                                    .place = plug_read(&m, d->leaf_place),
                                    .pair = plug_rdwr(&m, d->pair)};
  return plug_launch(&m, &k_meet_list, &args, d->t.num_cloth, NULL);
}

static patch_bvh_pairs_args pairs_args(const patch_bvh *d, plug_maps *m)
{
  return (patch_bvh_pairs_args){.b = d->view,
                                .pair = plug_read(m, d->pair),
                                .num_pairs = d->num_pairs,
                                .num_cloth = d->t.num_cloth,
                                .kinds = d->kinds,
                                .share = (lk_real)d->share};
}

static loom_status patch_bvh_list_candidates(void *self, const mesh_view *v, int family,
                                             int64_t first, int64_t end, int64_t base,
                                             loom_buf *place, loom_buf *name)
{
  patch_bvh *const d = self;
  plug_maps m = plug_maps_on(d->m.host, d->m.e);
  patch_bvh_pairs_args args = pairs_args(d, &m);
  (void)v;
  args.place = plug_read(&m, place);
  args.name = plug_rdwr(&m, name);
  args.base = base;
  args.first = (lk_int)first;
  return plug_launch(&m, &k_list[family], &args, end - first, NULL);
}

static loom_status count_patch_candidates(patch_bvh *d, int family)
{
  const loom_host *const host = d->m.host;
  LOOM_TRY(mesh_reserve(&d->m, d->count, d->num_pairs));
  LOOM_TRY(mesh_reserve(&d->m, d->place, host->buf_count(host, d->count) + 1));
  plug_maps m = plug_maps_on(host, d->m.e);
  patch_bvh_pairs_args args = pairs_args(d, &m);
  args.count = plug_write(&m, d->count);
  LOOM_TRY(plug_launch(&m, &k_count[family], &args, host->buf_count(host, d->count), NULL));
  return host->scan_i64(host, d->m.e, d->count, d->place, NULL);
}

/* Refit for the motion of v, map the tree, and count the pairs of leaves that meet. */
static loom_status count_leaf_pairs(patch_bvh *d, const mesh_view *v, const mesh_wanted *w)
{
  const loom_host *const host = d->m.host;
  const mesh_growth grow = mesh_inflation(w);
  d->share = grow.share;
  host->tic(host, "refit");
  LOOM_TRY(tree_refit(&d->t, v, d->may_cut ? TREE_BOUND : TREE_DETECTION, grow.reach, grow.share,
                      !w->apart));
  host->toc(host, "refit");
  host->tic(host, "leaves");
  LOOM_TRY(tree_open(&d->t, &d->view));
  LOOM_TRY(count_meetings(d));
  host->toc(host, "leaves");
  return LOOM_OK;
}

/* LOOM_REJECTED where the way of a step bound makes too many pairs of leaves, unless there are
 * nearly as many without motion. */
static loom_status cut_if_crowded(patch_bvh *d, const mesh_view *v, const mesh_wanted *w)
{
  if ((double)d->num_pairs <= d->most) return LOOM_OK;
  LOOM_TRY(tree_close(&d->t));
  if (d->knows_rest) return LOOM_REJECTED;
  mesh_view rest = *v;
  rest.x1 = v->x0;
  LOOM_TRY(count_leaf_pairs(d, &rest, w));
  LOOM_TRY(tree_close(&d->t));
  d->knows_rest = 1;
  if (2.0 * (double)d->num_pairs > d->most) d->most = 2.0 * (double)d->num_pairs;
  LOOM_TRY(count_leaf_pairs(d, v, w));
  if ((double)d->num_pairs <= d->most) return LOOM_OK;
  LOOM_TRY(tree_close(&d->t));
  return LOOM_REJECTED;
}

static loom_status patch_bvh_find_candidates(void *self, const mesh_view *v, const mesh_wanted *w)
{
  patch_bvh *const d = self;
  const loom_host *const host = d->m.host;
  int64_t listed = 0;
  d->kinds = w->kinds;
  if (!(d->t.quality > 0.0)) LOOM_TRY(tree_build(&d->t, v));
  LOOM_TRY(count_leaf_pairs(d, v, w));
  if (d->may_cut) LOOM_TRY(cut_if_crowded(d, v, w));
  host->tic(host, "leaves");
  LOOM_TRY(list_leaf_pairs(d));
  host->toc(host, "leaves");
  for (int f = MESH_VT; f <= MESH_EE; ++f) {
    if (!(w->kinds & (f == MESH_VT ? MESH_VT_KINDS : MESH_EE_KINDS))) continue;
    host->tic(host, "list");
    LOOM_TRY(count_patch_candidates(d, f));
    host->toc(host, "list");
    LOOM_TRY(mesh_collect(&d->m, v, w, f, d->place, d->num_pairs, patch_bvh_list_candidates, d,
                          &listed));
  }
  return tree_close(&d->t);
}

static loom_status patch_bvh_detect(void *self, const loom_step *s, const loom_query *q,
                                    loom_pairs *out)
{
  patch_bvh *const d = self;
  d->may_cut = 0;
  return mesh_detect(&d->m, s, q, out, patch_bvh_find_candidates, d);
}

static loom_status patch_bvh_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                      loom_bound *out)
{
  patch_bvh *const d = self;
  d->may_cut = 1;
  d->knows_rest = 0;
  d->most = d->crowd * (double)d->t.num_cloth;
  return mesh_max_step(&d->m, s, x0, x1, out, patch_bvh_find_candidates, d);
}

/* ---- descriptor ---- */

static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | LOOM_COLL_STEP_GLOBAL |
                LOOM_COLL_STEP_VERTEX | LOOM_COLL_MASKED | LOOM_COLL_EXCLUDE | LOOM_COLL_LEAVES_OUT,
    .pair_kinds = MESH_KINDS,
    .create = patch_bvh_create,
    .destroy = plug_free,
    .reset = patch_bvh_reset,
    .begin_step = patch_bvh_begin_step,
    .detect = patch_bvh_detect,
    .max_step = patch_bvh_max_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LK_BACKENDS),
    .name = "patch_bvh",
    .version = "0.1.0",
    .summary = "cloth against itself and body meshes by a hierarchy of patches",
    .reference = "L. Lan, Z. Lu, J. Long, C. Yuan, X. Li, X. He, H. Wang, C. Jiang, Y. Yang, "
                 "Efficient GPU cloth simulation with non-distance barriers and subspace reuse, "
                 "ACM TOG 43(6), 2024, doi 10.1145/3687760",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
