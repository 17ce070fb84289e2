/* plate_quadratic.kern.h - the plate of elements/plate in the constant quadratic form of projective
 * methods: the vector of a fold,
 *   v = (x2 - (1 - t0) x0 - t0 x1)/h0 + (x3 - (1 - t1) x0 - t1 x1)/h1
 * with the rest lengths t and h, stands for its angle: |v| = 2 sin(theta/2) without stretch.  Then
 *   E = D/2 (|K_0 x| - L)^2 + D/2 |K_1 x|^2 + D/2 |K_2 x|^2,   K [3][12] = R v
 * with the rows turned so that the rest curvature R 2 sin(theta0/2) is (L, 0, 0).  E is projective:
 * p = L K_0 x/|K_0 x| in the first row, 0 in the others.
 *
 * It is exact for small folds and lets go of sharp ones: the energy of a cylinder is 0.989, 0.955,
 * 0.83 of the plate's at 15, 30, 60 degrees a cell.  A flat rest shape has no energy in any motion;
 * a curved one, with both sides of the surface alike, keeps the curvature of each triangle but not
 * the angles between the normals of its folds, which leaves forces of order theta0^2 at rest.
 *
 * rest [34]: K of vertices 1 to 11, [3][11] (1/m), K of vertex 0 is minus their sum; L (1) >= 0,
 * along the normal of triangle (x0, x1, x2).  mat [1]: D (N m). */
#ifndef LOOM_ELEM_PLATE_QUADRATIC_KERN_H
#define LOOM_ELEM_PLATE_QUADRATIC_KERN_H

#include "elements/listed.kern.h"

enum { PLATE_QUADRATIC_REST = 34 };

LK_DECLARE(plate_quadratic_energy, elem_args)
LK_DECLARE(plate_quadratic_gradient, elem_args)
LK_DECLARE(plate_quadratic_hessian, elem_args)
LK_DECLARE(plate_quadratic_project, elem_args)
LK_DECLARE(plate_quadratic_weights, elem_args)
ELEM_DECLARE_LISTED(plate_quadratic)
ELEM_DECLARE_CORNER(plate_quadratic)

#endif
