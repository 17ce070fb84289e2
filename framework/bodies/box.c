/* box.c - kind of body: a box with rounded edges. */
#include <math.h>

#include "bodies/body.h"
#include "mesh/mesh.h"

typedef struct settings {
  double size[3]; /* m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_VEC3(settings, size, "0.2 0.2 0.2", 0, 1e6, "m", "side lengths.")};

static const char *box_open(const void *own, double layer, loom_obstacle *o, const char **key)
{
  const settings *const s = own;
  *key = "size";
  for (int c = 0; c < 3; ++c) {
    if (!(s->size[c] > 0)) return BODY_NOT_ABOVE_0;
    o->shape[c] = (loom_real)(0.5 * s->size[c] + layer);
  }
  o->shape[3] = (loom_real)layer;
  return NULL;
}

static loom_status box_outline(loom_err *err, const void *own, double layer, double edge, mesh *out)
{
  const double *const size = ((const settings *)own)->size;
  const double core[3] = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
  return mesh_round_box(err, core, layer, edge, out);
}

static double box_thinnest(const loom_real *shape)
{
  const double a = (double)shape[0], b = (double)shape[1], c = (double)shape[2];
  return fmax(fmin(a, b), fmin(fmax(a, b), c)); /* the median */
}

static double box_sharpest(const loom_real *shape) { return (double)shape[3]; } /* its edges */

static const char *box_check(const loom_obstacle *o)
{
  const loom_real *const s = o->shape;
  if (!(s[0] > 0 && s[1] > 0 && s[2] > 0)) return "the box's half extents are not positive";
  return s[3] >= 0 && s[3] <= s[0] && s[3] <= s[1] && s[3] <= s[2]
             ? NULL
             : "the box's edge radius must lie between 0 and the smallest half extent";
}

const body_kind body_box = {.name = "box",
                            .sizes = "body frame; half extents [3], edge radius",
                            .shape = BODY_SHAPE_box,
                            .convex = 1,
                            .params = params,
                            .num_params = LOOM_COUNT(params),
                            .keys_always = 1,
                            .open = box_open,
                            .outline = box_outline,
                            .thinnest = box_thinnest,
                            .sharpest = box_sharpest,
                            .check = box_check};
