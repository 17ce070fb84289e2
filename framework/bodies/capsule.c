/* capsule.c - kind of body: all within a radius of a segment. */
#include "bodies/body.h"

static const char *check(const loom_obstacle *o)
{
  return o->shape[6] > 0 ? NULL : "the capsule's radius is not positive";
}

const body_kind body_capsule = {
    .name = "capsule", .shape = BODY_SHAPE_capsule, .convex = 1, .check = check};
