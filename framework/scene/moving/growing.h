/* growing.h - [yarn.NAME] radius_time: the radius with which yarns touch yarns grows from the
 * largest share of `radius` with which no two yarns press at the start, in a straight line.  It is
 * a function of time alone. */
#ifndef LOOM_SCENE_GROWING_H
#define LOOM_SCENE_GROWING_H

#include "scene/base/build.h"

/* The radii of all yarns; those with radius_time begin with `share` (1) of theirs. */
loom_status growing_create(builder *b, double share);
/* The radii of a step that ends at t (s). */
loom_status growing_pose(scene_data *s, double t);
/* Share of the radius at time 0, of yarns that grow; 1: none grow. */
double growing_share(const scene_data *s);
void scene_growing_free(scene_data *s);

#endif
