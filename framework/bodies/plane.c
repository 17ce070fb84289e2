/* plane.c - kind of body: a half space. */
#include <math.h>

#include "bodies/body.h"

typedef struct settings {
  double normal[3];
} settings;

static const loom_param params[] = {LOOM_PARAM_VEC3(settings, normal, "0 0 1", -1e6, 1e6, "1",
                                                    "the side that stays free, before rotation.")};

static const char *plane_open(const void *own, double layer, loom_obstacle *o, const char **key)
{
  const double *const n = ((const settings *)own)->normal;
  const double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  *key = "normal";
  if (!(len > 0)) return BODY_NOT_ABOVE_0;
  for (int c = 0; c < 3; ++c) o->shape[c] = (loom_real)(n[c] / len);
  o->shape[3] = (loom_real)layer;
  return NULL;
}

static const char *plane_check(const loom_obstacle *o)
{
  const loom_real *const s = o->shape;
  const double n2 = (double)s[0] * s[0] + (double)s[1] * s[1] + (double)s[2] * s[2];
  /* normals come from divisions and products of matrices */
  return fabs(n2 - 1.0) < 1e-6 ? NULL : "the plane's normal is not a unit vector";
}

const body_kind body_plane = {.name = "plane",
                              .sizes = "body frame; normal n, d: the body is where n.x < d",
                              .shape = BODY_SHAPE_plane,
                              .convex = 1,
                              .params = params,
                              .num_params = LOOM_COUNT(params),
                              .keys_always = 1,
                              .open = plane_open,
                              .check = plane_check};
