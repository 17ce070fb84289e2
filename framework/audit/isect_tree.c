/* isect_tree.c - building and walking the audit's tree of boxes.
 *
 * Building costs n log n: a range is halved by selection, not by sorting.  A walk starts
 * from a whole leaf instead of a single item, which saves most of the way down. */
#include "audit/isect_tree.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_ITEMS = 4, STACK_DEPTH = 64 };

typedef struct item {
  double c[3]; /* centre of its box */
  int32_t id;
} item;

/* ---- boxes ---- */

int isect_boxes_meet(const isect_box *a, const isect_box *b)
{
  return a->lo[0] <= b->hi[0] && b->lo[0] <= a->hi[0] && a->lo[1] <= b->hi[1] &&
         b->lo[1] <= a->hi[1] && a->lo[2] <= b->hi[2] && b->lo[2] <= a->hi[2];
}

isect_box isect_box_points(const double *x, const int32_t *ids, int num)
{
  isect_box b;
  memcpy(b.lo, x + 3 * (int64_t)ids[0], sizeof b.lo);
  memcpy(b.hi, b.lo, sizeof b.hi);
  for (int i = 1; i < num; ++i) {
    const double *const p = x + 3 * (int64_t)ids[i];
    for (int k = 0; k < 3; ++k) {
      b.lo[k] = p[k] < b.lo[k] ? p[k] : b.lo[k];
      b.hi[k] = p[k] > b.hi[k] ? p[k] : b.hi[k];
    }
  }
  return b;
}

isect_box isect_box_join(const isect_box *a, const isect_box *b)
{
  isect_box j = *a;
  for (int k = 0; k < 3; ++k) {
    j.lo[k] = b->lo[k] < a->lo[k] ? b->lo[k] : a->lo[k];
    j.hi[k] = b->hi[k] > a->hi[k] ? b->hi[k] : a->hi[k];
  }
  return j;
}

/* ---- building ---- */

/* Centres along an axis, equal ones by id: no two items are equal. */
static int is_centre_before(const item *a, const item *b, int axis)
{
  return a->c[axis] != b->c[axis] ? a->c[axis] < b->c[axis] : a->id < b->id;
}

/* Reorder so that the `half` least items come first (Hoare's selection).  The pivot's
 * place comes from a generator: no input is bad on purpose or by habit. */
static void partition_items(item *it, int32_t count, int32_t half, int axis)
{
  int32_t lo = 0, hi = count - 1;
  uint32_t random = (uint32_t)count;
  while (lo < hi) {
    random = random * 1664525u + 1013904223u;
    const item pivot = it[lo + (int32_t)((random >> 8) % (uint32_t)(hi - lo + 1))];
    int32_t i = lo, j = hi;
    while (i <= j) {
      while (is_centre_before(&it[i], &pivot, axis)) ++i;
      while (is_centre_before(&pivot, &it[j], axis)) --j;
      if (i > j) break;
      const item swap = it[i];
      it[i++] = it[j];
      it[j--] = swap;
    }
    if (half <= j)
      hi = j;
    else if (half >= i)
      lo = i;
    else
      return;
  }
}

static int widest_axis(const item *it, int32_t count)
{
  double lo[3], hi[3];
  int axis = 0;
  memcpy(lo, it->c, sizeof lo);
  memcpy(hi, it->c, sizeof hi);
  for (int32_t i = 1; i < count; ++i)
    for (int k = 0; k < 3; ++k) {
      lo[k] = it[i].c[k] < lo[k] ? it[i].c[k] : lo[k];
      hi[k] = it[i].c[k] > hi[k] ? it[i].c[k] : hi[k];
    }
  for (int k = 1; k < 3; ++k)
    if (hi[k] - lo[k] > hi[axis] - lo[axis]) axis = k;
  return axis;
}

/* Nodes of a range; the recursion is log2(n) deep. */
static int32_t build_range(isect_tree *t, const isect_box *boxes, item *it, int32_t first,
                           int32_t count)
{
  const int32_t me = t->num_nodes++;
  isect_node *const n = &t->nodes[me];
  n->first = first;
  n->end = first + count;
  n->right = 0;
  if (count <= LEAF_ITEMS) {
    t->leaf[t->num_leaves++] = me;
    for (int32_t i = 0; i < count; ++i) {
      t->order[first + i] = it[i].id;
      t->box[first + i] = boxes[it[i].id];
      n->b = i == 0 ? t->box[first] : isect_box_join(&n->b, &t->box[first + i]);
    }
    return me;
  }
  const int32_t half = count / 2;
  partition_items(it, count, half, widest_axis(it, count));
  const int32_t l = build_range(t, boxes, it, first, half);
  n->right = build_range(t, boxes, it + half, first + half, count - half);
  n->b = isect_box_join(&t->nodes[l].b, &t->nodes[n->right].b);
  return me;
}

int isect_tree_build(isect_tree *t, const isect_box *boxes, int64_t n)
{
  memset(t, 0, sizeof *t);
  if (n == 0) return 1;
  item *const it = malloc((size_t)n * sizeof *it);
  /* a range above LEAF_ITEMS splits into two of at least LEAF_ITEMS / 2 */
  t->nodes = malloc((size_t)n * sizeof *t->nodes);
  t->leaf = malloc((size_t)n * sizeof *t->leaf);
  t->order = malloc((size_t)n * sizeof *t->order);
  t->box = malloc((size_t)n * sizeof *t->box);
  const int ok =
      it != NULL && t->nodes != NULL && t->leaf != NULL && t->order != NULL && t->box != NULL;
  if (ok) {
    for (int64_t i = 0; i < n; ++i) {
      /* halves first: their sum cannot overflow */
      for (int k = 0; k < 3; ++k) it[i].c[k] = 0.5 * boxes[i].lo[k] + 0.5 * boxes[i].hi[k];
      it[i].id = (int32_t)i;
    }
    t->num_items = (int32_t)n;
    build_range(t, boxes, it, 0, (int32_t)n);
  } else {
    isect_tree_free(t);
  }
  free(it);
  return ok;
}

void isect_tree_free(isect_tree *t)
{
  free(t->nodes);
  free(t->leaf);
  free(t->order);
  free(t->box);
  memset(t, 0, sizeof *t);
}

/* ---- walking ---- */

static void leaf_pairs(const isect_tree *a, const isect_node *l, const isect_tree *b,
                       const isect_node *m, int same, isect_visit visit, void *user)
{
  for (int32_t i = l->first; i < l->end; ++i) {
    if (!same && !isect_boxes_meet(&a->box[i], &m->b)) continue;
    for (int32_t j = same ? i + 1 : m->first; j < m->end; ++j)
      if (isect_boxes_meet(&a->box[i], &b->box[j])) visit(user, a->order[i], b->order[j]);
  }
}

void isect_tree_self(const isect_tree *t, int32_t leaf, isect_visit visit, void *user)
{
  const isect_node *const l = &t->nodes[t->leaf[leaf]];
  int32_t stack[STACK_DEPTH], top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const int32_t me = stack[--top];
    const isect_node *const n = &t->nodes[me];
    /* a pair of leaves is walked from the one that comes first */
    if (n->end <= l->first || !isect_boxes_meet(&l->b, &n->b)) continue;
    if (n->right != 0) {
      stack[top++] = n->right;
      stack[top++] = me + 1;
    } else {
      leaf_pairs(t, l, t, n, n == l, visit, user);
    }
  }
}

void isect_tree_cross(const isect_tree *a, int32_t leaf, const isect_tree *b, isect_visit visit,
                      void *user)
{
  const isect_node *const l = &a->nodes[a->leaf[leaf]];
  int32_t stack[STACK_DEPTH], top = 0;
  if (b->num_nodes == 0) return;
  stack[top++] = 0;
  while (top > 0) {
    const int32_t me = stack[--top];
    const isect_node *const n = &b->nodes[me];
    if (!isect_boxes_meet(&l->b, &n->b)) continue;
    if (n->right != 0) {
      stack[top++] = n->right;
      stack[top++] = me + 1;
    } else {
      leaf_pairs(a, l, b, n, 0, visit, user);
    }
  }
}
