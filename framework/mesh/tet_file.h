/* tet_file.h - files of tetrahedra: Gmsh (.msh), legacy VTK (.vtk), VTK XML (.vtu), TetGen (.node
 * with .ele).
 *
 * Points and tetrahedra stay in the order of the file.  Errors are "PATH:LINE: ..." or, in binary
 * data, "PATH: ... at byte N".  Every count is checked against the size of the file before memory
 * is allocated; time and memory are linear in that size, and n log n where points of a .msh file
 * are not numbered in order. */
#ifndef LOOM_MESH_TET_FILE_H
#define LOOM_MESH_TET_FILE_H

#include "mesh/mesh.h"

/* Whether the suffix of `path` is of a format that has tetrahedra. */
int tet_file_is(const char *path);
/* The file with x, tets and, as tris, their outer faces.  Points that no tetrahedron has are left
 * out (out->num_unused).  If all volumes are negative, as of programs with the other order of
 * vertices, the last two vertices of each change places (out->num_turned); a part of them is left
 * for the doctor.  LOOM_E_IO for a file without tetrahedra. */
loom_status tet_file_read(loom_err *err, const char *path, mesh *out);
/* What tet_file_read does behind the readers below. */
loom_status tet_file_finish(loom_err *err, const char *name, mesh *m);

/* Readers of single formats, from memory: x and tets alone.  text[len] must be a NUL, `name` stands
 * in messages.  Elements of second order and volumes of other shapes are refused; points, lines and
 * faces are passed over (out->num_ignored). */
/* Gmsh 2.0 to 2.2 and 4.1, text and binary in either order of bytes.  Version 2 lists a tetrahedron
 * once for each of its physical groups; it is taken once (out->num_repeated). */
loom_status msh_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out);
/* UnstructuredGrid of one piece; arrays in text, in base64, or appended (raw or base64); not
 * compressed. */
loom_status vtu_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out);
typedef struct tetgen_text {
  const char *name, *text;
  size_t len;
} tetgen_text;
/* Ids count from the first id of the .node file, 0 or 1. */
loom_status tetgen_parse(loom_err *err, const tetgen_text *node, const tetgen_text *ele, mesh *out);

#endif
