/* isect_mesh.c - all intersections of a triangle mesh with itself.
 *
 * Broad phase: a balanced tree of boxes over the triangles, split at the median of the
 * widest axis of their centres.  The centres are sorted once per axis and the lists are
 * partitioned on the way down, so building costs n log n whatever the input looks like.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/intersect.h"

enum { LEAF_TRIS = 4, STACK_DEPTH = 64 };

typedef struct box {
  double lo[3], hi[3];
} box;

typedef struct node { /* preorder: the left child follows its parent */
  box b;
  int32_t first, count; /* leaf: range of `order`; inner node: count = 0 */
  int32_t right;        /* index of the right child */
} node;

typedef struct tree {
  const double *x;     /* [n][3] */
  const int32_t *tris; /* [nt][3] */
  node *nodes;
  int32_t *order; /* [nt] triangle ids, leaves hold ranges of it */
  int32_t num_nodes;
} tree;

typedef struct keyed {
  double key;
  int32_t id;
} keyed;

typedef struct edge_list {
  uint64_t *key; /* [count] smaller id in the upper half, ascending, unique */
  int64_t count;
} edge_list;

/* ---- edges ------------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static int collect_edges(const int32_t *tris, int64_t nt, edge_list *out)
{
  uint64_t *const key = malloc((size_t)nt * 3 * sizeof *key);
  int64_t m = 0, unique = 0;
  if (key == NULL) return 0;
  for (int64_t t = 0; t < nt; ++t)
    for (int c = 0; c < 3; ++c) {
      const int32_t i = tris[3 * t + c], j = tris[3 * t + (c + 1) % 3];
      if (i == j) continue;
      key[m++] = i < j ? (uint64_t)i << 32 | (uint64_t)j : (uint64_t)j << 32 | (uint64_t)i;
    }
  qsort(key, (size_t)m, sizeof *key, compare_u64);
  for (int64_t e = 0; e < m; ++e)
    if (e == 0 || key[e] != key[e - 1]) key[unique++] = key[e];
  out->key = key;
  out->count = unique;
  return 1;
}

/* ---- tree -------------------------------------------------------------------------- */

static int compare_keyed(const void *a, const void *b)
{
  const keyed *const p = a, *const q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->id > q->id) - (p->id < q->id);
}

static void box_add(box *b, const double *p)
{
  for (int k = 0; k < 3; ++k) {
    b->lo[k] = fmin(b->lo[k], p[k]);
    b->hi[k] = fmax(b->hi[k], p[k]);
  }
}

static box box_of(const double *x, const int32_t *ids, int num)
{
  box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int c = 0; c < num; ++c) box_add(&b, x + 3 * (int64_t)ids[c]);
  return b;
}

static int boxes_meet(const box *a, const box *b)
{
  return a->lo[0] <= b->hi[0] && b->lo[0] <= a->hi[0] && a->lo[1] <= b->hi[1] &&
         b->lo[1] <= a->hi[1] && a->lo[2] <= b->hi[2] && b->lo[2] <= a->hi[2];
}

typedef struct build_state {
  tree *t;
  keyed *list[3]; /* [nt] each: triangles of a node by centre, one list per axis */
  keyed *spare;   /* [nt] */
  uint8_t *right; /* [nt] by triangle id */
} build_state;

/* Split list range [first, first + count) of all axes at the median of the widest. */
static int32_t split(build_state *s, int32_t first, int32_t count)
{
  const int32_t half = count / 2;
  int axis = 0;
  double widest = -1.0;
  for (int k = 0; k < 3; ++k) {
    const double w = s->list[k][first + count - 1].key - s->list[k][first].key;
    if (w > widest) {
      widest = w;
      axis = k;
    }
  }
  for (int32_t i = 0; i < count; ++i) s->right[s->list[axis][first + i].id] = i >= half;
  for (int k = 0; k < 3; ++k) {
    keyed *const list = s->list[k] + first;
    int32_t l = 0, r = 0;
    if (k == axis) continue;
    for (int32_t i = 0; i < count; ++i) {
      if (s->right[list[i].id])
        s->spare[r++] = list[i];
      else
        list[l++] = list[i];
    }
    memcpy(list + half, s->spare, (size_t)r * sizeof *list);
  }
  return half;
}

/* Nodes of one range; recursion depth is log2(nt). */
static int32_t build_range(build_state *s, int32_t first, int32_t count)
{
  tree *const t = s->t;
  const int32_t me = t->num_nodes++;
  if (count <= LEAF_TRIS) {
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = first; i < first + count; ++i) {
      t->order[i] = s->list[0][i].id;
      const box tb = box_of(t->x, t->tris + 3 * (int64_t)t->order[i], 3);
      box_add(&b, tb.lo);
      box_add(&b, tb.hi);
    }
    t->nodes[me] = (node){b, first, count, -1};
    return me;
  }
  const int32_t half = split(s, first, count);
  const int32_t l = build_range(s, first, half);
  const int32_t r = build_range(s, first + half, count - half);
  box b = t->nodes[l].b;
  box_add(&b, t->nodes[r].b.lo);
  box_add(&b, t->nodes[r].b.hi);
  t->nodes[me] = (node){b, first, 0, r};
  return me;
}

static int build_tree(tree *t, int64_t nt)
{
  build_state s = {.t = t};
  t->order = malloc((size_t)nt * sizeof *t->order);
  t->nodes = malloc((size_t)nt * 2 * sizeof *t->nodes);
  s.spare = malloc((size_t)nt * sizeof *s.spare);
  s.right = malloc((size_t)nt);
  int ok = t->order != NULL && t->nodes != NULL && s.spare != NULL && s.right != NULL;
  for (int k = 0; k < 3; ++k) {
    s.list[k] = malloc((size_t)nt * sizeof *s.list[k]);
    if (s.list[k] == NULL) ok = 0;
  }
  if (ok) {
    for (int64_t i = 0; i < nt; ++i) {
      const box b = box_of(t->x, t->tris + 3 * i, 3);
      /* halves first: their sum cannot overflow */
      for (int k = 0; k < 3; ++k) s.list[k][i] = (keyed){0.5 * b.lo[k] + 0.5 * b.hi[k], (int32_t)i};
    }
    for (int k = 0; k < 3; ++k) qsort(s.list[k], (size_t)nt, sizeof(keyed), compare_keyed);
    build_range(&s, 0, (int32_t)nt);
  }
  for (int k = 0; k < 3; ++k) free(s.list[k]);
  free(s.spare);
  free(s.right);
  return ok;
}

/* ---- queries ----------------------------------------------------------------------- */

static int hits(const tree *t, const int32_t edge[2], const box *eb, int32_t tri)
{
  const int32_t *const v = t->tris + 3 * (int64_t)tri;
  for (int c = 0; c < 3; ++c)
    if (v[c] == edge[0] || v[c] == edge[1]) return 0;
  const box tb = box_of(t->x, v, 3);
  if (!boxes_meet(eb, &tb)) return 0;
  const double *const x = t->x;
  return isect_segment_triangle(x + 3 * (int64_t)edge[0], x + 3 * (int64_t)edge[1],
                                x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1],
                                x + 3 * (int64_t)v[2]);
}

/* Number of triangles that the edge meets; out (may be NULL) receives them. */
static int64_t query(const tree *t, const int32_t edge[2], isect_pair *out)
{
  const box eb = box_of(t->x, edge, 2);
  int32_t stack[STACK_DEPTH], top = 0;
  int64_t found = 0;
  stack[top++] = 0;
  while (top > 0) {
    const int32_t me = stack[--top];
    const node *const n = &t->nodes[me];
    if (!boxes_meet(&eb, &n->b)) continue;
    if (n->count == 0) {
      stack[top++] = n->right;
      stack[top++] = me + 1;
      continue;
    }
    for (int32_t i = n->first; i < n->first + n->count; ++i) {
      if (!hits(t, edge, &eb, t->order[i])) continue;
      if (out != NULL) out[found] = (isect_pair){{edge[0], edge[1]}, t->order[i]};
      ++found;
    }
  }
  return found;
}

static int compare_pair(const void *a, const void *b)
{
  const isect_pair *const p = a, *const q = b;
  return (p->tri > q->tri) - (p->tri < q->tri);
}

static void unpack(uint64_t key, int32_t edge[2])
{
  edge[0] = (int32_t)(key >> 32);
  edge[1] = (int32_t)(key & UINT32_MAX);
}

/* Count per edge, then fill the edges whose pairs are wanted: nothing depends on which
 * thread did what. */
static loom_status run_queries(loom_err *err, const tree *t, const edge_list *edges, int threads,
                               isect_pair *pairs, int64_t capacity, int64_t *total)
{
  loom_status status = LOOM_OK;
  isect_pair *wanted = NULL;
  int64_t *const at = calloc((size_t)edges->count + 1, sizeof *at);
  if (at == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory for the intersection audit");
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
  for (int64_t e = 0; e < edges->count; ++e) {
    int32_t edge[2];
    unpack(edges->key[e], edge);
    at[e + 1] = query(t, edge, NULL);
  }
  for (int64_t e = 0; e < edges->count; ++e) at[e + 1] += at[e];
  *total = at[edges->count];

  int64_t num_edges = 0; /* those whose first pair fits */
  while (num_edges < edges->count && at[num_edges] < capacity) ++num_edges;
  if (pairs != NULL && at[num_edges] > 0) {
    wanted = malloc((size_t)at[num_edges] * sizeof *wanted);
    if (wanted == NULL)
      status = err_set(err, LOOM_E_NOMEM, "out of memory for %lld intersecting pairs",
                       (long long)at[num_edges]);
  }
  if (wanted != NULL) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
    for (int64_t e = 0; e < num_edges; ++e) {
      const int64_t m = at[e + 1] - at[e];
      int32_t edge[2];
      if (m == 0) continue;
      unpack(edges->key[e], edge);
      (void)query(t, edge, wanted + at[e]);
      qsort(wanted + at[e], (size_t)m, sizeof *wanted, compare_pair);
    }
    const int64_t m = at[num_edges] < capacity ? at[num_edges] : capacity;
    memcpy(pairs, wanted, (size_t)m * sizeof *pairs);
  }
  free(wanted);
  free(at);
  return status;
}

static loom_status check_input(loom_err *err, const double *x, int64_t n, const int32_t *tris,
                               int64_t nt)
{
  if (n > INT32_MAX || nt > INT32_MAX / 4)
    return err_set(err, LOOM_E_ARG,
                   "a mesh of %lld vertices and %lld triangles is too large for the audit; the "
                   "limits are %d and %d",
                   (long long)n, (long long)nt, INT32_MAX, INT32_MAX / 4);
  for (int64_t i = 0; i < 3 * n; ++i)
    if (!isfinite(x[i]))
      return err_set(err, LOOM_E_NUMERIC,
                     "coordinate %d of vertex %lld is %g; an audit needs finite positions",
                     (int)(i % 3), (long long)(i / 3), x[i]);
  for (int64_t i = 0; i < 3 * nt; ++i)
    if (tris[i] < 0 || tris[i] >= n)
      return err_set(err, LOOM_E_ARG, "triangle %lld names vertex %d; valid are 0 to %lld",
                     (long long)(i / 3), tris[i], (long long)n - 1);
  return LOOM_OK;
}

loom_status isect_mesh(loom_err *err, const double *x, int64_t n, const int32_t *tris, int64_t nt,
                       int threads, isect_pair *pairs, int64_t capacity, int64_t *total)
{
  *total = 0;
  LOOM_TRY(check_input(err, x, n, tris, nt));
  if (nt == 0) return LOOM_OK;
  tree t = {.x = x, .tris = tris};
  edge_list edges = {NULL, 0};
  loom_status status;
  if (collect_edges(tris, nt, &edges) && build_tree(&t, nt))
    status = run_queries(err, &t, &edges, threads > 0 ? threads : 1, pairs, capacity, total);
  else
    status =
        err_set(err, LOOM_E_NOMEM, "out of memory for the audit of %lld triangles", (long long)nt);
  free(edges.key);
  free(t.nodes);
  free(t.order);
  return status;
}
