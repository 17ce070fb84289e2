/* vtk.h - legacy VTK files as triangle and tetrahedron meshes. */
#ifndef LOOM_MESH_VTK_H
#define LOOM_MESH_VTK_H

#include "mesh/mesh.h"

/* POLYDATA (POLYGONS, TRIANGLE_STRIPS) and UNSTRUCTURED_GRID (triangles, polygons, quads, strips;
 * of tetrahedra the faces that belong to one alone, outwards, and out->tets themselves), ASCII and
 * BINARY, versions 1 to 5. Polygons are cut into triangles (mesh/polygon.h); lines, points and data
 * of points and cells are left out.  Errors are "PATH:LINE: ..." or, behind binary data, "PATH: ...
 * at byte N". */
loom_status vtk_read(loom_err *err, const char *path, mesh *out);
/* The same from memory; text[len] must be a NUL.  `name` stands in messages. */
loom_status vtk_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out);

#endif
