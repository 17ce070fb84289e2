/* yarn_grid.c - collision plugin `yarn_grid`: segments of yarns that are near each other.
 *
 * A pair of segments is reported (LOOM_PAIR_YY) if two of their quadrature points are nearer than
 * both radii and the margin: v = {a, b}, a < b; w = {s0, s1, t0, t1}, the ranges of parameters that
 * hold all these points; gap and normal belong to the nearest two; key = a << 32 | b.
 *
 * J. M. Kaldor, D. L. James, S. Marschner, Efficient yarn-based cloth with adaptive contact
 * linearization, ACM TOG 29(4), 2010, section 5.2; README.md lists the deviations. */
#include "yarn_grid.h"

#include <math.h>
#include <stdlib.h>

#include "loom/plug.h"

static const lk_entry k_place = LK_ENTRY_MOVES(yarn_grid_place, 243, 12),
                      k_alarm = LK_ENTRY_MOVES(yarn_grid_alarm, 12, 1);
static const lk_entry k_motion = LK_ENTRY_MOVES(yarn_grid_motion, 336, 12),
                      k_examine = LK_ENTRY_MOVES(yarn_grid_examine, 201, 27);
static const lk_entry k_window = LK_ENTRY_MOVES(yarn_grid_window, 174, 4),
                      k_sum = LK_ENTRY_MOVES(yarn_grid_sum, 1, 0);
static const lk_entry k_write = LK_ENTRY_MOVES(yarn_grid_write, 21, 18);

static const loom_param params[] = {
    LOOM_PARAM_REAL(yarn_grid_settings, cell, 6e-3, 1e-6, 1e3, "m",
                    "Edge of a cell (gamma in table 1 of the paper)."),
    LOOM_PARAM_REAL(yarn_grid_settings, omega, 6e-6, 0, 1, "m",
                    "Change of movement from one step to the next that bins allow for beyond the "
                    "present one (omega, table 1)."),
    LOOM_PARAM_ENUM(yarn_grid_settings, search, SEARCH_SCHEDULE, "schedule|grid|bvh",
                    "Schedule of the paper, or anew every time: in cells, or down a hierarchy."),
    LOOM_PARAM_GONE(
        "stats",
        "the log has its numbers: columns of /steps_extra, the time of `search` in /sections"),
};

/* ---- life ---- */

static void yarn_grid_destroy(void *self)
{
  yarn_grid *const d = self;
  if (d == NULL) return;
  yarn_grid_state_free(d);
  free(d);
}

static loom_status yarn_grid_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                    const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(yarn_grid), self));
  yarn_grid *const d = *self;
  d->host = host;
  d->sc = sc;
  d->e = e;
  d->n = sc->num_verts;
  d->set = *(const yarn_grid_settings *)set;
  LOOM_TRY(yarn_table_new(host, sc, e, &d->table));
  return yarn_grid_state_new(d);
}

static loom_status yarn_grid_reset(void *self)
{
  yarn_grid_forget(self);
  return LOOM_OK;
}

/* Clearances in the schedule are of the radii that they were measured with. */
static loom_status yarn_grid_begin_step(void *self, const loom_step *s)
{
  yarn_grid *const d = self;
  int32_t changed;
  (void)s;
  d->tracked = d->examined = d->processed = d->found = 0;
  LOOM_TRY(yarn_table_refresh(d->host, d->sc, &d->table, &changed));
  if (changed) yarn_grid_forget(d);
  return LOOM_OK;
}

/* ---- one look ---- */

/* Points, boxes and cells at x.  l is the line where kernels run, here and below. */
static loom_status compute_yarn_points(yarn_grid *d, const yarn_line *l, loom_buf *x)
{
  plug_maps m = plug_maps_on(d->host, d->e);
  lk_real *const sum = plug_write(&m, d->sum);
  const yarn_grid_place_args a = {.l = *l,
                                  .x = plug_read(&m, x),
                                  .sum = sum,
                                  .P = plug_write(&m, d->P),
                                  .box = plug_write(&m, d->box),
                                  .cells = plug_write(&m, d->cells),
                                  .num_verts = (lk_real)d->n,
                                  .cell = (lk_real)d->set.cell,
                                  .margin = (lk_real)d->margin};
  LOOM_TRY(m.status);
  for (int c = 0; c < 3; ++c) {
    const yarn_grid_sum_args s = {.x = a.x, .axis = c};
    LOOM_TRY(plug_run_on(&m, &k_sum, &s, d->n, sum + c));
  }
  return plug_launch(&m, &k_place, &a, l->num_segs, NULL);
}

/* Computes the movement of all segments, and looks at the entries of segments with a vertex that
 * has changed its movement by more than bins allow for. */
static loom_status sound_alarm(yarn_grid *d, const yarn_line *l, loom_buf *x)
{
  const loom_host *const host = d->host;
  void *wake;
  plug_maps m = plug_maps_on(host, d->e);
  const yarn_grid_alarm_args a = {.x = plug_read(&m, x),
                                  .x1 = plug_read(&m, d->x1),
                                  .x2 = plug_read(&m, d->x2),
                                  .ref = plug_rdwr(&m, d->ref),
                                  .out = plug_rdwr(&m, d->alarm),
                                  .most = (lk_real)(0.2 * d->set.omega)};
  LOOM_TRY(plug_run_on(&m, &k_alarm, &a, d->n, NULL));
  const yarn_grid_motion_args q = {.l = *l,
                                   .x = a.x,
                                   .x1 = a.x1,
                                   .x2 = a.x2,
                                   .move = plug_write(&m, d->move),
                                   .change = plug_write(&m, d->change),
                                   .alarm = a.out,
                                   .wake = plug_write(&m, d->wake)};
  LOOM_TRY(plug_launch(&m, &k_motion, &q, l->num_segs, NULL));
  LOOM_TRY(host->map(host, d->e, d->wake, LOOM_READ, LOOM_AT_HOST, &wake));
  for (int32_t s = 0; s < l->num_segs; ++s)
    if (((const uint8_t *)wake)[s]) YARN_GRID_MEMORY(d, yarn_grid_activate(&d->sched, s));
  return host->unmap(host, d->wake);
}

static loom_buf *select_snapshot(const yarn_grid *d, int bin)
{
  return bin == 0 ? d->x1 : d->snap[bin];
}

/* Computes the movement of all segments since the snapshots of the bins that are due and long;
 * entries of other bins compute it themselves.  Bin 0 has the movement of the last step.  window:
 * NULL for a bin without movement of all segments. */
static loom_status open_windows(yarn_grid *d, const yarn_line *l, loom_buf *x,
                                loom_buf *window[YARN_GRID_BINS])
{
  for (int b = 0; b < YARN_GRID_BINS; ++b) window[b] = NULL;
  if (d->history == 2) window[0] = d->move;
  for (int b = 1; b <= yarn_grid_top_bin(d->sched.tick); ++b) {
    if (2 * d->length[b] < l->num_segs) continue;
    plug_maps m = plug_maps_on(d->host, d->e);
    const yarn_grid_motion_args a = {.l = *l,
                                     .x = plug_read(&m, x),
                                     .x1 = plug_read(&m, d->snap[b]),
                                     .move = plug_write(&m, d->window[b])};
    LOOM_TRY(plug_launch(&m, &k_window, &a, l->num_segs, NULL));
    window[b] = d->window[b];
  }
  return LOOM_OK;
}

/* Copies the entries that are due to the buffer of the kernel. */
static loom_status put_due(yarn_grid *d)
{
  const loom_host *const host = d->host;
  const yarn_grid_schedule *const s = &d->sched;
  void *p;
  LOOM_TRY(host->buf_resize(host, d->ask, s->due.n * (int64_t)sizeof(yarn_grid_ask)));
  LOOM_TRY(host->buf_resize(host, d->look, s->due.n * (int64_t)sizeof(yarn_grid_look)));
  LOOM_TRY(host->map(host, d->e, d->ask, LOOM_WRITE, LOOM_AT_HOST, &p));
  yarn_grid_ask *const ask = p;
  for (int64_t k = 0; k < s->due.n; ++k) {
    const yarn_grid_entry *const e = &s->entry[s->due.v[k]];
    ask[k].a = e->a;
    ask[k].b = e->b;
    ask[k].d = e->d;
    ask[k].bin = e->bin;
    ask[k].reserved = 0;
  }
  return host->unmap(host, d->ask);
}

static loom_status examine_due_entries(yarn_grid *d, const yarn_line *l, loom_buf *x)
{
  loom_buf *window[YARN_GRID_BINS];
  const int has = d->num_boxes > 0;
  LOOM_TRY(put_due(d));
  LOOM_TRY(open_windows(d, l, x, window));
  plug_maps m = plug_maps_on(d->host, d->e);
  yarn_grid_examine_args a = {.l = *l,
                              .boxes = {.key = plug_read(&m, has ? d->boxes : NULL),
                                        .at = plug_read(&m, has ? d->box_at : NULL),
                                        .list = plug_read(&m, has ? d->box_list : NULL)},
                              .P = plug_read(&m, d->P),
                              .cells = plug_read(&m, d->cells),
                              .x = plug_read(&m, x),
                              .move = plug_read(&m, d->move),
                              .change = plug_read(&m, d->change),
                              .ask = plug_read(&m, d->ask),
                              .out = plug_write(&m, d->look),
                              .margin = (lk_real)d->margin,
                              .omega = (lk_real)d->set.omega,
                              .history = d->history};
  for (int b = 0; b < YARN_GRID_BINS; ++b) {
    a.snap[b] = plug_read(&m, select_snapshot(d, b));
    a.window[b] = plug_read(&m, window[b]);
  }
  return plug_launch(&m, &k_examine, &a, d->sched.due.n, NULL);
}

/* Positions of this look become the last ones. */
static loom_status update_snapshots(yarn_grid *d, loom_buf *x, int64_t tick)
{
  loom_buf *const old = d->x2;
  d->x2 = d->x1;
  d->x1 = old;
  for (int b = 0; b <= yarn_grid_top_bin(tick); ++b)
    LOOM_TRY(d->host->buf_copy(d->host, d->e, select_snapshot(d, b), x));
  if (d->history < 2) ++d->history;
  return LOOM_OK;
}

/* Hits of the entries looked at, and where these wait from now on. */
static loom_status finish_due_entries(yarn_grid *d)
{
  const loom_host *const host = d->host;
  yarn_grid_schedule *const s = &d->sched;
  void *p;
  d->near = 0;
  d->due = s->due.n;
  LOOM_TRY(host->map(host, d->e, d->look, LOOM_READ, LOOM_AT_HOST, &p));
  const yarn_grid_look *const look = p;
  for (int64_t k = 0; k < s->due.n; ++k) {
    const yarn_grid_entry *const e = &s->entry[s->due.v[k]];
    d->near += look[k].full;
    if (look[k].hits > 0) YARN_GRID_MEMORY(d, yarn_grid_add_hit(&d->hits, e->a, e->b, &look[k]));
  }
  YARN_GRID_MEMORY(d, yarn_grid_settle(s, look));
  return host->unmap(host, d->look);
}

static loom_status look_by_schedule(yarn_grid *d, const yarn_line *l, loom_buf *x)
{
  const loom_host *const host = d->host;
  yarn_grid_schedule *const s = &d->sched;
  void *cells;
  LOOM_TRY(host->map(host, d->e, d->cells, LOOM_READ, LOOM_AT_HOST, &cells));
  YARN_GRID_MEMORY(d, yarn_grid_enter_cells(s, cells));
  LOOM_TRY(host->unmap(host, d->cells));
  if (d->history == 2) LOOM_TRY(sound_alarm(d, l, x));
  for (int b = 0; b < YARN_GRID_BINS; ++b) d->length[b] = s->bin[b].n;
  YARN_GRID_MEMORY(d, yarn_grid_collect(s));
  LOOM_TRY(examine_due_entries(d, l, x));
  LOOM_TRY(update_snapshots(d, x, s->tick));
  return finish_due_entries(d);
}

static const void *at_host(plug_maps *m, loom_buf *b)
{
  return plug_bind(m, b, LOOM_READ, LOOM_AT_HOST);
}

/* The references compare on the host, wherever points come from. */
static loom_status look_anew(yarn_grid *d, const yarn_line *host_line)
{
  plug_maps m = plug_maps_on(d->host, d->e);
  const yarn_grid_view v = {.l = *host_line,
                            .boxes = {.key = at_host(&m, d->num_boxes > 0 ? d->boxes : NULL),
                                      .at = at_host(&m, d->box_at),
                                      .list = at_host(&m, d->box_list)},
                            .P = at_host(&m, d->P),
                            .box = at_host(&m, d->box),
                            .cells = at_host(&m, d->cells),
                            .margin = (lk_real)d->margin,
                            .threads = d->e->num_threads};
  LOOM_TRY(m.status);
  YARN_GRID_MEMORY(d, d->set.search == SEARCH_GRID
                          ? yarn_grid_search_cells(&d->search, &v, &d->hits, &d->near)
                          : yarn_grid_search_tree(&d->search, &v, &d->hits, &d->near));
  d->due = 0;
  return plug_unbind(&m);
}

/* A segment in this many cells is the result of a failed simulation, and entering it would take too
 * long. */
static loom_status check_cells(yarn_grid *d, const yarn_line *l)
{
  const loom_host *const host = d->host;
  int32_t seg = -1;
  double num = 1.0;
  void *p;
  LOOM_TRY(host->map(host, d->e, d->cells, LOOM_READ, LOOM_AT_HOST, &p));
  for (int32_t s = 0; s < l->num_segs && !(num > YARN_GRID_MOST_CELLS); ++s) {
    const int32_t *const c = (const int32_t *)p + 6 * (ptrdiff_t)s;
    seg = s;
    num = 1.0;
    for (int k = 0; k < 3; ++k) num *= 1.0 + (double)c[3 + k] - (double)c[k];
  }
  LOOM_TRY(host->unmap(host, d->cells));
  LOOM_CHECK(host, num <= YARN_GRID_MOST_CELLS, LOOM_E_NUMERIC,
             "segment %d, of yarn %d, lies in %.3g cells of %g m: the yarns have blown up, which a "
             "shorter step may cure, or the key cell is too small for them",
             (int)seg, (int)l->seg_yarn[seg], num, d->set.cell);
  return LOOM_OK;
}

static loom_status run_search_method(yarn_grid *d, const yarn_line *l, const yarn_line *host_line,
                                     const loom_query *q)
{
  LOOM_TRY(yarn_grid_take_boxes(d, host_line, q->exclude));
  LOOM_TRY(compute_yarn_points(d, l, q->x0));
  if (d->set.search != SEARCH_BVH) LOOM_TRY(check_cells(d, host_line));
  if (d->set.search == SEARCH_SCHEDULE) return look_by_schedule(d, l, q->x0);
  return look_anew(d, host_line);
}

static loom_status find_yarn_hits(yarn_grid *d, const loom_query *q)
{
  plug_maps m = plug_maps_on(d->host, d->e), host = plug_maps_on(d->host, NULL);
  if ((double)q->margin != d->margin) yarn_grid_forget(d);
  d->margin = (double)q->margin;
  d->hits.n = 0;
  const yarn_line l = yarn_line_bind(&m, d->sc, &d->table);
  const yarn_line host_line = yarn_line_bind(&host, d->sc, &d->table);
  LOOM_TRY(m.status);
  LOOM_TRY(host.status);
  const loom_status s = run_search_method(d, &l, &host_line, q);
  LOOM_TRY(plug_unbind(&host));
  LOOM_TRY(plug_unbind(&m));
  if (s == LOOM_OK) d->host->count(d->host, LOOM_C_CCD_PAIR, d->near);
  return s;
}

/* ---- pairs ----
 */

static loom_status write_yarn_pairs(yarn_grid *d, loom_pairs *out)
{
  const int64_t first = out->count;
  out->count = first + d->hits.n;
  if (out->count > out->capacity) return LOOM_GROW;
  if (d->hits.n == 0) return LOOM_OK;
  LOOM_TRY(
      plug_put(d->host, d->e, d->hit, LOOM_U8, d->hits.v, d->hits.n * (int64_t)sizeof *d->hits.v));
  plug_maps m = plug_maps_on(d->host, d->e);
  const yarn_grid_write_args a = {.l = yarn_line_bind(&m, d->sc, &d->table),
                                  .hit = plug_read(&m, d->hit),
                                  .P = plug_read(&m, d->P),
                                  .kind = plug_rdwr(&m, out->kind),
                                  .v = plug_rdwr(&m, out->v),
                                  .obst = plug_rdwr(&m, out->obst),
                                  .w = plug_rdwr(&m, out->w),
                                  .normal = plug_rdwr(&m, out->normal),
                                  .gap = plug_rdwr(&m, out->gap),
                                  .point = plug_rdwr(&m, out->point),
                                  .toi = plug_rdwr(&m, out->toi),
                                  .key = plug_rdwr(&m, out->key),
                                  .first = first};
  return plug_launch(&m, &k_write, &a, d->hits.n, NULL);
}

/* *same = 1: the core repeats the last query with more room.  A second look at the same positions
 * would count as a step without motion, and the schedule would differ from a run that had the room
 * at once. */
static loom_status is_last_look(yarn_grid *d, const loom_query *q, int *same)
{
  const loom_host *const host = d->host;
  void *x, *x1;
  LOOM_TRY(host->map(host, d->e, q->x0, LOOM_READ, LOOM_AT_HOST, &x));
  LOOM_TRY(host->map(host, d->e, d->x1, LOOM_READ, LOOM_AT_HOST, &x1));
  *same =
      (double)q->margin == d->margin && memcmp(x, x1, sizeof(loom_real) * 3 * (size_t)d->n) == 0;
  LOOM_TRY(host->unmap(host, d->x1));
  return host->unmap(host, q->x0);
}

/* Pairs at the query's positions into out; LOOM_GROW if there is no room for them. */
static loom_status search_yarn_pairs(yarn_grid *d, const loom_query *q, loom_pairs *out)
{
  int same = 0;
  if (d->short_of_room) LOOM_TRY(is_last_look(d, q, &same));
  if (!same) LOOM_TRY(find_yarn_hits(d, q));
  const loom_status status = write_yarn_pairs(d, out);
  d->short_of_room = status == LOOM_GROW && d->set.search == SEARCH_SCHEDULE;
  return status;
}

static loom_status yarn_grid_detect(void *self, const loom_step *s, const loom_query *q,
                                    loom_pairs *out)
{
  yarn_grid *const d = self;
  (void)s;
  if (!(q->what & LOOM_DETECT_PROXIMITY) || !(q->kinds & LOOM_BIT(LOOM_PAIR_YY))) return LOOM_OK;
  if (d->table.num_segs == 0) return LOOM_OK;
  d->host->tic(d->host, "search");
  const loom_status status = search_yarn_pairs(d, q, out);
  d->host->toc(d->host, "search");
  if (status != LOOM_OK) return status; /* LOOM_GROW: the same once more, with more room */
  d->tracked = d->sched.num - d->sched.freed.n;
  d->examined += d->due;
  d->processed += d->near;
  d->found += d->hits.n;
  return LOOM_OK;
}

/* ---- columns of the log ---- */

static const loom_column columns[] = {
    {"tracked", "1", "entries of the schedule after the last search"},
    {"examined", "1", "entries that searches of this step examined"},
    {"processed", "1", "entries that they processed"},
    {"found", "1", "pairs of segments that they found"},
};

static loom_status yarn_grid_log_step(void *self, const loom_step *s, double *out)
{
  const yarn_grid *const d = self;
  (void)s;
  out[0] = (double)d->tracked;
  out[1] = (double)d->examined;
  out[2] = (double)d->processed;
  out[3] = (double)d->found;
  return LOOM_OK;
}

/* ---- descriptor ----
 */

static const loom_collision_ops ops = {.struct_size = sizeof ops,
                                       .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_EXCLUDE,
                                       .pair_kinds = LOOM_BIT(LOOM_PAIR_YY),
                                       .create = yarn_grid_create,
                                       .destroy = yarn_grid_destroy,
                                       .reset = yarn_grid_reset,
                                       .begin_step = yarn_grid_begin_step,
                                       .detect = yarn_grid_detect,
                                       .checkpoint = yarn_grid_checkpoint,
                                       .log_step = yarn_grid_log_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LK_BACKENDS),
    .name = "yarn_grid",
    .version = "0.1.0",
    .summary = "segments of yarns near each other, by a space-time schedule over hashed cells",
    .reference = "J. M. Kaldor, D. L. James, S. Marschner, Efficient yarn-based cloth with "
                 "adaptive contact linearization, ACM TOG 29(4), 2010, doi 10.1145/1778765.1778842",
    .license = "MIT",
    LOOM_SETTINGS(yarn_grid_settings, params),
    LOOM_STEP_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
