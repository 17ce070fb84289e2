/* tri_wang.kern.h - membrane of measured fabrics with a stiffness that depends on the size and the
 * direction of the stretch (H. Wang, J. O'Brien, R. Ramamoorthi, Data-Driven Elastic Models for
 * Cloth, ACM Trans. Graph. 30(4), 2011, doi 10.1145/2010324.1964966):
 *   E = A [ k0/2 G00^2 + k1 G00 G11 + k2/2 G11^2 + k3 G01^2 ],   k = k(C),   C = 2 G + I
 *
 * k is twice the value of the table, and not below 0, as in ArcSim (R. Narain, A. Samii, J.
 * O'Brien, Adaptive Anisotropic Remeshing for Cloth Simulation, ACM Trans. Graph. 31(6), 2012). The
 * files of ArcSim have the published numbers: one row for fabric that is not stretched, and five
 * rows for a stretch of 1/6, at 0, 22.5, 45, 67.5 and 90 degrees from the first material axis. With
 * w^2 the larger eigenvalue of C and v its eigenvector, k is linear in min(6 (w - 1), 1) from the
 * first row to the stretched rows, and linear in the angle of v between the stretched rows.
 *
 * Within a step k is constant, with its value at the start of the step: so E is an energy, its
 * gradient is exact, and the membrane acts as tri_stvk within the step.  ArcSim leaves out dk/dG,
 * too.  ArcSim reads k from a grid of 30^3 strains; here k is computed from the table.
 * DEVIATION: the angle is measured to the nearer end of the axis, in [0, 90] degrees.  In ArcSim
 * the sign of an eigenvector decides whether an angle lies above 90 degrees, and counts it as 90
 * there.
 *
 * rest [6]: Dm^-1 row-major (1/m), then the state of k: its share t in [0, 1] of the stretched
 * rows, and its angle in steps of 22.5 degrees, in [0, 4].  mat [24]: the six rows of k0 k1 k2 k3,
 * N/m. */
#ifndef LOOM_ELEM_TRI_WANG_KERN_H
#define LOOM_ELEM_TRI_WANG_KERN_H

#include "elements/listed.kern.h"

enum { WANG_REST = 6, WANG_SHARE = 4, WANG_ANGLE = 5, WANG_ROWS = 6, WANG_MAT = 4 * WANG_ROWS };

LK_DECLARE(tri_wang_energy, elem_args)
LK_DECLARE(tri_wang_gradient, elem_args)
LK_DECLARE(tri_wang_hessian, elem_args)
ELEM_DECLARE_CORNER(tri_wang)

LK_DECLARE(tri_wang_move, elem_move_args) /* the state */

#endif
