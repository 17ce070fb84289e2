/* starts.c - the list of pairs that intersect at the start, and its pairs that have parted. */
#include "scene/starts/starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance.kern.h"
#include "scene/base/build.h"
#include "scene/base/exclusions.h"
#include "scene/objects/ignored.h"

/* The objects and all mesh bodies as one set of vertices, ids as in exclusions.h. */
typedef struct world {
  const isect_surface *m;
  const scene_bodies *bodies;
  const loom_real *radius;   /* [m->n] m; bodies: 0 */
  int64_t num;               /* vertices */
  int32_t *first, *triangle; /* triangles at vertex v: first[v] .. first[v + 1]; bodies' triangles
                              * behind the mesh's, body by body */
  int64_t num_tris;
  double *reach; /* [num] m, the longest edge of the triangles at a vertex */
} world;

/* ---- triangles by number ---- */

static const isect_surface *surface_of(const world *w, int64_t *t)
{
  if (*t < w->m->nt) return w->m;
  *t -= w->m->nt;
  for (int b = 0;; ++b) {
    const isect_surface *const at = &w->bodies->at[b];
    if (*t < at->nt) return at;
    *t -= at->nt;
  }
}

/* Corners of triangle t by their ids, and where they are. */
static void gather_tri_corners(const world *w, int64_t t, int32_t id[3], double x[3][3])
{
  const isect_surface *const s = surface_of(w, &t);
  for (int a = 0; a < 3; ++a) {
    const int32_t v = s->tris[3 * t + a];
    id[a] = (int32_t)(s->first_id + v);
    memcpy(x[a], s->x + 3 * (int64_t)v, sizeof x[a]);
  }
}

static const double *place_of(const world *w, int32_t v)
{
  if (v < w->m->n) return w->m->x + 3 * (int64_t)v;
  int b = 0;
  while (v >= w->bodies->at[b].first_id + w->bodies->at[b].n) ++b;
  return w->bodies->at[b].x + 3 * (v - w->bodies->at[b].first_id);
}

static double longest_edge2(double a[3][3])
{
  double most = 0.0;
  for (int k = 0; k < 3; ++k) {
    double sum = 0.0;
    for (int c = 0; c < 3; ++c)
      sum += (a[(k + 1) % 3][c] - a[k][c]) * (a[(k + 1) % 3][c] - a[k][c]);
    most = fmax(most, sum);
  }
  return most;
}

static loom_status list_triangles(loom_err *err, world *w)
{
  double x[3][3];
  int32_t id[3];
  w->num = w->m->n;
  w->num_tris = w->m->nt;
  for (int b = 0; b < w->bodies->num; ++b) {
    w->num += w->bodies->at[b].n;
    w->num_tris += w->bodies->at[b].nt;
  }
  LOOM_TRY(mesh_alloc(err, w->num + 2, sizeof *w->first, &w->first));
  LOOM_TRY(mesh_alloc(err, 3 * w->num_tris, sizeof *w->triangle, &w->triangle));
  LOOM_TRY(mesh_alloc(err, w->num, sizeof *w->reach, &w->reach));
  for (int64_t t = 0; t < w->num_tris; ++t) {
    gather_tri_corners(w, t, id, x);
    const double longest = sqrt(longest_edge2(x));
    for (int a = 0; a < 3; ++a) {
      ++w->first[id[a] + 2];
      w->reach[id[a]] = fmax(w->reach[id[a]], longest);
    }
  }
  for (int64_t v = 0; v < w->num; ++v) w->first[v + 2] += w->first[v + 1];
  for (int64_t t = 0; t < w->num_tris; ++t) {
    gather_tri_corners(w, t, id, x);
    for (int a = 0; a < 3; ++a) w->triangle[w->first[id[a] + 1]++] = (int32_t)t;
  }
  return LOOM_OK;
}

/* ---- intersecting and near pairs ---- */

typedef struct found {
  isect_pair *pairs;
  int64_t num;
} found;

static loom_status find_start_crossings(loom_err *err, const isect_surface *m,
                                        const scene_bodies *bodies, int threads, found *out)
{
  isect_pair none;
  *out = (found){0};
  LOOM_TRY(isect_scene(err, m, bodies->at, bodies->num, threads, &none, 0, &out->num));
  if (out->num == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(err, out->num, sizeof *out->pairs, &out->pairs));
  return isect_scene(err, m, bodies->at, bodies->num, threads, out->pairs, out->num, &out->num);
}

/* The six pairs of a vertex of the edge and one of the triangle, by their ids. */
static void list_crossing_pairs(const isect_surface *m, const scene_bodies *bodies,
                                const isect_pair *p, int32_t out[12])
{
  const isect_surface *const edge = p->side == 1 ? &bodies->at[p->body] : m;
  const isect_surface *const face = p->body >= 0 && p->side == 0 ? &bodies->at[p->body] : m;
  for (int k = 0; k < 6; ++k) {
    out[2 * k] = (int32_t)(edge->first_id + p->edge[k / 3]);
    out[2 * k + 1] = (int32_t)(face->first_id + face->tris[3 * (int64_t)p->tri + k % 3]);
  }
}

static loom_status all_products(loom_err *err, const isect_surface *m, const scene_bodies *bodies,
                                const found *f, int32_t **pairs)
{
  LOOM_TRY(mesh_alloc(err, 12 * f->num, sizeof **pairs, pairs));
  for (int64_t k = 0; k < f->num; ++k)
    list_crossing_pairs(m, bodies, &f->pairs[k], *pairs + 12 * k);
  return LOOM_OK;
}

/* Pairs of vertices of the intersections, and of near primitives, in one list; *num pairs,
 * *of_found of them from intersections. */
static loom_status list_start_pairs(loom_err *err, scene_data *s, const isect_surface *m,
                                    const scene_bodies *bodies, const found *f, int32_t **list,
                                    int64_t *num, int64_t *of_found)
{
  int32_t *crossed = NULL, *near = NULL;
  int64_t num_near = 0;
  *list = NULL;
  loom_status st = all_products(err, m, bodies, f, &crossed);
  if (st == LOOM_OK) st = starts_near(err, s, m, bodies, &near, &num_near);
  if (st == LOOM_OK) st = mesh_alloc(err, 12 * f->num + 2 * num_near, sizeof **list, list);
  if (st == LOOM_OK) {
    *of_found = isect_settle_pairs(crossed, 6 * f->num);
    memcpy(*list, crossed, 2 * sizeof **list * (size_t)*of_found);
    if (num_near > 0) memcpy(*list + 2 * *of_found, near, 2 * sizeof **list * (size_t)num_near);
    *num = isect_settle_pairs(*list, *of_found + num_near);
  }
  free(crossed);
  free(near);
  return st;
}

loom_status starts_exclude(loom_err *err, scene_data *s, const isect_surface *m,
                           const scene_bodies *bodies, int64_t *total, int64_t *near)
{
  found f;
  int32_t *list = NULL;
  int64_t num = 0, of_found = 0;
  loom_status st = find_start_crossings(err, m, bodies, 0, &f);
  if (st == LOOM_OK) st = list_start_pairs(err, s, m, bodies, &f, &list, &num, &of_found);
  if (st == LOOM_OK && num > 0) st = scene_leave_out(err, s, SCENE_AT_START, list, num);
  *total = f.num;
  *near = num - of_found;
  free(list);
  free(f.pairs);
  return st;
}

/* ---- pairs that have parted ---- */

/* Squared distance (m^2) of two triangles that do not intersect. */
static double tri_distance2(double a[3][3], double b[3][3])
{
  lk_real x[12], w[4];
  double least = INFINITY;
  for (int k = 0; k < 3; ++k)
    for (int side = 0; side < 2; ++side) {
      double(*const point)[3] = side ? b : a, (*const face)[3] = side ? a : b;
      for (int c = 0; c < 3; ++c) x[c] = (lk_real)point[k][c];
      for (int c = 0; c < 9; ++c) x[3 + c] = (lk_real)face[c / 3][c % 3];
      least = fmin(least, (double)dist_vt(x, w));
    }
  for (int k = 0; k < 9; ++k) {
    for (int c = 0; c < 3; ++c) {
      x[c] = (lk_real)a[k / 3][c];
      x[3 + c] = (lk_real)a[(k / 3 + 1) % 3][c];
      x[6 + c] = (lk_real)b[k % 3][c];
      x[9 + c] = (lk_real)b[(k % 3 + 1) % 3][c];
    }
    least = fmin(least, (double)dist_ee(x, w));
  }
  return least;
}

/* 1: contact detects the pair of triangles when the list of the start is not applied. */
static int is_pair_detected(const isect_left_out *sewn, const int32_t a[3], const int32_t b[3])
{
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (a[i] == b[j] || (sewn != NULL && isect_is_left_out(sewn, a[i], b[j]))) return 0;
  return 1;
}

/* 1: some triangles at v and at w are nearer than the radii of both, and a thousandth of an edge: a
 * pair that comes back with a gap of rounding errors meets a barrier without bounds. */
static int is_vertex_pair_near(const world *w, int32_t v, int32_t u)
{
  const double r =
      (v < w->m->n ? (double)w->radius[v] : 0) + (u < w->m->n ? (double)w->radius[u] : 0);
  const double *const p = place_of(w, v), *const q = place_of(w, u);
  const double away = w->reach[v] + w->reach[u] + r + 1e-3 * fmax(w->reach[v], w->reach[u]);
  double d2 = 0;
  for (int c = 0; c < 3; ++c) d2 += (p[c] - q[c]) * (p[c] - q[c]);
  if (d2 > away * away) return 0; /* most pairs of [ignore.*] */
  for (int32_t i = w->first[v]; i < w->first[v + 1]; ++i)
    for (int32_t j = w->first[u]; j < w->first[u + 1]; ++j) {
      double a[3][3], b[3][3];
      int32_t ids[2][3];
      gather_tri_corners(w, w->triangle[i], ids[0], a);
      gather_tri_corners(w, w->triangle[j], ids[1], b);
      const double apart = r + 1e-3 * sqrt(fmax(longest_edge2(a), longest_edge2(b)));
      if (is_pair_detected(w->m->left_out, ids[0], ids[1]) && tri_distance2(a, b) <= apart * apart)
        return 1;
    }
  return 0;
}

/* Counts the intersections that began at the start; marks their vertex pairs in `keep`. */
static int64_t mark_intersecting(const int32_t *list, int64_t num, const int32_t *pairs,
                                 int64_t num_found, unsigned char *keep)
{
  int64_t count = 0;
  for (int64_t k = 0; k < num_found; ++k) {
    int hit = 0;
    for (int j = 0; j < 6; ++j) {
      int32_t key[2] = {pairs[12 * k + 2 * j], pairs[12 * k + 2 * j + 1]};
      if (isect_settle_pairs(key, 1) == 0) continue;
      int64_t lo = 0, hi = num; /* the list is ascending */
      while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        const int32_t *const at = list + 2 * mid;
        if (at[0] < key[0] || (at[0] == key[0] && at[1] < key[1]))
          lo = mid + 1;
        else
          hi = mid;
      }
      if (lo == num || list[2 * lo] != key[0] || list[2 * lo + 1] != key[1]) continue;
      keep[lo] = 1;
      hit = 1;
    }
    count += hit;
  }
  return count;
}

static loom_status update_start_list(loom_err *err, scene_data *s, const world *w, double t,
                                     int threads, int64_t *left)
{
  int64_t num = 0, kept = 0;
  int32_t *pairs = NULL, *next = NULL;
  unsigned char *keep = NULL;
  found f;
  const int32_t *const list = scene_left_out_pairs(s, SCENE_AT_START, &num);
  loom_status st = find_start_crossings(err, w->m, w->bodies, threads, &f);
  if (st == LOOM_OK) st = all_products(err, w->m, w->bodies, &f, &pairs);
  if (st == LOOM_OK) st = mesh_alloc(err, num, 1, &keep);
  if (st == LOOM_OK) st = mesh_alloc(err, 2 * num, sizeof *next, &next);
  if (st == LOOM_OK) {
    *left = mark_intersecting(list, num, pairs, f.num, keep);
    for (int64_t k = 0; k < num; ++k) {
      const int32_t *const at = list + 2 * k;
      if (!keep[k] && !ignored_holds(s, at[0], at[1], t) && !is_vertex_pair_near(w, at[0], at[1]))
        continue;
      memcpy(next + 2 * kept++, list + 2 * k, 2 * sizeof *next);
    }
    if (kept < num) st = scene_leave_out(err, s, SCENE_AT_START, next, kept);
  }
  free(pairs);
  free(next);
  free(keep);
  free(f.pairs);
  return st;
}

loom_status starts_update(loom_err *err, scene_data *s, const double *x, double t, int threads,
                          int64_t *left)
{
  int64_t num = 0;
  scene_bodies bodies = {0};
  void *tris, *radius;
  *left = 0;
  if (scene_left_out_pairs(s, SCENE_AT_START, &num) == NULL) return LOOM_OK;
  LOOM_TRY(buf_map(s->m, NULL, s->pub.tris, LOOM_READ, LOOM_AT_HOST, &tris));
  LOOM_TRY(buf_map(s->m, NULL, s->pub.radius, LOOM_READ, LOOM_AT_HOST, &radius));
  const isect_surface m = {.x = x,
                           .n = s->pub.num_verts,
                           .tris = tris,
                           .nt = s->pub.num_tris,
                           .left_out = scene_left_out(s, 0)};
  world w = {.m = &m, .bodies = &bodies, .radius = radius};
  loom_status st = scene_bodies_open(err, s, &bodies);
  if (st == LOOM_OK) st = list_triangles(err, &w);
  if (st == LOOM_OK) st = update_start_list(err, s, &w, t, threads, left);
  free(w.reach);
  free(w.first);
  free(w.triangle);
  scene_bodies_close(&bodies);
  LOOM_TRY(buf_unmap(s->m, s->pub.radius));
  LOOM_TRY(buf_unmap(s->m, s->pub.tris));
  return st;
}
