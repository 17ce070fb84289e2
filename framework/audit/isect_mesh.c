/* isect_mesh.c - all intersections of a triangle mesh with itself, or of two meshes. */
#include "audit/isect_pairs.h"

#include <stdio.h>

#include "audit/orientation.h"

static int compare_isect_pair(const void *a, const void *b)
{
  const isect_pair *const p = a, *const q = b;
  if (p->body != q->body) return p->body < q->body ? -1 : 1;
  if (p->side != q->side) return p->side < q->side ? -1 : 1;
  if (p->edge[0] != q->edge[0]) return p->edge[0] < q->edge[0] ? -1 : 1;
  if (p->edge[1] != q->edge[1]) return p->edge[1] < q->edge[1] ? -1 : 1;
  return (p->tri > q->tri) - (p->tri < q->tri);
}

static int has_vertex(const int32_t v[3], int32_t i) { return v[0] == i || v[1] == i || v[2] == i; }

/* 1 if some vertex of the edge is listed with some corner of the triangle. */
static int is_edge_left_out(const isect_left_out *l, const isect_surface *E, const int32_t edge[2],
                            const isect_surface *T, const int32_t tri[3])
{
  if (l == NULL) return 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      if (isect_is_left_out(l, E->first_id + edge[i], T->first_id + tri[j])) return 1;
  return 0;
}

/* Edges that triangle a of mesh A owns against triangle b of mesh B. */
static void test_edges(isect_job *job, const isect_ready *A, int32_t a, const isect_ready *B,
                       int32_t b, int side)
{
  const int32_t *const u = A->s->tris + 3 * (int64_t)a, *const v = B->s->tris + 3 * (int64_t)b;
  const double *const y = B->s->x;
  const isect_box tri = isect_box_points(y, v, 3);
  for (int c = 0; c < 3; ++c) {
    if (!(A->owns[a] >> c & 1)) continue;
    const int32_t i = u[c], j = u[(c + 1) % 3], ids[2] = {i, j};
    if (A == B && (has_vertex(v, i) || has_vertex(v, j))) continue;
    const isect_box edge = isect_box_points(A->s->x, ids, 2);
    if (!isect_boxes_meet(&edge, &tri)) continue;
    if (is_edge_left_out(job->a->s->left_out, A->s, ids, B->s, v)) continue;
    if (!isect_segment_triangle(A->s->x + 3 * (int64_t)i, A->s->x + 3 * (int64_t)j,
                                y + 3 * (int64_t)v[0], y + 3 * (int64_t)v[1],
                                y + 3 * (int64_t)v[2]))
      continue;
    const isect_pair p = {{i < j ? i : j, i < j ? j : i}, b, job->body, side};
    isect_list_add(&job->found, &p);
  }
}

/* 1 only if all of triangle b surely lies on one side of the plane of triangle a. */
static int is_one_sided(const isect_surface *A, int32_t a, const isect_surface *B, int32_t b)
{
  const int32_t *const u = A->tris + 3 * (int64_t)a, *const v = B->tris + 3 * (int64_t)b;
  int side = 0;
  for (int c = 0; c < 3; ++c) {
    const int s = orientation_filter3(A->x + 3 * (int64_t)u[0], A->x + 3 * (int64_t)u[1],
                                      A->x + 3 * (int64_t)u[2], B->x + 3 * (int64_t)v[c]);
    if (s == 0 || s == EXACT_UNSURE || s == -side) return 0;
    side = s;
  }
  return 1;
}

static void test_triangle_pair(void *user, int32_t a, int32_t b)
{
  isect_job *const job = user;
  if (is_one_sided(job->a->s, a, job->b->s, b)) return;
  test_edges(job, job->a, a, job->b, b, 0);
  test_edges(job, job->b, b, job->a, a, job->a != job->b);
}

loom_status isect_scene_upto(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                             int num_bodies, int threads, int64_t enough, isect_pair *pairs,
                             int64_t capacity, int64_t *total)
{
  const isect_query q = {test_triangle_pair, NULL, sizeof *pairs, compare_isect_pair, enough};
  return isect_search(err, m, bodies, num_bodies, threads, &q, pairs, capacity, total);
}

loom_status isect_scene(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                        int num_bodies, int threads, isect_pair *pairs, int64_t capacity,
                        int64_t *total)
{
  return isect_scene_upto(err, m, bodies, num_bodies, threads, 0, pairs, capacity, total);
}

loom_status isect_mesh(loom_err *err, const double *x, int64_t n, const int32_t *tris, int64_t nt,
                       int threads, isect_pair *pairs, int64_t capacity, int64_t *total)
{
  const isect_surface m = {.x = x, .n = n, .tris = tris, .nt = nt};
  return isect_scene(err, &m, NULL, 0, threads, pairs, capacity, total);
}

void isect_describe(const isect_pair *p, const int32_t *tris, const char *body, char *buf,
                    size_t len)
{
  if (p->body >= 0 && p->side == 0) {
    snprintf(buf, len, "edge %d-%d meets triangle %d of body %s", p->edge[0], p->edge[1], p->tri,
             body);
    return;
  }
  const int32_t *const t = tris + 3 * (int64_t)p->tri;
  snprintf(buf, len, "edge %d-%d%s%s meets triangle %d (%d %d %d)", p->edge[0], p->edge[1],
           p->body >= 0 ? " of body " : "", p->body >= 0 ? body : "", p->tri, t[0], t[1], t[2]);
}

void isect_place(const double pose[12], const double *x, int64_t n, double *out)
{
  for (int64_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c)
      out[3 * i + c] = (loom_real)(pose[3 * c] * x[3 * i] + pose[3 * c + 1] * x[3 * i + 1] +
                                   pose[3 * c + 2] * x[3 * i + 2] + pose[9 + c]);
}
