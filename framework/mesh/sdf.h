/* sdf.h - signed distance on a regular grid: baked from a closed mesh, or read.
 *
 * Distances are exact at the nodes (closest triangle by a bounding-volume hierarchy);
 * the sign comes from angle-weighted pseudonormals (Baerentzen and Aanaes, "Signed
 * distance computation using the angle weighted pseudonormal", IEEE TVCG 11(3), 2005,
 * doi 10.1109/TVCG.2005.49), which is right everywhere for a closed, consistently
 * oriented surface.
 */
#ifndef LOOM_MESH_SDF_H
#define LOOM_MESH_SDF_H

#include "mesh/mesh.h"

typedef struct sdf_grid {
  int32_t dims[3];  /* nodes */
  double origin[3]; /* m, node (0,0,0) */
  double spacing;   /* m */
} sdf_grid;

/* A grid around the mesh with `resolution` nodes along the longest side of its box, and
 * `padding` (m) added on all sides; 0: a tenth of the longest side. */
loom_status sdf_frame(loom_err *err, const mesh *m, int64_t resolution, double padding,
                      sdf_grid *out);
/* value [dims2][dims1][dims0], m, negative inside: distance minus `offset`.  The mesh must
 * have passed doctor_mesh as DOCTOR_BODY.  Same bits for any number of threads. */
loom_status sdf_bake(loom_err *err, const mesh *m, const sdf_grid *g, double offset,
                     loom_real *value);

/* A text file as SDFGen writes it: "ni nj nk", "x y z" of node 0, spacing, then the values
 * with i running fastest.  *value is malloc'ed [nk][nj][ni]. */
loom_status sdf_read(loom_err *err, const char *path, sdf_grid *g, loom_real **value);

#endif
