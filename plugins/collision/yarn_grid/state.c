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
  LOOM_TRY(yarn_line_open(d->h, d->sc, NULL, &d->table, &l));
  LOOM_TRY(d->h->map(d->h, NULL, d->sc->rest_x, LOOM_READ, LOOM_AT_HOST, &x));
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
  const loom_host *const h = d->h;
  const int64_t ns = d->table.num_segs, n3 = 3 * (int64_t)d->n;
  const struct {
    const char *name;
    int type;
    int64_t count;
    loom_buf **out;
  } all[] = {{"sum of positions", LOOM_REAL, 3, &d->sum},
             {"points", LOOM_REAL, YARN_POS * ns, &d->P},
             {"boxes of segments", LOOM_REAL, 6 * ns, &d->box},
             {"cells", LOOM_I32, 6 * ns, &d->cells},
             {"last positions", LOOM_REAL, n3, &d->x1},
             {"positions before", LOOM_REAL, n3, &d->x2},
             {"changes that bins count on", LOOM_REAL, n3, &d->ref},
             {"movement", LOOM_REAL, 6 * ns, &d->move},
             {"change of movement", LOOM_REAL, 6 * ns, &d->change},
             {"alarm", LOOM_U8, d->n, &d->alarm},
             {"woken segments", LOOM_U8, ns, &d->wake},
             {"entries to look at", LOOM_U8, 0, &d->ask},
             {"what they showed", LOOM_U8, 0, &d->look},
             {"hits", LOOM_U8, 0, &d->hit},
             {"boxes to leave out", LOOM_U64, 0, &d->boxes},
             {"first boxes", LOOM_I32, ns + 2, &d->box_at},
             {"boxes by segment", LOOM_I32, 0, &d->box_list}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(h->buf_new(h, all[i].name, all[i].type, all[i].count, all[i].out));
  for (int b = 1; b < YG_BINS; ++b) {
    LOOM_TRY(h->buf_new(h, "positions of a bin", LOOM_REAL, n3, &d->snap[b]));
    LOOM_TRY(h->buf_new(h, "movement since a bin", LOOM_REAL, 6 * ns, &d->window[b]));
  }
  YG_MEMORY(d, yg_schedule_new(&d->sched, d->table.num_segs));
  return new_search(d);
}

void yg_state_free(yarn_grid *d)
{
  loom_buf *const all[] = {d->sum,  d->P,    d->box,    d->cells,  d->x1,      d->x2,
                           d->ref,  d->move, d->change, d->alarm,  d->wake,    d->ask,
                           d->look, d->hit,  d->boxes,  d->box_at, d->box_list};
  yg_schedule_free(&d->sched);
  yg_search_free(&d->search);
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) d->h->buf_free(d->h, all[i]);
  for (int b = 1; b < YG_BINS; ++b) {
    d->h->buf_free(d->h, d->snap[b]);
    d->h->buf_free(d->h, d->window[b]);
  }
  free(d->hits.v);
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

static loom_status has_count(const loom_host *h, const loom_buf *b, const char *name, int64_t n)
{
  LOOM_CHECK(h, h->buf_count(h, b) == n, LOOM_E_IO,
             "the checkpoint has %lld values of %s, %lld are wanted; it belongs to another scene",
             (long long)h->buf_count(h, b), name, (long long)n);
  return LOOM_OK;
}

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
    LOOM_TRY(has_count(h, b, name, n));
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

/* A whole buffer of n items, there and back. */
static loom_status whole_io(yarn_grid *d, int restore, const char *name, int64_t n, loom_buf *b)
{
  const loom_host *const h = d->h;
  LOOM_TRY(h->state_io(h, restore, name, b));
  return has_count(h, b, name, n);
}

/* Entries in the order of the bins: which one is where in a list changes no result. */
static loom_status entries_io(yarn_grid *d, int restore, int64_t num)
{
  yg_schedule *const s = &d->sched;
  int32_t *const id = calloc((size_t)num * 3 + 1, sizeof *id);
  loom_real *const dist = calloc((size_t)num + 1, sizeof *dist);
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
  LOOM_TRY(whole_io(d, restore, "yarn x1", n3, d->x1));
  LOOM_TRY(whole_io(d, restore, "yarn x2", n3, d->x2));
  LOOM_TRY(whole_io(d, restore, "yarn references", n3, d->ref));
  for (int b = 1; b < YG_BINS; ++b) {
    char name[32];
    snprintf(name, sizeof name, "yarn snapshot %d", b);
    LOOM_TRY(whole_io(d, restore, name, n3, d->snap[b]));
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
    d->num_boxes = head[3];
  } else {
    LOOM_TRY(d->h->buf_resize(d->h, d->boxes, d->num_boxes)); /* after a reset it is longer */
  }
  LOOM_TRY(whole_io(d, restore, "yarn boxes", d->num_boxes, d->boxes));
  if (!restore) return LOOM_OK;
  yarn_line l;
  LOOM_TRY(yarn_line_open(d->h, d->sc, NULL, &d->table, &l));
  LOOM_TRY(yg_index_boxes(d, &l));
  return yarn_line_close(d->h, d->sc, &d->table);
}
