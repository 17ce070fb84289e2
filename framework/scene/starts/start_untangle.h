/* start_untangle.h - [run] start = untangle. */
#ifndef LOOM_SCENE_START_UNTANGLE_H
#define LOOM_SCENE_START_UNTANGLE_H

#include "audit/intersect.h"
#include "scene/base/build.h"
#include "scene/objects/bodies.h"

/* Moves x [n][3] (m), which m refers to, and the scene's x0. */
loom_status starts_untangle(builder *b, const isect_surface *m, const scene_bodies *bodies,
                            double *x);

#endif
