/* loom/material.h - material coordinates of cloth, an extension of scenes that have them:
 *
 *   const loom_material *m = loom_scene_extension(sc, LOOM_MATERIAL);   NULL: none
 *
 * Cloth has them from the `vt` of an OBJ file, the attributes of a PLY file or a pattern; generated
 * sheets with rest = uv.  Corners, not vertices, have coordinates: those of a vertex on a seam lie
 * in several pieces.  3 nt samples {tris[3 t + a], piece[t], uv[3 t + a]} are what the kit splines
 * takes. */
#ifndef LOOM_MATERIAL_H
#define LOOM_MATERIAL_H

#include "scene.h"

#define LOOM_MATERIAL "loom.material/1"

typedef struct loom_piece { /* of a pattern; an object without pieces is one */
  const char *name;         /* as the file calls it, or the object's */
  int32_t object;
  int32_t num_tris;    /* above 0 */
  double lo[2], hi[2]; /* m, box around its coordinates */
} loom_piece;

typedef struct loom_material {
  uint32_t struct_size;
  int32_t num_pieces;
  const loom_piece *pieces; /* [num_pieces], those of an object in a row */
  loom_buf *uv;             /* real [nt][3][2], m, along the fabric's two directions */
  loom_buf *piece;          /* i32 [nt]; -1: the triangle has no coordinates, its uv are 0 */
  loom_buf *area;           /* real [nt], m^2, of the rest shape, which may be another one */
} loom_material;

#endif
