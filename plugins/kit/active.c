/* active.c - finds the candidates that are active at a point, and reports overlapping ones as an
 * error; see candidates.h. */
#include <math.h>

#include "kit/candidates.h"
#include "kit/pair_names.h"

static const lk_entry k_measure = LK_ENTRY_MOVES(cand_measure, 22, 5),
                      k_compact = LK_ENTRY_MOVES(cand_compact, 2, 1);
static const lk_entry k_room = LK_ENTRY_MOVES(cand_least_room, 1, 0),
                      k_gap = LK_ENTRY_MOVES(cand_least_gap, 2, 0);
static const lk_entry k_count = LK_ENTRY_MOVES(cand_count_corners, 2, 1),
                      k_tell = LK_ENTRY_MOVES(cand_tell, 3, 0);
static const lk_entry k_moved = LK_ENTRY_MOVES(cand_moved, 6, 0),
                      k_gap_of = LK_ENTRY_MOVES(cand_least_gap_of, 1, 8);

/* D - xi^2 of all candidates at x, and the flags of active ones. */
static loom_status measure_candidates(candidates *c, const loom_step *s, loom_buf *x,
                                      double progress)
{
  LOOM_TRY(cand_ask(c, x, progress));
  plug_maps m = plug_maps_on(c->host, c->e);
  const cand_measure_args a = {.s = cand_open(c, &m, s, x, progress),
                               .num = plug_read(&m, c->corner.num),
                               .room = plug_write(&m, c->act.room),
                               .flag = plug_write(&m, c->act.flag),
                               .reach = (lk_real)c->reach,
                               .count = c->m,
                               .thins = c->thins};
  return plug_launch(&m, &k_measure, &a, c->m, NULL);
}

static loom_status reduce_least_room(candidates *c, const lk_entry *k, double *out)
{
  plug_maps m = plug_maps_on(c->host, c->e);
  const cand_room_args a = {.room = plug_read(&m, c->act.room), .xi = plug_read(&m, c->xi)};
  LOOM_TRY(plug_reduce(&m, k, &a, c->m, c->result, out));
  *out = -*out;
  return LOOM_OK;
}

loom_status cand_measure_room(candidates *c, const loom_step *s, loom_buf *x, double progress)
{
  c->act.least_room = INFINITY;
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(measure_candidates(c, s, x, progress));
  return reduce_least_room(c, &k_room, &c->act.least_room);
}

/* ---- the list ---- */

static loom_status list_active_candidates(candidates *c, int64_t num)
{
  cand_active *const a = &c->act;
  a->num = num;
  if (num == 0) return LOOM_OK;
  LOOM_TRY(c->host->buf_resize(c->host, a->list, num));
  plug_maps m = plug_maps_on(c->host, c->e);
  const cand_compact_args args = {.place = plug_read(&m, a->place),
                                  .list = plug_write(&m, a->list)};
  return plug_launch(&m, &k_compact, &args, c->m, NULL);
}

static loom_status count_and_list(candidates *c)
{
  int64_t num = 0;
  c->act.num = 0;
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(c->host->scan_i64(c->host, c->e, c->act.flag, c->act.place, &num));
  return list_active_candidates(c, num);
}

/* On the CPU, or with stale candidates: each step runs only if the result of the one before it
 * requires it. */
static loom_status activate_by_steps(candidates *c, const loom_step *s, loom_buf *x,
                                     double progress, int strict, const cand_choice *choice)
{
  LOOM_TRY(cand_cover(c, s, x, progress));
  c->act.num = 0;
  LOOM_TRY(cand_measure_room(c, s, x, progress));
  if (strict && c->act.least_room <= 0.0) return LOOM_REJECTED;
  LOOM_TRY(count_and_list(c));
  if (choice == NULL || c->act.num == 0) return LOOM_OK;
  LOOM_TRY(choice->choose(choice->self, s, x, progress));
  return count_and_list(c);
}

/* ---- on a device: all numbers at once, so that the host waits once ---- */

enum { TOLD_WAY = 0, TOLD_ROOM, TOLD_NUM, TOLD_LEN = TOLD_NUM + 2 };

/* Writes to c->result: the largest way of a vertex since the candidates were found (squared, m^2),
 * the least room, and the number of active candidates. */
static loom_status launch_all(candidates *c, const loom_step *s, loom_buf *x, double progress,
                              const cand_choice *choice)
{
  const loom_host *const host = c->host;
  plug_maps m = plug_maps_on(host, c->e);
  lk_real *const told = plug_rdwr(&m, c->result);
  const cand_moved_args way = {.x = plug_read(&m, x), .anchor = plug_read(&m, c->anchor)};
  LOOM_TRY(m.status);
  LOOM_TRY(plug_launch(&m, &k_moved, &way, c->sc->num_verts, told + TOLD_WAY));
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(measure_candidates(c, s, x, progress));
  if (choice != NULL) LOOM_TRY(choice->choose(choice->self, s, x, progress));
  LOOM_TRY(host->scan_i64(host, c->e, c->act.flag, c->act.place, NULL));
  lk_real *const rest = plug_rdwr(&m, c->result);
  const int64_t *const place = plug_read(&m, c->act.place);
  const cand_room_args rooms = {.room = plug_read(&m, c->act.room), .xi = plug_read(&m, c->xi)};
  LOOM_TRY(m.status);
  const cand_tell_args num = {.total = place + c->m, .digit = rest + TOLD_NUM};
  LOOM_TRY(plug_run_on(&m, &k_room, &rooms, c->m, rest + TOLD_ROOM));
  return plug_launch(&m, &k_tell, &num, 1, NULL);
}

/* *done = 0: a vertex has moved by more than slack/2, so candidates have to be found anew. */
static loom_status activate_at_once(candidates *c, const loom_step *s, loom_buf *x, double progress,
                                    int strict, const cand_choice *choice, int *done)
{
  double told[TOLD_LEN] = {0};
  c->act.num = 0;
  c->act.least_room = INFINITY;
  LOOM_TRY(launch_all(c, s, x, progress, choice));
  LOOM_TRY(plug_fetch(c->host, c->e, c->result, TOLD_LEN, told));
  *done = cand_is_near(c, sqrt(told[TOLD_WAY]));
  if (!*done || c->m == 0) return LOOM_OK;
  c->act.least_room = -told[TOLD_ROOM];
  if (strict && c->act.least_room <= 0.0) return LOOM_REJECTED;
  return list_active_candidates(c,
                                (int64_t)told[TOLD_NUM] * CAND_DIGIT + (int64_t)told[TOLD_NUM + 1]);
}

static loom_status activate_candidates(candidates *c, const loom_step *s, loom_buf *x,
                                       double progress, int strict, const cand_choice *choice)
{
  int done = 0;
  if (c->e->backend == LOOM_CUDA && cand_is_known(c, progress) && c->sc->num_verts > 0) {
    const loom_status st = activate_at_once(c, s, x, progress, strict, choice, &done);
    if (done || st != LOOM_OK) return st;
  }
  return activate_by_steps(c, s, x, progress, strict, choice);
}

loom_status cand_activate(candidates *c, const loom_step *s, loom_buf *x, double progress)
{
  return activate_candidates(c, s, x, progress, 1, c->choice);
}

loom_status cand_activate_all(candidates *c, const loom_step *s, loom_buf *x, double progress,
                              const cand_choice *choice)
{
  return activate_candidates(c, s, x, progress, 0, choice);
}

/* ---- numbers of the active ones ---- */

loom_status cand_count(candidates *c, int square, int64_t *total)
{
  const loom_host *const host = c->host;
  cand_active *const a = &c->act;
  *total = 0;
  if (a->num == 0) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, a->count, a->num));
  LOOM_TRY(host->buf_resize(host, a->at, a->num + 1));
  plug_maps m = plug_maps_on(host, c->e);
  const cand_count_args args = {.list = plug_read(&m, a->list),
                                .num = plug_read(&m, c->corner.num),
                                .count = plug_write(&m, a->count),
                                .square = square};
  LOOM_TRY(plug_launch(&m, &k_count, &args, a->num, NULL));
  return host->scan_i64(host, c->e, a->count, a->at, total);
}

loom_status cand_least_gap_now(candidates *c, double *gap)
{
  *gap = NAN;
  if (c->m == 0 || !(c->act.least_room < (double)LK_REAL_MAX)) return LOOM_OK;
  return reduce_least_room(c, &k_gap, gap);
}

loom_status cand_least_gap_later(candidates *c, double *gap)
{
  *gap = NAN;
  if (c->m == 0 || !(c->act.least_room < (double)LK_REAL_MAX)) return LOOM_OK;
  *gap = 0.0;
  plug_maps m = plug_maps_on(c->host, c->e);
  const cand_room_args a = {.room = plug_read(&m, c->act.room), .xi = plug_read(&m, c->xi)};
  return plug_reduce_later(&m, &k_gap, &a, c->m, c->result, &c->later, -1.0, gap);
}

static loom_status take_islands(candidates *c, const loom_islands *at)
{
  const loom_host *const host = c->host;
  void *to;
  LOOM_TRY(host->buf_resize(host, c->island, c->sc->num_objects));
  LOOM_TRY(host->map(host, c->e, c->island, LOOM_WRITE, LOOM_AT_HOST, &to));
  memcpy(to, at->of, (size_t)c->sc->num_objects * sizeof *at->of);
  return host->unmap(host, c->island);
}

loom_status cand_least_gaps(candidates *c, const loom_islands *at, double *gap)
{
  for (int32_t k = 0; k < at->num; ++k) gap[k] = (double)LK_REAL_MAX;
  if (c->act.num == 0) return LOOM_OK;
  LOOM_TRY(take_islands(c, at));
  plug_maps m = plug_maps_on(c->host, c->e);
  lk_real *const told = plug_rdwr(&m, c->result);
  cand_island_args a = {.of = {.room = plug_read(&m, c->act.room), .xi = plug_read(&m, c->xi)},
                        .list = plug_read(&m, c->act.list),
                        .v = plug_read(&m, c->v),
                        .object = plug_read(&m, c->sc->object),
                        .island = plug_read(&m, c->island),
                        .n = c->sc->num_verts};
  for (a.k = 0; a.k < at->num && m.status == LOOM_OK; ++a.k)
    (void)plug_run_on(&m, &k_gap_of, &a, c->act.num, told + a.k);
  LOOM_TRY(plug_unbind(&m));
  LOOM_TRY(plug_fetch(c->host, c->e, c->result, at->num, gap));
  for (int32_t k = 0; k < at->num; ++k) gap[k] = -gap[k];
  return LOOM_OK;
}

/* An overlap below this share of thickness plus reach counts as rounding. */
static const double lost_gap = 1e-9;

loom_status cand_overlap_error(candidates *c, const loom_step *s, const char *what,
                               const char *remedy)
{
  const loom_host *const host = c->host;
  void *room_, *v_, *obst_, *xi_;
  int64_t worst = 0;
  LOOM_TRY(host->map(host, c->e, c->act.room, LOOM_READ, LOOM_AT_HOST, &room_));
  LOOM_TRY(host->map(host, c->e, c->v, LOOM_READ, LOOM_AT_HOST, &v_));
  LOOM_TRY(host->map(host, c->e, c->obst, LOOM_READ, LOOM_AT_HOST, &obst_));
  LOOM_TRY(host->map(host, c->e, c->xi, LOOM_READ, LOOM_AT_HOST, &xi_));
  const loom_real *const room = room_;
  for (int64_t j = 1; j < c->m; ++j)
    if (room[j] < room[worst]) worst = j;
  const double xi = (double)((const loom_real *)xi_)[worst], D = (double)room[worst] + xi * xi;
  const double distance = D < 0.0 ? -sqrt(-D) : sqrt(D);
  const int32_t *const v = (const int32_t *)v_ + 4 * worst, o = ((const int32_t *)obst_)[worst];
  char objects[PAIR_NAMES_ROOM];
  const double short_of = xi - distance;
  const int rounding = short_of <= lost_gap * (xi + c->reach);
  LOOM_TRY(pair_names_write(host, c->e, c->sc, v, o, objects));
  LOOM_TRY(host->unmap(host, c->xi));
  LOOM_TRY(host->unmap(host, c->obst));
  LOOM_TRY(host->unmap(host, c->v));
  LOOM_TRY(host->unmap(host, c->act.room));
  return LOOM_FAIL(host, LOOM_E_NUMERIC,
                   "step %lld: %s: the pair of vertices %d %d %d %d%s is %.3g m apart, %.3g m less "
                   "than its thickness of %.3g m; %s",
                   (long long)s->index, what, v[0], v[1], v[2], v[3], objects, distance, short_of,
                   xi,
                   rounding ? "the gap is lost in rounding: keep one that is not ([filter] "
                              "min_gap = a twentieth of d_hat), raise d_hat, or lower dt"
                            : remedy);
}
