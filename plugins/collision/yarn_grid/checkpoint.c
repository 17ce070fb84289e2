/* checkpoint.c - saves and restores the schedule and the snapshots of its bins.  A file may hold
 * any numbers: indices and bounds of loops are compared with their valid ranges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/state.h"
#include "yarn_grid.h"

#define YARN_GRID_BELIEVE(h, ok, name, k)                                                          \
  LOOM_CHECK(h, ok, LOOM_E_IO, "the checkpoint's %s cannot be (number %lld); start the run again", \
             name, (long long)(k))

/* Index of the first value that is not finite, n: none. */
static int64_t find_nonfinite_position(const loom_real *v, int64_t n)
{
  int64_t k = 0;
  while (k < n && isfinite(v[k])) ++k;
  return k;
}

/* Positions [n], there and back. */
static loom_status whole_io(yarn_grid *d, int restore, const char *name, int64_t n, loom_buf *b)
{
  const loom_host *const host = d->host;
  void *p;
  LOOM_TRY(host->state_io(host, restore, name, b));
  LOOM_TRY(state_has(host, b, name, n));
  if (!restore) return LOOM_OK;
  LOOM_TRY(host->map(host, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
  const int64_t bad = find_nonfinite_position(p, n);
  LOOM_TRY(host->unmap(host, b));
  YARN_GRID_BELIEVE(host, bad == n, name, bad);
  return LOOM_OK;
}

/* ---- entries ---- */

/* Entries are saved in the order of the bins; their places in the list `entry` have no effect on
 * results. */
static loom_status save_entries(yarn_grid *d, int64_t num)
{
  const yarn_grid_schedule *const s = &d->sched;
  int32_t *const id = calloc((size_t)num * 3 + 1, sizeof *id);
  loom_real *const dist = calloc((size_t)num + 1, sizeof *dist);
  const int ok = id != NULL && dist != NULL;
  int64_t n = 0;
  for (int b = 0; ok && b < YARN_GRID_BINS; ++b)
    for (int64_t i = 0; i < s->bin[b].n; ++i, ++n) {
      const yarn_grid_entry *const e = &s->entry[s->bin[b].v[i]];
      id[3 * n] = e->a;
      id[3 * n + 1] = e->b;
      id[3 * n + 2] = b;
      dist[n] = e->d;
    }
  loom_status status = LOOM_OK;
  if (ok) status = state_save(d->host, "yarn entries", LOOM_I32, 3 * num, id);
  if (ok && status == LOOM_OK)
    status = state_save(d->host, "yarn clearances", LOOM_REAL, num, dist);
  free(id);
  free(dist);
  YARN_GRID_MEMORY(d, ok);
  return status;
}

static loom_status load_entries(yarn_grid *d, int64_t num)
{
  const loom_host *const host = d->host;
  yarn_grid_schedule *const s = &d->sched;
  loom_buf *ids = NULL, *dists = NULL;
  const void *p, *q;
  LOOM_TRY(state_open(d->host, "yarn entries", LOOM_I32, 3 * num, &ids, &p));
  LOOM_TRY(state_open(d->host, "yarn clearances", LOOM_REAL, num, &dists, &q));
  const int32_t *id = p;
  const loom_real *const dist = q;
  for (int64_t k = 0; k < num; ++k, id += 3) {
    YARN_GRID_BELIEVE(host, id[0] >= 0 && id[0] < id[1] && id[1] < s->num_segs,
                      "segments of entries", k);
    YARN_GRID_BELIEVE(host, id[2] >= 0 && id[2] < YARN_GRID_BINS, "bins of entries", k);
    YARN_GRID_BELIEVE(host, !isnan(dist[k]), "clearances", k);
    YARN_GRID_MEMORY(d, yarn_grid_restore_entry(s, id[0], id[1], dist[k], id[2]));
  }
  LOOM_TRY(state_close(d->host, dists));
  return state_close(d->host, ids);
}

/* ---- cells ---- */

/* After the entries: none is made twice. */
static loom_status load_cells(yarn_grid *d, int64_t count)
{
  const loom_host *const host = d->host;
  loom_buf *b = NULL;
  const void *p;
  LOOM_TRY(state_open(d->host, "yarn cells", LOOM_I32, count, &b, &p));
  const int32_t *c = p;
  for (int64_t k = 0; k < count; k += 6, c += 6) {
    double num = 1.0;
    for (int i = 0; i < 3; ++i) {
      /* a segment that was nowhere yet has no cells: 1 to 0 */
      YARN_GRID_BELIEVE(host,
                        c[i] >= -YARN_GRID_CELL_MAX && c[3 + i] <= YARN_GRID_CELL_MAX &&
                            c[i] - 1 <= c[3 + i],
                        "cells", k + i);
      num *= 1.0 + (double)c[3 + i] - (double)c[i];
    }
    YARN_GRID_BELIEVE(host, num <= YARN_GRID_MOST_CELLS, "cells", k);
  }
  YARN_GRID_MEMORY(d, yarn_grid_enter_cells(&d->sched, p));
  return state_close(d->host, b);
}

/* ---- boxes ---- */

static loom_status load_boxes(yarn_grid *d, const yarn_line *l, int64_t num)
{
  const loom_host *const host = d->host;
  void *p;
  LOOM_TRY(host->state_io(host, 1, "yarn boxes", d->boxes));
  LOOM_TRY(state_has(host, d->boxes, "yarn boxes", num));
  LOOM_TRY(host->map(host, NULL, d->boxes, LOOM_READ, LOOM_AT_HOST, &p));
  const int64_t bad = yarn_grid_find_bad_box(l, p, num);
  LOOM_TRY(host->unmap(host, d->boxes));
  YARN_GRID_BELIEVE(host, bad == num, "boxes", bad);
  d->num_boxes = num;
  return yarn_grid_index_boxes(d, l);
}

/* ---- all ---- */

static loom_status positions_io(yarn_grid *d, int restore)
{
  const int64_t n3 = 3 * (int64_t)d->n;
  LOOM_TRY(whole_io(d, restore, "yarn x1", n3, d->x1));
  LOOM_TRY(whole_io(d, restore, "yarn x2", n3, d->x2));
  LOOM_TRY(whole_io(d, restore, "yarn references", n3, d->ref));
  for (int b = 1; b < YARN_GRID_BINS; ++b) {
    char name[32];
    snprintf(name, sizeof name, "yarn snapshot %d", b);
    LOOM_TRY(whole_io(d, restore, name, n3, d->snap[b]));
  }
  return LOOM_OK;
}

static loom_status save_yarn_grid(yarn_grid *d)
{
  yarn_grid_schedule *const s = &d->sched;
  int64_t head[4] = {s->tick, d->history, s->num - s->freed.n, d->num_boxes};
  loom_real margin = (loom_real)d->margin;
  LOOM_TRY(state_save(d->host, "yarn counts", LOOM_I64, 4, head));
  LOOM_TRY(state_save(d->host, "yarn margin", LOOM_REAL, 1, &margin));
  LOOM_TRY(positions_io(d, 0));
  LOOM_TRY(state_save(d->host, "yarn cells", LOOM_I32, 6 * (int64_t)s->num_segs, s->cells));
  LOOM_TRY(save_entries(d, head[2]));
  LOOM_TRY(d->host->buf_resize(d->host, d->boxes, d->num_boxes)); /* after a reset it is longer */
  return d->host->state_io(d->host, 0, "yarn boxes", d->boxes);
}

static loom_status load_yarn_grid(yarn_grid *d, const yarn_line *l)
{
  const loom_host *const host = d->host;
  yarn_grid_schedule *const s = &d->sched;
  int64_t head[4];
  loom_real margin;
  yarn_grid_forget(d);
  YARN_GRID_MEMORY(d, s->num_segs == d->table.num_segs);
  LOOM_TRY(state_items(host, 1, "yarn counts", LOOM_I64, 4, head));
  YARN_GRID_BELIEVE(host, head[0] >= 0 && head[0] < INT64_MAX / 2, "tick", head[0]);
  YARN_GRID_BELIEVE(host, head[1] >= 0 && head[1] <= 2, "history", head[1]);
  YARN_GRID_BELIEVE(host, head[2] >= 0 && head[2] <= INT32_MAX, "number of entries", head[2]);
  YARN_GRID_BELIEVE(host, head[3] >= 0 && head[3] <= INT32_MAX / 256, "number of boxes", head[3]);
  LOOM_TRY(state_items(host, 1, "yarn margin", LOOM_REAL, 1, &margin));
  YARN_GRID_BELIEVE(host, isfinite(margin), "margin", 0);
  LOOM_TRY(positions_io(d, 1));
  LOOM_TRY(load_entries(d, head[2]));
  LOOM_TRY(load_cells(d, 6 * (int64_t)s->num_segs));
  YARN_GRID_BELIEVE(host, s->due.n == 0, "cells, in which segments meet that have no entry",
                    s->due.n);
  s->tick = head[0];
  d->history = (int32_t)head[1];
  d->margin = (double)margin;
  return load_boxes(d, l, head[3]);
}

loom_status yarn_grid_checkpoint(void *self, const loom_step *st, int restore)
{
  yarn_grid *const d = self;
  plug_maps m = plug_maps_on(d->host, NULL);
  (void)st;
  if (d->table.num_segs == 0 || d->set.search != SEARCH_SCHEDULE) return LOOM_OK;
  LOOM_TRY(yarn_table_checkpoint(d->host, restore, "yarn radii", d->sc, &d->table));
  if (!restore) return save_yarn_grid(d);
  const yarn_line l = yarn_line_bind(&m, d->sc, &d->table);
  LOOM_TRY(m.status);
  LOOM_TRY(load_yarn_grid(d, &l));
  return plug_unbind(&m);
}
