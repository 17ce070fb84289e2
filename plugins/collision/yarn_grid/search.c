/* search.c - see search.h. */
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yarn_pair.kern.h"

enum { CHUNK = 64, STACK = 64 };

int yarn_grid_add_hit(yarn_grid_hits *h, int32_t a, int32_t b, const yarn_grid_look *look)
{
  void *p = h->v;
  const int ok = grow_array(&p, &h->cap, h->n + 1, sizeof *h->v);
  h->v = p;
  if (!ok) return 0;
  h->v[h->n].a = a;
  h->v[h->n].b = b;
  h->v[h->n++].look = *look;
  return 1;
}

/* ---- life ---- */

typedef struct coded {
  uint64_t code;
  int32_t seg;
} coded;

static int by_code(const void *a, const void *b)
{
  const coded *const p = a, *const q = b;
  if (p->code != q->code) return p->code < q->code ? -1 : 1;
  return (p->seg > q->seg) - (p->seg < q->seg);
}

/* Interleaved bits of a position in the bounding box of all. */
static int sort_morton(int32_t n, const lk_real *mid, int32_t *order)
{
  coded *const c = malloc(((size_t)n + 1) * sizeof *c);
  double lo[3] = {INFINITY, INFINITY, INFINITY}, size = 0.0;
  if (c == NULL) return 0;
  for (int32_t i = 0; i < 3 * n; ++i) lo[i % 3] = fmin(lo[i % 3], (double)mid[i]);
  for (int32_t i = 0; i < 3 * n; ++i) size = fmax(size, (double)mid[i] - lo[i % 3]);
  for (int32_t i = 0; i < n; ++i) {
    c[i].code = 0;
    c[i].seg = i;
    for (int b = 15; b >= 0; --b)
      for (int k = 0; k < 3; ++k) {
        const double t = size > 0.0 ? ((double)mid[3 * i + k] - lo[k]) / size : 0.0;
        c[i].code = c[i].code << 1 | ((uint64_t)(t * 65535.0) >> b & 1u);
      }
  }
  qsort(c, (size_t)n, sizeof *c, by_code);
  for (int32_t i = 0; i < n; ++i) order[i] = c[i].seg;
  free(c);
  return 1;
}

int yarn_grid_search_new(yarn_grid_search *s, int32_t num_segs, const lk_real *mid)
{
  memset(s, 0, sizeof *s);
  s->num_segs = num_segs;
  s->size = 1024;
  while (s->size < 2 * (int64_t)num_segs) s->size *= 2;
  s->bucket = malloc(((size_t)s->size + 2) * sizeof *s->bucket);
  if (s->bucket == NULL) return 0;
  if (mid == NULL) return 1;
  yarn_grid_tree *const t = &s->tree;
  t->num_leaves = 1;
  while (t->num_leaves < num_segs) t->num_leaves *= 2;
  t->order = malloc((size_t)t->num_leaves * sizeof *t->order);
  t->box = malloc((size_t)t->num_leaves * 12 * sizeof *t->box);
  if (t->order == NULL || t->box == NULL) return 0;
  for (int32_t i = 0; i < t->num_leaves; ++i) t->order[i] = -1;
  return sort_morton(num_segs, mid, t->order);
}

void yarn_grid_search_free(yarn_grid_search *s)
{
  free(s->bucket);
  free(s->key);
  free(s->seg);
  free(s->tree.order);
  free(s->tree.box);
  memset(s, 0, sizeof *s);
}

/* ---- pairs ----
 */

static int boxes_meet(const lk_real *a, const lk_real *b)
{
  return a[0] <= b[3] && b[0] <= a[3] && a[1] <= b[4] && b[1] <= a[4] && a[2] <= b[5] &&
         b[2] <= a[5];
}

/* Compares two segments with boxes that meet; 0: no memory */
static int compare_segments(const yarn_grid_view *v, int32_t a, int32_t b, yarn_grid_hits *out)
{
  yarn_grid_look look;
  memset(&look, 0, sizeof look);
  yarn_grid_compare(&v->l, &v->boxes, v->P, a, b, v->margin, &look);
  return look.hits == 0 || yarn_grid_add_hit(out, a, b, &look);
}

typedef int (*partners_fn)(const yarn_grid_search *s, const yarn_grid_view *v, int32_t a,
                           yarn_grid_hits *out, int64_t *near);

/* Runs `f` for all segments in chunks, and joins the results in the order of the chunks. */
static int for_all(yarn_grid_search *s, const yarn_grid_view *v, partners_fn f, yarn_grid_hits *out,
                   int64_t *near)
{
  const int32_t chunks = (s->num_segs + CHUNK - 1) / CHUNK;
  yarn_grid_hits *const part = calloc((size_t)chunks + 1, sizeof *part);
  int64_t sum = 0;
  int ok = part != NULL;
#pragma omp parallel for schedule(dynamic, 4) num_threads(v->threads) reduction(&& : ok) \
    reduction(+ : sum)
  for (int32_t c = 0; c < chunks; ++c) {
    const int32_t end = (c + 1) * CHUNK < s->num_segs ? (c + 1) * CHUNK : s->num_segs;
    for (int32_t a = c * CHUNK; ok && a < end; ++a) ok = f(s, v, a, &part[c], &sum);
  }
  for (int32_t c = 0; part != NULL && c < chunks; ++c) {
    void *p = out->v;
    ok = ok && grow_array(&p, &out->cap, out->n + part[c].n, sizeof *out->v);
    out->v = p;
    if (ok && part[c].n > 0) memcpy(out->v + out->n, part[c].v, (size_t)part[c].n * sizeof *out->v);
    out->n += ok ? part[c].n : 0;
    free(part[c].v);
  }
  free(part);
  *near = sum;
  return ok;
}

/* ---- cells ----
 */

static uint64_t search_cell_key(int32_t i, int32_t j, int32_t k)
{
  const int32_t m = YARN_GRID_CELL_MAX + 1;
  return (uint64_t)(i + m) << 42 | (uint64_t)(j + m) << 21 | (uint64_t)(k + m);
}

static int64_t bucket_of(const yarn_grid_search *s, uint64_t z)
{
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (int64_t)((z ^ z >> 31) & (uint64_t)(s->size - 1));
}

#define EACH_CELL(c, i, j, k)                  \
  for (int32_t i = (c)[0]; i <= (c)[3]; ++i)   \
    for (int32_t j = (c)[1]; j <= (c)[4]; ++j) \
      for (int32_t k = (c)[2]; k <= (c)[5]; ++k)

/* Entries of all segments, by counting. */
static int fill_buckets(yarn_grid_search *s, const yarn_grid_view *v)
{
  memset(s->bucket, 0, ((size_t)s->size + 2) * sizeof *s->bucket);
  for (int32_t a = 0; a < s->num_segs; ++a) EACH_CELL(v->cells + 6 * (ptrdiff_t)a, i, j, k)
  ++s->bucket[bucket_of(s, search_cell_key(i, j, k)) + 2];
  for (int64_t b = 2; b < s->size + 2; ++b) s->bucket[b] += s->bucket[b - 1];
  void *key = s->key, *seg = s->seg;
  const int64_t n = s->bucket[s->size + 1];
  const int ok = grow_array(&key, &s->key_cap, n, sizeof *s->key) &&
                 grow_array(&seg, &s->seg_cap, n, sizeof *s->seg);
  s->key = key;
  s->seg = seg;
  for (int32_t a = 0; ok && a < s->num_segs; ++a) EACH_CELL(v->cells + 6 * (ptrdiff_t)a, i, j, k)
    {
      const uint64_t q = search_cell_key(i, j, k);
      const int32_t at = s->bucket[bucket_of(s, q) + 1]++;
      s->key[at] = q;
      s->seg[at] = a;
    }
  return ok;
}

/* A pair is looked at in the first cell that both segments are in. */
static int first_cell(const int32_t *a, const int32_t *b, int32_t i, int32_t j, int32_t k)
{
  return i == (a[0] > b[0] ? a[0] : b[0]) && j == (a[1] > b[1] ? a[1] : b[1]) &&
         k == (a[2] > b[2] ? a[2] : b[2]);
}

static int partners_in_cells(const yarn_grid_search *s, const yarn_grid_view *v, int32_t a,
                             yarn_grid_hits *out, int64_t *near)
{
  const int32_t *const c = v->cells + 6 * (ptrdiff_t)a;
  EACH_CELL(c, i, j, k)
  {
    const uint64_t key = search_cell_key(i, j, k);
    const int64_t b = bucket_of(s, key);
    /* after filling, bucket[b] is where b begins */
    for (int32_t e = s->bucket[b]; e < s->bucket[b + 1]; ++e) {
      const int32_t o = s->seg[e];
      if (o <= a || s->key[e] != key) continue;
      if (!first_cell(c, v->cells + 6 * (ptrdiff_t)o, i, j, k)) continue;
      if (!boxes_meet(v->box + 6 * (ptrdiff_t)a, v->box + 6 * (ptrdiff_t)o)) continue;
      ++*near;
      if (!compare_segments(v, a, o, out)) return 0;
    }
  }
  return 1;
}

int yarn_grid_search_cells(yarn_grid_search *s, const yarn_grid_view *v, yarn_grid_hits *out,
                           int64_t *near)
{
  return fill_buckets(s, v) && for_all(s, v, partners_in_cells, out, near);
}

/* ---- hierarchy ---- */

static void refit_yarn_tree(yarn_grid_search *s, const yarn_grid_view *v)
{
  yarn_grid_tree *const t = &s->tree;
  for (int32_t i = 0; i < t->num_leaves; ++i) {
    lk_real *const b = t->box + 6 * ((ptrdiff_t)t->num_leaves + i);
    for (int c = 0; c < 6; ++c)
      b[c] = t->order[i] >= 0 ? v->box[6 * (ptrdiff_t)t->order[i] + c]
             : c < 3          ? LK_REAL_MAX
                              : -LK_REAL_MAX;
  }
  for (int32_t i = t->num_leaves - 1; i > 0; --i) {
    const lk_real *const p = t->box + 12 * (ptrdiff_t)i, *const q = p + 6;
    lk_real *const b = t->box + 6 * (ptrdiff_t)i;
    for (int c = 0; c < 3; ++c) {
      b[c] = p[c] < q[c] ? p[c] : q[c];
      b[3 + c] = p[3 + c] > q[3 + c] ? p[3 + c] : q[3 + c];
    }
  }
}

static int partners_in_tree(const yarn_grid_search *s, const yarn_grid_view *v, int32_t a,
                            yarn_grid_hits *out, int64_t *near)
{
  const yarn_grid_tree *const t = &s->tree;
  const lk_real *const box = v->box + 6 * (ptrdiff_t)a;
  int32_t stack[STACK];
  int n = 0;
  stack[n++] = 1;
  while (n > 0) {
    const int32_t i = stack[--n];
    if (!boxes_meet(box, t->box + 6 * (ptrdiff_t)i)) continue;
    if (i < t->num_leaves) {
      stack[n++] = 2 * i;
      stack[n++] = 2 * i + 1;
      continue;
    }
    const int32_t o = t->order[i - t->num_leaves];
    if (o <= a) continue;
    ++*near;
    if (!compare_segments(v, a, o, out)) return 0;
  }
  return 1;
}

int yarn_grid_search_tree(yarn_grid_search *s, const yarn_grid_view *v, yarn_grid_hits *out,
                          int64_t *near)
{
  refit_yarn_tree(s, v);
  return for_all(s, v, partners_in_tree, out, near);
}
