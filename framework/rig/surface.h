/* surface.h - surfaces from files of 3-D programs, through a module (loom/rig_reader.h). */
#ifndef LOOM_RIG_SURFACE_H
#define LOOM_RIG_SURFACE_H

#include "mesh/mesh.h"

/* The triangles of STL, OFF, glTF, GLB, Collada or FBX, by the contents of the file, where its
 * nodes put them; lengths are the file's.  Vertices at one place become one, except where an edge
 * would get a third triangle; *welded counts them.  Vertices without a triangle are left out.
 * Errors begin with the path; *out is then empty.
 */
loom_status surface_import(loom_err *err, const char *path, mesh *out, int32_t *welded);

#endif
