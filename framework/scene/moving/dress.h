/* dress.h - [dress]: gravity that begins later, bodies and pins that wait, the end of dressing. */
#ifndef LOOM_SCENE_DRESS_H
#define LOOM_SCENE_DRESS_H

#include "scene/base/scene_data.h"

/* Sets s->gravity to the mean of the step from t0 to t1 (s): 0 up to gravity_from, then it grows
 * evenly within gravity_rise.  The impulse of a step is exact for every dt. */
void dress_gravity(scene_data *s, double t0, double t1);
/* Time (s) of the motions of bodies and pins at time t (s): 0 up to motion_from. */
double dress_motion_time(const scene_data *s, double t);
/* Time (s) from which gravity is whole, all threads are drawn, and pins that are released are. */
double dress_end(const scene_data *s);

#endif
