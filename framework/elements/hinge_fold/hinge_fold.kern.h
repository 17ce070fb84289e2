/* hinge_fold.kern.h - hinges that keep folds: those of elements/hinge.kern.h,
 *   E = k_e l^2/(2a) (theta - theta0)^2/4,
 * with a rest angle theta0 that moves at the end of a step.  With the yield angle y = kappa 2a/l of
 * a curvature kappa, and isotropic hardening H by the angle p by which theta0 has moved in all,
 *   |theta - theta0| <= y + H p
 * holds after the move, which is the return mapping of rate-independent plasticity in one dimension
 * (J. Simo, T. Hughes, Computational Inelasticity, 1998, box 1.4):
 *   move = max(|theta - theta0| - y - H p, 0)/(1 + H),   theta0 += sign(theta - theta0) move,
 *   p += move
 * Within a step theta0 is constant, so E is an energy and its gradient is exact.  A hinge that
 * bends one way to the angle T keeps theta0 = (T - y)/(1 + H), in any number of steps.
 *
 * rest [4]: l (m), a (m^2), theta0 (rad), p (rad), of which theta0 and p are the state.
 * mat [3]: k_e (N m), kappa (1/m), H (1). */
#ifndef LOOM_ELEM_HINGE_FOLD_KERN_H
#define LOOM_ELEM_HINGE_FOLD_KERN_H

#include "elements/listed.kern.h"

enum { HINGE_FOLD_REST = 4, HINGE_FOLD_MAT = 3 };

LK_DECLARE(hinge_fold_energy, elem_args)
LK_DECLARE(hinge_fold_gradient, elem_args)
LK_DECLARE(hinge_fold_hessian, elem_args)
ELEM_DECLARE_CORNER(hinge_fold)

LK_DECLARE(hinge_fold_move, elem_move_args) /* the state */

#endif
