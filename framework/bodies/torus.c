/* torus.c - kind of body: a ring, all within a radius of a circle around the body's z axis. */
#include <math.h>

#include "bodies/body.h"
#include "mesh/mesh.h"

typedef struct settings {
  double ring_radius, tube_radius; /* m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, ring_radius, 0.2, 0, 1e6, "m",
                    "radius of the circle, around the body's z axis, in the middle of the tube."),
    LOOM_PARAM_REAL(settings, tube_radius, 0.05, 0, 1e6, "m",
                    "radius of the tube, with the layer (thickness) less than ring_radius.")};

static const char *torus_open(const void *own, double layer, loom_obstacle *o, const char **key)
{
  const settings *const s = own;
  *key = s->ring_radius > 0 ? "tube_radius" : "ring_radius";
  if (!(s->ring_radius > 0 && s->tube_radius > 0)) return BODY_NOT_ABOVE_0;
  if (!(s->tube_radius + layer < s->ring_radius))
    return "the tube, with its layer (thickness), must be thinner than ring_radius: a ring has a "
           "hole";
  o->shape[0] = (loom_real)s->ring_radius;
  o->shape[1] = (loom_real)(s->tube_radius + layer);
  return NULL;
}

static loom_status torus_outline(loom_err *err, const void *own, double layer, double edge,
                                 mesh *out)
{
  enum { MOST = 512 };
  const double turn = 6.28318530717958647693;
  const settings *const s = own;
  const double r = s->tube_radius + layer, n = ceil(turn * r / edge);
  const int around = n < 8 ? 8 : n > MOST ? MOST : (int)n;
  double profile[2 * MOST];
  for (int i = 0; i < around; ++i) {
    profile[2 * i] = s->ring_radius + r * cos(turn * i / around);
    profile[2 * i + 1] = r * sin(turn * i / around);
  }
  return mesh_revolve(err, profile, around, edge, out);
}

static double torus_thinnest(const loom_real *shape) { return (double)shape[1]; }

static double torus_sharpest(const loom_real *shape) { return (double)shape[1]; } /* the tube */

static const char *torus_check(const loom_obstacle *o)
{
  return o->shape[1] > 0 && o->shape[1] < o->shape[0]
             ? NULL
             : "the torus's tube radius must lie between 0 and its ring radius";
}

const body_kind body_torus = {.name = "torus",
                              .sizes = "body frame; ring radius, tube radius",
                              .shape = BODY_SHAPE_torus,
                              .params = params,
                              .num_params = LOOM_COUNT(params),
                              .open = torus_open,
                              .outline = torus_outline,
                              .thinnest = torus_thinnest,
                              .sharpest = torus_sharpest,
                              .check = torus_check};
