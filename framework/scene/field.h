/* field.h - bodies of shape = rig that have a distance: what it is made from, for every step. */
#ifndef LOOM_SCENE_FIELD_H
#define LOOM_SCENE_FIELD_H

#include "scene/scene_data.h"
#include "scene/settings.h"

typedef struct body_field body_field;
typedef struct rigged rigged;

/* Values of the key `distance`. */
enum { DISTANCE_NONE, DISTANCE_NEURAL };

/* Of body k, behind rigged_step(); nothing for a body without one. */
loom_status field_step(scene_data *s, int k);
void field_free(body_field *f); /* NULL is fine */

#endif
