/* state.c - memory of the instance, and what a checkpoint keeps. */
#include <stdlib.h>
#include <string.h>

#include "yarn_grid.h"

static loom_real *middles(const yarn_line *l, const loom_real *x)
{
  loom_real *const mid = malloc(((size_t)l->num_segs * 3 + 1) * sizeof *mid);
  for (int32_t s = 0; mid != NULL && s < l->num_segs; ++s)
    for (int c = 0; c < 3; ++c) {
      const int32_t *const v = l->segs + 4 * (ptrdiff_t)s;
      mid[3 * s + c] = (x[3 * (ptrdiff_t)v[1] + c] + x[3 * (ptrdiff_t)v[2] + c]) / 2;
    }
  return mid;
}

static loom_status new_search(yarn_grid *d)
{
  yarn_line l;
  void *x;
  if (d->table.num_segs == 0 || d->set.search == SEARCH_SCHEDULE) return LOOM_OK;
  LOOM_TRY(yarn_line_open(d->h, d->sc, d->e, &d->table, &l));
  LOOM_TRY(d->h->map(d->h, d->e, d->sc->rest_x, LOOM_READ, LOOM_AT_EXEC, &x));
  loom_real *const mid = middles(&l, x);
  const int ok = mid != NULL &&
                 yg_search_new(&d->search, l.num_segs, d->set.search == SEARCH_BVH ? mid : NULL);
  free(mid);
  YG_MEMORY(d, ok);
  LOOM_TRY(d->h->unmap(d->h, d->sc->rest_x));
  return yarn_line_close(d->h, d->sc, &d->table);
}

loom_status yg_state_new(yarn_grid *d)
{
  const size_t ns = (size_t)d->table.num_segs, n3 = 3 * (size_t)d->n, real = sizeof(loom_real);
  d->P = calloc(YARN_POS * ns + 1, real);
  d->box = calloc(6 * ns + 1, real);
  d->cells = calloc(6 * ns + 1, sizeof *d->cells);
  d->move = calloc(6 * ns + 1, real);
  d->change = calloc(6 * ns + 1, real);
  d->x1 = calloc(n3 + 1, real);
  d->x2 = calloc(n3 + 1, real);
  d->ref = calloc(n3 + 1, real);
  d->alarm = calloc((size_t)d->n + 1, 1);
  d->box_at = calloc(ns + 2, sizeof *d->box_at);
  int ok = d->P != NULL && d->box != NULL && d->cells != NULL && d->move != NULL &&
           d->change != NULL && d->x1 != NULL && d->x2 != NULL && d->ref != NULL &&
           d->alarm != NULL && d->box_at != NULL;
  d->snap[0] = d->x1;
  for (int b = 1; b < YG_BINS; ++b) {
    d->snap[b] = calloc(n3 + 1, real);
    d->window[b] = calloc(6 * ns + 1, real);
    ok = ok && d->snap[b] != NULL && d->window[b] != NULL;
  }
  YG_MEMORY(d, ok && yg_schedule_new(&d->sched, d->table.num_segs));
  return new_search(d);
}

void yg_state_free(yarn_grid *d)
{
  yg_schedule_free(&d->sched);
  yg_search_free(&d->search);
  for (int b = 1; b < YG_BINS; ++b) free(d->snap[b]), free(d->window[b]);
  free(d->P), free(d->box), free(d->cells), free(d->move), free(d->change);
  free(d->x1), free(d->x2), free(d->ref), free(d->alarm);
  free(d->look), free(d->boxes), free(d->box_at), free(d->box_list), free(d->hits.v);
}

/* Without memory for empty lists the next look reports it. */
void yg_forget(yarn_grid *d)
{
  yg_schedule_free(&d->sched);
  if (!yg_schedule_new(&d->sched, d->table.num_segs)) d->sched.num_segs = 0;
  d->history = 0;
  d->num_boxes = 0;
}

/* ---- checkpoint ----------------------------------------------------------------------------- */

static loom_status values_io(yarn_grid *d, int restore, const char *name, int type, int64_t n,
                             size_t size, void *values)
{
  const loom_host *const h = d->h;
  loom_buf *b = NULL;
  void *p;
  LOOM_TRY(h->buf_new(h, name, type, n, &b));
  if (!restore) {
    LOOM_TRY(h->map(h, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
    if (n > 0) memcpy(p, values, (size_t)n * size);
    LOOM_TRY(h->unmap(h, b));
  }
  LOOM_TRY(h->state_io(h, restore, name, b));
  if (restore) {
    LOOM_CHECK(h, h->buf_count(h, b) == n, LOOM_E_IO,
               "the checkpoint has %lld values of %s, %lld are wanted; it belongs to another scene",
               (long long)h->buf_count(h, b), name, (long long)n);
    LOOM_TRY(h->map(h, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
    if (n > 0) memcpy(values, p, (size_t)n * size);
    LOOM_TRY(h->unmap(h, b));
  }
  h->buf_free(h, b);
  return LOOM_OK;
}

static loom_status reals_io(yarn_grid *d, int restore, const char *name, int64_t n, loom_real *v)
{
  return values_io(d, restore, name, LOOM_REAL, n, sizeof *v, v);
}

/* Entries in the order of the bins: which one is where in a list changes no result. */
static loom_status entries_io(yarn_grid *d, int restore, int64_t num)
{
  yg_schedule *const s = &d->sched;
  int32_t *const id = malloc(((size_t)num * 3 + 1) * sizeof *id);
  loom_real *const dist = malloc(((size_t)num + 1) * sizeof *dist);
  int64_t n = 0;
  int ok = id != NULL && dist != NULL;
  for (int b = 0; ok && !restore && b < YG_BINS; ++b)
    for (int64_t i = 0; i < s->bin[b].n; ++i, ++n) {
      const yg_entry *const e = &s->entry[s->bin[b].v[i]];
      id[3 * n] = e->a;
      id[3 * n + 1] = e->b;
      id[3 * n + 2] = b;
      dist[n] = e->d;
    }
  loom_status status = LOOM_OK;
  if (ok) status = values_io(d, restore, "yarn entries", LOOM_I32, 3 * num, sizeof *id, id);
  if (ok && status == LOOM_OK) status = reals_io(d, restore, "yarn clearances", num, dist);
  for (int64_t k = 0; ok && restore && status == LOOM_OK && k < num; ++k)
    ok = yg_restore_entry(s, id[3 * k], id[3 * k + 1], dist[k], id[3 * k + 2]);
  free(id);
  free(dist);
  YG_MEMORY(d, ok);
  return status;
}

loom_status yg_checkpoint(void *self, const loom_step *st, int restore)
{
  yarn_grid *const d = self;
  yg_schedule *const s = &d->sched;
  const int64_t n3 = 3 * (int64_t)d->n, ns6 = 6 * (int64_t)d->table.num_segs;
  int64_t head[4] = {s->tick, d->history, s->num - s->freed.n, d->num_boxes};
  double margin = d->margin;
  (void)st;
  if (d->table.num_segs == 0 || d->set.search != SEARCH_SCHEDULE) return LOOM_OK;
  if (restore) yg_forget(d);
  LOOM_TRY(values_io(d, restore, "yarn counts", LOOM_I64, 4, sizeof *head, head));
  loom_real m = (loom_real)margin;
  LOOM_TRY(reals_io(d, restore, "yarn margin", 1, &m));
  LOOM_TRY(reals_io(d, restore, "yarn x1", n3, d->x1));
  LOOM_TRY(reals_io(d, restore, "yarn x2", n3, d->x2));
  LOOM_TRY(reals_io(d, restore, "yarn references", n3, d->ref));
  for (int b = 1; b < YG_BINS; ++b) {
    char name[32];
    snprintf(name, sizeof name, "yarn snapshot %d", b);
    LOOM_TRY(reals_io(d, restore, name, n3, d->snap[b]));
  }
  int32_t *const cells = malloc(((size_t)ns6 + 1) * sizeof *cells);
  YG_MEMORY(d, cells != NULL);
  memcpy(cells, s->cells, (size_t)ns6 * sizeof *cells);
  loom_status status = values_io(d, restore, "yarn cells", LOOM_I32, ns6, sizeof *cells, cells);
  /* entries exist before their cells are entered, so none is made twice */
  if (status == LOOM_OK) status = entries_io(d, restore, head[2]);
  if (restore && status == LOOM_OK && !yg_enter_cells(s, cells)) status = LOOM_E_NOMEM;
  free(cells);
  LOOM_TRY(status);
  if (restore) {
    YG_MEMORY(d, s->due.n == 0); /* all that meet had entries */
    s->tick = head[0];
    d->history = (int32_t)head[1];
    d->margin = (double)m;
    void *q = d->boxes;
    const int ok = grow_room(&q, &d->boxes_cap, head[3], sizeof *d->boxes);
    d->boxes = q;
    YG_MEMORY(d, ok);
    d->num_boxes = head[3];
  }
  LOOM_TRY(values_io(d, restore, "yarn boxes", LOOM_U64, d->num_boxes, sizeof *d->boxes, d->boxes));
  if (!restore) return LOOM_OK;
  yarn_line l;
  LOOM_TRY(yarn_line_open(d->h, d->sc, d->e, &d->table, &l));
  YG_MEMORY(d, yg_index_boxes(d, &l));
  return yarn_line_close(d->h, d->sc, &d->table);
}
