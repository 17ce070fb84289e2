/* hinge_shell.kern.h - discrete-shell hinge in the dihedral angle theta (Grinspun et al.
 * 2003, scaled as in the Wang 2011 material model):
 *   E = k_e l^2/(2a) (theta - theta0)^2/4
 * as elements/hinge.kern.h has it.  rest [3]: l (m), a (m^2), theta0 (rad).  mat [1]: k_e (N m). */
#ifndef LOOM_ELEM_HINGE_SHELL_KERN_H
#define LOOM_ELEM_HINGE_SHELL_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(hinge_shell_energy, elem_args)
LK_DECLARE(hinge_shell_gradient, elem_args)
LK_DECLARE(hinge_shell_hessian, elem_args)
ELEM_DECLARE_CORNER(hinge_shell)

#endif
