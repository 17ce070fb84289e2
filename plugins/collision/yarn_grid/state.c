/* state.c - memory of the instance, and the arrays of a checkpoint. */
#include <stdlib.h>
#include <string.h>

#include "yarn_grid.h"

static loom_real *compute_segment_middles(const yarn_line *l, const loom_real *x)
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
  plug_maps m = plug_maps_on(d->host, NULL);
  if (d->table.num_segs == 0 || d->set.search == SEARCH_SCHEDULE) return LOOM_OK;
  const yarn_line l = yarn_line_bind(&m, d->sc, &d->table);
  const loom_real *const x = plug_read_host(&m, d->sc->rest_x);
  LOOM_TRY(m.status);
  loom_real *const mid = compute_segment_middles(&l, x);
  const int ok = mid != NULL && yarn_grid_search_new(&d->search, l.num_segs,
                                                     d->set.search == SEARCH_BVH ? mid : NULL);
  free(mid);
  YARN_GRID_MEMORY(d, ok);
  return plug_unbind(&m);
}

loom_status yarn_grid_state_new(yarn_grid *d)
{
  const loom_host *const host = d->host;
  const int64_t ns = d->table.num_segs, n3 = 3 * (int64_t)d->n;
  const plug_buf all[] = {{"sum of positions", LOOM_REAL, 3, &d->sum},
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
                          {"results of entries", LOOM_U8, 0, &d->look},
                          {"hits", LOOM_U8, 0, &d->hit},
                          {"boxes to leave out", LOOM_U64, 0, &d->boxes},
                          {"first boxes", LOOM_I32, ns + 2, &d->box_at},
                          {"boxes by segment", LOOM_I32, 0, &d->box_list}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  for (int b = 1; b < YARN_GRID_BINS; ++b) {
    LOOM_TRY(host->buf_new(host, "positions of a bin", LOOM_REAL, n3, &d->snap[b]));
    LOOM_TRY(host->buf_new(host, "movement since a bin", LOOM_REAL, 6 * ns, &d->window[b]));
  }
  YARN_GRID_MEMORY(d, yarn_grid_schedule_new(&d->sched, d->table.num_segs));
  return new_search(d);
}

void yarn_grid_state_free(yarn_grid *d)
{
  yarn_grid_schedule_free(&d->sched);
  yarn_grid_search_free(&d->search);
  free(d->hits.v);
}

/* Without memory for empty lists the next look reports it. */
void yarn_grid_forget(yarn_grid *d)
{
  yarn_grid_schedule_free(&d->sched);
  if (!yarn_grid_schedule_new(&d->sched, d->table.num_segs)) d->sched.num_segs = 0;
  d->history = 0;
  d->num_boxes = 0;
}
