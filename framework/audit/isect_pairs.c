/* isect_pairs.c - owners of edges and vertices, lists of findings, the search in threads. */
#include "audit/isect_pairs.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- owners ---- */

typedef struct side { /* one side of a triangle in the bucket of its smaller vertex */
  int32_t other;      /* its larger vertex */
  int32_t id;         /* 3 t + c */
} side;

static int compare_side(const void *a, const void *b)
{
  const side *const p = a, *const q = b;
  if (p->other != q->other) return p->other < q->other ? -1 : 1;
  return (p->id > q->id) - (p->id < q->id);
}

static void own_sides(side *s, int64_t count, uint8_t *owns)
{
  enum { FEW = 16 }; /* looking back at these is quicker than sorting */
  if (count > FEW) qsort(s, (size_t)count, sizeof *s, compare_side);
  for (int64_t i = 0; i < count; ++i) {
    int64_t k = count > FEW && i > 0 ? i - 1 : 0;
    while (k < i && s[k].other != s[i].other) ++k;
    if (k == i) owns[s[i].id / 3] |= (uint8_t)(1 << s[i].id % 3);
  }
}

/* Every edge and every vertex belongs to the first triangle that has it. */
static int assign_owners(const isect_surface *s, uint8_t *owns)
{
  int64_t *const first = calloc((size_t)s->n + 2, sizeof *first);
  side *const all = calloc((size_t)s->nt * 3 + 1, sizeof *all);
  if (first == NULL || all == NULL) {
    free(first);
    free(all);
    return 0;
  }
  for (int32_t k = 0; k < 3 * s->nt; ++k) { /* first[v + 2]: sides with smaller vertex v */
    const int32_t i = s->tris[k], j = s->tris[k % 3 == 2 ? k - 2 : k + 1];
    if (i != j) ++first[(i < j ? i : j) + 2];
  }
  for (int64_t v = 0; v < s->n; ++v) first[v + 2] += first[v + 1];
  for (int32_t k = 0; k < 3 * s->nt; ++k) { /* first[v + 1] moves to the end of v's bucket */
    const int32_t i = s->tris[k], j = s->tris[k % 3 == 2 ? k - 2 : k + 1];
    if (i != j) all[first[(i < j ? i : j) + 1]++] = (side){i < j ? j : i, k};
  }
  for (int64_t v = 0; v < s->n; ++v) own_sides(all + first[v], first[v + 1] - first[v], owns);
  memset(first, 0, ((size_t)s->n + 2) * sizeof *first);
  for (int64_t k = 0; k < 3 * s->nt; ++k)
    if (first[s->tris[k]]++ == 0) owns[k / 3] |= (uint8_t)(8 << k % 3);
  free(first);
  free(all);
  return 1;
}

/* ---- making ready ---- */

static loom_status check_points(loom_err *err, const double *x, int64_t n)
{
  for (int64_t i = 0; i < 3 * n; ++i)
    if (!isfinite(x[i]))
      return err_set(err, LOOM_E_NUMERIC,
                     "coordinate %d of vertex %lld is %g; an audit needs finite positions",
                     (int)(i % 3), (long long)(i / 3), x[i]);
  return LOOM_OK;
}

static loom_status check_surface(loom_err *err, const isect_surface *s)
{
  if (s->n > INT32_MAX || s->nt > INT32_MAX / 4)
    return err_set(err, LOOM_E_ARG,
                   "a mesh of %lld vertices and %lld triangles is too large for the audit; the "
                   "limits are %d and %d",
                   (long long)s->n, (long long)s->nt, INT32_MAX, INT32_MAX / 4);
  LOOM_TRY(check_points(err, s->x, s->n));
  if (s->x_end != NULL) LOOM_TRY(check_points(err, s->x_end, s->n));
  for (int64_t i = 0; i < 3 * s->nt; ++i)
    if (s->tris[i] < 0 || s->tris[i] >= s->n)
      return err_set(err, LOOM_E_ARG, "triangle %lld names vertex %d; valid are 0 to %lld",
                     (long long)(i / 3), s->tris[i], (long long)s->n - 1);
  return LOOM_OK;
}

static int boxes_of(const isect_surface *s, isect_box **out)
{
  isect_box *const box = malloc((size_t)s->nt * sizeof *box + 1);
  if (box == NULL) return 0;
  for (int64_t t = 0; t < s->nt; ++t) {
    box[t] = isect_box_points(s->x, s->tris + 3 * t, 3);
    if (s->x_end == NULL) continue;
    const isect_box end = isect_box_points(s->x_end, s->tris + 3 * t, 3);
    box[t] = isect_box_join(&box[t], &end);
  }
  *out = box;
  return 1;
}

static int any_meets(const isect_box *box, int64_t n, const isect_box *all)
{
  for (int64_t i = 0; i < n; ++i)
    if (isect_boxes_meet(&box[i], all)) return 1;
  return 0;
}

/* Boxes hold a triangle on all of its way.  A body far from the mesh (NULL: no mesh) stays without
 * a tree, since it cannot meet the mesh. */
static loom_status make_ready(loom_err *err, const isect_surface *s, const isect_ready *mesh,
                              isect_ready *out)
{
  isect_box *box = NULL;
  memset(out, 0, sizeof *out);
  out->s = s;
  LOOM_TRY(check_surface(err, s));
  int ok = boxes_of(s, &box);
  if (ok && (mesh == NULL ||
             (mesh->tree.num_nodes > 0 && any_meets(box, s->nt, &mesh->tree.nodes[0].b)))) {
    out->owns = calloc((size_t)s->nt + 1, 1);
    ok = out->owns != NULL && assign_owners(s, out->owns) &&
         isect_tree_build(&out->tree, box, s->nt);
  }
  free(box);
  if (ok) return LOOM_OK;
  return err_set(err, LOOM_E_NOMEM, "out of memory for the audit of %lld triangles",
                 (long long)s->nt);
}

static void ready_close(isect_ready *r)
{
  free(r->owns);
  r->owns = NULL;
  isect_tree_free(&r->tree);
}

/* ---- findings ---- */

static void keep_least_findings(isect_list *l)
{
  if (l->count > 1) qsort(l->items, (size_t)l->count, l->size, l->compare);
  if (l->count > l->capacity) l->count = l->capacity;
}

void isect_list_add(isect_list *l, const void *item)
{
  ++l->total;
  if (l->capacity == 0 || l->failed) return;
  if (l->count == l->room && l->count >= 2 * l->capacity) keep_least_findings(l);
  if (l->count == l->room) {
    const int64_t room = l->room > 0 ? 2 * l->room : 64;
    char *const bigger = realloc(l->items, (size_t)room * l->size);
    if (bigger == NULL) {
      l->failed = 1;
      return;
    }
    l->items = bigger;
    l->room = room;
  }
  memcpy(l->items + (size_t)l->count++ * l->size, item, l->size);
}

/* All lists into the first one, which then has the least of all. */
static int join_lists(isect_job *job, int threads)
{
  isect_list *const l = &job[0].found;
  for (int t = 1; t < threads; ++t) {
    const isect_list *const m = &job[t].found;
    const int64_t total = l->total + m->total;
    for (int64_t i = 0; i < m->count; ++i) isect_list_add(l, m->items + (size_t)i * m->size);
    l->total = total;
    l->failed |= m->failed;
  }
  keep_least_findings(l);
  return !l->failed;
}

/* Leaves [from, end) of the tree of a. */
static void search_leaves(isect_job *job, int threads, const isect_query *q, int32_t from,
                          int32_t end)
{
  const isect_ready *const a = job[0].a, *const b = job[0].b;
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
  for (int32_t k = from; k < end; ++k) {
    isect_job *const mine = &job[omp_get_thread_num()];
    if (a == b)
      isect_tree_self(&a->tree, k, q->visit, mine);
    else
      isect_tree_cross(&a->tree, k, &b->tree, q->visit, mine);
  }
}

/* All leaves, or, in blocks, until the findings are enough: which ones these are does not depend on
 * threads. */
static void search_all(isect_job *job, int threads, const isect_query *q, int64_t enough)
{
  enum { BLOCK = 128 };
  const int32_t leaves = job[0].a->tree.num_leaves, step = enough > 0 ? BLOCK : leaves;
  for (int32_t from = 0; from < leaves; from += step) {
    int64_t total = 0;
    search_leaves(job, threads, q, from, leaves - from > step ? from + step : leaves);
    for (int t = 0; t < threads; ++t) total += job[t].found.total;
    if (leaves - from <= step || (enough > 0 && total >= enough)) return;
  }
}

/* One mesh with itself (b == a) or with a body. */
static loom_status search_two(loom_err *err, const isect_ready *a, const isect_ready *b,
                              int32_t body, int threads, const isect_query *q, int64_t enough,
                              void *out, int64_t capacity, int64_t *total)
{
  isect_job *const job = calloc((size_t)threads, sizeof *job);
  if (job == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory for the audit");
  for (int t = 0; t < threads; ++t) {
    job[t] = (isect_job){.a = a, .b = b, .body = body, .user = q->user};
    job[t].found.size = q->size;
    job[t].found.capacity = capacity;
    job[t].found.compare = q->compare;
  }
  search_all(job, threads, q, enough);
  loom_status s = LOOM_OK;
  if (!join_lists(job, threads))
    s = err_set(err, LOOM_E_NOMEM, "out of memory for the pairs that the audit found");
  else if (job[0].found.count > 0 && out != NULL)
    memcpy(out, job[0].found.items, (size_t)job[0].found.count * q->size);
  *total = job[0].found.total;
  for (int t = 0; t < threads; ++t) free(job[t].found.items);
  free(job);
  return s;
}

loom_status isect_search(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                         int num_bodies, int threads, const isect_query *q, void *out,
                         int64_t capacity, int64_t *total)
{
  isect_ready mesh, body;
  *total = 0;
  if (out == NULL) capacity = 0;
  if (threads < 1) threads = 1;
  loom_status s = make_ready(err, m, NULL, &mesh);
  for (int32_t k = -1; k < num_bodies && s == LOOM_OK; ++k) {
    const int64_t enough = q->enough > 0 ? q->enough - *total : 0; /* not yet found */
    if (q->enough > 0 && enough <= 0) break;
    const int64_t kept = *total < capacity ? *total : capacity;
    void *const room = kept < capacity ? (char *)out + (size_t)kept * q->size : NULL;
    const isect_ready *const other = k < 0 ? &mesh : &body;
    int64_t found = 0;
    if (k >= 0) {
      s = make_ready(err, &bodies[k], &mesh, &body);
      if (s != LOOM_OK) err_prefix(err, "body %d", k);
    }
    if (s == LOOM_OK && other->tree.num_nodes > 0)
      s = search_two(err, &mesh, other, k, threads, q, enough, room, capacity - kept, &found);
    if (k >= 0) ready_close(&body);
    *total += found;
  }
  ready_close(&mesh);
  return s;
}
