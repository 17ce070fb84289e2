/* plane.c - kind of body: a half space. */
#include <math.h>

#include "bodies/body.h"

static const char *check(const loom_obstacle *o)
{
  const loom_real *const s = o->shape;
  const double n2 = (double)s[0] * s[0] + (double)s[1] * s[1] + (double)s[2] * s[2];
  /* normals come from divisions and products of matrices */
  return fabs(n2 - 1.0) < 1e-6 ? NULL : "the plane's normal is not a unit vector";
}

const body_kind body_plane = {
    .name = "plane", .shape = BODY_SHAPE_plane, .convex = 1, .check = check};
