/* control_points.h - the affine bodies of a scene by their control points (loom/followers.h). */
#ifndef KIT_CONTROL_POINTS_H
#define KIT_CONTROL_POINTS_H

#include "loom/plugin.h"

typedef struct control_body {
  int32_t vert[4];     /* the control points, corners of the body's tetrahedron */
  int32_t block, elem; /* that tetrahedron: an element of a block of type tet_arap */
} control_body;

typedef struct control_points { /* fine to free when zeroed */
  control_body *body;           /* [num], in the order of blocks and elements */
  int32_t num;
} control_points;

/* Tetrahedra of type tet_arap with four nodes that followers have.  A node is in one such
 * tetrahedron at most: others that share it are left out. */
loom_status control_points_find(control_points *c, const loom_host *host, const loom_scene *sc,
                                const loom_exec *e);
void control_points_free(control_points *c);

#endif
