/* loom/material.h - material coordinates of cloth, an extension of scenes that have them:
 *
 *   const loom_material *m = loom_scene_extension(sc, LOOM_MATERIAL);   NULL: none
 *
 * The coordinates come from the `vt` of an OBJ file, the attributes of a PLY file or a pattern; for
 * generated sheets from rest = uv.  Each corner of a triangle has coordinates, since a vertex on a
 * seam has one pair of them in each of its pieces.  The 3 nt samples {tris[3 t + a], piece[t],
 * uv[3 t + a]} are the input of the kit `splines`.  All arrays belong to the scene. */
#ifndef LOOM_MATERIAL_H
#define LOOM_MATERIAL_H

#include "scene.h"

#define LOOM_MATERIAL "loom.material/1"

typedef struct loom_piece { /* of a pattern; an object without pieces counts as one */
  const char *name;         /* its name in the file, or the name of the object */
  int32_t object;           /* index, as in loom_scene.object_names */
  int32_t num_tris;         /* above 0 */
  double lo[2], hi[2];      /* m, bounding box of its uv */
} loom_piece;

typedef struct loom_material {
  uint32_t struct_size;
  int32_t num_pieces;
  const loom_piece *pieces; /* [num_pieces], pieces of one object are consecutive */
  loom_buf *uv;             /* real [nt][3][2], m, along the fabric's two directions */
  loom_buf *piece;          /* i32 [nt]; -1: the triangle has no coordinates, its uv are 0 */
  loom_buf *area; /* real [nt], m^2, of the rest shape, whose area may differ from that of uv */
} loom_material;

#endif
