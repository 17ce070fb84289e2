/* sphere.c - kind of body: a ball. */
#include "bodies/body.h"

static const char *check(const loom_obstacle *o)
{
  return o->shape[3] > 0 ? NULL : "the sphere's radius is not positive";
}

const body_kind body_sphere = {
    .name = "sphere", .shape = BODY_SHAPE_sphere, .convex = 1, .check = check};
