/* tet_surface.h - the outer faces of tetrahedra. */
#ifndef LOOM_MESH_TET_SURFACE_H
#define LOOM_MESH_TET_SURFACE_H

#include "mesh/mesh.h"

/* The faces of m->tets that belong to one tetrahedron alone, outwards also where that one has its
 * vertices the other way round: *tris [*num][3], the caller frees them.  All ids are in range.
 * Linear in the size of the mesh. */
loom_status tet_surface(loom_err *err, const mesh *m, int32_t **tris, int32_t *num);
/* Six times the signed volume of tetrahedron t, m^3. */
double tet_six_volumes(const mesh *m, int64_t t);

/* All faces of m->tets, equal ones beside each other: face order[k] % 4 of tetrahedron order[k] / 4
 * has the vertices key[order[k]] in ascending order.  The caller frees both arrays. */
loom_status tet_sort_faces(loom_err *err, const mesh *m, int32_t **key, int32_t **order);
/* Corners of face 0 to 3, outwards for a positive volume. */
extern const int tet_face_corners[4][3];

#endif
