/* merge.h - vertices that become one: sheets that are cut where they should hang together, and
 * pieces of a pattern that are sewn.
 *
 * Data of triangle corners, such as material coordinates, stay as they are. */
#ifndef LOOM_MESH_MERGE_H
#define LOOM_MESH_MERGE_H

#include "mesh/mesh.h"

/* Groups of vertices at most `tolerance` (m) apart, directly or over others in between: leader
 * [num_verts] gets the lowest number of each one's group.  `only` [num_verts], 1: may be in a
 * group; NULL: all.  An edge between two of them that is not longer than the tolerance is an error
 * that names its triangle; name NULL: it is not.  Linear in the number of vertices. */
loom_status merge_coincident(loom_err *err, const mesh *m, const char *name, double tolerance,
                             const unsigned char *only, int32_t *leader);
/* The ends of edges with one triangle: only [num_verts]. */
loom_status merge_boundary(loom_err *err, const mesh *m, unsigned char *only);

/* Takes the groups apart, leader [num_verts], for which merge_groups() would refuse the mesh. */
loom_status merge_keep_sound(loom_err *err, const mesh *m, int32_t *leader);

/* Every group becomes its leader, in the mean of their places; numbers close up in order.  map
 * [num_verts as it was] gets the new numbers; *gone: how many vertices there are fewer.  Edges that
 * would have more than two triangles, and triangles that would have a vertex twice, are errors that
 * name both sides in the old numbers; the mesh is then as it was. */
loom_status merge_groups(loom_err *err, mesh *m, const char *name, const int32_t *leader,
                         int32_t *map, int32_t *gone);

#endif
