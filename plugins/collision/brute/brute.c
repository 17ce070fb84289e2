/* brute.c - all pairs of vertices and triangles, and of edges: the exemplary collision plugin.
 *
 * Read this file first if you want to write detection for cloth and body meshes, then
 * kit/mesh_query.h.  It has only the parts that a collision plugin needs: settings, state, a broad
 * phase that lists the names of candidates, the callbacks detect() and max_step(), and the
 * descriptor.
 *
 * Detection has two parts.  The broad phase lists candidates.  kit/mesh_query then computes gap,
 * weights and key of each candidate, makes the exact tests and finds the step bound, so that all
 * plugins for meshes report the same pairs.  A plugin brings only its broad phase.  The broad phase
 * here leaves no pair out: brute.kern.c names every vertex with every triangle and every edge with
 * every later edge.  So tests compare the other detectors with this plugin.  The cost is quadratic;
 * `max_tests` limits it.
 */
#include "brute.kern.h"
#include "kit/mesh_query.h"
#include "loom/plugin.h"

static const lk_entry k_count[2] = {LK_ENTRY_MOVES(brute_count_vt, 1, 213),
                                    LK_ENTRY_MOVES(brute_count_ee, 1, 236)};
static const lk_entry k_list[2] = {LK_ENTRY_MOVES(brute_list_vt, 70, 212),
                                   LK_ENTRY_MOVES(brute_list_ee, 56, 236)};

/* Settings: a plain struct, and a table from which the core parses, checks, documents and logs
 * every member.  MESH_CCD_PARAMS has the rows for the first three members. */
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

/* State of one instance.  Two instances may run side by side, so a plugin has no globals.  Index 0
 * of the arrays is MESH_VT (vertices with triangles), index 1 MESH_EE (edges with edges). */
typedef struct {
  mesh m;             /* cloth and bodies as one mesh, and the pairs found */
  uint32_t kinds;     /* LOOM_BIT(LOOM_PAIR_*) of the present query */
  loom_buf *count[2]; /* i64 [vertices], [edges]: candidates of each vertex or edge */
  loom_buf *place[2]; /* i64 [vertices + 1], [edges + 1], exclusive sums of `count` */
  int64_t num[2];     /* vertices, edges */
} brute;

static loom_status brute_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                const void *set, void **self)
{
  const settings *const s = set;
  /* from here on the core calls destroy() even when create() fails: errors need no clean-up here */
  LOOM_TRY(plug_new(host, sizeof(brute), self));
  brute *const d = *self;
  const mesh_params p = {.method = s->ccd, .keep = s->keep, .max_steps = s->max_steps};
  LOOM_TRY(mesh_create(&d->m, host, sc, e, &p));
  const double tests = (double)d->m.num_verts * d->m.num_tris +
                       0.5 * (double)d->m.num_edges * ((double)d->m.num_edges - 1.0);
  LOOM_CHECK(host, tests <= (double)s->max_tests, LOOM_E_CONFIG,
             "%d vertices, %d triangles and %d edges make %.3g pairs, more than max_tests = "
             "%lld; use patch_bvh",
             d->m.num_verts, d->m.num_tris, d->m.num_edges, tests, (long long)s->max_tests);
  d->num[MESH_VT] = d->m.num_verts;
  d->num[MESH_EE] = d->m.num_edges;
  for (int f = MESH_VT; f <= MESH_EE; ++f) {
    LOOM_TRY(host->buf_new(host, "pair counts", LOOM_I64, d->num[f], &d->count[f]));
    LOOM_TRY(host->buf_new(host, "pair places", LOOM_I64, d->num[f] + 1, &d->place[f]));
  }
  return LOOM_OK;
}

/* ---- broad phase: count, scan, fill ---- */

/* Fill: writes the names of the candidates of the vertices or edges [first, end).  The kit calls it
 * for one chunk after the other, so that memory stays linear.  Each vertex or edge writes from its
 * own place on, so that the order of the names is fixed and no atomics are needed. */
static loom_status brute_list_candidates(void *self, const mesh_view *v, int family, int64_t first,
                                         int64_t end, int64_t base, loom_buf *place, loom_buf *name)
{
  brute *const d = self;
  plug_maps m = plug_maps_on(d->m.host, d->m.e);
  const brute_args args = {.m = *v,
                           .kinds = d->kinds,
                           .place = plug_read(&m, place),
                           .name = plug_rdwr(&m, name),
                           .first = (lk_int)first,
                           .base = base};
  return plug_launch(&m, &k_list[family], &args, end - first, NULL);
}

/* Count and scan, for one family after the other.  `w` holds the largest gap of requested pairs; a
 * broad phase with boxes grows its boxes by it. */
static loom_status brute_find_candidates(void *self, const mesh_view *v, const mesh_wanted *w)
{
  brute *const d = self;
  const loom_host *const host = d->m.host;
  int64_t listed = 0;
  d->kinds = w->kinds;
  for (int f = MESH_VT; f <= MESH_EE; ++f) {
    if (!(w->kinds & (f == MESH_VT ? MESH_VT_KINDS : MESH_EE_KINDS))) continue;
    plug_maps m = plug_maps_on(host, d->m.e);
    const brute_args args = {.m = *v, .kinds = w->kinds, .count = plug_write(&m, d->count[f])};
    LOOM_TRY(plug_launch(&m, &k_count[f], &args, d->num[f], NULL));
    LOOM_TRY(host->scan_i64(host, d->m.e, d->count[f], d->place[f], NULL));
    LOOM_TRY(
        mesh_collect(&d->m, v, w, f, d->place[f], d->num[f], brute_list_candidates, d, &listed));
  }
  return LOOM_OK;
}

/* ---- callbacks ---- */

/* The plugin has no state that carries over between steps, so it has no begin_step(), reset() or
 * checkpoint().
 *
 * Phase DETECT: appends the pairs that are near at q->x0 or that meet on the way to q->x1 to `out`.
 * LOOM_GROW: `out` is too small. */
static loom_status brute_detect_pairs(void *self, const loom_step *s, const loom_query *q,
                                      loom_pairs *out)
{
  brute *const d = self;
  return mesh_detect(&d->m, s, q, out, brute_find_candidates, d);
}

/* Phase FILTER: finds the largest share of the way from x0 to x1 on which every pair keeps a share
 * of its gap. */
static loom_status brute_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                  loom_bound *out)
{
  brute *const d = self;
  return mesh_max_step(&d->m, s, x0, x1, out, brute_find_candidates, d);
}

/* The callbacks.  Before step 0 the core checks that `provides` covers the needs of the contact
 * models and of the filter. */
static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | LOOM_COLL_STEP_GLOBAL |
                LOOM_COLL_MASKED | LOOM_COLL_EXCLUDE | LOOM_COLL_LEAVES_OUT,
    .pair_kinds = MESH_KINDS,
    .create = brute_create,
    .destroy = plug_free, /* the core frees the buffers of an instance */
    .detect = brute_detect_pairs,
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
