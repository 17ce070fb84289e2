/* stuffing.h - tetrahedra inside the surface where a function is 0. */
#ifndef LOOM_MESH_STUFFING_H
#define LOOM_MESH_STUFFING_H

#include "mesh/mesh.h"

/* A continuous function of x (m) that is below 0 inside the shape and above 0 outside. */
typedef double (*stuffing_sign)(const void *shape, const double x[3]);

enum { STUFFING_MAX_POINTS = 4000000 }; /* of the lattice */

/* Isosurface stuffing (Labelle and Shewchuk 2007) on a uniform body-centred lattice of cubes of the
 * edge `cell` (m): *out, zero before, has vertices, tetrahedra of positive volume and their
 * surface.  The shape lies inside lo to hi.  Parts of it that are thinner than a cell may be lost,
 * and edges of the surface may have four triangles where all of some places of the lattice give
 * such edges; LOOM_E_CONFIG where nothing is left, or the lattice has more than STUFFING_MAX_POINTS
 * points. DEVIATION: diagonals of cut faces go to the vertex of the least number, not by the
 * paper's parity rule, so its bounds of dihedral angles (10.7 to 164.8 degrees) do not hold. */
loom_status mesh_stuff(loom_err *err, stuffing_sign sign, const void *shape, const double lo[3],
                       const double hi[3], double cell, mesh *out);

#endif
