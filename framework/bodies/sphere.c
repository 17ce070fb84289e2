/* sphere.c - kind of body: a ball. */
#include "bodies/body.h"
#include "mesh/mesh.h"

typedef struct settings {
  double radius; /* m */
} settings;

static const loom_param params[] = {LOOM_PARAM_REAL(settings, radius, 0.1, 0, 1e6, "m", "radius.")};

static const char *sphere_open(const void *own, double layer, loom_obstacle *o, const char **key)
{
  const settings *const s = own;
  *key = "radius";
  if (!(s->radius > 0)) return BODY_NOT_ABOVE_0;
  o->shape[3] = (loom_real)(s->radius + layer);
  return NULL;
}

static loom_status sphere_outline(loom_err *err, const void *own, double layer, double edge,
                                  mesh *out)
{
  const double centre[3] = {0, 0, 0};
  return mesh_round_box(err, centre, ((const settings *)own)->radius + layer, edge, out);
}

static double sphere_inertia(const void *own, double mass)
{
  const double r = ((const settings *)own)->radius;
  return 0.4 * mass * r * r;
}

static double sphere_thinnest(const loom_real *shape) { return (double)shape[3]; }

static double sphere_sharpest(const loom_real *shape) { return (double)shape[3]; }

static const char *sphere_check(const loom_obstacle *o)
{
  return o->shape[3] > 0 ? NULL : "the sphere's radius is not positive";
}

const body_kind body_sphere = {.name = "sphere",
                               .sizes = "body frame; centre [3], radius",
                               .shape = BODY_SHAPE_sphere,
                               .convex = 1,
                               .params = params,
                               .num_params = LOOM_COUNT(params),
                               .keys_always = 1,
                               .open = sphere_open,
                               .outline = sphere_outline,
                               .inertia = sphere_inertia,
                               .thinnest = sphere_thinnest,
                               .sharpest = sphere_sharpest,
                               .check = sphere_check};
