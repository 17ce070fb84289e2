/* tri_stvk.kern.h - orthotropic membrane in the Green strain G = (F'F - I)/2:
 *   E = A [ k0/2 G00^2 + k1 G00 G11 + k2/2 G11^2 + k3 G01^2 ]
 *
 * the form in which Wang, O'Brien and Ramamoorthi 2011 (doi 10.1145/1964921.1964966) give
 * measured fabrics.  The derivative by G01 is 2 k3 G01 A.
 * rest [4]: Dm^-1 row-major (1/m); A = 1/(2 det Dm^-1) m^2.  mat [4]: k0 k1 k2 k3 (N/m).
 * Material axes u, v: the rest triangle's plane, u along the global x direction projected
 * into it (rest_data_triangle() in rest.h); for cloth that rests in the xy plane u = x, v = y.
 * Positive definite at rest if k0 k2 > k1^2 and k3 > 0. */
#ifndef LOOM_ELEM_TRI_STVK_KERN_H
#define LOOM_ELEM_TRI_STVK_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(tri_stvk_energy, elem_args)
LK_DECLARE(tri_stvk_gradient, elem_args)
LK_DECLARE(tri_stvk_hessian, elem_args)
ELEM_DECLARE_CORNER(tri_stvk)

#endif
