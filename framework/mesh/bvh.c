/* bvh.c - a median-split box hierarchy; the same tree and hits for any thread count. */
#include "mesh/bvh.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/vec3.h"
#include "mesh/mesh.h"

enum { LEAF_TRIS = 4, MAX_DEPTH = 64 };

struct bvh {
  const double *x;
  const int32_t *tris;
  int32_t *order; /* [nt] */
  double *centre; /* [nt][3], m; only while building */
  bvh_node *nodes;
  int32_t num_nodes;
};

void bvh_free(bvh *b)
{
  if (b == NULL) return;
  free(b->order);
  free(b->centre);
  free(b->nodes);
  free(b);
}

bvh_view bvh_look(const bvh *b)
{
  return (bvh_view){.nodes = b->nodes, .order = b->order, .num_nodes = b->num_nodes};
}

/* Total order of triangles along an axis: ids decide between equal centres, so the split never
 * degenerates. */
static int is_before_on_axis(const bvh *b, int axis, int32_t s, int32_t t)
{
  const double u = b->centre[3 * (int64_t)s + axis], v = b->centre[3 * (int64_t)t + axis];
  return u < v || (u == v && s < t);
}

/* Partial sort: order[mid] ends where a full sort of order[lo..hi) would put it. */
static void select_median(bvh *b, int axis, int32_t lo, int32_t hi, int32_t mid)
{
  uint32_t seed = 1;
  while (hi - lo > 1) {
    seed = seed * 1664525u + 1013904223u; /* a pivot no input order can make bad on purpose */
    const int32_t pivot = b->order[lo + (int32_t)(seed % (uint32_t)(hi - lo))];
    int32_t i = lo, j = hi - 1;
    while (i <= j) {
      while (is_before_on_axis(b, axis, b->order[i], pivot)) ++i;
      while (is_before_on_axis(b, axis, pivot, b->order[j])) --j;
      if (i > j) break;
      const int32_t swap = b->order[i];
      b->order[i++] = b->order[j];
      b->order[j--] = swap;
    }
    if (mid <= j)
      hi = j + 1;
    else if (mid >= i)
      lo = i;
    else
      return;
  }
}

static void fit_box(const bvh *b, int32_t lo, int32_t hi, bvh_node *n)
{
  for (int c = 0; c < 3; ++c) n->lo[c] = DBL_MAX, n->hi[c] = -DBL_MAX;
  for (int32_t k = lo; k < hi; ++k)
    for (int a = 0; a < 3; ++a) {
      const double *v = b->x + 3 * (int64_t)b->tris[3 * (int64_t)b->order[k] + a];
      for (int c = 0; c < 3; ++c) {
        n->lo[c] = fmin(n->lo[c], v[c]);
        n->hi[c] = fmax(n->hi[c], v[c]);
      }
    }
}

/* The subtree of order[lo..hi); its depth is log2 of the number of triangles. */
static void build_subtree(bvh *b, int32_t lo, int32_t hi)
{
  bvh_node *n = &b->nodes[b->num_nodes++];
  fit_box(b, lo, hi, n);
  if (hi - lo <= LEAF_TRIS) {
    n->first = lo;
    n->count = hi - lo;
    return;
  }
  int axis = 0;
  for (int c = 1; c < 3; ++c)
    if (n->hi[c] - n->lo[c] > n->hi[axis] - n->lo[axis]) axis = c;
  const int32_t mid = lo + (hi - lo) / 2;
  select_median(b, axis, lo, hi, mid);
  build_subtree(b, lo, mid);
  n->first = b->num_nodes;
  n->count = 0;
  build_subtree(b, mid, hi);
}

loom_status bvh_build(loom_err *err, const double *x, const int32_t *tris, int32_t nt, bvh **out)
{
  bvh *b;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *b, &b));
  b->x = x;
  b->tris = tris;
  loom_status s = mesh_alloc(err, nt, sizeof *b->order, &b->order);
  if (s == LOOM_OK) s = mesh_alloc(err, 3 * (int64_t)nt, sizeof *b->centre, &b->centre);
  if (s == LOOM_OK) s = mesh_alloc(err, 2 * (int64_t)nt, sizeof *b->nodes, &b->nodes);
  if (s != LOOM_OK) {
    bvh_free(b);
    return s;
  }
  for (int32_t t = 0; t < nt; ++t) {
    b->order[t] = t;
    for (int c = 0; c < 3; ++c) {
      double sum = 0;
      for (int a = 0; a < 3; ++a) sum += x[3 * (int64_t)tris[3 * (int64_t)t + a] + c];
      b->centre[3 * (int64_t)t + c] = sum / 3;
    }
  }
  build_subtree(b, 0, nt);
  free(b->centre);
  b->centre = NULL;
  *out = b;
  return LOOM_OK;
}

/* Closest point of the segment from p to q, where `r` is the query. */
static double on_segment(const double *p, const double *q, const double *r, double *s, double *at)
{
  double d[3], w[3];
  for (int c = 0; c < 3; ++c) d[c] = q[c] - p[c], w[c] = r[c] - p[c];
  const double len2 = vec3_dot(d, d);
  const double along = len2 > 0 ? vec3_dot(w, d) / len2 : 0;
  *s = along > 0 ? (along < 1 ? along : 1) : 0;
  double sum = 0;
  for (int c = 0; c < 3; ++c) {
    at[c] = *s == 1 ? q[c] : p[c] + *s * d[c];
    sum += (r[c] - at[c]) * (r[c] - at[c]);
  }
  return sum;
}

void bvh_closest_on_triangle(const double p[3], const double a[3], const double b[3],
                             const double c[3], bvh_hit *hit)
{
  const double *v[3] = {a, b, c};
  double u[3], w[3], r[3], n[3], rw[3], ur[3];
  vec3_sub(b, a, u);
  vec3_sub(c, a, w);
  vec3_sub(p, a, r);
  vec3_cross(u, w, n);
  const double nn = vec3_dot(n, n);
  /* barycentric coordinates of the projection: weights of b and c */
  vec3_cross(r, w, rw);
  vec3_cross(u, r, ur);
  const double beta = vec3_dot(rw, n), gamma = vec3_dot(ur, n);
  if (nn > 0 && beta >= 0 && gamma >= 0 && beta + gamma <= nn) {
    const double height = vec3_dot(r, n) / nn;
    hit->feature = BVH_FACE;
    hit->dist = fabs(height) * sqrt(nn);
    for (int k = 0; k < 3; ++k) hit->point[k] = p[k] - height * n[k];
    return;
  }
  double best = DBL_MAX;
  for (int e = 0; e < 3; ++e) {
    double s, at[3];
    const double d2 = on_segment(v[e], v[(e + 1) % 3], p, &s, at);
    if (!(d2 < best)) continue;
    best = d2;
    memcpy(hit->point, at, sizeof at);
    hit->feature = s == 0 ? BVH_VERTEX0 + e : s == 1 ? BVH_VERTEX0 + (e + 1) % 3 : BVH_EDGE0 + e;
  }
  hit->dist = sqrt(best);
}

static double box_distance2(const bvh_node *n, const double p[3])
{
  double sum = 0;
  for (int c = 0; c < 3; ++c) {
    const double below = n->lo[c] - p[c], above = p[c] - n->hi[c]; /* fmax() would be a call */
    const double d = below > above ? below : above;
    sum += d > 0 ? d * d : 0;
  }
  return sum;
}

void bvh_closest(const bvh *b, const double p[3], double bound, bvh_hit *hit)
{
  int32_t stack[MAX_DEPTH];
  int top = 0;
  double best2 = bound < 1e150 ? bound * bound : DBL_MAX;
  hit->tri = -1;
  hit->dist = DBL_MAX;
  stack[top++] = 0;
  while (top > 0) {
    const int32_t id = stack[--top];
    const bvh_node *n = &b->nodes[id];
    if (box_distance2(n, p) > best2) continue;
    if (n->count == 0) { /* the nearer child is looked at first */
      const int32_t left = id + 1, right = n->first;
      const int left_first =
          box_distance2(&b->nodes[left], p) <= box_distance2(&b->nodes[right], p);
      stack[top++] = left_first ? right : left;
      stack[top++] = left_first ? left : right;
      continue;
    }
    for (int32_t k = n->first; k < n->first + n->count; ++k) {
      bvh_hit h;
      const int32_t t = b->order[k], *v = b->tris + 3 * (int64_t)t;
      bvh_closest_on_triangle(p, b->x + 3 * (int64_t)v[0], b->x + 3 * (int64_t)v[1],
                              b->x + 3 * (int64_t)v[2], &h);
      if (!(h.dist < hit->dist)) continue;
      h.tri = t;
      *hit = h;
      if (h.dist * h.dist < best2) best2 = h.dist * h.dist;
    }
  }
}

/* ---- winding numbers ---- */

/* Slope of the ray per unit of z: irregular digits, so that no edge of a real mesh lies in a plane
 * with the ray. */
static const double lean[2] = {0.0517362845, 0.0283615073};

/* 1: the ray from p meets the box. */
static int ray_meets(const bvh_node *n, const double p[3])
{
  double from = fmax(0, n->lo[2] - p[2]), to = n->hi[2] - p[2];
  for (int c = 0; c < 2; ++c) {
    from = fmax(from, (n->lo[c] - p[c]) / lean[c]);
    to = fmin(to, (n->hi[c] - p[c]) / lean[c]);
  }
  return from <= to + 1e-9 * (1 + fabs(to));
}

/* Twice the area of the origin and an edge in the plane across the ray, > 0 or <= 0 for both of
 * its triangles alike: the vertex with the lower id stands first. */
static int left_of(const double *a, const double *b, int32_t ia, int32_t ib, double *area)
{
  const double s = ia < ib ? a[0] * b[1] - a[1] * b[0] : b[0] * a[1] - b[1] * a[0];
  *area = ia < ib ? s : -s;
  return (s > 0) == (ia < ib);
}

/* 1: the ray from p leaves through triangle t, -1: it enters, 0: it passes by. */
static int ray_crossing_sign(const bvh *b, int32_t t, const double p[3])
{
  const int32_t *const v = b->tris + 3 * (int64_t)t;
  double q[3][3], area[3], height = 0, sum = 0;
  int left = 0;
  for (int k = 0; k < 3; ++k) {
    const double *const x = b->x + 3 * (int64_t)v[k];
    q[k][2] = x[2] - p[2];
    for (int c = 0; c < 2; ++c) q[k][c] = x[c] - p[c] - lean[c] * q[k][2];
  }
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3, other = (k + 2) % 3;
    left += left_of(q[k], q[next], v[k], v[next], &area[other]);
  }
  if (left != 0 && left != 3) return 0;
  for (int k = 0; k < 3; ++k) {
    height += area[k] * q[k][2];
    sum += area[k];
  }
  if (sum == 0 || !(height / sum > 0)) return 0;
  return left == 3 ? 1 : -1;
}

int32_t bvh_winding(const bvh *b, const double p[3])
{
  int32_t stack[MAX_DEPTH], count = 0;
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const int32_t id = stack[--top];
    const bvh_node *const n = &b->nodes[id];
    if (!ray_meets(n, p)) continue;
    if (n->count == 0) {
      stack[top++] = n->first;
      stack[top++] = id + 1;
      continue;
    }
    for (int32_t k = n->first; k < n->first + n->count; ++k)
      count += ray_crossing_sign(b, b->order[k], p);
  }
  return count;
}
