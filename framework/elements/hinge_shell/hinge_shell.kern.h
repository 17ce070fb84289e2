/* hinge_shell.kern.h - discrete-shell hinge in the dihedral angle theta (Grinspun et al.
 * 2003, scaled as in the Wang 2011 material model):
 *   E = k_e l^2/(2a) (theta - theta0)^2/4,   a = A0 + A1, l the edge's rest length
 *
 * on two triangles (x0, x1, x2) and (x1, x0, x3) with unit normals n0, n1 and edge e = x1-x0:
 *   theta = atan2(e/|e| . (n1 x n0), n0 . n1)   in (-pi, pi]
 * rest [3]: l (m), a (m^2), theta0 (rad).  mat [1]: k_e (N m).
 * theta jumps where the faces touch (+-pi), which cloth cannot pass without intersecting.
 *
 * Hessian: EXACT is c (grad grad' + (theta - theta0) Hess theta), c = k_e l^2/(4a).  Both
 * PSD treatments are Gauss-Newton, c grad grad': semidefinite, exact at theta = theta0.
 * A triangle flatter than HINGE_MIN_HEIGHT edge lengths counts as that high. */
#ifndef LOOM_ELEM_HINGE_SHELL_KERN_H
#define LOOM_ELEM_HINGE_SHELL_KERN_H

#include "elements/elements.h"

LK_DECLARE(hinge_shell_energy, elem_args)
LK_DECLARE(hinge_shell_gradient, elem_args)
LK_DECLARE(hinge_shell_hessian, elem_args)

#endif
