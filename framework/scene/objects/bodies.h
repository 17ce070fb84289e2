/* bodies.h - the bodies of a scene for the audits: meshes as surfaces in the world, closed forms as
 * their distances. */
#ifndef LOOM_SCENE_BODIES_H
#define LOOM_SCENE_BODIES_H

#include "audit/intersect.h"
#include "bodies/entries.h"
#include "scene/base/scene_data.h"

typedef struct scene_bodies {
  int num;
  double *x;         /* [nb][3] m, all their vertices at the end of the step; own copy */
  isect_surface *at; /* [num] into x */
  const char **name; /* [num] of the scene */
} scene_bodies;

/* Close it also after a failure. */
loom_status scene_bodies_open(loom_err *err, const scene_data *s, scene_bodies *out);
void scene_bodies_close(scene_bodies *b);

/* *out [num_obstacles]: the poses of the present step of the bodies that entries_find() tests,
 * shape -1 for all others; *num: how many it tests; the caller frees *out, also after a failure. */
loom_status scene_shapes(loom_err *err, const scene_data *s, obst_view **out, int *num);

#endif
