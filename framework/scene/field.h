/* field.h - bodies of shape = rig that have a distance: what it is made from, for every step. */
#ifndef LOOM_SCENE_FIELD_H
#define LOOM_SCENE_FIELD_H

#include "bodies/field.h"
#include "scene/scene_data.h"
#include "scene/settings.h"

/* Values of the key `distance`. */
enum { DISTANCE_NONE, DISTANCE_NEURAL, DISTANCE_GRID, DISTANCE_EXACT, DISTANCE_CAPSULES };

/* Of body k, behind rigged_step(); nothing for a body without one. */
loom_status field_step(scene_data *s, int k);

#endif
