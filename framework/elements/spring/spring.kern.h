/* spring.kern.h - spring between two vertices: E = k/2 (|d| - L)^2, d = x0 - x1.
 *
 * rest [1]: L (m), may be 0.  mat [1]: k (N/m).  Projective: A = [1, -1], p = L d/|d|.
 * d = 0 has no direction; e_x stands in, in every kernel alike. */
#ifndef LOOM_ELEM_SPRING_KERN_H
#define LOOM_ELEM_SPRING_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(spring_energy, elem_args)
LK_DECLARE(spring_gradient, elem_args)
LK_DECLARE(spring_hessian, elem_args)
LK_DECLARE(spring_project, elem_args)
LK_DECLARE(spring_weights, elem_args)
ELEM_DECLARE_LISTED(spring)
ELEM_DECLARE_CORNER(spring)

#endif
