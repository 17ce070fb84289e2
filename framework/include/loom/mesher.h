/* loom/mesher.h - interface between the core and a module that triangulates polygons.
 *
 * A library triangulates the pieces of a sewing pattern.  It lives in a module NAME.so of its own,
 * in the folder `meshers` beside the folder of the plugins.  The core opens it when a scene has a
 * pattern; loom itself neither links nor needs it, so the module's licence does not extend to loom.
 */
#ifndef LOOM_MESHER_H
#define LOOM_MESHER_H

#include <stddef.h>

#include "types.h"

#define LOOM_MESHER_ABI 1u

/* A triangulation: `triangulate` allocates its arrays, `release` frees them. */
typedef struct loom_mesher_mesh {
  int32_t num_verts; /* at least as many as the outline has */
  int32_t num_tris;
  double *x;     /* [num_verts][2] m; the outline's vertices first, unchanged and in their order */
  int32_t *tris; /* [num_tris][3], counter-clockwise */
} loom_mesher_mesh;

typedef struct loom_mesher {
  uint32_t struct_size;
  uint32_t abi; /* LOOM_MESHER_ABI */
  const char *name, *version;
  const char *license; /* SPDX, of the module with its libraries */
  const char *summary; /* one sentence */
  /* Fills the simple polygon `outline` [num][2] (m, counter-clockwise, num >= 3) with triangles of
   * about the edge length `edge` (m, > 0).  Edges of the outline stay whole; the same input gives
   * the same bits.  On failure: LOOM_E_NOMEM or LOOM_E_INTERNAL, a sentence in why, char [len], and
   * *out empty. */
  loom_status (*triangulate)(const double *outline, int32_t num, double edge, loom_mesher_mesh *out,
                             char *why, size_t len);
  void (*release)(loom_mesher_mesh *m); /* *m is empty afterwards; may be called twice */
} loom_mesher;

/* The one function that a module exports.  The result stays valid; NULL: `abi` is not supported. */
typedef const loom_mesher *(*loom_mesher_query_fn)(uint32_t abi);
LOOM_EXPORT const loom_mesher *loom_mesher_query(uint32_t abi);

#endif /* LOOM_MESHER_H */
