/* thin.c - a body of closed form that passes between vertices, where contact sees no edges and
 * triangles, is told before the run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/objective/measure.h"
#include "run/run_state.h"
#include "scene/objects/bodies.h"

typedef struct cloth_edges {
  double longest;  /* m, at the start */
  double thinnest; /* m, least radius of a vertex of a triangle */
} cloth_edges;

static loom_status measure_cloth_edges(const run *r, cloth_edges *out)
{
  const loom_scene *const s = &r->scene->pub;
  buf_maps q = {.m = r->m}; /* on the host */
  const loom_real *const x = buf_maps_add(&q, r->scene->x0, LOOM_READ);
  const loom_real *const radius = buf_maps_add(&q, s->radius, LOOM_READ);
  const int32_t *const tris = buf_maps_add(&q, s->tris, LOOM_READ);
  *out = (cloth_edges){.longest = 0.0, .thinnest = INFINITY};
  if (x == NULL || radius == NULL || tris == NULL) return buf_maps_end(&q);
  for (int64_t k = 0; k < 3 * (int64_t)s->num_tris; ++k) {
    const int64_t a = tris[k], b = tris[k % 3 == 2 ? k - 2 : k + 1];
    double d2 = 0.0;
    for (int c = 0; c < 3; ++c) {
      const double d = (double)x[3 * a + c] - (double)x[3 * b + c];
      d2 += d * d;
    }
    out->longest = fmax(out->longest, sqrt(d2));
    out->thinnest = fmin(out->thinnest, (double)radius[a]);
  }
  return buf_maps_end(&q);
}

/* Kinds of pairs that the model gets from its collision plugins. */
static uint32_t find_given_kinds(const run *r, const contact_inst *c)
{
  uint32_t kinds = 0;
  for (int j = 0; j < c->num_collision; ++j)
    kinds |= r->collision[c->collision[j]].plugin->ops.collision->pair_kinds;
  return kinds & c->kinds;
}

/* The first contact model that gets vertices against exact shapes, but no edges and triangles. */
static const contact_inst *find_blind_model(const run *r)
{
  for (int i = 0; i < r->num_contact; ++i) {
    const uint32_t kinds = find_given_kinds(r, &r->contact[i]);
    if ((kinds & LOOM_BIT(LOOM_PAIR_VO)) && !(kinds & LOOM_BIT(LOOM_PAIR_EO)))
      return &r->contact[i];
  }
  return NULL;
}

/* A ball with a radius, plus the vertices', below 1 / sqrt(3) of the sides fits between the three
 * vertices of an equilateral triangle. */
static loom_status warn_of_thin_bodies(run *r, const contact_inst *model, const obst_view *bodies,
                                       const cloth_edges *e)
{
  const loom_obstacle *const all = r->scene->obstacles;
  const double fits = e->longest / sqrt(3.0);
  double least = INFINITY;
  int first = -1, more = -1;
  char text[640], others[64] = "";
  for (int k = 0; k < r->scene->pub.num_obstacles; ++k) {
    const body_kind *const kind = bodies[k].shape >= 0 ? body_kind_at(bodies[k].shape) : NULL;
    if (kind == NULL || kind->thinnest == NULL) continue;
    const double radius = kind->thinnest(all[k].shape);
    if (!(radius + e->thinnest < fits)) continue;
    ++more;
    if (radius < least) least = radius, first = k;
  }
  if (first < 0) return LOOM_OK;
  if (more > 0) snprintf(others, sizeof others, " (and %d more bodies)", more);
  snprintf(
      text, sizeof text,
      "[body.%.64s]%s: its thinnest part has a radius of %.3g m, and edges of the cloth are up "
      "to %.3g m long; '%s' sees vertices alone against an exact shape, and the body can pass "
      "between them: set its mesh_size, for triangles in place of the exact shape, make the "
      "edges shorter than %.2g m, or take a contact model for pairs of element-obstacle",
      all[first].name, others, least, e->longest, model->in.plugin->name,
      sqrt(3.0) * (least + e->thinnest));
  run_message(r, LOOM_LOG_WARN, text);
  return LOOM_OK;
}

loom_status run_check_thin(run *r)
{
  obst_view *bodies = NULL;
  cloth_edges e;
  int num = 0;
  const contact_inst *const model = find_blind_model(r);
  if (model == NULL || r->scene->pub.num_tris == 0) return LOOM_OK;
  loom_status s = scene_shapes(r->err, r->scene, &bodies, &num);
  if (s == LOOM_OK && num > 0) s = measure_cloth_edges(r, &e);
  if (s == LOOM_OK && num > 0) s = warn_of_thin_bodies(r, model, bodies, &e);
  free(bodies);
  return s;
}
