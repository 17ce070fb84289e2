/* hinge_shell.kern.c - kernels of the discrete-shell hinge. */
#include "elements/hinge_shell/hinge_shell.kern.h"

#define HINGE_REST 3
#include "elements/hinge.kern.h"

LK_REDUCE_SUM_PLAIN(hinge_shell_energy, a, i) { return hinge_energy(a, i, a->mat[i]); }

LK_KERNEL_PLAIN(hinge_shell_gradient, a, i) { hinge_gradient(a, i, a->mat[i]); }

LK_KERNEL_PLAIN(hinge_shell_hessian, a, i) { hinge_hessian(a, i, a->mat[i]); }

ELEM_CORNER(hinge_shell, 4, 3, 1)
