/* obstacle_view.h - what kernels see of an obstacle, filled on the host.
 *
 * Compiled into the core and, as a source file, into plugins that need it. */
#ifndef LOOM_OBSTACLE_VIEW_H
#define LOOM_OBSTACLE_VIEW_H

#include "geom/obstacle.kern.h"

/* Shape, friction and poses; sdf stays NULL and lipschitz 1.  NULL if all is well, else what
 * is wrong and what to do, to be prefixed with the obstacle's name. [any] */
const char *obst_view_fill(const loom_obstacle *o, obst_view *v);
/* Poses alone, for every step. [any] */
const char *obst_view_pose(const loom_obstacle *o, obst_view *v);
/* Bound of the gradient of the interpolated grid: sdf [dims2][dims1][dims0], m. [any] */
lk_real obst_view_lipschitz(const obst_view *v, const lk_real *sdf);
/* 1 if obst_distance() can be evaluated: not for articulated bodies and unbaked meshes. */
int obst_view_has_distance(const obst_view *v);

#endif
