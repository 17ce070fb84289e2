/* loom/mesher.h - interface between the core and a module that triangulates polygons and fills
 * closed surfaces with tetrahedra.
 *
 * A library meshes the pieces of a sewing pattern and the surface of a solid.  It lives in a module
 * NAME.so of its own, in the folder `meshers` beside the folder of the plugins.  The core opens it
 * when a scene has a pattern or such a surface; loom itself neither links nor needs it, so the
 * module's licence does not extend to loom.
 */
#ifndef LOOM_MESHER_H
#define LOOM_MESHER_H

#include <stddef.h>

#include "types.h"

#define LOOM_MESHER_ABI 2u

/* A triangulation: `triangulate` allocates its arrays, `release` frees them. */
typedef struct loom_mesher_mesh {
  int32_t num_verts; /* at least as many as the outline has */
  int32_t num_tris;
  double *x;     /* [num_verts][2] m; the outline's vertices first, unchanged and in their order */
  int32_t *tris; /* [num_tris][3], counter-clockwise */
} loom_mesher_mesh;

/* A tetrahedralisation: `tetrahedralise` allocates its arrays, `release_solid` frees them. */
typedef struct loom_mesher_solid {
  int32_t num_verts; /* at least as many as the surface has */
  int32_t num_tets;
  double *x;     /* [num_verts][3] m; the surface's vertices first, unchanged and in their order */
  int32_t *tets; /* [num_tets][4], positive volume: det(x1 - x0, x2 - x0, x3 - x0) > 0 */
} loom_mesher_solid;

typedef struct loom_mesher_surface {
  int32_t num_verts;
  int32_t num_tris;
  const double *x;     /* [num_verts][3] m; each is in a triangle */
  const int32_t *tris; /* [num_tris][3], closed, outwards, each edge in two triangles */
} loom_mesher_surface;

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
  /* Fills the inside of a surface with tetrahedra of about the edge length `edge` (m, > 0), near
   * the surface of the length of its own edges.  Its triangles stay faces; the same input gives the
   * same bits.  Failures as above, among them a surface that intersects itself.  NULL: the module
   * has no such method. */
  loom_status (*tetrahedralise)(const loom_mesher_surface *surface, double edge,
                                loom_mesher_solid *out, char *why, size_t len);
  void (*release_solid)(loom_mesher_solid *m); /* as `release`; NULL with tetrahedralise NULL */
} loom_mesher;

/* The one function that a module exports.  The result stays valid; NULL: `abi` is not supported. */
typedef const loom_mesher *(*loom_mesher_query_fn)(uint32_t abi);
LOOM_EXPORT const loom_mesher *loom_mesher_query(uint32_t abi);

#endif /* LOOM_MESHER_H */
