/* hinge_wang.kern.h - bending of measured fabrics with a stiffness that depends on the curvature
 * and its direction (H. Wang, J. O'Brien, R. Ramamoorthi, Data-Driven Elastic Models for Cloth, ACM
 * Trans. Graph. 30(4), 2011, doi 10.1145/2010324.1964966), on the hinges of elements/hinge.kern.h:
 *   E = k_e l^2/(2a) (theta - theta0)^2/4,   k_e = k_e(curvature, direction)
 *
 * The table has k_e at curvatures of 0, 5, ..., 20 1/m for edges at 0, 45 and 90 degrees from the
 * first material axis, as in the files of ArcSim, which have the published numbers.  k_e is linear
 * in the curvature |theta - theta0| l/(2a), constant above 20 1/m, and linear in the angle of the
 * edge.  Within a step k_e is constant, with its value at the start of the step: so E is an energy
 * and its gradient is exact.  ArcSim leaves out the derivative of k_e, too.
 *
 * rest [5]: l (m), a (m^2), theta0 (rad), the edge's angle in steps of 45 degrees, in [0, 2]; then
 * the state: the curvature in steps of 5 1/m, in [0, 4].  mat [15]: five rows of k_e, N m, at 0, 45
 * and 90 degrees. */
#ifndef LOOM_ELEM_HINGE_WANG_KERN_H
#define LOOM_ELEM_HINGE_WANG_KERN_H

#include "elements/listed.kern.h"

enum {
  HINGE_WANG_REST = 5,
  HINGE_WANG_ANGLE = 3,
  HINGE_WANG_CURVATURE = 4,
  HINGE_WANG_ROWS = 5,
  HINGE_WANG_MAT = 3 * HINGE_WANG_ROWS
};

LK_DECLARE(hinge_wang_energy, elem_args)
LK_DECLARE(hinge_wang_gradient, elem_args)
LK_DECLARE(hinge_wang_hessian, elem_args)
ELEM_DECLARE_CORNER(hinge_wang)

LK_DECLARE(hinge_wang_move, elem_move_args) /* the state */

#endif
