/* yarn_grid.c - collision plugin `yarn_grid`: segments of yarns that are near each other.
 *
 * A pair of segments is reported (LOOM_PAIR_YY) if two of their quadrature points are nearer than
 * both radii and the margin: v = {a, b}, a < b; w = {s0, s1, t0, t1}, the ranges of parameters that
 * hold all such points; gap and normal belong to the nearest two; key = a << 32 | b.
 *
 * J. M. Kaldor, D. L. James, S. Marschner, Efficient yarn-based cloth with adaptive contact
 * linearization, ACM TOG 29(4), 2010, section 5.2; see README.md for what differs. */
#include "yarn_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plug.h"
#include "stats.h"

static const lk_entry k_place = LK_ENTRY(yg_place), k_alarm = LK_ENTRY(yg_alarm);
static const lk_entry k_motion = LK_ENTRY(yg_motion), k_examine = LK_ENTRY(yg_examine);
static const lk_entry k_window = LK_ENTRY(yg_window);

static const loom_param params[] = {
    LOOM_PARAM_REAL(yg_settings, cell, 6e-3, 1e-6, 1e3, "m",
                    "Edge of a cell (gamma in table 1 of the paper)."),
    LOOM_PARAM_REAL(yg_settings, omega, 6e-6, 0, 1, "m",
                    "Change of movement from one step to the next that bins allow for beyond the "
                    "present one (omega, table 1)."),
    LOOM_PARAM_ENUM(yg_settings, search, SEARCH_SCHEDULE, "schedule|grid|bvh",
                    "Schedule of the paper, or anew every time: in cells, or down a hierarchy."),
    LOOM_PARAM_TEXT(yg_settings, stats, "", "File for one line per search, see README.md."),
};

/* ---- life -------------------------------------------------------------------------------- */

static void yg_destroy(void *self)
{
  yarn_grid *const d = self;
  if (d == NULL) return;
  yg_state_free(d);
  yarn_table_free(d->h, &d->table);
  if (d->stats != NULL) fclose(d->stats);
  free(d);
}

static loom_status yg_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                             const void *set, void **self)
{
  yarn_grid *const d = calloc(1, sizeof *d);
  LOOM_CHECK(h, d != NULL, LOOM_E_NOMEM, "no memory for the instance");
  *self = d;
  d->h = h;
  d->sc = sc;
  d->e = e;
  d->n = sc->num_verts;
  d->set = *(const yg_settings *)set;
  LOOM_TRY(yarn_table_new(h, sc, e, &d->table));
  return yg_state_new(d);
}

static loom_status yg_reset(void *self)
{
  yg_forget(self);
  return LOOM_OK;
}

static loom_status yg_begin_step(void *self, const loom_step *s)
{
  yarn_grid *const d = self;
  return stats_open(d->h, d->set.stats, s->index, &d->stats);
}

/* ---- one look ------------------------------------------------------------------------------ */

static loom_status run(yarn_grid *d, const lk_entry *k, const void *args, int64_t n)
{
  return plug_run(d->h, d->e, k, args, n, NULL);
}

/* Points, boxes and cells; the cells follow the middle of all vertices, so that a falling cloth
 * stays where it is in them. */
static loom_status place(yarn_grid *d, const yarn_line *l, const loom_real *x)
{
  double mid[3] = {0, 0, 0};
  for (int32_t i = 0; i < d->n; ++i)
    for (int c = 0; c < 3; ++c) mid[c] += (double)x[3 * (ptrdiff_t)i + c];
  yg_place_args a = {.l = *l,
                     .x = x,
                     .P = d->P,
                     .box = d->box,
                     .cells = d->cells,
                     .cell = (lk_real)d->set.cell,
                     .margin = (lk_real)d->margin};
  for (int c = 0; c < 3; ++c) a.centre[c] = (lk_real)(mid[c] / (d->n > 0 ? d->n : 1));
  return run(d, &k_place, &a, l->num_segs);
}

/* Entries of segments with a vertex whose movement changed beyond what bins allow for. */
static loom_status sound_alarm(yarn_grid *d, const yarn_line *l, const loom_real *x)
{
  const yg_alarm_args a = {.x = x,
                           .x1 = d->x1,
                           .x2 = d->x2,
                           .ref = d->ref,
                           .out = d->alarm,
                           .most = (lk_real)(0.2 * d->set.omega)};
  LOOM_TRY(run(d, &k_alarm, &a, d->n));
  for (int32_t s = 0; s < l->num_segs; ++s) {
    const int32_t *const v = l->segs + 4 * (ptrdiff_t)s;
    int wake = 0;
    for (int k = 0; k < 4; ++k) wake |= v[k] >= 0 && d->alarm[v[k]];
    if (wake) YG_MEMORY(d, yg_activate(&d->sched, s));
  }
  const yg_motion_args m = {
      .l = *l, .x = x, .x1 = d->x1, .x2 = d->x2, .move = d->move, .change = d->change};
  return run(d, &k_motion, &m, l->num_segs);
}

/* Movement of all segments since the snapshots of the bins that are due and long: entries of the
 * others find it themselves.  bin 0 has that of the last step. */
static loom_status open_windows(yarn_grid *d, const yarn_line *l, const loom_real *x,
                                const loom_real *window[YG_BINS])
{
  const yg_schedule *const s = &d->sched;
  for (int b = 0; b < YG_BINS; ++b) window[b] = NULL;
  if (d->history == 2) window[0] = d->move;
  for (int b = 1; b <= yg_top_bin(s->tick); ++b) {
    if (2 * d->length[b] < l->num_segs) continue;
    const yg_motion_args a = {.l = *l, .x = x, .x1 = d->snap[b], .move = d->window[b]};
    LOOM_TRY(run(d, &k_window, &a, l->num_segs));
    window[b] = d->window[b];
  }
  return LOOM_OK;
}

static loom_status examine(yarn_grid *d, const yarn_line *l, const yg_boxes *boxes,
                           const loom_real *x, int64_t *full)
{
  yg_schedule *const s = &d->sched;
  void *look = d->look;
  const int ok = grow_room(&look, &d->look_cap, s->due.n, sizeof *d->look);
  d->look = look;
  YG_MEMORY(d, ok);
  yg_examine_args a = {.l = *l,
                       .boxes = *boxes,
                       .P = d->P,
                       .cells = d->cells,
                       .x = x,
                       .move = d->move,
                       .change = d->change,
                       .entry = s->entry,
                       .due = s->due.v,
                       .out = d->look,
                       .margin = (lk_real)d->margin,
                       .omega = (lk_real)d->set.omega,
                       .history = d->history};
  for (int b = 0; b < YG_BINS; ++b) a.snap[b] = d->snap[b];
  LOOM_TRY(open_windows(d, l, x, a.window));
  LOOM_TRY(run(d, &k_examine, &a, s->due.n));
  for (int64_t k = 0; k < s->due.n; ++k) {
    const yg_entry *const e = &s->entry[s->due.v[k]];
    *full += d->look[k].full;
    if (d->look[k].hits > 0) YG_MEMORY(d, yg_add_hit(&d->hits, e->a, e->b, &d->look[k]));
  }
  return LOOM_OK;
}

/* Positions of this look become the last ones. */
static void remember(yarn_grid *d, const loom_real *x, int64_t tick)
{
  const size_t bytes = sizeof *x * 3 * (size_t)d->n;
  loom_real *const old = d->x2;
  d->x2 = d->x1;
  d->x1 = old;
  memcpy(d->x1, x, bytes);
  d->snap[0] = d->x1;
  for (int b = 1; b <= yg_top_bin(tick); ++b) memcpy(d->snap[b], x, bytes);
  if (d->history < 2) ++d->history;
}

static loom_status look_by_schedule(yarn_grid *d, const yarn_line *l, const yg_boxes *boxes,
                                    const loom_real *x)
{
  yg_schedule *const s = &d->sched;
  int64_t full = 0;
  YG_MEMORY(d, yg_enter_cells(s, d->cells));
  if (d->history == 2) LOOM_TRY(sound_alarm(d, l, x));
  for (int b = 0; b < YG_BINS; ++b) d->length[b] = s->bin[b].n;
  YG_MEMORY(d, yg_collect(s));
  const int64_t due = s->due.n;
  LOOM_TRY(examine(d, l, boxes, x, &full));
  remember(d, x, s->tick);
  YG_MEMORY(d, yg_settle(s, d->look));
  d->near = full;
  d->due = due;
  return LOOM_OK;
}

static loom_status look(yarn_grid *d, const loom_step *s, const loom_query *q)
{
  yarn_line l;
  void *x;
  (void)s;
  if ((double)q->margin != d->margin) yg_forget(d);
  d->margin = (double)q->margin;
  d->hits.n = 0;
  LOOM_TRY(yarn_line_open(d->h, d->sc, d->e, &d->table, &l));
  LOOM_TRY(yg_take_boxes(d, &l, q->exclude));
  LOOM_TRY(d->h->map(d->h, d->e, q->x0, LOOM_READ, LOOM_AT_EXEC, &x));
  LOOM_TRY(place(d, &l, x));
  const yg_boxes boxes = {d->num_boxes > 0 ? d->boxes : NULL, d->box_at, d->box_list};
  if (d->set.search == SEARCH_SCHEDULE) {
    LOOM_TRY(look_by_schedule(d, &l, &boxes, x));
  } else {
    const yg_view v = {.l = l,
                       .boxes = boxes,
                       .P = d->P,
                       .box = d->box,
                       .cells = d->cells,
                       .margin = (lk_real)d->margin,
                       .threads = d->e->num_threads};
    YG_MEMORY(d, d->set.search == SEARCH_GRID ? yg_search_cells(&d->search, &v, &d->hits, &d->near)
                                              : yg_search_tree(&d->search, &v, &d->hits, &d->near));
    d->due = 0;
  }
  d->h->count(d->h, LOOM_C_CCD_PAIR, d->near);
  LOOM_TRY(d->h->unmap(d->h, q->x0));
  return yarn_line_close(d->h, d->sc, &d->table);
}

/* ---- pairs ------------------------------------------------------------------------------------
 */

static void write_pair(const yarn_grid *d, const yarn_line *l, const yg_hit *g, int64_t at,
                       void *const *p)
{
  const loom_real *const A = d->P + (ptrdiff_t)YARN_POS * g->a + g->look.i;
  const loom_real *const B = d->P + (ptrdiff_t)YARN_POS * g->b + g->look.j;
  const int range[4] = {g->look.i0, g->look.i1, g->look.j0, g->look.j1};
  loom_real n[3], len = 0;
  for (int c = 0; c < 3; ++c) {
    n[c] = A[YARN_LANES * c] - B[YARN_LANES * c];
    len += n[c] * n[c];
  }
  len = LK_SQRT(len);
  ((int32_t *)p[0])[at] = LOOM_PAIR_YY;
  int32_t *const v = (int32_t *)p[1] + 4 * at;
  v[0] = g->a;
  v[1] = g->b;
  v[2] = v[3] = -1;
  ((int32_t *)p[2])[at] = -1;
  for (int k = 0; k < 4; ++k)
    ((loom_real *)p[3])[4 * at + k] = (loom_real)range[k] / (loom_real)YARN_B;
  for (int c = 0; c < 3; ++c) {
    /* crossing centre lines have no direction: any will do */
    ((loom_real *)p[4])[3 * at + c] = len > 0 ? n[c] / len : (loom_real)(c == 2);
    ((loom_real *)p[6])[3 * at + c] = 0;
  }
  ((loom_real *)p[5])[at] = len - (l->radius[g->a] + l->radius[g->b]);
  ((loom_real *)p[7])[at] = 2;
  ((uint64_t *)p[8])[at] = (uint64_t)g->a << 32 | (uint64_t)g->b;
}

static loom_status write_pairs(yarn_grid *d, loom_pairs *out)
{
  yarn_line l;
  void *p[9];
  const plug_map m[9] = {{out->kind, LOOM_RDWR},  {out->v, LOOM_RDWR},      {out->obst, LOOM_RDWR},
                         {out->w, LOOM_RDWR},     {out->normal, LOOM_RDWR}, {out->gap, LOOM_RDWR},
                         {out->point, LOOM_RDWR}, {out->toi, LOOM_RDWR},    {out->key, LOOM_RDWR}};
  const int64_t first = out->count;
  out->count = first + d->hits.n;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(yarn_line_open(d->h, d->sc, d->e, &d->table, &l));
  LOOM_TRY(plug_map_all(d->h, d->e, 9, m, p));
#pragma omp parallel for schedule(static) num_threads(d->e->num_threads) if (d->hits.n > 1024)
  for (int64_t k = 0; k < d->hits.n; ++k) write_pair(d, &l, &d->hits.v[k], first + k, p);
  LOOM_TRY(plug_unmap_all(d->h, 9, m));
  return yarn_line_close(d->h, d->sc, &d->table);
}

/* The core asks again with more room: a second look at the same positions would be a step in which
 * nothing moves, and the schedule would not be the one of a run that had the room at once. */
static loom_status is_last_look(yarn_grid *d, const loom_query *q, int *same)
{
  void *x;
  LOOM_TRY(d->h->map(d->h, d->e, q->x0, LOOM_READ, LOOM_AT_EXEC, &x));
  *same = (double)q->margin == d->margin && memcmp(x, d->x1, sizeof *d->x1 * 3 * (size_t)d->n) == 0;
  return d->h->unmap(d->h, q->x0);
}

static loom_status yg_detect(void *self, const loom_step *s, const loom_query *q, loom_pairs *out)
{
  yarn_grid *const d = self;
  if (!(q->what & LOOM_DETECT_PROXIMITY) || !(q->kinds & LOOM_BIT(LOOM_PAIR_YY))) return LOOM_OK;
  if (d->table.num_segs == 0) return LOOM_OK;
  const double start = stats_cpu();
  int same = 0;
  if (d->short_of_room) LOOM_TRY(is_last_look(d, q, &same));
  if (!same) LOOM_TRY(look(d, s, q));
  const loom_status status = write_pairs(d, out);
  d->short_of_room = status == LOOM_GROW && d->set.search == SEARCH_SCHEDULE;
  d->spent += stats_cpu() - start;
  if (status == LOOM_GROW) return status; /* the same once more, with more room */
  if (d->stats != NULL)
    fprintf(d->stats, "%lld %lld %lld %lld %lld %.9f\n", (long long)s->index,
            (long long)(d->sched.num - d->sched.freed.n), (long long)d->due, (long long)d->near,
            (long long)d->hits.n, d->spent);
  d->spent = 0;
  return status;
}

/* ---- descriptor -------------------------------------------------------------------------------
 */

static const loom_collision_ops ops = {.struct_size = sizeof ops,
                                       .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_EXCLUDE,
                                       .pair_kinds = LOOM_BIT(LOOM_PAIR_YY),
                                       .create = yg_create,
                                       .destroy = yg_destroy,
                                       .reset = yg_reset,
                                       .begin_step = yg_begin_step,
                                       .detect = yg_detect,
                                       .checkpoint = yg_checkpoint};

static const loom_plugin plugin = {
    LOOM_PLUGIN_HEAD(LOOM_KIND_COLLISION, LOOM_ON_CPU),
    .name = "yarn_grid",
    .version = "0.1.0",
    .summary = "segments of yarns near each other, by a space-time schedule over hashed cells",
    .reference = "J. M. Kaldor, D. L. James, S. Marschner, Efficient yarn-based cloth with "
                 "adaptive contact linearization, ACM TOG 29(4), 2010, doi 10.1145/1778765.1778842",
    .license = "MIT",
    .build = LOOM_BUILD_INFO,
    .num_params = LOOM_COUNT(params),
    .settings_size = sizeof(yg_settings),
    .params = params,
    .ops.collision = &ops};

const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index)
{
  (void)host_abi;
  return index == 0 ? &plugin : NULL;
}
