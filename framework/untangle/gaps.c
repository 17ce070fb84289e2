/* gaps.c - pairs that are nearer than their radii, and how far vertices may go. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/isect_tree.h"
#include "geom/distance.kern.h"
#include "mesh/mesh.h"
#include "untangle/untangle.h"

/* Factor on the radii: contact needs slightly larger gaps. */
static const double slack = 1.02;
/* reach: pairs up to this many radii apart are searched.  share: vertices go less than half of
 * their distance each, so that they never meet. */
static const double reach = 1.5, share = 0.45;

typedef struct search {
  const untangle_scene *s;
  const unsigned char *owns; /* [nt + ntb] bit c: side c is this triangle's, bit 3 + c: corner c */
  untangle_move *m;          /* NULL: pairs are listed instead */
  double *bound;
  int64_t near;
  int32_t *pairs; /* [num_pairs][2] */
  int64_t num_pairs, room;
  int failed; /* out of memory */
} search;

static double largest_radius(const untangle_scene *s, const int32_t *v, int num)
{
  double r = 0;
  for (int k = 0; k < num; ++k) r = fmax(r, s->radius[v[k]]);
  return r;
}

/* All of one side with all of the other. */
static void append_near_pair(search *q, const int32_t id[4], int first)
{
  if (q->num_pairs + 4 > q->room) {
    const int64_t room = q->room > 0 ? 2 * q->room : 4096;
    int32_t *const bigger = realloc(q->pairs, 2 * sizeof *bigger * (size_t)room);
    if (bigger == NULL) {
      q->failed = 1;
      return;
    }
    q->pairs = bigger;
    q->room = room;
  }
  for (int i = 0; i < first; ++i)
    for (int j = first; j < 4; ++j) {
      q->pairs[2 * q->num_pairs] = id[i];
      q->pairs[2 * q->num_pairs++ + 1] = id[j];
    }
}

/* Four vertices at squared distance d2 with weights w along which it grows; the first `first` are
 * one side of the pair. */
static void accept_near_pair(search *q, const int32_t id[4], int first, const lk_real *x,
                             const lk_real *w, double d2)
{
  const untangle_scene *const s = q->s;
  const double d = sqrt(d2),
               r = largest_radius(s, id, first) + largest_radius(s, id + first, 4 - first);
  if (q->m == NULL) {
    if (d <= r) append_near_pair(q, id, first);
    return;
  }
  if (d > reach * r) return;
  for (int k = 0; k < 4; ++k) q->bound[id[k]] = fmin(q->bound[id[k]], share * d);
  if (d >= r) return;
  ++q->near;
  double dir[3] = {0};
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) dir[c] += (double)w[k] * (double)x[3 * k + c];
  const double len = sqrt(dir[0] * dir[0] + dir[1] * dir[1] + dir[2] * dir[2]);
  if (!(len > 0)) return;
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += id[k] < s->n ? (double)w[k] * (double)w[k] : 0;
  if (!(sum > 0)) return;
  for (int k = 0; k < 4; ++k) {
    const double wk = (double)w[k];
    for (int c = 0; c < 3; ++c)
      q->m->d[3 * (int64_t)id[k] + c] += fabs(wk) * wk * (slack * r - d) / sum * dir[c] / len;
    q->m->weight[id[k]] += fabs(wk);
  }
}

static int left_out(const untangle_scene *s, const int32_t id[4], int first)
{
  for (int i = 0; i < first; ++i)
    for (int j = first; j < 4; ++j)
      if (id[i] == id[j] || (s->left_out != NULL && isect_is_left_out(s->left_out, id[i], id[j])))
        return 1;
  return 0;
}

static void test_primitive_pair(search *q, const int32_t id[4], int first)
{
  lk_real x[12], w[4];
  if (left_out(q->s, id, first)) return;
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) x[3 * k + c] = (lk_real)q->s->x[3 * (int64_t)id[k] + c];
  const double d2 = (double)(first == 1 ? dist_vt(x, w) : dist_ee(x, w));
  accept_near_pair(q, id, first, x, w, d2);
}

static void test_near_triangles(void *user, int32_t a, int32_t b)
{
  search *const q = user;
  const int32_t *const t[2] = {q->s->tris + 3 * (int64_t)a, q->s->tris + 3 * (int64_t)b};
  const unsigned char owns[2] = {q->owns[a], q->owns[b]};
  if (a >= q->s->nt && b >= q->s->nt) return; /* of bodies */
  for (int side = 0; side < 2; ++side)
    for (int k = 0; k < 3; ++k)
      if (owns[side] >> (3 + k) & 1)
        test_primitive_pair(
            q, (const int32_t[4]){t[side][k], t[!side][0], t[!side][1], t[!side][2]}, 1);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if ((owns[0] >> i & 1) && (owns[1] >> j & 1))
        test_primitive_pair(
            q, (const int32_t[4]){t[0][i], t[0][(i + 1) % 3], t[1][j], t[1][(j + 1) % 3]}, 2);
}

/* Every side and every vertex belongs to one of its triangles. */
static loom_status find_feature_owners(loom_err *err, const untangle_scene *s, const topo *edges,
                                       unsigned char **owns)
{
  unsigned char *seen;
  LOOM_TRY(mesh_alloc(err, s->nt + s->ntb, 1, owns));
  LOOM_TRY(mesh_alloc(err, s->n + s->nb, 1, &seen));
  for (int64_t e = 0; e < edges->num_edges; ++e) {
    const int32_t side = edges->sides[edges->first[e]];
    (*owns)[side / 3] |= (unsigned char)(1u << side % 3);
  }
  for (int64_t k = 0; k < 3 * (s->nt + s->ntb); ++k) {
    if (seen[s->tris[k]]) continue;
    seen[s->tris[k]] = 1;
    (*owns)[k / 3] |= (unsigned char)(8u << k % 3);
  }
  free(seen);
  return LOOM_OK;
}

/* Boxes that meet where triangles come within reach of each other. */
static loom_status build_tree(loom_err *err, const untangle_scene *s, isect_tree *tree)
{
  isect_box *boxes;
  LOOM_TRY(mesh_alloc(err, s->nt + s->ntb, sizeof *boxes, &boxes));
  for (int64_t t = 0; t < s->nt + s->ntb; ++t) {
    const double wide = reach * largest_radius(s, s->tris + 3 * t, 3);
    boxes[t] = isect_box_points(s->x, s->tris + 3 * t, 3);
    for (int c = 0; c < 3; ++c) boxes[t].lo[c] -= wide, boxes[t].hi[c] += wide;
  }
  const int built = isect_tree_build(tree, boxes, s->nt + s->ntb);
  free(boxes);
  return built ? LOOM_OK : err_set(err, LOOM_E_NOMEM, "no memory to look for pairs that are near");
}

static loom_status search_near_pairs(loom_err *err, search *q, const topo *edges)
{
  unsigned char *owns = NULL;
  isect_tree tree = {0};
  loom_status st = find_feature_owners(err, q->s, edges, &owns);
  if (st == LOOM_OK) st = build_tree(err, q->s, &tree);
  q->owns = owns;
  for (int32_t leaf = 0; leaf < tree.num_leaves && st == LOOM_OK; ++leaf)
    isect_tree_self(&tree, leaf, test_near_triangles, q);
  isect_tree_free(&tree);
  free(owns);
  if (st == LOOM_OK && q->failed)
    st = err_set(err, LOOM_E_NOMEM, "no memory to list pairs that are near");
  return st;
}

loom_status gap_pairs(loom_err *err, const untangle_scene *s, int32_t **pairs, int64_t *num)
{
  topo edges = {0};
  search q = {.s = s};
  loom_status st = topo_build(err, s->tris, s->nt + s->ntb, s->n + s->nb, &edges);
  if (st == LOOM_OK) st = search_near_pairs(err, &q, &edges);
  topo_free(&edges);
  *pairs = q.pairs;
  *num = q.num_pairs;
  if (st == LOOM_OK) return LOOM_OK;
  free(q.pairs);
  *pairs = NULL;
  *num = 0;
  return st;
}

loom_status gap_moves(loom_err *err, const untangle_scene *s, const topo *edges, untangle_move *m,
                      double *bound, int64_t *near)
{
  search q = {.s = s, .m = m, .bound = bound};
  /* a vertex outside of the search is at least this far from both sides of a pair */
  for (int64_t v = 0; v < s->n + s->nb; ++v) bound[v] = share * reach * s->radius[v];
  const loom_status st = search_near_pairs(err, &q, edges);
  *near = q.near;
  return st;
}
