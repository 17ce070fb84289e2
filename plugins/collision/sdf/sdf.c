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
static const lk_entry k_bound = LK_ENTRY(sdf_bound);
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
  LOOM_TRY(h->buf_new(h, "steps", LOOM_REAL, sc->num_verts, &d->t));
  return h->buf_new(h, "result", LOOM_REAL, 1, &d->result);
}

static void sdf_destroy(void *self)
{
  sdf *const d = self;
  if (d == NULL) return;
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

/* Arguments common to both passes; closed by query_close(). */
static loom_status query_open(sdf *d, plug_maps *m, const loom_query *q, sdf_query *out)
{
  const int64_t num_exclude = q->exclude != NULL ? d->h->buf_count(d->h, q->exclude) : 0;
  const obst_view *view;
  LOOM_TRY(views_open(d, &view));
  *m = plug_maps_on(d->h, d->e);
  *out = (sdf_query){.view = view,
                     .x0 = plug_read(m, q->x0),
                     .x1 = plug_read(m, q->what & LOOM_DETECT_CCD ? q->x1 : NULL),
                     .radius = plug_read(m, d->sc->radius),
                     .fixed = plug_read(m, d->sc->fixed),
                     .mask = plug_read(m, q->mask),
                     .exclude = plug_read(m, num_exclude > 0 ? q->exclude : NULL),
                     .num_exclude = num_exclude,
                     .n = d->sc->num_verts,
                     .what = q->what,
                     .margin = q->margin,
                     .tol = (lk_real)d->set.tolerance,
                     .s0 = (lk_real)q->progress0,
                     .s1 = (lk_real)q->progress1,
                     .max_iters = (int32_t)d->set.max_search};
  return m->status;
}

static loom_status query_close(sdf *d, plug_maps *m)
{
  LOOM_TRY(plug_unbind(m));
  return views_close(d);
}

/* First pass: which candidates, their places, and how many. */
static loom_status find(sdf *d, const sdf_query *q, int64_t *total)
{
  const loom_host *const h = d->h;
  plug_maps m = plug_maps_on(h, d->e);
  const sdf_find_args fa = {.q = *q, .found = plug_write(&m, d->found)};
  LOOM_TRY(plug_launch(&m, &k_find, &fa, d->num_candidates, NULL));
  const sdf_count_args ca = {.found = plug_read(&m, d->found),
                             .count = plug_write(&m, d->count),
                             .num = (lk_int)d->num_candidates};
  LOOM_TRY(plug_launch(&m, &k_count, &ca, d->num_groups, NULL));
  return h->scan_i64(h, d->e, d->count, d->place, total);
}

/* Second pass: write the pairs behind those of other plugins. */
static loom_status fill(sdf *d, const sdf_query *q, loom_pairs *out)
{
  plug_maps m = plug_maps_on(d->h, d->e);
  const sdf_fill_args a = {.q = *q,
                           .found = plug_read(&m, d->found),
                           .place = plug_read(&m, d->place),
                           .first = out->count,
                           .kind = plug_rdwr(&m, out->kind),
                           .v = plug_rdwr(&m, out->v),
                           .obst = plug_rdwr(&m, out->obst),
                           .w = plug_rdwr(&m, out->w),
                           .normal = plug_rdwr(&m, out->normal),
                           .gap = plug_rdwr(&m, out->gap),
                           .point = plug_rdwr(&m, out->point),
                           .toi = plug_rdwr(&m, out->toi),
                           .key = plug_rdwr(&m, out->key)};
  return plug_launch(&m, &k_fill, &a, d->num_candidates, NULL);
}

static loom_status sdf_detect(void *self, const loom_step *s, const loom_query *q, loom_pairs *out)
{
  sdf *const d = self;
  plug_maps m;
  sdf_query args;
  int64_t total = 0;
  (void)s;
  if (!(q->kinds & LOOM_BIT(LOOM_PAIR_VO)) || q->what == 0 || d->num_candidates == 0)
    return LOOM_OK;
  LOOM_TRY(query_open(d, &m, q, &args));
  LOOM_TRY(find(d, &args, &total));
  const int64_t needed = out->count + total;
  if (total > 0 && needed <= out->capacity) LOOM_TRY(fill(d, &args, out));
  LOOM_TRY(query_close(d, &m));
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
  plug_maps m = plug_maps_on(d->h, d->e);
  LOOM_TRY(plug_launch(&m, k, a, d->sc->num_verts, plug_write(&m, d->result)));
  return plug_fetch(d->h, d->e, d->result, 1, out);
}

static loom_status sdf_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                loom_bound *out)
{
  sdf *const d = self;
  const loom_host *const h = d->h;
  const obst_view *view;
  double largest = -1.0, who = -1.0;
  (void)s;
  out->t_global = 1.0;
  if (d->sc->num_verts == 0) return LOOM_OK;
  LOOM_TRY(views_open(d, &view));
  plug_maps m = plug_maps_on(h, d->e);
  sdf_bound_args a = {.view = view,
                      .x0 = plug_read(&m, x0),
                      .x1 = plug_read(&m, x1),
                      .radius = plug_read(&m, d->sc->radius),
                      .fixed = plug_read(&m, d->sc->fixed),
                      .t = plug_write(&m, out->per_vertex ? out->t_vertex : d->t),
                      .num_obst = d->sc->num_obstacles,
                      .max_iters = (int32_t)d->set.max_search,
                      .min_gap = (lk_real)out->min_gap,
                      .keep = (lk_real)d->set.keep,
                      .tol = (lk_real)d->set.tolerance,
                      .s0 = (lk_real)out->progress0,
                      .s1 = (lk_real)out->progress1};
  LOOM_TRY(plug_run_on(&m, &k_bound, &a, d->sc->num_verts, NULL));
  const sdf_short_args sa = {.t = a.t};
  LOOM_TRY(over_vertices(d, &k_shortest, &sa, &largest));
  out->t_global = -largest;
  if (out->t_global < 1.0) {
    a.t_all = (lk_real)out->t_global;
    LOOM_TRY(over_vertices(d, &k_blocker, &a, &who));
    out->blocker = (int32_t)who;
  }
  LOOM_TRY(plug_unbind(&m));
  LOOM_TRY(views_close(d));
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

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LK_BACKENDS),
    .name = "sdf",
    .version = "0.1.0",
    .summary = "vertices against bodies by signed distance",
    .reference = "J. C. Hart, Sphere tracing, The Visual Computer "
                 "12(10), 1996, doi 10.1007/s003710050084",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
