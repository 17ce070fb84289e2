/* mesh.c - kind of body: a closed surface of triangles, with a grid of distances or without. */
#include "bodies/body.h"

const body_kind body_mesh = {.name = "mesh", .shape = -1};
