/* hinge_isometric.kern.h - quadratic bending of Bergou et al. 2006 (Eurographics SGP,
 * "A Quadratic Bending Model for Inextensible Surfaces") on two triangles (x0, x1 | x2, x3)
 * that share the edge x0 x1:   E = k_b/2 * 3/(A0 + A1) |K x|^2.
 *
 * rest [4]: K'_1, K'_2, K'_3 of K' = K sqrt(3/(A0 + A1)) (1/m), and L (1) = +-|K' X|;
 * K'_0 is minus the sum of the others.  mat [1]: k_b (N m).
 * K' annihilates affine maps of a flat rest shape, so L = 0 there and the Hessian is
 * constant.  A curved rest shape keeps its curvature: E = k_b/2 (|K' x| - |L|)^2, which is
 * projective with p = |L| K'x/|K'x|; both sides of the surface are alike to it.  K'x = 0
 * has no direction; the sign of L then says on which side of triangle (x0, x1, x2) K'X is. */
#ifndef LOOM_ELEM_HINGE_ISOMETRIC_KERN_H
#define LOOM_ELEM_HINGE_ISOMETRIC_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(hinge_isometric_energy, elem_args)
LK_DECLARE(hinge_isometric_gradient, elem_args)
LK_DECLARE(hinge_isometric_hessian, elem_args)
LK_DECLARE(hinge_isometric_project, elem_args)
LK_DECLARE(hinge_isometric_weights, elem_args)
ELEM_DECLARE_LISTED(hinge_isometric)
ELEM_DECLARE_CORNER(hinge_isometric)

#endif
