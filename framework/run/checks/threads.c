/* threads.c - threads of seams that run through a body at the start: they pull cloth through it, or
 * its seam stays open (a strap that ends under the arm).  By triangles where a body has a mesh, by
 * its distance at points along each thread where it has none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "geom/vec3.h"
#include "mesh/mesh.h"
#include "run/objective/measure.h"
#include "run/run_state.h"
#include "scene/moving/sewing.h"
#include "scene/objects/bodies.h"

enum { SAMPLES = 15 }; /* points along a thread */

typedef struct thread_list {
  int64_t num;
  double *ends; /* [num][2][3] m */
  scene_stitches of;
} thread_list;

static loom_status list_threads(run *r, thread_list *l)
{
  buf_maps q = {.m = r->m}; /* on the host */
  l->of = scene_stitches_of(r->scene);
  l->num = l->of.num;
  LOOM_TRY(mesh_alloc(r->err, 6 * l->num, sizeof *l->ends, &l->ends));
  const loom_real *const x = buf_maps_add(&q, r->st.x, LOOM_READ);
  for (int64_t k = 0; q.status == LOOM_OK && k < l->num; ++k) {
    const int32_t *const v = l->of.verts + 3 * k;
    const double t = (double)l->of.place[k];
    for (int c = 0; c < 3; ++c) {
      l->ends[6 * k + c] = (double)x[3 * (int64_t)v[0] + c];
      l->ends[6 * k + 3 + c] =
          (1 - t) * (double)x[3 * (int64_t)v[1] + c] + t * (double)x[3 * (int64_t)v[2] + c];
    }
  }
  return buf_maps_end(&q);
}

/* ---- triangles ---- */

static int segment_box_meets(const double *a, const double *b, const double *const tri[3])
{
  for (int c = 0; c < 3; ++c) {
    const double lo = fmin(tri[0][c], fmin(tri[1][c], tri[2][c]));
    const double hi = fmax(tri[0][c], fmax(tri[1][c], tri[2][c]));
    if (fmax(a[c], b[c]) < lo || fmin(a[c], b[c]) > hi) return 0;
  }
  return 1;
}

static double signed_volume(const double *a, const double *b, const double *c, const double *d)
{
  double u[3], v[3], w[3], n[3];
  vec3_sub(b, a, u);
  vec3_sub(c, a, v);
  vec3_sub(d, a, w);
  vec3_cross(u, v, n);
  return vec3_dot(n, w);
}

/* The segment from a to b meets the triangle, or its rim. */
static int meets_triangle(const double *a, const double *b, const double *const tri[3])
{
  if (!segment_box_meets(a, b, tri)) return 0;
  if (signed_volume(tri[0], tri[1], tri[2], a) * signed_volume(tri[0], tri[1], tri[2], b) >= 0)
    return 0;
  const double u = signed_volume(a, b, tri[0], tri[1]), v = signed_volume(a, b, tri[1], tri[2]),
               w = signed_volume(a, b, tri[2], tri[0]);
  return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

static int crosses_surface(const isect_surface *s, const double *a, const double *b)
{
  for (int64_t t = 0; t < s->nt; ++t) {
    const double *tri[3];
    for (int k = 0; k < 3; ++k) tri[k] = s->x + 3 * (int64_t)s->tris[3 * t + k];
    if (meets_triangle(a, b, tri)) return 1;
  }
  return 0;
}

/* ---- distances ---- */

static loom_status fill_samples(run *r, const thread_list *l, loom_buf *points)
{
  void *p;
  LOOM_TRY(buf_map(r->m, NULL, points, LOOM_WRITE, LOOM_AT_HOST, &p));
  loom_real *at = p;
  for (int64_t k = 0; k < l->num; ++k)
    for (int i = 1; i <= SAMPLES; ++i)
      for (int c = 0; c < 3; ++c)
        *at++ = (loom_real)(l->ends[6 * k + c] +
                            (l->ends[6 * k + 3 + c] - l->ends[6 * k + c]) * i / (SAMPLES + 1.0));
  return buf_unmap(r->m, points);
}

/* mark [num]: 1 for threads with a point below the surface of the body. */
static loom_status mark_by_distance(run *r, int body, const thread_list *l, loom_buf *points,
                                    loom_buf *gap, unsigned char *mark)
{
  void *p;
  const int64_t count = SAMPLES * l->num;
  const loom_body_rows rows = {
      .struct_size = sizeof rows, .count = count, .x = points, .pair = body * count};
  const loom_body_gap out = {.struct_size = sizeof out, .gap = gap};
  const loom_status s = bodies_gap(r->bodies, &r->exec, &rows, 1.0, &out);
  if (s != LOOM_OK) *r->err = *mem_err(r->m);
  LOOM_TRY(s);
  LOOM_TRY(buf_map(r->m, NULL, gap, LOOM_READ, LOOM_AT_HOST, &p));
  for (int64_t k = 0; k < count; ++k)
    if ((double)((const loom_real *)p)[k] < 0) mark[k / SAMPLES] = 1;
  return buf_unmap(r->m, gap);
}

/* ---- the warning ---- */

static void warn_of_threads(run *r, int body, const thread_list *l, const unsigned char *mark)
{
  char text[512];
  int64_t num = 0, first = -1;
  for (int64_t k = l->num - 1; k >= 0; --k)
    if (mark[k]) ++num, first = k;
  if (num == 0) return;
  snprintf(
      text, sizeof text,
      "%lld of %lld threads of seams run through [body.%.64s] at the start, the first one from "
      "(%.4g %.4g %.4g) to (%.4g %.4g %.4g) m: they draw cloth through it, or their seams stay "
      "open; place the pieces so that threads run past it (`wrap` of a pattern)",
      (long long)num, (long long)l->num, r->scene->obstacles[body].name, l->ends[6 * first],
      l->ends[6 * first + 1], l->ends[6 * first + 2], l->ends[6 * first + 3],
      l->ends[6 * first + 4], l->ends[6 * first + 5]);
  run_message(r, LOOM_LOG_WARN, text);
}

/* Has it a distance that is there?  `check` leaves large grids empty, and does without fields. */
static int has_known_distance(const run *r, const loom_obstacle *o)
{
  return (o->has & LOOM_BODY_DISTANCE) && o->field == NULL &&
         !(o->sdf != NULL && r->scene->empty_grids);
}

static loom_status look_at_threads(run *r, const thread_list *l, const scene_bodies *meshes,
                                   loom_buf *points, loom_buf *gap, unsigned char *mark)
{
  int next = 0; /* meshes are in the order of the obstacles that have one */
  for (int b = 0; b < r->scene->pub.num_obstacles; ++b) {
    const loom_obstacle *const o = &r->scene->obstacles[b];
    for (int64_t k = 0; k < l->num; ++k) mark[k] = 0;
    if (body_has_mesh(o)) {
      const isect_surface *const s = &meshes->at[next++];
      for (int64_t k = 0; k < l->num; ++k)
        mark[k] = (unsigned char)crosses_surface(s, l->ends + 6 * k, l->ends + 6 * k + 3);
    } else if (has_known_distance(r, o)) {
      LOOM_TRY(mark_by_distance(r, b, l, points, gap, mark));
    }
    warn_of_threads(r, b, l, mark);
  }
  return LOOM_OK;
}

loom_status run_check_threads(run *r)
{
  thread_list l = {0};
  scene_bodies meshes = {0};
  unsigned char *mark = NULL;
  loom_buf *points = NULL, *gap = NULL;
  if (r->scene->sewing == NULL || r->scene->pub.num_obstacles == 0) return LOOM_OK;
  loom_status s = list_threads(r, &l);
  if (s == LOOM_OK) s = mesh_alloc(r->err, l.num, sizeof *mark, &mark);
  if (s == LOOM_OK) s = scene_bodies_open(r->err, r->scene, &meshes);
  if (s == LOOM_OK)
    s = buf_new(r->m, "run", "points of threads", LOOM_REAL, 3 * SAMPLES * l.num, &points);
  if (s == LOOM_OK) s = buf_new(r->m, "run", "gaps of threads", LOOM_REAL, SAMPLES * l.num, &gap);
  if (s == LOOM_OK) s = fill_samples(r, &l, points);
  if (s == LOOM_OK) s = look_at_threads(r, &l, &meshes, points, gap, mark);
  buf_free(r->m, points);
  buf_free(r->m, gap);
  scene_bodies_close(&meshes);
  free(mark);
  free(l.ends);
  return s;
}
