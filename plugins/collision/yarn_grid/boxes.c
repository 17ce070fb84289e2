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
  yg_unpack(key, &p[0], &p[1], &p[2], &p[3]);
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
    if (!yg_compare_anew(&d->sched, a, b0, b1)) return 0;
  return 1;
}

int yg_index_boxes(yarn_grid *d, const yarn_line *l)
{
  const int32_t ns = l->num_segs;
  int32_t a0, a1, b0, b1;
  memset(d->box_at, 0, ((size_t)ns + 2) * sizeof *d->box_at);
  for (int64_t k = 0; k < d->num_boxes; ++k) {
    segments_of(l, d->sc->num_yarns, d->boxes[k], &a0, &a1, &b0, &b1);
    for (int32_t a = a0; a <= a1; ++a) ++d->box_at[a + 2];
  }
  for (int32_t a = 2; a <= ns + 1; ++a) d->box_at[a] += d->box_at[a - 1];
  void *p = d->box_list;
  const int ok = grow_room(&p, &d->list_cap, d->box_at[ns + 1], sizeof *d->box_list);
  d->box_list = p;
  for (int64_t k = 0; ok && k < d->num_boxes; ++k) {
    segments_of(l, d->sc->num_yarns, d->boxes[k], &a0, &a1, &b0, &b1);
    for (int32_t a = a0; a <= a1; ++a) d->box_list[d->box_at[a + 1]++] = (int32_t)k;
  }
  return ok;
}

loom_status yg_take_boxes(yarn_grid *d, const yarn_line *l, loom_buf *exclude)
{
  const loom_host *const h = d->h;
  const int64_t n = exclude != NULL ? h->buf_count(h, exclude) : 0;
  void *p = NULL;
  if (n == 0 && d->num_boxes == 0) return LOOM_OK;
  if (exclude != NULL) LOOM_TRY(h->map(h, NULL, exclude, LOOM_READ, LOOM_AT_HOST, &p));
  const uint64_t *const now = p;
  const int same = n == d->num_boxes && memcmp(now, d->boxes, (size_t)n * sizeof *now) == 0;
  if (!same) {
    for (int64_t i = 0, j = 0; i < d->num_boxes; ++i) {
      while (j < n && now[j] < d->boxes[i]) ++j;
      if (j < n && now[j] == d->boxes[i]) continue;
      if (d->set.search == SEARCH_SCHEDULE) YG_MEMORY(d, let_go(d, l, d->boxes[i]));
    }
    void *q = d->boxes;
    const int ok = grow_room(&q, &d->boxes_cap, n, sizeof *d->boxes);
    d->boxes = q;
    YG_MEMORY(d, ok);
    if (n > 0) memcpy(d->boxes, now, (size_t)n * sizeof *now);
    d->num_boxes = n;
    for (int64_t k = 0; k < n; ++k) {
      int32_t u0, u1, v0, v1;
      yg_unpack(d->boxes[k], &u0, &u1, &v0, &v1);
      LOOM_CHECK(h, u1 < l->num_points && v1 < l->num_points && (k == 0 || now[k] > now[k - 1]),
                 LOOM_E_ARG,
                 "box %lld of the pairs to leave out names points %d to %d and %d to %d of %d, or "
                 "does not ascend",
                 (long long)k, (int)u0, (int)u1, (int)v0, (int)v1, (int)l->num_points);
    }
    YG_MEMORY(d, yg_index_boxes(d, l));
  }
  return exclude != NULL ? h->unmap(h, exclude) : LOOM_OK;
}
