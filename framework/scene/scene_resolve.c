/* scene_resolve.c - which objects have edges too long for the curvature of which bodies. */
#include <math.h>
#include <stdlib.h>

#include "bodies/body.h"
#include "mesh/mesh.h"
#include "scene/base/scene_data.h"

typedef struct object_size {
  double longest; /* m, its longest edge */
  double radius;  /* m, of its vertices */
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

/* The rule of loom_scene.elements. */
static uint8_t resolve_pair(const loom_obstacle *b, const object_size *o)
{
  const body_kind *const kind = body_kind_find(b->kind);
  if (kind == NULL || kind->sharpest == NULL) return LOOM_ELEMENTS_NONE;
  if (!(b->has & LOOM_BODY_DISTANCE) || b->sdf != NULL || b->field != NULL)
    return LOOM_ELEMENTS_NONE;
  const double far = kind->sharpest(b->shape) + o->radius;
  const int sinks = o->longest * o->longest > 8.0 * far * o->radius;
  const int passes =
      kind->thinnest != NULL && sqrt(3.0) * (kind->thinnest(b->shape) + o->radius) < o->longest;
  return sinks && passes ? LOOM_ELEMENTS_UNRESOLVED : LOOM_ELEMENTS_RESOLVED;
}

loom_status scene_resolve(loom_err *err, scene_data *s)
{
  const int64_t bodies = s->pub.num_obstacles, objects = s->pub.num_objects;
  object_size *sizes = NULL;
  uint8_t *all = NULL;
  if (bodies == 0 || objects == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(err, objects, sizeof *sizes, &sizes)); /* of zeros */
  loom_status st = measure_objects(err, s, sizes);
  if (st == LOOM_OK) st = mesh_alloc(err, bodies * objects, sizeof *all, &all);
  for (int64_t k = 0; st == LOOM_OK && k < bodies * objects; ++k)
    all[k] = resolve_pair(&s->obstacles[k / objects], &sizes[k % objects]);
  free(sizes);
  free((void *)(uintptr_t)s->pub.elements);
  s->pub.elements = all;
  return st;
}
