/* elements.c - see elements.h.
 *
 * Every candidate, an element and a body, is first looked at by the gaps of its corners, which the
 * detector of vertices has.  The few that may matter become rows; host->body_near() and
 * body_near_impact() look at these. */
#include "elements.h"

#include <math.h>

#include "loom/plug.h"

static const lk_entry k_reach = LK_ENTRY_MOVES(sdf_reach, 18, 8),
                      k_row = LK_ENTRY_MOVES(sdf_row, 0, 2);
static const lk_entry k_count = LK_ENTRY_MOVES(sdf_count, 1, 62);
static const lk_entry k_meet = LK_ENTRY_MOVES(sdf_meet, 4, 1);
static const lk_entry k_judge = LK_ENTRY_MOVES(sdf_judge, 5, 5),
                      k_emit = LK_ENTRY_MOVES(sdf_emit, 24, 40);
static const lk_entry k_stop = LK_ENTRY_MOVES(sdf_stop, 30, 4),
                      k_span = LK_ENTRY_MOVES(sdf_span, 3, 4);
static const lk_entry k_free = LK_ENTRY_MOVES(sdf_free, 1, 1);
static const lk_entry k_corner = LK_ENTRY_MOVES(sdf_corner, 10, 10);

/* ---- ways of bodies ---- */

/* m: R1 R0^T turns by the angle with the cosine (trace - 1) / 2. */
static void measure_motion(const loom_obstacle *o, loom_real *out)
{
  double trace = 0.0, shift = 0.0;
  int turns = 0;
  for (int k = 0; k < 9; ++k) {
    trace += (double)o->pose0[k] * (double)o->pose1[k];
    turns |= o->pose0[k] != o->pose1[k];
  }
  for (int c = 0; c < 3; ++c) {
    const double d = (double)o->pose1[9 + c] - (double)o->pose0[9 + c];
    shift += d * d;
    out[2 + c] = o->pose1[9 + c];
  }
  const double cosine = 0.5 * (trace - 1.0), more = 1e-7; /* rounding of the cosine near 1 */
  out[0] = (loom_real)sqrt(shift);
  out[1] = (loom_real)(turns ? acos(fmin(fmax(cosine, -1.0), 1.0)) + more : 0.0);
}

static loom_status update_motion(sdf_elements *s)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  if (!s->stale) return LOOM_OK;
  loom_real *const out = plug_write_host(&m, s->motion);
  for (int32_t k = 0; m.status == LOOM_OK && k < s->slots; ++k)
    measure_motion(&s->sc->obstacles[s->body[k]], out + (int64_t)SDF_MOTION * k);
  s->stale = 0;
  return plug_unbind(&m);
}

/* ---- rows ---- */

static sdf_cands read_cands(const sdf_elements *s, plug_maps *m, int64_t base)
{
  return (sdf_cands){.corner = plug_read(m, s->corner),
                     .body = plug_read(m, s->body_of),
                     .wants = plug_read(m, s->wants),
                     .object = plug_read(m, s->sc->object),
                     .fixed = plug_read(m, s->sc->fixed),
                     .radius = plug_read(m, s->sc->radius),
                     .base = base,
                     .num = s->num,
                     .num_objects = s->sc->num_objects,
                     .n = s->sc->num_verts};
}

static sdf_ways read_ways(const sdf_elements *s, plug_maps *m, loom_buf *x0, loom_buf *x1,
                          double progress0, double progress1)
{
  return (sdf_ways){.x0 = plug_read(m, x0),
                    .x1 = plug_read(m, x1),
                    .motion = plug_read(m, s->motion),
                    .share = (lk_real)fabs(progress1 - progress0)};
}

/* Groups beyond `num` flags have none. */
static loom_status scan_flags(sdf_elements *s, loom_buf *flag, int64_t num, loom_buf *count,
                              loom_buf *place, int64_t *total)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const sdf_count_args a = {
      .found = plug_read(&m, flag), .count = plug_write(&m, count), .num = (lk_int)num};
  LOOM_TRY(plug_launch(&m, &k_count, &a, s->host->buf_count(s->host, count), NULL));
  return s->host->scan_i64(s->host, s->e, count, place, total);
}

static loom_status reserve_rows(sdf_elements *s)
{
  const loom_host *const host = s->host;
  const struct {
    loom_buf *b;
    int64_t width;
  } all[] = {{s->found, 1},      {s->row_body, 1},   {s->row_v, 4},    {s->row_element, 1},
             {s->gap, 1},        {s->weight, 4},     {s->normal, 3},   {s->flat, 1},
             {s->floor, 1},      {s->tol, 1},        {s->toi, 1},      {s->hit_gap, 1},
             {s->hit_weight, 4}, {s->hit_normal, 3}, {s->hit_point, 3}};
  const int64_t room = s->rows + s->rows / 2, groups = (room + SDF_GROUP - 1) / SDF_GROUP;
  if (host->buf_count(host, s->found) >= s->rows) return LOOM_OK;
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(host->buf_resize(host, all[i].b, all[i].width * room));
  LOOM_TRY(host->buf_resize(host, s->counts, groups));
  return host->buf_resize(host, s->places, groups + 1);
}

/* Candidates of which the gap may fall below `reach`, or below reach + scale * way on their way, of
 * slots `from` to `to`, become rows. */
typedef struct row_query {
  loom_buf *x0, *x1; /* x1 NULL: at rest */
  double progress0, progress1, reach, scale;
  int32_t from, to;
} row_query;

static loom_status find_near_rows(sdf_elements *s, const row_query *q, const sdf_vertex_gaps *known)
{
  const int64_t base = (int64_t)q->from * s->num, cands = (int64_t)(q->to - q->from) * s->num;
  LOOM_TRY(update_motion(s));
  plug_maps m = plug_maps_on(s->host, s->e);
  const sdf_reach_args ra = {.c = read_cands(s, &m, base),
                             .w = read_ways(s, &m, q->x0, q->x1, q->progress0, q->progress1),
                             .gap = plug_read(&m, known->gap),
                             .known_x = plug_read(&m, known->x),
                             .first_body = known->first_body,
                             .reach = (lk_real)q->reach,
                             .scale = (lk_real)q->scale,
                             .near = plug_rdwr(&m, s->near)};
  LOOM_TRY(plug_launch(&m, &k_reach, &ra, cands, NULL));
  LOOM_TRY(scan_flags(s, s->near, cands, s->count, s->place, &s->rows));
  if (s->rows == 0) return LOOM_OK;
  LOOM_TRY(reserve_rows(s));
  const sdf_row_args wa = {.c = read_cands(s, &m, base),
                           .near = plug_read(&m, s->near),
                           .place = plug_read(&m, s->place),
                           .body = plug_rdwr(&m, s->row_body),
                           .v = plug_rdwr(&m, s->row_v),
                           .element = plug_rdwr(&m, s->row_element)};
  return plug_launch(&m, &k_row, &wa, cands, NULL);
}

static loom_body_rows body_rows_of(const sdf_elements *s, loom_buf *x)
{
  return (loom_body_rows){.struct_size = sizeof(loom_body_rows),
                          .stride = 4,
                          .count = s->rows,
                          .body = s->row_body,
                          .point = s->row_v,
                          .x = x};
}

static loom_body_path element_path(const sdf_elements *s, loom_buf *x1, double progress0,
                                   double progress1)
{
  return (loom_body_path){.struct_size = sizeof(loom_body_path),
                          .max_iters = s->max_search,
                          .progress0 = progress0,
                          .progress1 = progress1,
                          .x1 = x1,
                          .radius = s->sc->radius,
                          .floor = s->floor,
                          .tol = s->tol,
                          .toi = s->toi};
}

static sdf_rows read_rows(const sdf_elements *s, plug_maps *m, int ccd)
{
  return (sdf_rows){.body = plug_read(m, s->row_body),
                    .v = plug_read(m, s->row_v),
                    .element = plug_read(m, s->row_element),
                    .gap = plug_read(m, s->gap),
                    .weight = plug_read(m, s->weight),
                    .toi = plug_read(m, ccd ? s->toi : NULL),
                    .hit = plug_read(m, ccd ? s->hit_weight : NULL)};
}

/* ---- pairs ---- */

static sdf_query read_element_query(const sdf_elements *s, plug_maps *m, const loom_query *q)
{
  const int64_t num = q->exclude != NULL ? s->host->buf_count(s->host, q->exclude) : 0;
  return (sdf_query){.x0 = plug_read(m, q->x0),
                     .radius = plug_read(m, s->sc->radius),
                     .mask = plug_read(m, q->mask),
                     .exclude = plug_read(m, num > 0 ? q->exclude : NULL),
                     .num_exclude = num,
                     .what = q->what,
                     .margin = q->margin,
                     .tol = (lk_real)s->tolerance};
}

static loom_status search_impacts(sdf_elements *s, const loom_query *q)
{
  const loom_body_rows rows = body_rows_of(s, q->x0);
  loom_body_path path = element_path(s, q->x1, q->progress0, q->progress1);
  plug_maps m = plug_maps_on(s->host, s->e);
  const sdf_meet_args a = {.r = read_rows(s, &m, 0),
                           .radius = plug_read(&m, s->sc->radius),
                           .most = (lk_real)s->tolerance,
                           .floor = plug_rdwr(&m, s->floor),
                           .tol = plug_rdwr(&m, s->tol)};
  LOOM_TRY(plug_launch(&m, &k_meet, &a, s->rows, NULL));
  path.gap = s->hit_gap;
  path.normal = s->hit_normal;
  path.point = s->hit_point;
  path.weight = s->hit_weight;
  return s->host->body_near_impact(s->host, s->e, &rows, &path);
}

loom_status sdf_elements_find(sdf_elements *s, const loom_query *q, const sdf_vertex_gaps *known,
                              int64_t *total)
{
  const loom_host *const host = s->host;
  const int ccd = (q->what & LOOM_DETECT_CCD) != 0;
  const row_query rq = {.x0 = q->x0,
                        .x1 = ccd ? q->x1 : NULL,
                        .progress0 = q->progress0,
                        .progress1 = q->progress1,
                        .reach = fmax(q->what & LOOM_DETECT_PROXIMITY ? (double)q->margin : 0.0,
                                      ccd ? s->tolerance : 0.0),
                        .scale = 1.0,
                        .to = s->slots};
  *total = 0;
  LOOM_TRY(find_near_rows(s, &rq, known));
  if (s->rows == 0) return LOOM_OK;
  const loom_body_rows rows = body_rows_of(s, q->x0);
  const loom_body_near near = {.struct_size = sizeof near,
                               .gap = s->gap,
                               .weight = s->weight,
                               .normal = s->normal,
                               .flat = s->flat};
  LOOM_TRY(host->body_near(host, s->e, &rows, q->progress0, &near));
  if (ccd) LOOM_TRY(search_impacts(s, q));
  plug_maps m = plug_maps_on(host, s->e);
  const sdf_judge_args a = {.q = read_element_query(s, &m, q),
                            .r = read_rows(s, &m, ccd),
                            .flat = plug_read(&m, s->flat),
                            .found = plug_rdwr(&m, s->found)};
  LOOM_TRY(plug_launch(&m, &k_judge, &a, s->rows, NULL));
  return scan_flags(s, s->found, s->rows, s->counts, s->places, total);
}

loom_status sdf_elements_append(sdf_elements *s, const loom_query *q, int64_t first,
                                loom_pairs *out)
{
  const int ccd = (q->what & LOOM_DETECT_CCD) != 0;
  plug_maps m = plug_maps_on(s->host, s->e);
  const sdf_emit_args a = {.q = read_element_query(s, &m, q),
                           .r = read_rows(s, &m, ccd),
                           .found = plug_read(&m, s->found),
                           .place = plug_read(&m, s->places),
                           .normal_at = plug_read(&m, s->normal),
                           .hit_gap = plug_read(&m, ccd ? s->hit_gap : NULL),
                           .hit_normal = plug_read(&m, ccd ? s->hit_normal : NULL),
                           .hit_point = plug_read(&m, ccd ? s->hit_point : NULL),
                           .first = first,
                           .kind = plug_rdwr(&m, out->kind),
                           .v = plug_rdwr(&m, out->v),
                           .obst = plug_rdwr(&m, out->obst),
                           .w = plug_rdwr(&m, out->w),
                           .normal = plug_rdwr(&m, out->normal),
                           .gap = plug_rdwr(&m, out->gap),
                           .point = plug_rdwr(&m, out->point),
                           .toi = plug_rdwr(&m, out->toi),
                           .key = plug_rdwr(&m, out->key)};
  return plug_launch(&m, &k_emit, &a, s->rows, NULL);
}

/* ---- bounds ---- */

loom_status sdf_elements_bound_begin(sdf_elements *s)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const sdf_free_args a = {.t = plug_write(&m, s->t), .who = plug_write(&m, s->who)};
  return plug_launch(&m, &k_free, &a, s->num, NULL);
}

loom_status sdf_elements_bound_add(sdf_elements *s, const loom_bound *b, loom_buf *x0, loom_buf *x1,
                                   const sdf_vertex_gaps *at)
{
  const loom_host *const host = s->host;
  /* no way shorter than (1 - keep) (gap - min_gap) takes a gap down to its floor */
  row_query rq = {.x0 = x0,
                  .x1 = x1,
                  .progress0 = b->progress0,
                  .progress1 = b->progress1,
                  .reach = b->min_gap,
                  .scale = 1.0 / (1.0 - s->keep)};
  while (rq.from < s->slots && s->body[rq.from] < at->first_body) ++rq.from;
  for (rq.to = rq.from; rq.to < s->slots && s->body[rq.to] < at->first_body + at->num_bodies;)
    ++rq.to;
  if (rq.from == rq.to) return LOOM_OK;
  LOOM_TRY(find_near_rows(s, &rq, at));
  if (s->rows == 0) return LOOM_OK;
  const loom_body_rows rows = body_rows_of(s, x0);
  const loom_body_near near = {.struct_size = sizeof near, .gap = s->gap};
  const loom_body_path path = element_path(s, x1, b->progress0, b->progress1);
  LOOM_TRY(host->body_near(host, s->e, &rows, b->progress0, &near));
  plug_maps m = plug_maps_on(host, s->e);
  const sdf_stop_args fa = {.r = read_rows(s, &m, 0),
                            .w = read_ways(s, &m, x0, x1, b->progress0, b->progress1),
                            .radius = plug_read(&m, s->sc->radius),
                            .min_gap = (lk_real)b->min_gap,
                            .keep = (lk_real)s->keep,
                            .most = (lk_real)s->tolerance,
                            .floor = plug_rdwr(&m, s->floor),
                            .tol = plug_rdwr(&m, s->tol)};
  LOOM_TRY(plug_launch(&m, &k_stop, &fa, s->rows, NULL));
  LOOM_TRY(host->body_near_impact(host, s->e, &rows, &path));
  host->count(host, LOOM_C_CCD_PAIR, s->rows);
  const sdf_span_args sa = {.c = read_cands(s, &m, (int64_t)rq.from * s->num),
                            .w = read_ways(s, &m, x0, x1, b->progress0, b->progress1),
                            .near = plug_read(&m, s->near),
                            .place = plug_read(&m, s->place),
                            .gap = plug_read(&m, s->gap),
                            .tol = plug_read(&m, s->tol),
                            .toi = plug_read(&m, s->toi),
                            .slots = rq.to - rq.from,
                            .apart = b->per_vertex,
                            .min_gap = (lk_real)b->min_gap,
                            .keep = (lk_real)s->keep,
                            .t = plug_rdwr(&m, s->t),
                            .who = plug_rdwr(&m, s->who)};
  return plug_launch(&m, &k_span, &sa, s->num, NULL);
}

loom_status sdf_elements_bound_end(sdf_elements *s, loom_buf *t, loom_buf *who)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const sdf_corner_args a = {.first = plug_read(&m, s->first),
                             .element = plug_read(&m, s->of_vert),
                             .t_of = plug_read(&m, s->t),
                             .who_of = plug_read(&m, s->who),
                             .t = plug_rdwr(&m, t),
                             .who = plug_rdwr(&m, who)};
  return plug_launch(&m, &k_corner, &a, s->sc->num_verts, NULL);
}
