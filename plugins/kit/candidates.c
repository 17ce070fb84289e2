/* candidates.c - see candidates.h. */
#include "kit/candidates.h"

#include <math.h>

#include "kit/pair_friction.h"

static const lk_entry k_take = LK_ENTRY_MOVES(cand_take, 14, 18),
                      k_rest = LK_ENTRY_MOVES(cand_rest, 14, 11),
                      k_pick = LK_ENTRY_MOVES(cand_compact, 2, 1),
                      k_touch = LK_ENTRY_MOVES(cand_touch, 2, 3);
static const lk_entry k_moved = LK_ENTRY_MOVES(cand_moved, 6, 0);

/* ---- life ---- */

static loom_status create_candidate_buffers(candidates *c)
{
  const loom_scene *const sc = c->sc;
  const plug_buf all[] = {{"sums", LOOM_REAL, CAND_SUMS, &c->result},
                          {"anchor", LOOM_REAL, 3 * (int64_t)sc->num_verts, &c->anchor},
                          {"kinds", LOOM_I32, 0, &c->kind},
                          {"vertices", LOOM_I32, 0, &c->v},
                          {"obstacles", LOOM_I32, 0, &c->obst},
                          {"thickness", LOOM_REAL, 0, &c->xi},
                          {"parallel", LOOM_REAL, 0, &c->par},
                          {"keys", LOOM_U64, 0, &c->key},
                          {"picked pairs", LOOM_I32, 0, &c->pick},
                          {"rows of bodies", LOOM_I64, 1, &c->touch.row},
                          {"touched bodies", LOOM_I32, 0, &c->touch.body},
                          {"touching vertices", LOOM_I32, 0, &c->touch.vert},
                          {"distances", LOOM_REAL, 0, &c->touch.gap},
                          {"slopes", LOOM_REAL, 0, &c->touch.slope},
                          {"curvatures", LOOM_REAL, 0, &c->touch.curve},
                          {"touching points", LOOM_REAL, 0, &c->touch.weight},
                          {"room", LOOM_REAL, 0, &c->act.room},
                          {"active", LOOM_I64, 0, &c->act.flag},
                          {"active places", LOOM_I64, 1, &c->act.place},
                          {"active list", LOOM_I32, 0, &c->act.list},
                          {"counts", LOOM_I64, 0, &c->act.count},
                          {"first counts", LOOM_I64, 1, &c->act.at},
                          {"islands", LOOM_I32, 0, &c->island}};
  LOOM_TRY(plug_bufs_new(c->host, all, LOOM_COUNT(all)));
  LOOM_TRY(element_share_new(&c->shares, c->host, c->e));
  return gather_create(&c->corner, c->host, c->e);
}

void cand_reset(candidates *c)
{
  c->valid = c->planned = c->asked = 0;
  c->m = c->act.num = c->touch.num = c->touch.elements = c->shares.num = 0;
  c->generation++;
}

/* ---- bodies ---- */

static int is_moving_obstacle(const loom_obstacle *o)
{
  if (o->sweep > 0) return 1; /* it bends */
  for (int i = 0; i < 12; ++i)
    if (o->pose0[i] != o->pose1[i]) return 1;
  return 0;
}

loom_status cand_bodies(candidates *c)
{
  const int moved = c->moving;
  c->rough = pair_friction_any(c->sc);
  c->moving = 0;
  for (int i = 0; i < c->sc->num_obstacles; ++i)
    c->moving |= is_moving_obstacle(&c->sc->obstacles[i]);
  if (c->moving || moved) c->valid = 0; /* pairs were found with bodies that stood elsewhere */
  return LOOM_OK;
}

loom_status cand_ask(candidates *c, loom_buf *x, double progress)
{
  const cand_touching *const t = &c->touch;
  loom_body_rows rows = {.struct_size = sizeof rows,
                         .stride = 4,
                         .count = t->num - t->elements,
                         .body = t->body,
                         .point = t->vert,
                         .x = x};
  const loom_body_gap vertices = {
      .struct_size = sizeof vertices, .gap = t->gap, .gradient = t->slope, .curvature = t->curve};
  const loom_body_near elements = {.struct_size = sizeof elements,
                                   .gap = t->gap,
                                   .weight = t->weight,
                                   .gradient = t->slope,
                                   .curvature = t->curve};
  if (rows.count > 0) LOOM_TRY(c->host->body_gap(c->host, c->e, &rows, progress, &vertices));
  rows.first = rows.count;
  rows.count = t->elements;
  return rows.count > 0 ? c->host->body_near(c->host, c->e, &rows, progress, &elements) : LOOM_OK;
}

cand_state cand_open(candidates *c, plug_maps *m, const loom_step *s, loom_buf *x, double progress)
{
  const int bodies = c->sc->num_body_verts > 0;
  return (cand_state){.x = plug_read(m, x),
                      .body0 = plug_read(m, bodies ? s->body0 : NULL),
                      .body1 = plug_read(m, bodies ? s->body1 : NULL),
                      .fixed = plug_read(m, c->sc->fixed),
                      .friction = plug_read(m, c->sc->body_friction),
                      .row = plug_read(m, c->touch.row),
                      .gap = plug_read(m, c->touch.gap),
                      .slope = plug_read(m, c->touch.slope),
                      .curve = plug_read(m, c->touch.curve),
                      .weight = plug_read(m, c->touch.weight),
                      .share = plug_read(m, element_share_of(&c->shares)),
                      .kind = plug_read(m, c->kind),
                      .v = plug_read(m, c->v),
                      .obst = plug_read(m, c->obst),
                      .xi = plug_read(m, c->xi),
                      .par = plug_read(m, c->par),
                      .progress = (lk_real)progress,
                      .n = c->sc->num_verts,
                      .named = pair_friction_open(m, c->sc)};
}

/* ---- checks of the scene ---- */

/* Smallest height of a rest triangle, m: about the distance of the closest pairs without a
 * common vertex in a flat rest shape.  *edge: mean length of the triangles' edges, m. */
static loom_status rest_spacing(candidates *c, double *out, double *edge)
{
  const loom_host *const host = c->host;
  void *x_, *t_;
  double sum = 0.0;
  *out = INFINITY;
  LOOM_TRY(host->map(host, c->e, c->sc->rest_x, LOOM_READ, LOOM_AT_HOST, &x_));
  LOOM_TRY(host->map(host, c->e, c->sc->tris, LOOM_READ, LOOM_AT_HOST, &t_));
  const loom_real *const x = x_;
  const int32_t *const t = t_;
  for (int64_t k = 0; k < c->sc->num_tris; ++k) {
    double e[3][3], area2 = 0.0, longest = 0.0;
    for (int a = 0; a < 3; ++a) {
      double len2 = 0.0;
      for (int i = 0; i < 3; ++i) {
        e[a][i] = (double)x[3 * t[3 * k + (a + 1) % 3] + i] - (double)x[3 * t[3 * k + a] + i];
        len2 += e[a][i] * e[a][i];
      }
      longest = fmax(longest, len2);
      sum += sqrt(len2);
    }
    for (int i = 0; i < 3; ++i) {
      const double n =
          e[0][(i + 1) % 3] * e[1][(i + 2) % 3] - e[0][(i + 2) % 3] * e[1][(i + 1) % 3];
      area2 += n * n;
    }
    *out = fmin(*out, sqrt(area2 / longest));
  }
  *edge = sum / (3.0 * (double)c->sc->num_tris);
  LOOM_TRY(host->unmap(host, c->sc->tris));
  return host->unmap(host, c->sc->rest_x);
}

/* Candidates are all pairs within reach + slack.  Where that is several edges long, their number
 * grows with its square; where it exceeds `apart`, the distance of neighbours at rest, they are
 * candidates everywhere, 8 of a vertex in flat cloth. */
static void choose_slack(candidates *c, double usual, double edge, double apart)
{
  const double least = 0.2 * c->reach;
  double most = 0.25 * edge;
  if (!c->leaves_rest && apart > least && apart < most) most = apart;
  if (c->slack > 0.0) return;
  c->slack = usual <= most ? usual : most;
  if (most < usual)
    c->host->log(c->host, LOOM_LOG_WARN,
                 "slack is %.3g m, by the mean edge and the heights of triangles, where it is %.3g "
                 "m in coarser meshes: "
                 "that would hold very many pairs ready; 'slack = ...' sets it",
                 c->slack, usual);
}

/* The slack, and whether d_hat and thickness fit the mesh. */
static loom_status check_candidate_scene(candidates *c, double usual_slack)
{
  const loom_host *const host = c->host;
  double spacing, edge = INFINITY, widest = 0.0;
  void *r_;
  const int surface = c->sc->num_tris > 0 && c->sc->tris != NULL;
  if (surface) LOOM_TRY(rest_spacing(c, &spacing, &edge));
  if (!surface) {
    c->leaves_rest = 0;
    choose_slack(c, usual_slack, edge, INFINITY);
    return LOOM_OK;
  }
  LOOM_TRY(host->map(host, c->e, c->sc->radius, LOOM_READ, LOOM_AT_HOST, &r_));
  for (int i = 0; i < c->sc->num_verts; ++i)
    widest = fmax(widest, (double)((const loom_real *)r_)[i]);
  LOOM_TRY(host->unmap(host, c->sc->radius));
  choose_slack(c, usual_slack, edge, 0.95 * (spacing - c->reach - 2.0 * widest));
  /* neighbours are no candidates at rest: pairs that are as near then are of other layers */
  if (spacing - 2.0 * widest >= c->reach + 2.0 * c->slack) c->leaves_rest = 0;
  if (c->reach + 2.0 * widest > spacing)
    host->log(
        host, LOOM_LOG_WARN,
        "d_hat and thickness reach over %.3g m, but the smallest height of a triangle at rest "
        "is %.3g m: neighbours push each other apart; lower d_hat or thickness",
        c->reach + 2.0 * widest, spacing);
  return LOOM_OK;
}

loom_status cand_new(candidates *c, const loom_host *host, const loom_scene *sc, const loom_exec *e,
                     double reach, double slack, double usual_slack)
{
  c->host = host;
  c->sc = sc;
  c->e = e;
  c->reach = reach;
  c->slack = slack;
  c->kinds = CAND_KINDS;
  LOOM_TRY(create_candidate_buffers(c));
  LOOM_TRY(cand_bodies(c));
  LOOM_TRY(check_candidate_scene(c, usual_slack));
  cand_reset(c);
  return LOOM_OK;
}

loom_status cand_begin_step(candidates *c)
{
  c->valid = 0; /* which vertices count as touched is logged: no memory of older candidates */
  return cand_bodies(c);
}

/* ---- candidates ---- */

static loom_status resize_candidates(candidates *c, int64_t m)
{
  const loom_host *const host = c->host;
  LOOM_TRY(host->buf_resize(host, c->kind, m));
  LOOM_TRY(host->buf_resize(host, c->v, 4 * m));
  LOOM_TRY(host->buf_resize(host, c->obst, m));
  LOOM_TRY(host->buf_resize(host, c->xi, m));
  LOOM_TRY(host->buf_resize(host, c->par, m));
  LOOM_TRY(host->buf_resize(host, c->touch.row, m + 1));
  LOOM_TRY(host->buf_resize(host, c->act.room, m));
  LOOM_TRY(host->buf_resize(host, c->act.flag, m));
  return host->buf_resize(host, c->act.place, m + 1);
}

/* Lists the candidates of a point and a body, which the core is asked about.  Pairs come in the
 * order of their kinds, so vertices have the first rows. */
static loom_status list_touching(candidates *c)
{
  const loom_host *const host = c->host;
  cand_touching *const t = &c->touch;
  LOOM_TRY(host->scan_i64(host, c->e, c->act.flag, t->row, &t->num));
  if (t->num == 0) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, t->body, t->num));
  LOOM_TRY(host->buf_resize(host, t->vert, 4 * t->num));
  if (t->elements > 0) LOOM_TRY(host->buf_resize(host, t->weight, 4 * t->num));
  LOOM_TRY(host->buf_resize(host, t->gap, t->num));
  LOOM_TRY(host->buf_resize(host, t->slope, 3 * t->num));
  LOOM_TRY(host->buf_resize(host, t->curve, 9 * t->num));
  plug_maps m = plug_maps_on(host, c->e);
  const cand_touch_args a = {.v = plug_read(&m, c->v),
                             .obst = plug_read(&m, c->obst),
                             .row = plug_read(&m, t->row),
                             .body = plug_write(&m, t->body),
                             .vert = plug_write(&m, t->vert)};
  return plug_launch(&m, &k_touch, &a, c->m, NULL);
}

/* Sets c->m, and c->pick where not all pairs are candidates: on a fine mesh most pairs are of
 * neighbours at rest. */
static loom_status pick_candidates(candidates *c, const loom_pairs *pairs)
{
  const loom_host *const host = c->host;
  const int64_t found = pairs->count;
  loom_buf *flag = NULL, *place = NULL;
  c->m = found;
  c->picked = 0;
  if (!c->leaves_rest || found == 0 || c->sc->object == NULL) return LOOM_OK;
  LOOM_TRY(host->buf_new(host, "pairs that count", LOOM_I64, found, &flag));
  LOOM_TRY(host->buf_new(host, "places of pairs", LOOM_I64, found + 1, &place));
  plug_maps m = plug_maps_on(host, c->e);
  const cand_rest_args a = {.kind = plug_read(&m, pairs->kind),
                            .v = plug_read(&m, pairs->v),
                            .gap = plug_read(&m, pairs->gap),
                            .toi = plug_read(&m, pairs->toi),
                            .rest = plug_read(&m, c->sc->rest_x),
                            .radius = plug_read(&m, c->sc->radius),
                            .object = plug_read(&m, c->sc->object),
                            .flag = plug_write(&m, flag),
                            .reach = (lk_real)c->reach,
                            .limit = (lk_real)(c->reach + 2.0 * c->slack),
                            .n = c->sc->num_verts};
  LOOM_TRY(plug_launch(&m, &k_rest, &a, found, NULL));
  LOOM_TRY(host->scan_i64(host, c->e, flag, place, &c->m));
  host->buf_free(host, flag);
  c->picked = c->m < found;
  if (c->picked) {
    LOOM_TRY(host->buf_resize(host, c->pick, c->m));
    m = plug_maps_on(host, c->e);
    const cand_compact_args list = {.place = plug_read(&m, place), .list = plug_write(&m, c->pick)};
    LOOM_TRY(plug_launch(&m, &k_pick, &list, found, NULL));
  }
  host->buf_free(host, place);
  return LOOM_OK;
}

loom_status cand_take_pairs(candidates *c, const loom_step *s, loom_buf *x, double progress,
                            const loom_pairs *pairs)
{
  const loom_host *const host = c->host;
  c->valid = 1;
  c->generation++;
  c->progress = progress;
  LOOM_TRY(host->buf_copy(host, c->e, c->anchor, x));
  LOOM_TRY(pick_candidates(c, pairs));
  LOOM_TRY(resize_candidates(c, c->m));
  c->touch.num = c->touch.elements = c->shares.num = 0;
  if (c->m == 0) return LOOM_OK;
  const int bodies = c->sc->num_body_verts > 0;
  plug_maps m = plug_maps_on(host, c->e);
  const cand_take_args a = {.pick = plug_read(&m, c->picked ? c->pick : NULL),
                            .kind_in = plug_read(&m, pairs->kind),
                            .v_in = plug_read(&m, pairs->v),
                            .obst_in = plug_read(&m, pairs->obst),
                            .rest = plug_read(&m, c->sc->rest_x),
                            .radius = plug_read(&m, c->sc->radius),
                            .body0 = plug_read(&m, bodies ? s->body0 : NULL),
                            .kind = plug_write(&m, c->kind),
                            .v = plug_write(&m, c->v),
                            .obst = plug_write(&m, c->obst),
                            .xi = plug_write(&m, c->xi),
                            .par = plug_write(&m, c->par),
                            .touch = plug_write(&m, c->act.flag),
                            .n = c->sc->num_verts};
  LOOM_TRY(plug_launch(&m, &k_take, &a, c->m, NULL));
  if (c->keeps_keys) {
    LOOM_TRY(host->buf_resize(host, c->key, c->m));
    LOOM_TRY(host->buf_copy(host, c->e, c->key, pairs->key));
  }
  LOOM_TRY(element_share_find(&c->shares, s, c->kind, c->v, c->obst, c->m, pairs->kinds, c->reach));
  c->touch.elements = c->shares.num;
  LOOM_TRY(list_touching(c));
  return gather_sort(&c->corner, c->v, c->sc->fixed, c->sc->num_verts, c->m);
}

loom_status cand_way(candidates *c, loom_buf *a, loom_buf *b, double *way)
{
  *way = 0.0;
  if (a == b || c->sc->num_verts == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const cand_moved_args args = {.x = plug_read(&m, a), .anchor = plug_read(&m, b)};
  LOOM_TRY(plug_reduce(&m, &k_moved, &args, c->sc->num_verts, c->result, way));
  *way = sqrt(*way);
  return LOOM_OK;
}

int cand_is_known(const candidates *c, double progress)
{
  return c->valid && (!c->moving || progress == c->progress);
}

/* Two vertices approach by at most twice the largest way.  A NaN counts as near, so that it shows
 * in the energy. */
int cand_is_near(const candidates *c, double way) { return !(way > 0.5 * c->slack); }

/* *good: the candidates hold every pair within reach at x. */
static loom_status check_candidate_cover(candidates *c, loom_buf *x, double progress, int *good)
{
  double way;
  *good = cand_is_known(c, progress);
  if (!*good) return LOOM_OK;
  LOOM_TRY(cand_way(c, x, c->anchor, &way));
  *good = cand_is_near(c, way);
  return LOOM_OK;
}

loom_status cand_cover(candidates *c, const loom_step *s, loom_buf *x, double progress)
{
  const loom_pairs *pairs = NULL;
  int good;
  LOOM_TRY(check_candidate_cover(c, x, progress, &good));
  if (good) return LOOM_OK;
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_PROXIMITY,
                        .kinds = c->kinds,
                        .margin = (loom_real)(c->reach + c->slack),
                        .x0 = x,
                        .x1 = x,
                        .progress0 = progress,
                        .progress1 = progress};
  LOOM_TRY(c->host->detect(c->host, &q, &pairs));
  c->planned = 0;
  return cand_take_pairs(c, s, x, progress, pairs);
}

loom_status cand_plan(candidates *c, const loom_step *s, loom_query *q)
{
  int good = 0;
  c->kinds = q->kinds & CAND_KINDS;
  if (c->planned) LOOM_TRY(check_candidate_cover(c, s->x, s->progress, &good));
  c->asked = !good;
  q->what = good ? 0 : LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)(c->reach + c->slack);
  q->x0 = q->x1 = s->x;
  return LOOM_OK;
}

loom_status cand_update(candidates *c, const loom_step *s, const loom_pairs *pairs)
{
  if (!c->asked) return LOOM_OK;
  c->asked = 0;
  c->planned = 1;
  return cand_take_pairs(c, s, s->x, s->progress, pairs);
}
