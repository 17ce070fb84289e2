/* grid.c - kind of body: a signed distance on a grid. */
#include "bodies/body.h"

static const char *grid_check(const loom_obstacle *o)
{
  return o->sdf != NULL ? NULL : "its grid has no values";
}

const body_kind body_grid = {
    .name = "sdf", .shape = BODY_SHAPE_grid, .convex = 0, .check = grid_check};
