/* sdf.c - vertices, edges and triangles against the bodies of the scene through their signed
 * distances.
 *
 * Pairs are of kind VO, one for every free vertex and body that are close (PROXIMITY), that
 * overlap (OVERLAP), or that meet on the way from x0 to x1 (CCD).  A vertex is a ball of its
 * radius.  Queries and bounds say at which shares of the step's motion the bodies stand at
 * x0 and x1; on the way they move from one to the other.  Edges and triangles are in elements.c.
 *
 * Every vertex is compared with every body: cost and memory are linear in their product.  Within a
 * step bodies mostly stay at its end; gaps of the first query there are kept, and later queries ask
 * only about vertices that may have come close since.
 */
#include <math.h>

#include "elements.h"
#include "loom/plug.h"
#include "loom/plugin.h"
#include "sdf.kern.h"

static const lk_entry k_ask = LK_ENTRY_MOVES(sdf_ask, 4, 2),
                      k_find = LK_ENTRY_MOVES(sdf_find, 2, 1);
static const lk_entry k_count = LK_ENTRY_MOVES(sdf_count, 1, 62);
static const lk_entry k_fill = LK_ENTRY_MOVES(sdf_fill, 0, 2),
                      k_place = LK_ENTRY_MOVES(sdf_place, 13, 1);
static const lk_entry k_free = LK_ENTRY_MOVES(sdf_free, 1, 1),
                      k_floor = LK_ENTRY_MOVES(sdf_floor, 4, 1);
static const lk_entry k_bound = LK_ENTRY_MOVES(sdf_bound, 5, 2),
                      k_shortest = LK_ENTRY_MOVES(sdf_shortest, 1, 0);
static const lk_entry k_blocker = LK_ENTRY_MOVES(sdf_blocker, 1, 0);

/* Candidates of one batch; the arrays of a batch have this length. */
enum { BATCH = 1 << 20 };

typedef struct {
  double keep;
  double tolerance;
  int64_t max_search;
  int32_t elements; /* SDF_ELEMENTS_* */
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
    LOOM_PARAM_ENUM(settings, elements, SDF_ELEMENTS_AUTO, "auto|all|none",
                    "Edges and triangles that are compared with bodies of closed form, beside "
                    "vertices: auto: where an edge spans the curvature of the body "
                    "(loom_scene.elements); all: also where it does not; none: vertices alone, and "
                    "a thin body passes between them."),
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  loom_buf *found;        /* u8 [num_obstacles n] */
  loom_buf *count;        /* i64 [groups], of SDF_GROUP candidates */
  loom_buf *place;        /* i64 [groups + 1] */
  loom_buf *gap;          /* real [batch], m */
  loom_buf *floor, *tol;  /* real [batch], m, of searches for impacts; or [pairs] as below */
  loom_buf *toi;          /* real [batch] */
  loom_buf *hit_gap;      /* real [pairs], m */
  loom_buf *hit_normal;   /* real [pairs][3] */
  loom_buf *hit_point;    /* real [pairs][3], m */
  loom_buf *t;            /* real [n], step bounds */
  loom_buf *who;          /* i32 [n], bodies that set them */
  loom_buf *result;       /* real [1] */
  loom_buf *known;        /* real [num_obstacles n], m, gaps of this step's first query */
  loom_buf *known_x;      /* real [n][3], m, where vertices were then */
  double known_at;        /* progress of it; NaN: none yet */
  int64_t num_candidates; /* num_obstacles n */
  int64_t batch;
  int64_t num_groups;
  sdf_elements elements;
} sdf;

/* ---- life ---- */

static loom_status sdf_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(sdf), self));
  sdf *const d = *self;
  d->host = host;
  d->sc = sc;
  d->e = e;
  d->set = *(const settings *)set;
  d->num_candidates = (int64_t)sc->num_obstacles * sc->num_verts;
  LOOM_CHECK(host, d->num_candidates <= LK_MAX_ELEMS, LOOM_E_ARG,
             "%d bodies times %d vertices is more than %d; use fewer bodies", sc->num_obstacles,
             sc->num_verts, (int)LK_MAX_ELEMS);
  d->num_groups = (d->num_candidates + SDF_GROUP - 1) / SDF_GROUP;
  for (int i = 0; i < sc->num_obstacles; ++i)
    LOOM_CHECK(
        host, sc->obstacles[i].has & LOOM_BODY_DISTANCE, LOOM_E_CONFIG,
        "[body.%s] sdf_resolution: this mesh has no grid of signed distances; give the nodes "
        "along its longest side, 64 for a start",
        sc->obstacles[i].name);
  d->batch = d->num_candidates < BATCH ? d->num_candidates : BATCH;
  if (d->batch < sc->num_verts) d->batch = sc->num_verts;
  LOOM_TRY(host->buf_new(host, "found", LOOM_U8, d->num_candidates, &d->found));
  LOOM_TRY(host->buf_new(host, "found in a group", LOOM_I64, d->num_groups, &d->count));
  LOOM_TRY(host->buf_new(host, "place of a group", LOOM_I64, d->num_groups + 1, &d->place));
  LOOM_TRY(host->buf_new(host, "gaps", LOOM_REAL, d->batch, &d->gap));
  LOOM_TRY(host->buf_new(host, "floors", LOOM_REAL, d->batch, &d->floor));
  LOOM_TRY(host->buf_new(host, "tolerances", LOOM_REAL, d->batch, &d->tol));
  LOOM_TRY(host->buf_new(host, "impacts", LOOM_REAL, d->batch, &d->toi));
  LOOM_TRY(host->buf_new(host, "gaps of impacts", LOOM_REAL, 0, &d->hit_gap));
  LOOM_TRY(host->buf_new(host, "normals of impacts", LOOM_REAL, 0, &d->hit_normal));
  LOOM_TRY(host->buf_new(host, "points of impacts", LOOM_REAL, 0, &d->hit_point));
  d->known_at = NAN;
  LOOM_TRY(host->buf_new(host, "known gaps", LOOM_REAL, d->num_candidates, &d->known));
  LOOM_TRY(host->buf_new(host, "known points", LOOM_REAL, 3 * (int64_t)sc->num_verts, &d->known_x));
  LOOM_TRY(host->buf_new(host, "steps", LOOM_REAL, sc->num_verts, &d->t));
  LOOM_TRY(host->buf_new(host, "bodies of steps", LOOM_I32, sc->num_verts, &d->who));
  LOOM_TRY(host->buf_new(host, "result", LOOM_REAL, 1, &d->result));
  d->elements = (sdf_elements){.host = host,
                               .sc = sc,
                               .e = e,
                               .keep = d->set.keep,
                               .tolerance = d->set.tolerance,
                               .max_search = (int32_t)d->set.max_search};
  return sdf_elements_open(&d->elements, d->set.elements);
}

static void sdf_destroy(void *self)
{
  sdf *const d = self;
  sdf_elements_close(&d->elements);
  plug_free(self);
}

static loom_status sdf_begin_step(void *self, const loom_step *s)
{
  sdf *const d = self;
  (void)s;
  d->known_at = NAN; /* bodies have moved */
  d->elements.stale = 1;
  return LOOM_OK;
}

/* ---- detection ----
 */

/* The next batch: candidates from `first` on, as many as fit. */
static loom_body_rows batch_of(const sdf *d, loom_buf *x, int64_t first)
{
  const int64_t left = d->num_candidates - first;
  return (loom_body_rows){.struct_size = sizeof(loom_body_rows),
                          .count = left < d->batch ? left : d->batch,
                          .x = x,
                          .pair = first};
}

static loom_body_path path_of(const sdf *d, const loom_query *q)
{
  return (loom_body_path){.struct_size = sizeof(loom_body_path),
                          .max_iters = (int32_t)d->set.max_search,
                          .progress0 = q->progress0,
                          .progress1 = q->progress1,
                          .x1 = q->x1,
                          .radius = d->sc->radius,
                          .floor = d->floor,
                          .tol = d->tol,
                          .toi = d->toi};
}

static sdf_query query_open(const sdf *d, plug_maps *m, const loom_query *q, int64_t first)
{
  const int64_t num_exclude = q->exclude != NULL ? d->host->buf_count(d->host, q->exclude) : 0;
  return (sdf_query){.x0 = plug_read(m, q->x0),
                     .radius = plug_read(m, d->sc->radius),
                     .fixed = plug_read(m, d->sc->fixed),
                     .mask = plug_read(m, q->mask),
                     .exclude = plug_read(m, num_exclude > 0 ? q->exclude : NULL),
                     .num_exclude = num_exclude,
                     .first = first,
                     .n = d->sc->num_verts,
                     .what = q->what,
                     .margin = q->margin,
                     .tol = (lk_real)d->set.tolerance};
}

/* Which candidates of a batch are wanted. */
static loom_status find_batch(sdf *d, const loom_query *q, const loom_body_rows *rows)
{
  const loom_host *const host = d->host;
  const int ccd = (q->what & LOOM_DETECT_CCD) != 0, known = d->known_at == q->progress0;
  const loom_body_gap gap = {.struct_size = sizeof gap,
                             .gap = known ? d->gap : d->known,
                             .known_gap = known ? d->known : NULL,
                             .known_x = d->known_x,
                             .radius = d->sc->radius,
                             .enough =
                                 fmax(q->what & LOOM_DETECT_PROXIMITY ? (double)q->margin : 0.0,
                                      ccd ? d->set.tolerance : 0.0)};
  const loom_body_path path = path_of(d, q);
  loom_body_rows asked = *rows;
  plug_maps m = plug_maps_on(host, d->e);
  if (!known) asked.first = rows->pair;
  LOOM_TRY(host->body_gap(host, d->e, &asked, q->progress0, &gap));
  if (ccd) {
    const sdf_ask_args a = {.q = query_open(d, &m, q, rows->pair),
                            .gap = plug_read(&m, gap.gap),
                            .gap_first = asked.first,
                            .floor = plug_write(&m, d->floor),
                            .tol = plug_write(&m, d->tol)};
    LOOM_TRY(plug_launch(&m, &k_ask, &a, rows->count, NULL));
    LOOM_TRY(host->body_impact(host, d->e, rows, &path));
  }
  const sdf_find_args a = {.q = query_open(d, &m, q, rows->pair),
                           .gap = plug_read(&m, gap.gap),
                           .gap_first = asked.first,
                           .toi = plug_read(&m, ccd ? d->toi : NULL),
                           .found = plug_rdwr(&m, d->found)};
  return plug_launch(&m, &k_find, &a, rows->count, NULL);
}

/* First pass: which candidates, their places, and how many. */
static loom_status find_body_hits(sdf *d, const loom_query *q, int64_t *total)
{
  const loom_host *const host = d->host;
  for (int64_t first = 0; first < d->num_candidates; first += d->batch) {
    const loom_body_rows rows = batch_of(d, q->x0, first);
    LOOM_TRY(find_batch(d, q, &rows));
  }
  if (d->known_at != q->progress0) {
    LOOM_TRY(host->buf_copy(host, d->e, d->known_x, q->x0));
    d->known_at = q->progress0;
  }
  plug_maps m = plug_maps_on(host, d->e);
  const sdf_count_args ca = {.found = plug_read(&m, d->found),
                             .count = plug_write(&m, d->count),
                             .num = (lk_int)d->num_candidates};
  LOOM_TRY(plug_launch(&m, &k_count, &ca, d->num_groups, NULL));
  return host->scan_i64(host, d->e, d->count, d->place, total);
}

/* Makes room for the results of `count` pairs. */
static loom_status reserve_hit_rows(sdf *d, int64_t count)
{
  const loom_host *const host = d->host;
  const struct {
    loom_buf *b;
    int64_t width;
  } all[] = {{d->floor, 1},   {d->tol, 1},        {d->toi, 1},
             {d->hit_gap, 1}, {d->hit_normal, 3}, {d->hit_point, 3}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    if (host->buf_count(host, all[i].b) < all[i].width * count)
      LOOM_TRY(host->buf_resize(host, all[i].b, all[i].width * count));
  return LOOM_OK;
}

/* Second pass: appends the pairs to `out`, behind the pairs of other plugins: first names, then
 * planes. */
static loom_status append_body_pairs(sdf *d, const loom_query *q, loom_pairs *out, int64_t total)
{
  const loom_host *const host = d->host;
  const int ccd = (q->what & LOOM_DETECT_CCD) != 0;
  const loom_body_rows rows = {.struct_size = sizeof rows,
                               .stride = 4,
                               .first = out->count,
                               .count = total,
                               .body = out->obst,
                               .point = out->v,
                               .x = q->x0};
  const loom_body_gap gap = {.struct_size = sizeof gap, .gap = out->gap, .normal = out->normal};
  loom_body_path path = path_of(d, q);
  plug_maps m = plug_maps_on(host, d->e);
  if (ccd) LOOM_TRY(reserve_hit_rows(d, out->count + total));
  const sdf_fill_args fa = {.found = plug_read(&m, d->found),
                            .place = plug_read(&m, d->place),
                            .first = out->count,
                            .n = d->sc->num_verts,
                            .kind = plug_rdwr(&m, out->kind),
                            .v = plug_rdwr(&m, out->v),
                            .obst = plug_rdwr(&m, out->obst),
                            .w = plug_rdwr(&m, out->w),
                            .key = plug_rdwr(&m, out->key)};
  LOOM_TRY(plug_launch(&m, &k_fill, &fa, d->num_candidates, NULL));
  LOOM_TRY(host->body_gap(host, d->e, &rows, q->progress0, &gap));
  if (ccd) {
    const sdf_ask_args a = {.q = query_open(d, &m, q, 0),
                            .v = plug_read(&m, out->v),
                            .gap = plug_read(&m, out->gap),
                            .gap_first = out->count,
                            .first = out->count,
                            .floor = plug_rdwr(&m, d->floor),
                            .tol = plug_rdwr(&m, d->tol)};
    LOOM_TRY(plug_launch(&m, &k_ask, &a, total, NULL));
    path.toi = out->toi;
    path.gap = d->hit_gap;
    path.normal = d->hit_normal;
    path.point = d->hit_point;
    LOOM_TRY(host->body_impact(host, d->e, &rows, &path));
  }
  const sdf_place_args pa = {.q = query_open(d, &m, q, 0),
                             .first = out->count,
                             .v = plug_read(&m, out->v),
                             .hit_gap = plug_read(&m, ccd ? d->hit_gap : NULL),
                             .hit_normal = plug_read(&m, ccd ? d->hit_normal : NULL),
                             .hit_point = plug_read(&m, ccd ? d->hit_point : NULL),
                             .toi = plug_rdwr(&m, out->toi),
                             .gap = plug_rdwr(&m, out->gap),
                             .normal = plug_rdwr(&m, out->normal),
                             .point = plug_rdwr(&m, out->point)};
  return plug_launch(&m, &k_place, &pa, total, NULL);
}

static loom_status sdf_detect(void *self, const loom_step *s, const loom_query *q, loom_pairs *out)
{
  sdf *const d = self;
  const int elements = (q->kinds & LOOM_BIT(LOOM_PAIR_EO)) && d->elements.slots > 0;
  const int verts = (q->kinds & LOOM_BIT(LOOM_PAIR_VO)) != 0;
  const sdf_vertex_gaps known = {
      .gap = d->known, .x = d->known_x, .num_bodies = d->sc->num_obstacles};
  int64_t total = 0, more = 0;
  (void)s;
  if (!(verts || elements) || q->what == 0 || d->num_candidates == 0) return LOOM_OK;
  LOOM_TRY(find_body_hits(d, q, &total)); /* also makes the known gaps */
  if (!verts) total = 0;
  if (elements) LOOM_TRY(sdf_elements_find(&d->elements, q, &known, &more));
  const int64_t needed = out->count + total + more;
  if (needed <= out->capacity) {
    if (total > 0) LOOM_TRY(append_body_pairs(d, q, out, total));
    if (more > 0) LOOM_TRY(sdf_elements_append(&d->elements, q, out->count + total, out));
  }
  if (q->what & LOOM_DETECT_CCD)
    d->host->count(d->host, LOOM_C_CCD_PAIR, d->num_candidates + (elements ? d->elements.rows : 0));
  out->count = needed;
  if (needed > out->capacity) return LOOM_GROW;
  if (total > 0) out->kinds |= LOOM_BIT(LOOM_PAIR_VO);
  if (more > 0) out->kinds |= LOOM_BIT(LOOM_PAIR_EO);
  return LOOM_OK;
}

/* ---- bounds ---- */

/* Bounds of whole bodies: minimum into t, and the body that sets it. */
static loom_status bound_batch(sdf *d, const loom_bound *b, loom_buf *x1, loom_buf *t,
                               const loom_body_rows *rows)
{
  const loom_host *const host = d->host;
  const int32_t n = d->sc->num_verts;
  const loom_query way = {.x1 = x1, .progress0 = b->progress0, .progress1 = b->progress1};
  const loom_body_path path = path_of(d, &way);
  const loom_body_gap gap = {.struct_size = sizeof gap, .precise = 1, .gap = d->gap};
  plug_maps m = plug_maps_on(host, d->e);
  LOOM_TRY(host->body_gap(host, d->e, rows, b->progress0, &gap));
  const sdf_floor_args fa = {.gap = plug_read(&m, d->gap),
                             .radius = plug_read(&m, d->sc->radius),
                             .fixed = plug_read(&m, d->sc->fixed),
                             .first = rows->pair,
                             .n = n,
                             .min_gap = (lk_real)b->min_gap,
                             .keep = (lk_real)d->set.keep,
                             .most = (lk_real)d->set.tolerance,
                             .floor = plug_write(&m, d->floor),
                             .tol = plug_write(&m, d->tol)};
  LOOM_TRY(plug_launch(&m, &k_floor, &fa, rows->count, NULL));
  LOOM_TRY(host->body_impact(host, d->e, rows, &path));
  const sdf_bound_args ba = {.tol = plug_read(&m, d->tol),
                             .toi = plug_read(&m, d->toi),
                             .t = plug_rdwr(&m, t),
                             .who = plug_rdwr(&m, d->who),
                             .first_body = (int32_t)(rows->pair / n),
                             .bodies = (int32_t)(rows->count / n),
                             .n = n};
  return plug_launch(&m, &k_bound, &ba, n, NULL);
}

/* Maximum of the reduction `k` over the bounds of all vertices. */
static loom_status over_vertices(sdf *d, const lk_entry *k, loom_buf *t, double t_all, double *out)
{
  plug_maps m = plug_maps_on(d->host, d->e);
  const sdf_short_args a = {
      .t = plug_read(&m, t), .who = plug_read(&m, d->who), .t_all = (lk_real)t_all};
  return plug_reduce(&m, k, &a, d->sc->num_verts, d->result, out);
}

static loom_status sdf_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                loom_bound *out)
{
  sdf *const d = self;
  const loom_host *const host = d->host;
  const int64_t n = d->sc->num_verts;
  loom_buf *const t = out->per_vertex ? out->t_vertex : d->t;
  const int elements =
      d->elements.slots > 0 && (out->kinds == 0 || (out->kinds & LOOM_BIT(LOOM_PAIR_EO)) != 0);
  double largest = -1.0, who = -1.0;
  (void)s;
  out->t_global = 1.0;
  if (n == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(host, d->e);
  const sdf_free_args free_all = {.t = plug_write(&m, t), .who = plug_write(&m, d->who)};
  LOOM_TRY(plug_launch(&m, &k_free, &free_all, n, NULL));
  if (elements) LOOM_TRY(sdf_elements_bound_begin(&d->elements));
  for (int64_t first = 0; first < d->num_candidates;) {
    loom_body_rows rows = batch_of(d, x0, first);
    rows.count -= rows.count % n; /* whole bodies */
    const sdf_vertex_gaps at = {
        .gap = d->gap, .first_body = (int32_t)(first / n), .num_bodies = (int32_t)(rows.count / n)};
    LOOM_TRY(bound_batch(d, out, x1, t, &rows));
    if (elements) LOOM_TRY(sdf_elements_bound_add(&d->elements, out, x0, x1, &at));
    first += rows.count;
  }
  if (elements) LOOM_TRY(sdf_elements_bound_end(&d->elements, t, d->who));
  LOOM_TRY(over_vertices(d, &k_shortest, t, 0.0, &largest));
  out->t_global = -largest;
  if (out->t_global < 1.0) {
    LOOM_TRY(over_vertices(d, &k_blocker, t, out->t_global, &who));
    out->blocker = (int32_t)who;
  }
  host->count(host, LOOM_C_CCD_PAIR, d->num_candidates);
  return LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | LOOM_COLL_STEP_GLOBAL |
                LOOM_COLL_STEP_VERTEX | LOOM_COLL_MASKED | LOOM_COLL_EXCLUDE,
    .pair_kinds = LOOM_BIT(LOOM_PAIR_VO) | LOOM_BIT(LOOM_PAIR_EO),
    .create = sdf_create,
    .destroy = sdf_destroy,
    .begin_step = sdf_begin_step,
    .detect = sdf_detect,
    .max_step = sdf_max_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LK_BACKENDS),
    .name = "sdf",
    .version = "0.1.0",
    .summary = "vertices, edges and triangles against bodies by signed distance",
    .reference = "J. C. Hart, Sphere tracing, The Visual Computer "
                 "12(10), 1996, doi 10.1007/s003710050084",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
