/* pin.kern.h - attachment of one vertex to a point: E = k/2 |x - p|^2.
 *
 * rest: none.  mat [4]: k (N/m), p[3] (m).  Projective: A = 1, the target is p. */
#ifndef LOOM_ELEM_PIN_KERN_H
#define LOOM_ELEM_PIN_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(pin_energy, elem_args)
LK_DECLARE(pin_gradient, elem_args)
LK_DECLARE(pin_hessian, elem_args)
LK_DECLARE(pin_project, elem_args)
LK_DECLARE(pin_weights, elem_args)
ELEM_DECLARE_LISTED(pin)
ELEM_DECLARE_CORNER(pin)

#endif
