/* cylinder.c - kind of body: a cylinder along the body's z axis with flat ends and round rims. */
#include <math.h>

#include "bodies/body.h"
#include "mesh/mesh.h"

typedef struct settings {
  double radius, length; /* m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, radius, 0.1, 0, 1e6, "m", "radius."),
    LOOM_PARAM_REAL(settings, length, 0.2, 0, 1e6, "m", "along the body's z axis.")};

static const char *cylinder_open(const void *own, double layer, loom_obstacle *o, const char **key)
{
  const settings *const s = own;
  *key = s->radius > 0 ? "length" : "radius";
  if (!(s->radius > 0 && s->length > 0)) return BODY_NOT_ABOVE_0;
  o->shape[0] = (loom_real)(s->radius + layer);
  o->shape[1] = (loom_real)(0.5 * s->length + layer);
  o->shape[2] = (loom_real)layer;
  return NULL;
}

static loom_status cylinder_outline(loom_err *err, const void *own, double layer, double edge,
                                    mesh *out)
{
  enum { ARC = 8 }; /* sides of a quarter of the rim */
  const double quarter = 1.57079632679489661923;
  const settings *const s = own;
  const double h = 0.5 * s->length;
  double profile[2 * (2 * ARC + 4)];
  int n = 0;
  for (int end = 0; end < 2; ++end) /* the rim below, then the rim above */
    for (int i = 0; i <= (layer > 0 ? ARC : 0); ++i, ++n) {
      const double a = quarter * (i / (double)ARC + end - 1);
      profile[2 * n] = s->radius + layer * cos(a);
      profile[2 * n + 1] = (end ? h : -h) + layer * sin(a);
    }
  for (int end = 1; end >= 0; --end, ++n) { /* poles */
    profile[2 * n] = 0;
    profile[2 * n + 1] = (end ? 1 : -1) * (h + layer);
  }
  return mesh_revolve(err, profile, n, edge, out);
}

static double cylinder_thinnest(const loom_real *shape) { return (double)shape[0]; }

static double cylinder_sharpest(const loom_real *shape) { return (double)shape[2]; } /* its rims */

static const char *cylinder_check(const loom_obstacle *o)
{
  const loom_real *const s = o->shape;
  if (!(s[0] > 0 && s[1] > 0)) return "the cylinder's radius or half length is not positive";
  return s[2] >= 0 && s[2] <= s[0] && s[2] <= s[1]
             ? NULL
             : "the cylinder's rim radius must lie between 0 and its radius and half length";
}

const body_kind body_cylinder = {.name = "cylinder",
                                 .sizes = "body frame; radius, half length, radius of the rims",
                                 .shape = BODY_SHAPE_cylinder,
                                 .convex = 1,
                                 .params = params,
                                 .num_params = LOOM_COUNT(params),
                                 .open = cylinder_open,
                                 .outline = cylinder_outline,
                                 .thinnest = cylinder_thinnest,
                                 .sharpest = cylinder_sharpest,
                                 .check = cylinder_check};
