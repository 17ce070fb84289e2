/* stitches.h - which vertices of a mesh are sewn to which points of its edges, from a file.
 *
 * A line `stitch I A B T` sews vertex I to the point (1-T) x_A + T x_B of the edge A-B; ids count
 * from 0, T is in [0,1], 0 and 1 sew to a vertex.  The lines stand among the other statements of an
 * OBJ file, or alone in a file with comments (#). */
#ifndef LOOM_MESH_STITCHES_H
#define LOOM_MESH_STITCHES_H

#include "core/err.h"

typedef struct mesh_stitch {
  int32_t i, a, b; /* three different vertices; one without weight may be any */
  int32_t line;    /* of the file */
  double t;        /* 1, in [0,1] */
} mesh_stitch;

/* All of them, *out [*num] in the order of the file, free() it.  among: the file has other
 * statements, which are passed over.  Errors are LOOM_E_CONFIG with "PATH:LINE: ...". */
loom_status stitches_read(loom_err *err, const char *path, int among, int64_t num_verts,
                          mesh_stitch **out, int64_t *num);
/* The same from memory; text ends with a NUL, `name` stands in messages. */
loom_status stitches_parse(loom_err *err, const char *name, const char *text, int among,
                           int64_t num_verts, mesh_stitch **out, int64_t *num);
/* Ends of no weight become vertices of their own, so that an element has three different ones; 0:
 * the vertex is an end of weight itself. */
int stitches_settle(mesh_stitch *s);

#endif
