/* neural.c - kind of body: distances from shallow networks. */
#include "bodies/body.h"

const body_kind body_neural = {.name = "neural", .shape = BODY_SHAPE_neural, .convex = 0};
