/* brute.c - all pairs of triangles' features, no broad phase: the exemplary collision plugin.
 *
 * Read this file first if you want to write detection for cloth and body meshes, then
 * kit/mesh_query.h.  It has every part that such a plugin needs and nothing else: settings, state,
 * a broad phase that lists the names of candidates, the two questions the core asks, and the
 * descriptor. What a pair is, its gap, weights and key, the exact tests and step bounds are those
 * of kit/mesh_query, so that all plugins for meshes report the same pairs; what they differ in is
 * the broad phase, which here is none: brute.kern.c names every vertex with every triangle and
 * every edge with every later edge.
 *
 * It is also the oracle for the others: a pair can only be missed by what all share.  The cost is
 * quadratic, hence `max_tests`.
 */
#include "brute.kern.h"
#include "kit/mesh_query.h"
#include "loom/plugin.h"

static const lk_entry k_count[2] = {LK_ENTRY(brute_count_vt), LK_ENTRY(brute_count_ee)};
static const lk_entry k_list[2] = {LK_ENTRY(brute_list_vt), LK_ENTRY(brute_list_ee)};

/* Settings: a plain struct, and a table that lets the core parse, check, document and log every
 * member; the kit has the rows of what its continuous detection can be set to. */
typedef struct {
  int32_t ccd;
  double keep;
  int64_t max_steps;
  int64_t max_tests;
} settings;

static const loom_param params[] = {
    MESH_CCD_PARAMS(settings),
    LOOM_PARAM_INT(settings, max_tests, 1e8, 1, 1e15, "1",
                   "Largest number of elementary pairs, vertices times triangles plus half the "
                   "square of edges; scenes with more are refused."),
};

/* State of one instance.  There are no globals: two instances may run side by side. */
typedef struct {
  mesh m;             /* cloth and bodies as one mesh, and what was found */
  uint32_t kinds;     /* of the query under way */
  loom_buf *count[2]; /* i64 [vertices], [edges] */
  loom_buf *place[2]; /* i64 [vertices + 1], [edges + 1] */
  int64_t num[2];
} brute;

static loom_status brute_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                                const void *set, void **self)
{
  const settings *const s = set;
  /* from here on destroy() cleans up, also if create() fails below */
  LOOM_TRY(plug_new(h, sizeof(brute), self));
  brute *const d = *self;
  const mesh_params p = {.method = s->ccd, .keep = s->keep, .max_steps = s->max_steps};
  LOOM_TRY(mesh_create(&d->m, h, sc, e, &p));
  const double tests = (double)d->m.num_verts * d->m.num_tris +
                       0.5 * (double)d->m.num_edges * ((double)d->m.num_edges - 1.0);
  LOOM_CHECK(h, tests <= (double)s->max_tests, LOOM_E_CONFIG,
             "%d vertices, %d triangles and %d edges make %.3g pairs, more than max_tests = "
             "%lld; use patch_bvh",
             d->m.num_verts, d->m.num_tris, d->m.num_edges, tests, (long long)s->max_tests);
  d->num[MESH_VT] = d->m.num_verts;
  d->num[MESH_EE] = d->m.num_edges;
  for (int f = MESH_VT; f <= MESH_EE; ++f) {
    LOOM_TRY(h->buf_new(h, "pair counts", LOOM_I64, d->num[f], &d->count[f]));
    LOOM_TRY(h->buf_new(h, "pair places", LOOM_I64, d->num[f] + 1, &d->place[f]));
  }
  return LOOM_OK;
}

/* ---- broad phase: count, scan, fill ---- */

/* Fill: the kit asks for names in chunks, so that memory stays linear.  Each element writes behind
 * its own place, so nothing needs an atomic and the order is always the same. */
static loom_status list(void *self, const mesh_view *v, int family, int64_t first, int64_t end,
                        int64_t base, loom_buf *place, loom_buf *name)
{
  brute *const d = self;
  plug_maps m = plug_maps_on(d->m.h, d->m.e);
  const brute_args args = {.m = *v,
                           .kinds = d->kinds,
                           .place = plug_read(&m, place),
                           .name = plug_rdwr(&m, name),
                           .first = (lk_int)first,
                           .base = base};
  return plug_launch(&m, &k_list[family], &args, end - first, NULL);
}

/* Count and scan, family by family: vertices with triangles, edges with edges.  `w` says how far
 * apart pairs may be; a real broad phase grows its boxes by that. */
static loom_status broad(void *self, const mesh_view *v, const mesh_wanted *w)
{
  brute *const d = self;
  const loom_host *const h = d->m.h;
  int64_t listed = 0;
  d->kinds = w->kinds;
  for (int f = MESH_VT; f <= MESH_EE; ++f) {
    if (!(w->kinds & (f == MESH_VT ? MESH_VT_KINDS : MESH_EE_KINDS))) continue;
    plug_maps m = plug_maps_on(h, d->m.e);
    const brute_args args = {.m = *v, .kinds = w->kinds, .count = plug_write(&m, d->count[f])};
    LOOM_TRY(plug_launch(&m, &k_count[f], &args, d->num[f], NULL));
    LOOM_TRY(h->scan_i64(h, d->m.e, d->count[f], d->place[f], NULL));
    LOOM_TRY(mesh_collect(&d->m, v, w, f, d->place[f], d->num[f], list, d, &listed));
  }
  return LOOM_OK;
}

/* ---- what the core asks ---- */

/* It keeps nothing from step to step, so there is no begin_step(), reset() or checkpoint().
 *
 * DETECT: which pairs are near, or meet on their way?  LOOM_GROW where `out` is too small. */
static loom_status brute_detect(void *self, const loom_step *s, const loom_query *q,
                                loom_pairs *out)
{
  brute *const d = self;
  return mesh_detect(&d->m, s, q, out, broad, d);
}

/* FILTER: how far may everything go from x0 towards x1? */
static loom_status brute_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                  loom_bound *out)
{
  brute *const d = self;
  return mesh_max_step(&d->m, s, x0, x1, out, broad, d);
}

/* The table the core calls: `provides` is what the fit test compares with what contact models and
 * the filter need. */
static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | LOOM_COLL_STEP_GLOBAL |
                LOOM_COLL_MASKED | LOOM_COLL_EXCLUDE | LOOM_COLL_LEAVES_OUT,
    .pair_kinds = MESH_KINDS,
    .create = brute_create,
    .destroy = plug_free, /* buffers are freed by the core */
    .detect = brute_detect,
    .max_step = brute_max_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LK_BACKENDS),
    .name = "brute",
    .version = "0.1.0",
    .summary = "all pairs of triangle meshes: the oracle; the exemplary plugin",
    .reference = "none: every vertex with every triangle, every "
                 "edge with every edge",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

/* The only exported symbol of the module, loom_plugin_query(). */
LOOM_EXPORT_PLUGIN(&plugin)
