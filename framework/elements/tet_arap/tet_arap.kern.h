/* tet_arap.kern.h - as-rigid-as-possible solid: E = w/2 V |F - R(F)|_F^2 with the closest
 * rotation R (det = +1, also for inverted tetrahedra) of the deformation gradient F.
 *
 * rest [10]: Dm^-1 row-major (1/m), volume V (m^3).  mat [1]: w (N/m^2).
 * Projective: A = G (3x4), p = R^T, weight w V.
 *
 * Hessian (Smith, De Goes and Kim 2019, doi 10.1145/3241041): with F = U diag(s) V' and
 * rotations U, V, the eigenvalues by F are w V (1 - 2/(s_i + s_j)) for the three twists
 * U J_ij V'/sqrt(2), and w V for the six other directions.  s_i + s_j = 0 is where R jumps;
 * the quotient is kept a number there. */
#ifndef LOOM_ELEM_TET_ARAP_KERN_H
#define LOOM_ELEM_TET_ARAP_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(tet_arap_energy, elem_args)
LK_DECLARE(tet_arap_gradient, elem_args)
LK_DECLARE(tet_arap_hessian, elem_args)
LK_DECLARE(tet_arap_project, elem_args)
LK_DECLARE(tet_arap_weights, elem_args)
ELEM_DECLARE_LISTED(tet_arap)
ELEM_DECLARE_CORNER(tet_arap)

#endif
