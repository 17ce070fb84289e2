/* bend_field.h - bodies of shape = rig that have a distance: its data, remade in every step. */
#ifndef LOOM_SCENE_FIELD_H
#define LOOM_SCENE_FIELD_H

#include "bodies/bend_field.h"
#include "scene/base/scene_data.h"
#include "scene/base/settings.h"

/* Remakes the distance of body k, if it has one; called after rigged_step(). */
loom_status bend_field_step(scene_data *s, int k);

#endif
