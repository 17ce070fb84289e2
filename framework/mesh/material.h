/* material.h - material coordinates: where the triangles of a mesh lie in the flat pattern that it
 * was cut from, and which piece of it each belongs to.
 *
 * They belong to corners of triangles, so vertices on a seam have several and pieces may overlap in
 * the plane. */
#ifndef LOOM_MESH_MATERIAL_H
#define LOOM_MESH_MATERIAL_H

#include "mesh/mesh.h"

/* Finds names among m->piece_names; {0} is empty. */
typedef struct material_names {
  int32_t *slot; /* [size] piece + 1, 0: free */
  int64_t size;  /* a power of two, or 0 */
} material_names;
void material_names_free(material_names *names);

/* The piece called `name` [len], which is added where there is none. */
loom_status material_piece(loom_err *err, mesh *m, material_names *names, const char *name, int len,
                           int32_t *piece);

/* Gives a generated sheet its material coordinates: of a flat sheet x and y; a tube is cut along
 * its first column and unrolled, u around and v along. */
loom_status material_unroll(loom_err *err, mesh *m);

/* Every corner has coordinates and no triangle has zero area; or the error names the triangle of
 * `name` with its line. */
loom_status material_check(loom_err *err, const mesh *m, const char *name);

#endif
