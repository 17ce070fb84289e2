/* sewing.h - stitches of a scene while it runs: their threads shorten, their gaps are measured. */
#ifndef LOOM_SCENE_SEWING_H
#define LOOM_SCENE_SEWING_H

#include "scene/base/scene_data.h"

typedef struct scene_stitches { /* as the log has them */
  int64_t num;
  const int32_t *verts;   /* [num][3] vertex, and the edge it is sewn to */
  const loom_real *place; /* [num] share of the way along the edge, 1 */
} scene_stitches;
/* num 0: there are none. */
scene_stitches scene_stitches_of(const scene_data *s);
/* Lengths of the threads at time t (s). */
loom_status scene_sewing_pose(scene_data *s, double t);
/* Largest distance of a sewn vertex from its place at x [n][3] (m); NaN without stitches. */
double scene_stitch_gap(const scene_data *s, const loom_real *x);
/* Time (s) from which all threads are drawn; 0 without stitches. */
double scene_sewing_time(const scene_data *s);
void scene_sewing_free(scene_data *s);

#endif
