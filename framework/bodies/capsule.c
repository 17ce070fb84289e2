/* capsule.c - kind of body: all within a radius of a segment. */
#include "bodies/body.h"
#include "mesh/mesh.h"

typedef struct settings {
  double radius, length; /* m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, radius, 0.1, 0, 1e6, "m", "radius."),
    LOOM_PARAM_REAL(settings, length, 0.2, 0, 1e6, "m",
                    "along the body's z axis; of a capsule between its two end centres.")};

static const char *capsule_open(const void *own, double layer, loom_obstacle *o, const char **key)
{
  const settings *const s = own;
  *key = "radius";
  if (!(s->radius > 0)) return BODY_NOT_ABOVE_0;
  o->shape[2] = (loom_real)(-0.5 * s->length);
  o->shape[5] = (loom_real)(0.5 * s->length);
  o->shape[6] = (loom_real)(s->radius + layer);
  return NULL;
}

static loom_status capsule_outline(loom_err *err, const void *own, double layer, double edge,
                                   mesh *out)
{
  const settings *const s = own;
  const double core[3] = {0, 0, 0.5 * s->length};
  return mesh_round_box(err, core, s->radius + layer, edge, out);
}

static double capsule_thinnest(const loom_real *shape) { return (double)shape[6]; }

static double capsule_sharpest(const loom_real *shape) { return (double)shape[6]; }

static const char *capsule_check(const loom_obstacle *o)
{
  return o->shape[6] > 0 ? NULL : "the capsule's radius is not positive";
}

const body_kind body_capsule = {.name = "capsule",
                                .sizes = "body frame; two end points [2][3], radius",
                                .shape = BODY_SHAPE_capsule,
                                .convex = 1,
                                .params = params,
                                .num_params = LOOM_COUNT(params),
                                .keys_always = 1,
                                .open = capsule_open,
                                .outline = capsule_outline,
                                .thinnest = capsule_thinnest,
                                .sharpest = capsule_sharpest,
                                .check = capsule_check};
