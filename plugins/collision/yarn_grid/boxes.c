/* boxes.c - pairs that detection has to leave out: boxes of quadrature points. */
#include <stdlib.h>
#include <string.h>

#include "yarn_grid.h"
#include "yarn_pair.kern.h"

/* Segments of the point ranges of a box. */
static void segments_of(const yarn_line *l, int32_t num_yarns, uint64_t key, int32_t *a0,
                        int32_t *a1, int32_t *b0, int32_t *b1)
{
  int32_t p[4], out[4];
  yarn_grid_unpack(key, &p[0], &p[1], &p[2], &p[3]);
  for (int i = 0; i < 4; ++i) {
    /* bisection for the segment that owns the point: all have YARN_B of their own, open yarns one
     * more, so few are left */
    const int32_t last = l->num_segs - 1;
    int32_t hi = p[i] / YARN_B < last ? p[i] / YARN_B : last;
    int32_t lo = hi - num_yarns / YARN_B - 1 > 0 ? hi - num_yarns / YARN_B - 1 : 0;
    while (lo < hi) {
      const int32_t mid = lo + (hi - lo + 1) / 2;
      if (l->pt0[mid] <= p[i])
        lo = mid;
      else
        hi = mid - 1;
    }
    out[i] = lo;
  }
  *a0 = out[0];
  *a1 = out[1];
  *b0 = out[2];
  *b1 = out[3];
}

/* Pairs in this box are looked at again. */
static int let_go(yarn_grid *d, const yarn_line *l, uint64_t key)
{
  int32_t a0, a1, b0, b1;
  segments_of(l, d->sc->num_yarns, key, &a0, &a1, &b0, &b1);
  for (int32_t a = a0; a <= a1; ++a)
    if (!yarn_grid_compare_anew(&d->sched, a, b0, b1)) return 0;
  return 1;
}

loom_status yarn_grid_index_boxes(yarn_grid *d, const yarn_line *l)
{
  const loom_host *const host = d->host;
  const int32_t ns = l->num_segs, ny = d->sc->num_yarns;
  int32_t a0, a1, b0, b1;
  void *p, *q;
  LOOM_TRY(host->map(host, NULL, d->boxes, LOOM_READ, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, NULL, d->box_at, LOOM_WRITE, LOOM_AT_HOST, &q));
  const uint64_t *const boxes = p;
  int32_t *const at = q;
  memset(at, 0, ((size_t)ns + 2) * sizeof *at);
  for (int64_t k = 0; k < d->num_boxes; ++k) {
    segments_of(l, ny, boxes[k], &a0, &a1, &b0, &b1);
    for (int32_t a = a0; a <= a1; ++a) ++at[a + 2];
  }
  for (int32_t a = 2; a <= ns + 1; ++a) at[a] += at[a - 1];
  LOOM_TRY(host->buf_resize(host, d->box_list, at[ns + 1]));
  LOOM_TRY(host->map(host, NULL, d->box_list, LOOM_WRITE, LOOM_AT_HOST, &q));
  for (int64_t k = 0; k < d->num_boxes; ++k) {
    segments_of(l, ny, boxes[k], &a0, &a1, &b0, &b1);
    for (int32_t a = a0; a <= a1; ++a) ((int32_t *)q)[at[a + 1]++] = (int32_t)k;
  }
  LOOM_TRY(host->unmap(host, d->box_list));
  LOOM_TRY(host->unmap(host, d->box_at));
  return host->unmap(host, d->boxes);
}

int64_t yarn_grid_find_bad_box(const yarn_line *l, const uint64_t *box, int64_t n)
{
  for (int64_t k = 0; k < n; ++k) {
    int32_t u0, u1, v0, v1;
    yarn_grid_unpack(box[k], &u0, &u1, &v0, &v1);
    if (u1 >= l->num_points || v1 >= l->num_points || (k > 0 && box[k] <= box[k - 1])) return k;
  }
  return n;
}

/* The list `now` [n] takes the place of the one that was. */
static loom_status change_boxes(yarn_grid *d, const yarn_line *l, const uint64_t *now, int64_t n)
{
  const loom_host *const host = d->host;
  const int64_t bad = yarn_grid_find_bad_box(l, now, n);
  LOOM_CHECK(host, bad == n, LOOM_E_ARG,
             "box %lld of the pairs to leave out names points of which there are only %d, or does "
             "not ascend",
             (long long)bad, (int)l->num_points);
  LOOM_TRY(plug_put(host, NULL, d->boxes, LOOM_U64, now, n));
  d->num_boxes = n;
  return yarn_grid_index_boxes(d, l);
}

/* Boxes that were there and are not in `now` any more. */
static int let_all_go(yarn_grid *d, const yarn_line *l, const uint64_t *was, const uint64_t *now,
                      int64_t n)
{
  if (d->set.search != SEARCH_SCHEDULE) return 1;
  for (int64_t i = 0, j = 0; i < d->num_boxes; ++i) {
    while (j < n && now[j] < was[i]) ++j;
    if (j < n && now[j] == was[i]) continue;
    if (!let_go(d, l, was[i])) return 0;
  }
  return 1;
}

loom_status yarn_grid_take_boxes(yarn_grid *d, const yarn_line *l, loom_buf *exclude)
{
  const loom_host *const host = d->host;
  void *p = NULL, *was;
  if (exclude != NULL) LOOM_TRY(host->map(host, NULL, exclude, LOOM_READ, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, NULL, d->boxes, LOOM_READ, LOOM_AT_HOST, &was));
  const uint64_t *const now = p;
  const int64_t n = now != NULL ? host->buf_count(host, exclude) : 0;
  const int same = n == d->num_boxes && (n == 0 || memcmp(now, was, (size_t)n * sizeof *now) == 0);
  const int ok = same || let_all_go(d, l, was, now, n);
  LOOM_TRY(host->unmap(host, d->boxes));
  YARN_GRID_MEMORY(d, ok);
  if (!same) LOOM_TRY(change_boxes(d, l, now, n));
  return exclude != NULL ? host->unmap(host, exclude) : LOOM_OK;
}
