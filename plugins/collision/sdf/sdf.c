/* sdf.c - vertices against the bodies of the scene through their signed distances.
 *
 * Pairs are of kind VO, one for every free vertex and body that are close (PROXIMITY), that
 * overlap (OVERLAP), or that meet on the way from x0 to x1 (CCD).  A vertex is a ball of its
 * radius.  Queries and bounds say at which shares of the step's motion the bodies stand at
 * x0 and x1; on the way they move from one to the other.
 *
 * Every vertex is compared with every body: cost and memory are linear in their product.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/obstacle_view.h"
#include "loom/plug.h"
#include "loom/plugin.h"
#include "sdf.kern.h"

static const lk_entry k_find = LK_ENTRY(sdf_find), k_fill = LK_ENTRY(sdf_fill);
static const lk_entry k_count = LK_ENTRY(sdf_count);
static const lk_entry k_pick = LK_ENTRY(sdf_pick), k_bound = LK_ENTRY(sdf_bound);
static const lk_entry k_shortest = LK_ENTRY(sdf_shortest), k_blocker = LK_ENTRY(sdf_blocker);

typedef struct {
  double keep;
  double tolerance;
  int64_t max_search;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, keep, 0.1, 1e-3, 0.9, "1",
                    "Share of its gap (above [filter] min_gap) that a vertex keeps in one bounded "
                    "step; eta of additive CCD (Li et al. 2021, doi 10.1145/3450626.3459767)."),
    LOOM_PARAM_REAL(settings, tolerance, 1e-7, 1e-12, 1e-2, "m",
                    "A gap that falls this low on the way counts as an impact; impacts are "
                    "reported early by at most the time this takes, never late."),
    LOOM_PARAM_INT(settings, max_search, 512, 8, 1000000, "1",
                   "Advances of one impact search; a search that needs more ends early, which is "
                   "safe and only matters along grids."),
};

typedef struct {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  obst_view *view;        /* [num_obstacles], host */
  loom_buf *views;        /* u8, the same as bytes; grid pointers are those of one call */
  loom_buf *found;        /* u8 [num_obstacles n] */
  loom_buf *count;        /* i64 [groups], of SDF_GROUP candidates */
  loom_buf *place;        /* i64 [groups + 1] */
  loom_buf *total;        /* i64 [1] */
  loom_buf *t;            /* real [n], step bounds */
  loom_buf *result;       /* real [1] */
  int64_t num_candidates; /* num_obstacles n */
  int64_t num_groups;
} sdf;

/* ---- bodies ------------------------------------------------------------------------------ */

static loom_status bad_obstacle(const sdf *d, const loom_obstacle *o, const char *why)
{
  return LOOM_FAIL(d->h, LOOM_E_CONFIG, "body '%s': %s", o->name != NULL ? o->name : "?", why);
}

static loom_status fill_views(sdf *d)
{
  for (int i = 0; i < d->sc->num_obstacles; ++i) {
    const loom_obstacle *const o = &d->sc->obstacles[i];
    obst_view *const v = &d->view[i];
    void *p;
    const char *const why = obst_view_fill(o, v);
    if (why != NULL) return bad_obstacle(d, o, why);
    if (o->kind == LOOM_OBST_MESH && o->sdf == NULL)
      return LOOM_FAIL(d->h, LOOM_E_CONFIG,
                       "[body.%s] sdf_resolution: this mesh has no grid of signed distances; give "
                       "the nodes along its longest side, 64 for a start",
                       o->name != NULL ? o->name : "NAME");
    if (o->kind == LOOM_OBST_ARTICULATED)
      d->h->log(d->h, LOOM_LOG_WARN,
                "body '%s' is articulated: its pairs must come from another collision plugin",
                o->name != NULL ? o->name : "?");
    if (v->kind != LOOM_OBST_SDF) continue;
    if (d->h->buf_count(d->h, o->sdf) != (int64_t)v->dims[0] * v->dims[1] * v->dims[2])
      return bad_obstacle(d, o, "its grid does not have dims[0] dims[1] dims[2] values");
    LOOM_TRY(d->h->map(d->h, d->e, o->sdf, LOOM_READ, LOOM_AT_HOST, &p));
    v->lipschitz = obst_view_lipschitz(v, p);
    LOOM_TRY(d->h->unmap(d->h, o->sdf));
    if (!isfinite(v->lipschitz)) return bad_obstacle(d, o, "its grid holds values not finite");
  }
  return LOOM_OK;
}

/* Map the grids and the array of views; every pointer is good until views_close(). */
static loom_status views_open(sdf *d, const obst_view **out)
{
  const loom_host *const h = d->h;
  const int m = d->sc->num_obstacles;
  void *p;
  for (int i = 0; i < m; ++i) {
    if (d->view[i].kind != LOOM_OBST_SDF) continue;
    LOOM_TRY(h->map(h, d->e, d->sc->obstacles[i].sdf, LOOM_READ, LOOM_AT_EXEC, &p));
    d->view[i].sdf = p;
  }
  LOOM_TRY(h->map(h, d->e, d->views, LOOM_WRITE, LOOM_AT_HOST, &p));
  memcpy(p, d->view, (size_t)m * sizeof *d->view);
  LOOM_TRY(h->unmap(h, d->views));
  LOOM_TRY(h->map(h, d->e, d->views, LOOM_READ, LOOM_AT_EXEC, &p));
  *out = p;
  return LOOM_OK;
}

static loom_status views_close(sdf *d)
{
  const loom_host *const h = d->h;
  LOOM_TRY(h->unmap(h, d->views));
  for (int i = 0; i < d->sc->num_obstacles; ++i) {
    if (d->view[i].kind != LOOM_OBST_SDF) continue;
    d->view[i].sdf = NULL;
    LOOM_TRY(h->unmap(h, d->sc->obstacles[i].sdf));
  }
  return LOOM_OK;
}

/* ---- life ---------------------------------------------------------------------------------- */

static loom_status sdf_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  sdf *const d = calloc(1, sizeof *d);
  LOOM_CHECK(h, d != NULL, LOOM_E_NOMEM, "no memory for the instance");
  *self = d;
  d->h = h;
  d->sc = sc;
  d->e = e;
  d->set = *(const settings *)set;
  d->num_candidates = (int64_t)sc->num_obstacles * sc->num_verts;
  LOOM_CHECK(h, d->num_candidates <= LK_MAX_ELEMS, LOOM_E_ARG,
             "%d bodies times %d vertices is more than %d; use fewer bodies", sc->num_obstacles,
             sc->num_verts, (int)LK_MAX_ELEMS);
  d->num_groups = (d->num_candidates + SDF_GROUP - 1) / SDF_GROUP;
  d->view = calloc((size_t)sc->num_obstacles + 1, sizeof *d->view);
  LOOM_CHECK(h, d->view != NULL, LOOM_E_NOMEM, "no memory for %d bodies", sc->num_obstacles);
  LOOM_TRY(fill_views(d));
  const int64_t bytes = (int64_t)sc->num_obstacles * (int64_t)sizeof *d->view;
  LOOM_TRY(h->buf_new(h, "bodies", LOOM_U8, bytes, &d->views));
  LOOM_TRY(h->buf_new(h, "found", LOOM_U8, d->num_candidates, &d->found));
  LOOM_TRY(h->buf_new(h, "found in a group", LOOM_I64, d->num_groups, &d->count));
  LOOM_TRY(h->buf_new(h, "place of a group", LOOM_I64, d->num_groups + 1, &d->place));
  LOOM_TRY(h->buf_new(h, "total", LOOM_I64, 1, &d->total));
  LOOM_TRY(h->buf_new(h, "steps", LOOM_REAL, sc->num_verts, &d->t));
  return h->buf_new(h, "result", LOOM_REAL, 1, &d->result);
}

static void sdf_destroy(void *self)
{
  sdf *const d = self;
  if (d == NULL) return;
  loom_buf *const all[] = {d->views, d->found, d->count, d->place, d->total, d->t, d->result};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) d->h->buf_free(d->h, all[i]);
  free(d->view);
  free(d);
}

/* The bodies have moved on. */
static loom_status sdf_begin_step(void *self, const loom_step *s)
{
  sdf *const d = self;
  (void)s;
  for (int i = 0; i < d->sc->num_obstacles; ++i) {
    const char *const why = obst_view_pose(&d->sc->obstacles[i], &d->view[i]);
    if (why != NULL) return bad_obstacle(d, &d->sc->obstacles[i], why);
  }
  return LOOM_OK;
}

/* ---- detection --------------------------------------------------------------------------------
 */

enum { Q_X0, Q_X1, Q_RADIUS, Q_FIXED, Q_MASK, Q_EXCLUDE, Q_COUNT };

/* Arguments common to both passes; closed by query_close(). */
static loom_status query_open(sdf *d, const loom_query *q, plug_map *m, sdf_query *out)
{
  const loom_host *const h = d->h;
  const obst_view *view;
  void *p[Q_COUNT];
  const int64_t num_exclude = q->exclude != NULL ? h->buf_count(h, q->exclude) : 0;
  m[Q_X0] = (plug_map){q->x0, LOOM_READ};
  m[Q_X1] = (plug_map){q->what & LOOM_DETECT_CCD ? q->x1 : NULL, LOOM_READ};
  m[Q_RADIUS] = (plug_map){d->sc->radius, LOOM_READ};
  m[Q_FIXED] = (plug_map){d->sc->fixed, LOOM_READ};
  m[Q_MASK] = (plug_map){q->mask, LOOM_READ};
  m[Q_EXCLUDE] = (plug_map){num_exclude > 0 ? q->exclude : NULL, LOOM_READ};
  LOOM_TRY(plug_map_all(h, d->e, Q_COUNT, m, p));
  *out = (sdf_query){.x0 = p[Q_X0],
                     .x1 = p[Q_X1],
                     .radius = p[Q_RADIUS],
                     .fixed = p[Q_FIXED],
                     .mask = p[Q_MASK],
                     .exclude = p[Q_EXCLUDE],
                     .num_exclude = num_exclude,
                     .n = d->sc->num_verts,
                     .what = q->what,
                     .margin = q->margin,
                     .tol = (lk_real)d->set.tolerance,
                     .s0 = (lk_real)q->progress0,
                     .s1 = (lk_real)q->progress1,
                     .max_iters = (int32_t)d->set.max_search};
  LOOM_TRY(views_open(d, &view));
  out->view = view;
  return LOOM_OK;
}

static loom_status query_close(sdf *d, const plug_map *m)
{
  LOOM_TRY(views_close(d));
  return plug_unmap_all(d->h, Q_COUNT, m);
}

/* First pass: which candidates, their places, and how many. */
static loom_status find(sdf *d, const sdf_query *q, int64_t *total)
{
  const loom_host *const h = d->h;
  void *p[2];
  const plug_map f[1] = {{d->found, LOOM_WRITE}};
  const plug_map n[2] = {{d->found, LOOM_READ}, {d->count, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, d->e, 1, f, p));
  const sdf_find_args fa = {.q = *q, .found = p[0]};
  LOOM_TRY(plug_run(h, d->e, &k_find, &fa, d->num_candidates, NULL));
  LOOM_TRY(plug_unmap_all(h, 1, f));
  LOOM_TRY(plug_map_all(h, d->e, 2, n, p));
  const sdf_count_args ca = {p[0], p[1], (lk_int)d->num_candidates};
  LOOM_TRY(plug_run(h, d->e, &k_count, &ca, d->num_groups, NULL));
  LOOM_TRY(plug_unmap_all(h, 2, n));
  LOOM_TRY(h->scan_i64(h, d->e, d->count, d->place));
  const plug_map t[2] = {{d->place, LOOM_READ}, {d->total, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, d->e, 2, t, p));
  const sdf_pick_args pa = {p[0], p[1], d->num_groups};
  LOOM_TRY(plug_run(h, d->e, &k_pick, &pa, 1, NULL));
  LOOM_TRY(plug_unmap_all(h, 2, t));
  LOOM_TRY(h->map(h, d->e, d->total, LOOM_READ, LOOM_AT_HOST, &p[0]));
  *total = *(const int64_t *)p[0];
  return h->unmap(h, d->total);
}

/* Second pass: write the pairs behind those of other plugins. */
static loom_status fill(sdf *d, const sdf_query *q, loom_pairs *out)
{
  const loom_host *const h = d->h;
  void *p[11];
  const plug_map m[11] = {{d->place, LOOM_READ},  {out->kind, LOOM_RDWR},  {out->v, LOOM_RDWR},
                          {out->obst, LOOM_RDWR}, {out->w, LOOM_RDWR},     {out->normal, LOOM_RDWR},
                          {out->gap, LOOM_RDWR},  {out->point, LOOM_RDWR}, {out->toi, LOOM_RDWR},
                          {out->key, LOOM_RDWR},  {d->found, LOOM_READ}};
  LOOM_TRY(plug_map_all(h, d->e, 11, m, p));
  const sdf_fill_args a = {.q = *q,
                           .found = p[10],
                           .place = p[0],
                           .first = out->count,
                           .kind = p[1],
                           .v = p[2],
                           .obst = p[3],
                           .w = p[4],
                           .normal = p[5],
                           .gap = p[6],
                           .point = p[7],
                           .toi = p[8],
                           .key = p[9]};
  LOOM_TRY(plug_run(h, d->e, &k_fill, &a, d->num_candidates, NULL));
  return plug_unmap_all(h, 11, m);
}

static loom_status sdf_detect(void *self, const loom_step *s, const loom_query *q, loom_pairs *out)
{
  sdf *const d = self;
  plug_map m[Q_COUNT];
  sdf_query args;
  int64_t total = 0;
  (void)s;
  if (!(q->kinds & LOOM_BIT(LOOM_PAIR_VO)) || q->what == 0 || d->num_candidates == 0)
    return LOOM_OK;
  LOOM_TRY(query_open(d, q, m, &args));
  LOOM_TRY(find(d, &args, &total));
  const int64_t needed = out->count + total;
  if (total > 0 && needed <= out->capacity) LOOM_TRY(fill(d, &args, out));
  LOOM_TRY(query_close(d, m));
  if (q->what & LOOM_DETECT_CCD) d->h->count(d->h, LOOM_C_CCD_PAIR, d->num_candidates);
  out->count = needed;
  if (needed > out->capacity) return LOOM_GROW;
  if (total > 0) out->kinds |= LOOM_BIT(LOOM_PAIR_VO);
  return LOOM_OK;
}

/* ---- bounds -------------------------------------------------------------------------------- */

/* Fold `k` over all vertices; `a` may be NULL where the kernel needs the bounds alone. */
static loom_status over_vertices(sdf *d, const lk_entry *k, const void *a, double *out)
{
  const plug_map r[1] = {{d->result, LOOM_WRITE}};
  void *p;
  LOOM_TRY(plug_map_all(d->h, d->e, 1, r, &p));
  LOOM_TRY(plug_run(d->h, d->e, k, a, d->sc->num_verts, p));
  LOOM_TRY(plug_unmap_all(d->h, 1, r));
  return plug_fetch(d->h, d->e, d->result, 1, out);
}

static loom_status sdf_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                loom_bound *out)
{
  sdf *const d = self;
  const loom_host *const h = d->h;
  loom_buf *const t = out->per_vertex ? out->t_vertex : d->t;
  const obst_view *view;
  void *p[5];
  double largest = -1.0, who = -1.0;
  (void)s;
  out->t_global = 1.0;
  if (d->sc->num_verts == 0) return LOOM_OK;
  const plug_map m[5] = {{x0, LOOM_READ},
                         {x1, LOOM_READ},
                         {d->sc->radius, LOOM_READ},
                         {d->sc->fixed, LOOM_READ},
                         {t, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, d->e, 5, m, p));
  LOOM_TRY(views_open(d, &view));
  sdf_bound_args a = {.view = view,
                      .x0 = p[0],
                      .x1 = p[1],
                      .radius = p[2],
                      .fixed = p[3],
                      .t = p[4],
                      .num_obst = d->sc->num_obstacles,
                      .max_iters = (int32_t)d->set.max_search,
                      .min_gap = (lk_real)out->min_gap,
                      .keep = (lk_real)d->set.keep,
                      .tol = (lk_real)d->set.tolerance,
                      .s0 = (lk_real)out->progress0,
                      .s1 = (lk_real)out->progress1};
  LOOM_TRY(plug_run(h, d->e, &k_bound, &a, d->sc->num_verts, NULL));
  const sdf_short_args sa = {p[4]};
  LOOM_TRY(over_vertices(d, &k_shortest, &sa, &largest));
  out->t_global = -largest;
  if (out->t_global < 1.0) {
    a.t_all = (lk_real)out->t_global;
    LOOM_TRY(over_vertices(d, &k_blocker, &a, &who));
    out->blocker = (int32_t)who;
  }
  LOOM_TRY(views_close(d));
  LOOM_TRY(plug_unmap_all(h, 5, m));
  h->count(h, LOOM_C_CCD_PAIR, d->num_candidates);
  return LOOM_OK;
}

/* ---- descriptor ---------------------------------------------------------------------------- */

static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | LOOM_COLL_STEP_GLOBAL |
                LOOM_COLL_STEP_VERTEX | LOOM_COLL_MASKED | LOOM_COLL_EXCLUDE,
    .pair_kinds = LOOM_BIT(LOOM_PAIR_VO),
    .create = sdf_create,
    .destroy = sdf_destroy,
    .begin_step = sdf_begin_step,
    .detect = sdf_detect,
    .max_step = sdf_max_step};

static const loom_plugin plugin = {LOOM_PLUGIN_HEAD(LOOM_KIND_COLLISION, LK_BACKENDS),
                                   .name = "sdf",
                                   .version = "0.1.0",
                                   .summary = "vertices against bodies by signed distance",
                                   .reference = "J. C. Hart, Sphere tracing, The Visual Computer "
                                                "12(10), 1996, doi 10.1007/s003710050084",
                                   .license = "MIT",
                                   .build = LOOM_BUILD_INFO,
                                   .num_params = LOOM_COUNT(params),
                                   .settings_size = sizeof(settings),
                                   .params = params,
                                   .ops.collision = &ops};

const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index)
{
  (void)host_abi;
  return index == 0 ? &plugin : NULL;
}
