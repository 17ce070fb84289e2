/* ignored.h - parts of bodies that parts of cloth ignore while a garment is dressed ([ignore.*]).
 *
 * Their pairs of vertices are on the list of pairs that are left out from the start on
 * (SCENE_AT_START of exclusions.h).  They stay there until the section's time, and from then on as
 * any other pair of the list until they have parted. */
#ifndef LOOM_SCENE_IGNORED_H
#define LOOM_SCENE_IGNORED_H

#include "scene/base/scene_data.h"

/* 1: a section keeps the pair of vertices v and w, ids as in exclusions.h, on the list at t (s). */
int ignored_holds(const scene_data *s, int32_t v, int32_t w, double t);
void ignored_free(scene_data *s);

#endif
