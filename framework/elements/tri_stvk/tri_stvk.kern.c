/* tri_stvk.kern.c - kernels of the orthotropic Green-strain membrane. */
#include "elements/tri_stvk/tri_stvk.kern.h"

#include "elements/green.kern.h"

LK_REDUCE_SUM_PLAIN(tri_stvk_energy, a, i) { return green_energy(a, i, a->mat + 4 * i); }

LK_KERNEL_PLAIN(tri_stvk_gradient, a, i) { green_gradient(a, i, a->mat + 4 * i); }

LK_KERNEL_PLAIN(tri_stvk_hessian, a, i) { green_hessian(a, i, a->mat + 4 * i); }

ELEM_CORNER(tri_stvk, 3, 4, 4)
