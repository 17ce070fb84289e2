/* box.c - kind of body: a box with rounded edges. */
#include "bodies/body.h"

static const char *check(const loom_obstacle *o)
{
  const loom_real *const s = o->shape;
  if (!(s[0] > 0 && s[1] > 0 && s[2] > 0)) return "the box's half extents are not positive";
  return s[3] >= 0 && s[3] <= s[0] && s[3] <= s[1] && s[3] <= s[2]
             ? NULL
             : "the box's edge radius must lie between 0 and the smallest half extent";
}

const body_kind body_box = {.name = "box", .shape = BODY_SHAPE_box, .convex = 1, .check = check};
