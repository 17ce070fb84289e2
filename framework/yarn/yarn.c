/* yarn.c - sets of yarns: arrays, segments, and the nearest places of two yarns. */
#include "yarn/yarn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/spline.kern.h"

void yarn_free(yarn_set *y)
{
  free(y->first);
  free(y->closed);
  free(y->loop);
  free(y->glue);
  *y = (yarn_set){0};
}

loom_status yarn_alloc(loom_err *err, int64_t num_verts, int64_t num_yarns, int64_t num_glue,
                       yarn_set *y)
{
  *y = (yarn_set){.num_yarns = (int32_t)num_yarns, .num_glue = (int32_t)num_glue};
  LOOM_TRY(mesh_alloc(err, num_yarns + 1, sizeof *y->first, &y->first));
  LOOM_TRY(mesh_alloc(err, num_yarns, 1, &y->closed));
  LOOM_TRY(mesh_alloc(err, 2 * num_verts, sizeof *y->loop, &y->loop));
  memset(y->loop, -1, 2 * (size_t)num_verts * sizeof *y->loop);
  return mesh_alloc(err, 2 * num_glue, sizeof *y->glue, &y->glue);
}

int32_t yarn_num_segs(const yarn_set *y, int32_t k)
{
  return y->first[k + 1] - y->first[k] - (y->closed[k] ? 0 : 1);
}

int32_t yarn_num_joints(const yarn_set *y, int32_t k)
{
  const int32_t n = y->first[k + 1] - y->first[k];
  return y->closed[k] ? n : n > 2 ? n - 2 : 0;
}

void yarn_segment(const yarn_set *y, int32_t k, int32_t j, int32_t seg[4])
{
  const int32_t first = y->first[k], n = y->first[k + 1] - first;
  for (int a = 0; a < 4; ++a) {
    const int32_t i = j + a - 1;
    if (y->closed[k])
      seg[a] = first + (i + n) % n;
    else
      seg[a] = i < 0 || i >= n ? -1 : first + i;
  }
}

/* ---- nearest places ---- */

typedef struct cells {
  const yarn_view *v;
  int64_t num;     /* points: YARN_SAMPLES to a segment, whose end is the next one's start, ... */
  int64_t inner;   /* ... of all segments, and then the last ends of open yarns */
  int32_t *end;    /* [num - inner] their yarns */
  double *p;       /* [num][3] m */
  double size;     /* m, side of a cell: the largest sum of radii */
  uint32_t mask;   /* buckets - 1 */
  int64_t *start;  /* [buckets + 1] */
  int32_t *sorted; /* [num] points by bucket */
} cells;

static uint32_t hash_yarn_cell(const cells *c, const int64_t k[3])
{
  const uint64_t h = (uint64_t)k[0] * UINT64_C(0x9E3779B97F4A7C15) ^
                     (uint64_t)k[1] * UINT64_C(0xC2B2AE3D27D4EB4F) ^
                     (uint64_t)k[2] * UINT64_C(0x165667B19E3779F9);
  return (uint32_t)(h >> 32) & c->mask;
}

static void find_sample_cell(const cells *c, const double *p, int64_t k[3])
{
  for (int d = 0; d < 3; ++d) k[d] = (int64_t)floor(p[d] / c->size);
}

/* The point at `share` of segment s. */
static void sample_yarn_point(const cells *c, int32_t s, lk_real share, double *p)
{
  lk_real q[12], w[4], y[3];
  const int32_t *const seg = c->v->segs + 4 * (int64_t)s;
  for (int a = 0; a < 4; ++a)
    for (int d = 0; d < 3; ++d) {
      const int near = a == 0 ? 1 : 2, far = a == 0 ? 2 : 1; /* of an open end */
      q[3 * a + d] = (lk_real)(seg[a] >= 0 ? c->v->x[3 * (int64_t)seg[a] + d]
                                           : 2 * c->v->x[3 * (int64_t)seg[near] + d] -
                                                 c->v->x[3 * (int64_t)seg[far] + d]);
    }
  spline_weights(share, w);
  spline_at(q, w, y);
  for (int d = 0; d < 3; ++d) p[d] = (double)y[d];
}

/* Segment of point i, and its number along all yarns, by which neighbours are known. */
static int32_t segment_of_sample(const cells *c, int64_t i)
{
  return i < c->inner ? (int32_t)(i / YARN_SAMPLES) : c->v->yarn_seg[c->end[i - c->inner] + 1] - 1;
}
static int64_t number_of_sample(const cells *c, int64_t i)
{
  return i < c->inner ? i : (int64_t)c->v->yarn_seg[c->end[i - c->inner] + 1] * YARN_SAMPLES;
}

static void sample_yarn_points(cells *c)
{
  for (int64_t i = 0; i < c->inner; ++i)
    sample_yarn_point(c, (int32_t)(i / YARN_SAMPLES), (lk_real)(i % YARN_SAMPLES) / YARN_SAMPLES,
                      c->p + 3 * i);
  for (int64_t i = c->inner; i < c->num; ++i)
    sample_yarn_point(c, segment_of_sample(c, i), LK_R(1.0), c->p + 3 * i);
}

static loom_status sort_cells(loom_err *err, cells *c)
{
  uint32_t buckets = 64;
  int64_t k[3];
  while (buckets < 2 * c->num && buckets < UINT32_C(1) << 28) buckets *= 2;
  c->mask = buckets - 1;
  LOOM_TRY(mesh_alloc(err, (int64_t)buckets + 1, sizeof *c->start, &c->start));
  LOOM_TRY(mesh_alloc(err, c->num, sizeof *c->sorted, &c->sorted));
  for (int64_t i = 0; i < c->num; ++i) {
    find_sample_cell(c, c->p + 3 * i, k);
    ++c->start[hash_yarn_cell(c, k) + 1];
  }
  for (uint32_t h = 0; h < buckets; ++h) c->start[h + 1] += c->start[h];
  for (int64_t i = c->num - 1; i >= 0; --i) { /* the ends of the buckets move to their starts */
    find_sample_cell(c, c->p + 3 * i, k);
    c->sorted[--c->start[hash_yarn_cell(c, k) + 1]] = (int32_t)i;
  }
  /* start[h + 1] is now where bucket h begins */
  memmove(c->start, c->start + 1, buckets * sizeof *c->start);
  c->start[buckets] = c->num;
  return LOOM_OK;
}

/* Points of one yarn up to 1.5 segments apart belong together. */
static int is_yarn_neighbour(const cells *c, int32_t i, int32_t j)
{
  const int32_t k = c->v->seg_yarn[segment_of_sample(c, i)];
  if (c->v->seg_yarn[segment_of_sample(c, j)] != k) return 0;
  const int64_t total = (int64_t)(c->v->yarn_seg[k + 1] - c->v->yarn_seg[k]) * YARN_SAMPLES;
  int64_t d = llabs((long long)(number_of_sample(c, i) - number_of_sample(c, j)));
  if (c->v->closed[k] && total - d < d) d = total - d;
  return 2 * d <= 3 * YARN_SAMPLES;
}

static void compare_sample_pair(const cells *c, int32_t i, int32_t j, double limit, yarn_near *out)
{
  if (j <= i || is_yarn_neighbour(c, i, j)) return;
  double d2 = 0;
  for (int d = 0; d < 3; ++d) {
    const double e = c->p[3 * (int64_t)i + d] - c->p[3 * (int64_t)j + d];
    d2 += e * e;
  }
  const int32_t si = segment_of_sample(c, i), sj = segment_of_sample(c, j);
  const double sum = c->v->radius[c->v->seg_yarn[si]] + c->v->radius[c->v->seg_yarn[sj]];
  const double ratio = sqrt(d2) / sum;
  if (ratio < limit) ++out->overlaps;
  if (ratio >= out->ratio) return;
  *out = (yarn_near){ratio, sqrt(d2), {si < sj ? si : sj, si < sj ? sj : si}, out->overlaps};
}

static void search_sample_cells(const cells *c, double limit, yarn_near *out)
{
  for (int32_t i = 0; i < c->num; ++i) {
    int64_t k[3];
    uint32_t seen[27] = {0};
    int num = 0;
    find_sample_cell(c, c->p + 3 * (int64_t)i, k);
    for (int n = 0; n < 27; ++n) {
      const int64_t at[3] = {k[0] + n % 3 - 1, k[1] + n / 3 % 3 - 1, k[2] + n / 9 - 1};
      const uint32_t h = hash_yarn_cell(c, at);
      int again = 0;
      for (int m = 0; m < num; ++m) again |= seen[m] == h;
      if (again) continue; /* two cells share this bucket */
      seen[num++] = h;
      for (int64_t q = c->start[h]; q < c->start[h + 1]; ++q)
        compare_sample_pair(c, i, c->sorted[q], limit, out);
    }
  }
}

loom_status yarn_find_nearest(loom_err *err, const yarn_view *v, double limit, yarn_near *out)
{
  cells c = {.v = v, .inner = (int64_t)v->num_segs * YARN_SAMPLES};
  *out = (yarn_near){.ratio = INFINITY, .distance = INFINITY, .seg = {-1, -1}};
  if (c.inner > INT32_MAX - v->num_yarns)
    return err_set(err, LOOM_E_CONFIG, "%d segments of yarn are too many", v->num_segs);
  for (int32_t k = 0; k < v->num_yarns; ++k) c.size = fmax(c.size, 2 * v->radius[k]);
  loom_status s = mesh_alloc(err, v->num_yarns, sizeof *c.end, &c.end);
  c.num = c.inner;
  for (int32_t k = 0; k < v->num_yarns && s == LOOM_OK; ++k)
    if (!v->closed[k] && v->yarn_seg[k + 1] > v->yarn_seg[k]) c.end[c.num++ - c.inner] = k;
  if (s == LOOM_OK) s = mesh_alloc(err, 3 * c.num, sizeof *c.p, &c.p);
  if (s == LOOM_OK) sample_yarn_points(&c);
  if (s == LOOM_OK) s = sort_cells(err, &c);
  if (s == LOOM_OK) search_sample_cells(&c, limit, out);
  free(c.end);
  free(c.p);
  free(c.start);
  free(c.sorted);
  return s;
}
