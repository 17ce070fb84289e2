/* obj.h - Wavefront OBJ and Stanford PLY files as triangle meshes.
 *
 * Vertex order and triangles stay exactly as in the file; polygons are cut into triangles
 * (mesh/polygon.h).  Coordinates may be nan or inf here: the doctor names them by vertex.  Time and
 * memory are linear in the size of the file, and the time of a concave face quadratic in its
 * corners, of which there are POLYGON_MAX_CONCAVE at most.
 */
#ifndef LOOM_MESH_OBJ_H
#define LOOM_MESH_OBJ_H

#include "mesh/mesh.h"

/* Errors are "PATH:LINE: ...", in binary PLY data "PATH: ... at byte N". */
loom_status obj_read(loom_err *err, const char *path, mesh *out);
loom_status ply_read(loom_err *err, const char *path, mesh *out);

/* The same from memory; text[len] must be a NUL.  `name` stands in messages. */
loom_status obj_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out);
loom_status ply_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out);

#endif
