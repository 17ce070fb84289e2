/* scene_resolve.c - which objects have edges too long for the curvature of which bodies. */
#include <math.h>
#include <stdlib.h>

#include "bodies/body.h"
#include "mesh/mesh.h"
#include "scene/base/scene_data.h"

typedef struct object_size {
  double longest;     /* m, its longest edge */
  double radius;      /* m, of its vertices */
  double velocity[6]; /* m/s, at the start, of its vertices: largest x, y, z, -x, -y and -z */
} object_size;

static double measure_edge(const loom_real *x, const int32_t *edge)
{
  double d2 = 0.0;
  for (int c = 0; c < 3; ++c) {
    const double d = (double)x[3 * (int64_t)edge[0] + c] - (double)x[3 * (int64_t)edge[1] + c];
    d2 += d * d;
  }
  return sqrt(d2);
}

static loom_status measure_objects(loom_err *err, const scene_data *s, object_size *out)
{
  buf_maps q = {.m = s->m}; /* on the host */
  const loom_real *const start = buf_maps_add(&q, s->x0, LOOM_READ);
  const loom_real *const rest = buf_maps_add(&q, s->pub.rest_x, LOOM_READ);
  const loom_real *const radius = buf_maps_add(&q, s->pub.radius, LOOM_READ);
  const int32_t *const object = buf_maps_add(&q, s->pub.object, LOOM_READ);
  const int32_t *const edges = buf_maps_add(&q, s->pub.edges, LOOM_READ);
  const loom_real *const v0 = buf_maps_add(&q, s->v0, LOOM_READ);
  for (int64_t o = 0; o < s->pub.num_objects; ++o)
    for (int c = 0; c < 6; ++c) out[o].velocity[c] = -INFINITY;
  for (int32_t i = 0; q.status == LOOM_OK && i < s->pub.num_verts; ++i)
    for (int c = 0; c < 6; ++c) {
      const double v = v0 != NULL ? (double)v0[3 * (int64_t)i + c % 3] : 0.0;
      double *const most = &out[object[i]].velocity[c];
      *most = fmax(*most, c < 3 ? v : -v);
    }
  for (int64_t e = 0; q.status == LOOM_OK && e < s->pub.num_edges; ++e) {
    object_size *const o = &out[object[edges[2 * e]]];
    o->longest = fmax(o->longest, measure_edge(start, edges + 2 * e));
    if (rest != NULL) o->longest = fmax(o->longest, measure_edge(rest, edges + 2 * e));
    o->radius = (double)radius[edges[2 * e]];
  }
  const loom_status st = buf_maps_end(&q);
  if (st != LOOM_OK) *err = *mem_err(s->m);
  return st;
}

/* m/s: no vertex of the object moves faster relative to the body in the first step, of length h. */
static double measure_approach(const loom_obstacle *b, const object_size *o, double h)
{
  double sum = 0.0;
  for (int c = 0; c < 3; ++c) {
    const double v = ((double)b->pose1[9 + c] - (double)b->pose0[9 + c]) / h;
    const double most = fmax(o->velocity[c] - v, o->velocity[3 + c] + v);
    sum += most * most;
  }
  return sqrt(sum);
}

/* The rule of loom_scene.elements.  The neighbour of a vertex that the body stops goes on for a
 * step. */
static uint8_t resolve_pair(const loom_obstacle *b, const object_size *o, double h)
{
  const body_kind *const kind = body_kind_find(b->kind);
  if (kind == NULL || kind->sharpest == NULL) return LOOM_ELEMENTS_NONE;
  if (!(b->has & LOOM_BODY_DISTANCE) || b->sdf != NULL || b->field != NULL)
    return LOOM_ELEMENTS_NONE;
  const double far = kind->sharpest(b->shape) + o->radius;
  const double longest = o->longest + h * measure_approach(b, o, h);
  const int sinks = longest * longest > 8.0 * far * o->radius;
  const int passes =
      kind->thinnest != NULL && sqrt(3.0) * (kind->thinnest(b->shape) + o->radius) < longest;
  return sinks && passes ? LOOM_ELEMENTS_UNRESOLVED : LOOM_ELEMENTS_RESOLVED;
}

loom_status scene_resolve(loom_err *err, scene_data *s, double h)
{
  const int64_t bodies = s->pub.num_obstacles, objects = s->pub.num_objects;
  object_size *sizes = NULL;
  uint8_t *all = NULL;
  if (bodies == 0 || objects == 0) return LOOM_OK;
  LOOM_TRY(scene_pose(s, 0.0, h));
  LOOM_TRY(mesh_alloc(err, objects, sizeof *sizes, &sizes)); /* of zeros */
  loom_status st = measure_objects(err, s, sizes);
  if (st == LOOM_OK) st = mesh_alloc(err, bodies * objects, sizeof *all, &all);
  for (int64_t k = 0; st == LOOM_OK && k < bodies * objects; ++k)
    all[k] = resolve_pair(&s->obstacles[k / objects], &sizes[k % objects], h);
  free(sizes);
  free((void *)(uintptr_t)s->pub.elements);
  s->pub.elements = all;
  return st;
}
