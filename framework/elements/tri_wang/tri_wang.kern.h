/* tri_wang.kern.h - membrane of measured fabrics, whose stiffness depends on how far and in which
 * direction they are stretched (H. Wang, J. O'Brien, R. Ramamoorthi, Data-Driven Elastic Models for
 * Cloth, ACM Trans. Graph. 30(4), 2011, doi 10.1145/2010324.1964966):
 *   E = A [ k0/2 G00^2 + k1 G00 G11 + k2/2 G11^2 + k3 G01^2 ],   k = k(C),   C = 2 G + I
 *
 * k is twice what this table gives, and not below 0, as in ArcSim (R. Narain, A. Samii, J. O'Brien,
 * Adaptive Anisotropic Remeshing for Cloth Simulation, ACM Trans. Graph. 31(6), 2012), whose files
 * have the published numbers: one row for fabric that is not stretched, and five for a stretch of
 * 1/6, at 0, 22.5, 45, 67.5 and 90 degrees from the first material axis.  With w^2 the larger
 * eigenvalue of C and v its eigenvector, k is linear in min(6 (w - 1), 1) from the first row on,
 * and linear in the angle of v between the other ones.
 *
 * k is that of the strain in which the step began, and constant in it: so E is an energy, its
 * gradient is exact, and a step is one of a membrane as tri_stvk is.  ArcSim leaves out dk/dG
 * likewise, and reads k from a grid of 30^3 strains, which is not done here.
 * DEVIATION: the angle is that to the nearer end of the axis, in [0, 90] degrees; ArcSim counts
 * from 90 to 180 degrees, where the sign of an eigenvector decides, as 90.
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

typedef struct tri_wang_move_args {
  const lk_real *LK_RESTRICT x;     /* [n][3] m */
  const int32_t *LK_RESTRICT verts; /* [ne][3] */
  lk_real *rest;                    /* [ne][WANG_REST]: the state moves on to x */
} tri_wang_move_args;
LK_DECLARE(tri_wang_move, tri_wang_move_args)

#endif
