/* mesh_faces.h - triangles and edges of cloth and bodies as lists on the host. */
#ifndef KIT_MESH_FACES_H
#define KIT_MESH_FACES_H

#include <stdint.h>

typedef struct mesh_faces {
  int32_t num_verts, num_tris, num_edges;
  int32_t cloth_tris, cloth_edges; /* of the cloth; triangles and edges of bodies follow */
  const int32_t *tris, *edges;     /* [num_tris][3], [num_edges][2] */
} mesh_faces;

#endif
