/* candidates.c - pairs that may touch: detection, corners, and which are active at a point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ipc.h"

static const lk_entry k_take = LK_ENTRY(ipc_take), k_moved = LK_ENTRY(ipc_moved);
static const lk_entry k_keys = LK_ENTRY(ipc_corner_keys), k_pick = LK_ENTRY(ipc_pick);
static const lk_entry k_measure = LK_ENTRY(ipc_measure), k_compact = LK_ENTRY(ipc_compact);
static const lk_entry k_room = LK_ENTRY(ipc_least_room), k_gap = LK_ENTRY(ipc_least_gap);

/* ---- buffers -------------------------------------------------------------------------- */

loom_status ipc_new(ipc *p)
{
  const loom_host *const h = p->h;
  const int64_t bytes = (int64_t)p->sc->num_obstacles * (int64_t)sizeof *p->view;
  p->view = calloc((size_t)p->sc->num_obstacles + 1, sizeof *p->view);
  LOOM_CHECK(h, p->view != NULL, LOOM_E_NOMEM, "no memory for %d bodies", p->sc->num_obstacles);
  const plug_buf all[] = {{"bodies", LOOM_U8, bytes, &p->views},
                          {"sums", LOOM_REAL, 4, &p->result},
                          {"total", LOOM_I64, 1, &p->total},
                          {"anchor", LOOM_REAL, 3 * (int64_t)p->sc->num_verts, &p->anchor},
                          {"kinds", LOOM_I32, 0, &p->kind},
                          {"vertices", LOOM_I32, 0, &p->v},
                          {"obstacles", LOOM_I32, 0, &p->obst},
                          {"thickness", LOOM_REAL, 0, &p->xi},
                          {"parallel", LOOM_REAL, 0, &p->par},
                          {"corners", LOOM_I64, 0, &p->corner.num},
                          {"first corners", LOOM_I64, 1, &p->corner.at},
                          {"corner vertices", LOOM_U64, 0, &p->corner.vertex},
                          {"corner places", LOOM_I32, 0, &p->corner.place},
                          {"corner pairs", LOOM_I32, 0, &p->corner.owner},
                          {"corner forces", LOOM_REAL, 0, &p->corner.force},
                          {"room", LOOM_REAL, 0, &p->room},
                          {"active", LOOM_I64, 0, &p->active},
                          {"active places", LOOM_I64, 1, &p->place},
                          {"active list", LOOM_I32, 0, &p->list},
                          {"blocks", LOOM_I64, 0, &p->blocks},
                          {"first blocks", LOOM_I64, 1, &p->at_block},
                          {"friction vertices", LOOM_I32, 0, &p->fv},
                          {"last friction vertices", LOOM_I32, 0, &p->fv_old},
                          {"friction obstacles", LOOM_I32, 0, &p->fobst},
                          {"friction weights", LOOM_REAL, 0, &p->fw},
                          {"friction normals", LOOM_REAL, 0, &p->fnormal},
                          {"friction points", LOOM_REAL, 0, &p->fpoint},
                          {"friction limits", LOOM_REAL, 0, &p->fmost},
                          {"friction blocks", LOOM_I64, 0, &p->fblocks},
                          {"first friction blocks", LOOM_I64, 1, &p->fat_block},
                          {"friction corners", LOOM_I64, 0, &p->fcorner.num},
                          {"first friction corners", LOOM_I64, 1, &p->fcorner.at},
                          {"friction corner vertices", LOOM_U64, 0, &p->fcorner.vertex},
                          {"friction corner places", LOOM_I32, 0, &p->fcorner.place},
                          {"friction corner pairs", LOOM_I32, 0, &p->fcorner.owner},
                          {"friction forces", LOOM_REAL, 0, &p->fcorner.force},
                          {"stiffness", LOOM_REAL, 1, &p->memory}};
  return plug_bufs_new(h, all, LOOM_COUNT(all));
}

void ipc_free(ipc *p) { free(p->view); }

/* ---- bodies ------------------------------------------------------------------------------ */

loom_status ipc_bodies(ipc *p)
{
  const loom_host *const h = p->h;
  const int moved = p->moving;
  void *bytes;
  p->friction = p->set.self_friction > 0.0;
  p->grids = p->moving = 0;
  for (int i = 0; i < p->sc->num_obstacles; ++i) {
    const loom_obstacle *const o = &p->sc->obstacles[i];
    const char *const why = obst_view_fill(o, &p->view[i]);
    LOOM_CHECK(h, why == NULL, LOOM_E_CONFIG, "body '%s': %s", o->name != NULL ? o->name : "?",
               why);
    p->friction |= o->friction > 0;
    p->grids |= p->view[i].kind == LOOM_OBST_SDF;
    p->moving |= p->view[i].moves || o->kind == LOOM_OBST_ARTICULATED;
  }
  if (p->moving || moved) p->valid = 0; /* pairs were found with bodies that stood elsewhere */
  LOOM_TRY(h->map(h, p->e, p->views, LOOM_WRITE, LOOM_AT_HOST, &bytes));
  memcpy(bytes, p->view, (size_t)p->sc->num_obstacles * sizeof *p->view);
  return h->unmap(h, p->views);
}

/* The bodies' grids are as many as the scene has, more than a plug_maps may hold. */
static loom_status views_open(ipc *p, void **out)
{
  const loom_host *const h = p->h;
  void *q;
  for (int i = 0; p->grids && i < p->sc->num_obstacles; ++i) {
    if (p->view[i].kind != LOOM_OBST_SDF) continue;
    LOOM_TRY(h->map(h, p->e, p->sc->obstacles[i].sdf, LOOM_READ, LOOM_AT_EXEC, &q));
    p->view[i].sdf = q;
  }
  if (p->grids) { /* their pointers change from map to map */
    LOOM_TRY(h->map(h, p->e, p->views, LOOM_WRITE, LOOM_AT_HOST, &q));
    memcpy(q, p->view, (size_t)p->sc->num_obstacles * sizeof *p->view);
    LOOM_TRY(h->unmap(h, p->views));
  }
  return h->map(h, p->e, p->views, LOOM_READ, LOOM_AT_EXEC, out);
}

static loom_status views_close(ipc *p)
{
  LOOM_TRY(p->h->unmap(p->h, p->views));
  for (int i = 0; p->grids && i < p->sc->num_obstacles; ++i) {
    if (p->view[i].kind != LOOM_OBST_SDF) continue;
    p->view[i].sdf = NULL;
    LOOM_TRY(p->h->unmap(p->h, p->sc->obstacles[i].sdf));
  }
  return LOOM_OK;
}

const obst_view *ipc_open_views(ipc *p, plug_maps *m)
{
  void *views = NULL;
  if (m->status == LOOM_OK) m->status = views_open(p, &views);
  return views;
}

ipc_state ipc_open(ipc *p, plug_maps *m, const loom_step *s, loom_buf *x, double progress)
{
  const int bodies = LOOM_HAS(s, body1) && p->sc->num_body_verts > 0;
  return (ipc_state){.x = plug_read(m, x),
                     .body0 = plug_read(m, bodies ? s->body0 : NULL),
                     .body1 = plug_read(m, bodies ? s->body1 : NULL),
                     .fixed = plug_read(m, p->sc->fixed),
                     .view = ipc_open_views(p, m),
                     .kind = plug_read(m, p->kind),
                     .v = plug_read(m, p->v),
                     .obst = plug_read(m, p->obst),
                     .xi = plug_read(m, p->xi),
                     .par = plug_read(m, p->par),
                     .progress = (lk_real)progress,
                     .kappa = (lk_real)p->kappa,
                     .d_hat = (lk_real)p->set.d_hat,
                     .n = p->sc->num_verts,
                     .form = p->form,
                     .gauss_newton = p->set.hessian == HESSIAN_GAUSS_NEWTON};
}

loom_status ipc_close(ipc *p, plug_maps *m)
{
  if (m->status == LOOM_OK) m->status = views_close(p);
  return plug_unbind(m);
}

loom_status ipc_launch(ipc *p, plug_maps *m, const lk_entry *k, const void *args, int64_t n,
                       lk_real *result)
{
  (void)plug_run_on(m, k, args, n, result);
  return ipc_close(p, m);
}

/* ---- candidates ----------------------------------------------------------------------------- */

loom_status ipc_last_of(ipc *p, loom_buf *sums, int64_t at, int64_t *out)
{
  const loom_host *const h = p->h;
  void *q;
  plug_maps m = plug_maps_on(h, p->e);
  const ipc_pick_args a = {.from = plug_read(&m, sums), .to = plug_write(&m, p->total), .at = at};
  LOOM_TRY(plug_launch(&m, &k_pick, &a, 1, NULL));
  LOOM_TRY(h->map(h, p->e, p->total, LOOM_READ, LOOM_AT_HOST, &q));
  *out = *(const int64_t *)q;
  return h->unmap(h, p->total);
}

loom_status ipc_sort_corners(ipc *p, corner_set *c, loom_buf *v, int64_t m)
{
  const loom_host *const h = p->h;
  LOOM_TRY(h->scan_i64(h, p->e, c->num, c->at));
  LOOM_TRY(ipc_last_of(p, c->at, m, &c->count));
  LOOM_CHECK(h, c->count <= LK_MAX_ELEMS, LOOM_E_ARG,
             "%lld corners of pairs are more than %d; lower d_hat or slack", (long long)c->count,
             (int)LK_MAX_ELEMS);
  LOOM_TRY(h->buf_resize(h, c->vertex, c->count));
  LOOM_TRY(h->buf_resize(h, c->place, c->count));
  LOOM_TRY(h->buf_resize(h, c->owner, c->count));
  LOOM_TRY(h->buf_resize(h, c->force, 3 * c->count));
  plug_maps maps = plug_maps_on(h, p->e);
  const ipc_corner_args a = {.v = plug_read(&maps, v),
                             .fixed = plug_read(&maps, p->sc->fixed),
                             .at = plug_read(&maps, c->at),
                             .key = plug_write(&maps, c->vertex),
                             .owner = plug_write(&maps, c->owner),
                             .n = p->sc->num_verts};
  LOOM_TRY(plug_launch(&maps, &k_keys, &a, m, NULL));
  return h->sort_u64(h, p->e, c->vertex, c->place);
}

static loom_status resize_candidates(ipc *p, int64_t m)
{
  const loom_host *const h = p->h;
  LOOM_TRY(h->buf_resize(h, p->kind, m));
  LOOM_TRY(h->buf_resize(h, p->v, 4 * m));
  LOOM_TRY(h->buf_resize(h, p->obst, m));
  LOOM_TRY(h->buf_resize(h, p->xi, m));
  LOOM_TRY(h->buf_resize(h, p->par, m));
  LOOM_TRY(h->buf_resize(h, p->corner.num, m));
  LOOM_TRY(h->buf_resize(h, p->corner.at, m + 1));
  LOOM_TRY(h->buf_resize(h, p->room, m));
  LOOM_TRY(h->buf_resize(h, p->active, m));
  return h->buf_resize(h, p->place, m + 1);
}

loom_status ipc_take_pairs(ipc *p, const loom_step *s, loom_buf *x, double progress,
                           const loom_pairs *pairs)
{
  const loom_host *const h = p->h;
  p->valid = 1;
  p->progress = progress;
  LOOM_TRY(h->buf_copy(h, p->e, p->anchor, x));
  p->m = pairs->count;
  LOOM_TRY(resize_candidates(p, p->m));
  if (p->m == 0) return LOOM_OK;
  const int bodies = LOOM_HAS(s, body1) && p->sc->num_body_verts > 0;
  plug_maps m = plug_maps_on(h, p->e);
  const ipc_take_args a = {.kind_in = plug_read(&m, pairs->kind),
                           .v_in = plug_read(&m, pairs->v),
                           .obst_in = plug_read(&m, pairs->obst),
                           .rest = plug_read(&m, p->sc->rest_x),
                           .radius = plug_read(&m, p->sc->radius),
                           .body0 = plug_read(&m, bodies ? s->body0 : NULL),
                           .fixed = plug_read(&m, p->sc->fixed),
                           .kind = plug_write(&m, p->kind),
                           .v = plug_write(&m, p->v),
                           .obst = plug_write(&m, p->obst),
                           .xi = plug_write(&m, p->xi),
                           .par = plug_write(&m, p->par),
                           .num = plug_write(&m, p->corner.num),
                           .n = p->sc->num_verts};
  LOOM_TRY(plug_launch(&m, &k_take, &a, p->m, NULL));
  return ipc_sort_corners(p, &p->corner, p->v, p->m);
}

loom_status ipc_way(ipc *p, loom_buf *a, loom_buf *b, double *way)
{
  *way = 0.0;
  if (a == b || p->sc->num_verts == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_moved_args args = {.x = plug_read(&m, a), .anchor = plug_read(&m, b)};
  LOOM_TRY(plug_launch(&m, &k_moved, &args, p->sc->num_verts, plug_write(&m, p->result)));
  LOOM_TRY(plug_fetch(p->h, p->e, p->result, 1, way));
  *way = sqrt(*way);
  return LOOM_OK;
}

loom_status ipc_covers(ipc *p, loom_buf *x, double progress, int *good)
{
  double way;
  *good = p->valid && (!p->moving || progress == p->progress);
  if (!*good) return LOOM_OK;
  LOOM_TRY(ipc_way(p, x, p->anchor, &way));
  /* two vertices approach by at most twice the largest way; what is not a number stays here
   * and shows in the energy */
  *good = !(way > 0.5 * p->set.slack);
  return LOOM_OK;
}

loom_status ipc_cover(ipc *p, const loom_step *s, loom_buf *x, double progress)
{
  const loom_pairs *pairs = NULL;
  int good;
  LOOM_TRY(ipc_covers(p, x, progress, &good));
  if (good) return LOOM_OK;
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_PROXIMITY,
                        .kinds = p->kinds,
                        .margin = (loom_real)(p->set.d_hat + p->set.slack),
                        .x0 = x,
                        .x1 = x,
                        .progress0 = progress,
                        .progress1 = progress};
  LOOM_TRY(p->h->detect(p->h, &q, &pairs));
  p->planned = 0;
  return ipc_take_pairs(p, s, x, progress, pairs);
}

/* ---- active pairs ------------------------------------------------------------------------------
 */

/* D - xi^2 of all candidates at x, and its least. */
static loom_status measure(ipc *p, const loom_step *s, loom_buf *x, double progress)
{
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_measure_args a = {.s = ipc_open(p, &m, s, x, progress),
                              .num = plug_read(&m, p->corner.num),
                              .room = plug_write(&m, p->room),
                              .active = plug_write(&m, p->active)};
  return ipc_launch(p, &m, &k_measure, &a, p->m, NULL);
}

static loom_status least(ipc *p, const lk_entry *k, double *out)
{
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_room_args a = {.room = plug_read(&m, p->room), .xi = plug_read(&m, p->xi)};
  LOOM_TRY(plug_launch(&m, k, &a, p->m, plug_write(&m, p->result)));
  LOOM_TRY(plug_fetch(p->h, p->e, p->result, 1, out));
  *out = -*out;
  return LOOM_OK;
}

loom_status ipc_measure_room(ipc *p, const loom_step *s, loom_buf *x, double progress)
{
  p->least_room = INFINITY;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(measure(p, s, x, progress));
  return least(p, &k_room, &p->least_room);
}

loom_status ipc_activate(ipc *p, const loom_step *s, loom_buf *x, double progress)
{
  const loom_host *const h = p->h;
  LOOM_TRY(ipc_cover(p, s, x, progress));
  p->num_active = 0;
  LOOM_TRY(ipc_measure_room(p, s, x, progress));
  if (p->m == 0) return LOOM_OK;
  if (p->least_room <= 0.0) return LOOM_REJECTED;
  LOOM_TRY(h->scan_i64(h, p->e, p->active, p->place));
  LOOM_TRY(ipc_last_of(p, p->place, p->m, &p->num_active));
  if (p->num_active == 0) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, p->list, p->num_active));
  plug_maps m = plug_maps_on(h, p->e);
  const ipc_compact_args a = {.place = plug_read(&m, p->place), .list = plug_write(&m, p->list)};
  return plug_launch(&m, &k_compact, &a, p->m, NULL);
}

loom_status ipc_least_gap_now(ipc *p, double *gap)
{
  *gap = NAN;
  if (p->m == 0 || !(p->least_room < (double)LK_REAL_MAX)) return LOOM_OK;
  return least(p, &k_gap, gap);
}

/* Share of thickness and d_hat below which what is missing to a gap is rounding. */
static const double LOST = 1e-9;

loom_status ipc_overlap_error(ipc *p, const loom_step *s, const char *what, const char *remedy)
{
  const loom_host *const h = p->h;
  void *room_, *v_, *obst_, *xi_;
  int64_t worst = 0;
  LOOM_TRY(h->map(h, p->e, p->room, LOOM_READ, LOOM_AT_HOST, &room_));
  LOOM_TRY(h->map(h, p->e, p->v, LOOM_READ, LOOM_AT_HOST, &v_));
  LOOM_TRY(h->map(h, p->e, p->obst, LOOM_READ, LOOM_AT_HOST, &obst_));
  LOOM_TRY(h->map(h, p->e, p->xi, LOOM_READ, LOOM_AT_HOST, &xi_));
  const loom_real *const room = room_;
  for (int64_t j = 1; j < p->m; ++j)
    if (room[j] < room[worst]) worst = j;
  const double xi = (double)((const loom_real *)xi_)[worst], D = (double)room[worst] + xi * xi;
  const double distance = D < 0.0 ? -sqrt(-D) : sqrt(D);
  const int32_t *const v = (const int32_t *)v_ + 4 * worst, o = ((const int32_t *)obst_)[worst];
  const char *const body = o >= 0 ? p->sc->obstacles[o].name : NULL;
  const double short_of = xi - distance;
  const int rounding = short_of <= LOST * (xi + p->set.d_hat);
  LOOM_TRY(h->unmap(h, p->xi));
  LOOM_TRY(h->unmap(h, p->obst));
  LOOM_TRY(h->unmap(h, p->v));
  LOOM_TRY(h->unmap(h, p->room));
  return LOOM_FAIL(
      h, LOOM_E_NUMERIC,
      "step %lld: %s: the pair of vertices %d %d %d %d%s%s is %.3g m apart, %.3g m less "
      "than its thickness of %.3g m; %s",
      (long long)s->index, what, v[0], v[1], v[2], v[3], body != NULL ? " and body " : "",
      body != NULL ? body : "", distance, short_of, xi,
      rounding ? "the gap is lost in rounding: keep one that is not ([filter] "
                 "min_gap = a twentieth of d_hat), raise d_hat, or lower dt"
               : remedy);
}
