/* active.c - which candidates are active at a point, and what is said of those that overlap; see
 * candidates.h. */
#include <math.h>

#include "kit/candidates.h"

static const lk_entry k_measure = LK_ENTRY(cand_measure), k_compact = LK_ENTRY(cand_compact);
static const lk_entry k_room = LK_ENTRY(cand_least_room), k_gap = LK_ENTRY(cand_least_gap);
static const lk_entry k_count = LK_ENTRY(cand_count_corners);

/* D - xi^2 of all candidates at x, and its least. */
static loom_status measure(candidates *c, const loom_step *s, loom_buf *x, double progress)
{
  LOOM_TRY(cand_ask(c, x, progress));
  plug_maps m = plug_maps_on(c->h, c->e);
  const cand_measure_args a = {.s = cand_open(c, &m, s, x, progress),
                               .num = plug_read(&m, c->corner.num),
                               .room = plug_write(&m, c->act.room),
                               .flag = plug_write(&m, c->act.flag),
                               .reach = (lk_real)c->reach};
  return plug_launch(&m, &k_measure, &a, c->m, NULL);
}

static loom_status least(candidates *c, const lk_entry *k, double *out)
{
  plug_maps m = plug_maps_on(c->h, c->e);
  const cand_room_args a = {.room = plug_read(&m, c->act.room), .xi = plug_read(&m, c->xi)};
  LOOM_TRY(plug_reduce(&m, k, &a, c->m, c->result, out));
  *out = -*out;
  return LOOM_OK;
}

loom_status cand_measure_room(candidates *c, const loom_step *s, loom_buf *x, double progress)
{
  c->act.least_room = INFINITY;
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(measure(c, s, x, progress));
  return least(c, &k_room, &c->act.least_room);
}

loom_status cand_list_active(candidates *c)
{
  const loom_host *const h = c->h;
  cand_active *const a = &c->act;
  a->num = 0;
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(h->scan_i64(h, c->e, a->flag, a->place, &a->num));
  if (a->num == 0) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, a->list, a->num));
  plug_maps m = plug_maps_on(h, c->e);
  const cand_compact_args args = {.place = plug_read(&m, a->place),
                                  .list = plug_write(&m, a->list)};
  return plug_launch(&m, &k_compact, &args, c->m, NULL);
}

loom_status cand_activate(candidates *c, const loom_step *s, loom_buf *x, double progress)
{
  LOOM_TRY(cand_cover(c, s, x, progress));
  c->act.num = 0;
  LOOM_TRY(cand_measure_room(c, s, x, progress));
  return c->act.least_room <= 0.0 ? LOOM_REJECTED : cand_list_active(c);
}

loom_status cand_activate_all(candidates *c, const loom_step *s, loom_buf *x, double progress)
{
  LOOM_TRY(cand_cover(c, s, x, progress));
  c->act.num = 0;
  LOOM_TRY(cand_measure_room(c, s, x, progress));
  return cand_list_active(c);
}

loom_status cand_count(candidates *c, int square, int64_t *total)
{
  const loom_host *const h = c->h;
  cand_active *const a = &c->act;
  *total = 0;
  if (a->num == 0) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, a->count, a->num));
  LOOM_TRY(h->buf_resize(h, a->at, a->num + 1));
  plug_maps m = plug_maps_on(h, c->e);
  const cand_count_args args = {.list = plug_read(&m, a->list),
                                .num = plug_read(&m, c->corner.num),
                                .count = plug_write(&m, a->count),
                                .square = square};
  LOOM_TRY(plug_launch(&m, &k_count, &args, a->num, NULL));
  return h->scan_i64(h, c->e, a->count, a->at, total);
}

loom_status cand_least_gap_now(candidates *c, double *gap)
{
  *gap = NAN;
  if (c->m == 0 || !(c->act.least_room < (double)LK_REAL_MAX)) return LOOM_OK;
  return least(c, &k_gap, gap);
}

/* Share of thickness and d_hat below which what is missing to a gap is rounding. */
static const double LOST = 1e-9;

loom_status cand_overlap_error(candidates *c, const loom_step *s, const char *what,
                               const char *remedy)
{
  const loom_host *const h = c->h;
  void *room_, *v_, *obst_, *xi_;
  int64_t worst = 0;
  LOOM_TRY(h->map(h, c->e, c->act.room, LOOM_READ, LOOM_AT_HOST, &room_));
  LOOM_TRY(h->map(h, c->e, c->v, LOOM_READ, LOOM_AT_HOST, &v_));
  LOOM_TRY(h->map(h, c->e, c->obst, LOOM_READ, LOOM_AT_HOST, &obst_));
  LOOM_TRY(h->map(h, c->e, c->xi, LOOM_READ, LOOM_AT_HOST, &xi_));
  const loom_real *const room = room_;
  for (int64_t j = 1; j < c->m; ++j)
    if (room[j] < room[worst]) worst = j;
  const double xi = (double)((const loom_real *)xi_)[worst], D = (double)room[worst] + xi * xi;
  const double distance = D < 0.0 ? -sqrt(-D) : sqrt(D);
  const int32_t *const v = (const int32_t *)v_ + 4 * worst, o = ((const int32_t *)obst_)[worst];
  const char *const body = o >= 0 ? c->sc->obstacles[o].name : NULL;
  const double short_of = xi - distance;
  const int rounding = short_of <= LOST * (xi + c->reach);
  LOOM_TRY(h->unmap(h, c->xi));
  LOOM_TRY(h->unmap(h, c->obst));
  LOOM_TRY(h->unmap(h, c->v));
  LOOM_TRY(h->unmap(h, c->act.room));
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
