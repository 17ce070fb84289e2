/* clean.h - triangles of a file that carry no surface are left out: repair = clean. */
#ifndef LOOM_MESH_CLEAN_H
#define LOOM_MESH_CLEAN_H

#include "mesh/mesh.h"

typedef struct clean_counts {
  int32_t flat;    /* triangles with a repeated vertex, or lower than 1e-6 of their longest side */
  int32_t doubled; /* triangles with the same three vertices as one before them */
} clean_counts;

enum { CLEAN_FLAT = 1, CLEAN_DOUBLED = 2 }; /* bits */

/* Takes triangles of the kinds `which`, and their rows of uv, piece, rest, fan and tri_line, out of
 * m; vertices keep their numbers.  m's ids are in range; triangles with numbers that are not finite
 * stay. */
loom_status clean_mesh(loom_err *err, mesh *m, int which, clean_counts *out);

#endif
