/* tet_neohookean.kern.h - stable Neo-Hookean solid:
 *   E = V [ mu/2 (I_C - 3) - mu/2 log((I_C + 1)/4) + la/2 (J - 1)^2 - 3/4 mu (J - 1) ]
 * with I_C = |F|^2 and J = det F of the deformation gradient F.
 *
 * B. Smith, F. De Goes, T. Kim 2018, Stable Neo-Hookean Flesh Simulation, ACM Trans. Graph. 37(2),
 * doi 10.1145/3180491: their energy mu/2 (I_C - 3) + la/2 (J - a)^2 - mu/2 log(I_C + 1), a = 1 +
 * 3/4 mu/la, less its value at rest.  Finite for collapsed and inverted tetrahedra, at rest in
 * every rotation, and pushed back from a point.  With the moduli mu_L, la_L of Lame, mu = 4/3 mu_L
 * and la = la_L + 5/6 mu_L make it linear elasticity at small strain (their section 3.4).
 *
 * Hessian (section 4): with F = U diag(s) V', a = mu (1 - 1/(I_C + 1)) and p = la (J - 1) - 3/4 mu,
 * the twist of the directions i, j has the eigenvalue a + p s_k, their flip a - p s_k, and the
 * three stretches the matrix A_ii = a + b s_i^2 + la c_i^2,   A_ij = b s_i s_j + la c_i c_j + p s_k
 * with c_i the product of the other two singular values and b = 2 mu/(I_C + 1)^2.
 *
 * rest [10]: Dm^-1 row-major (1/m), volume V (m^3).  mat [2]: mu, la (N/m^2). */
#ifndef LOOM_ELEM_TET_NEOHOOKEAN_KERN_H
#define LOOM_ELEM_TET_NEOHOOKEAN_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(tet_neohookean_energy, elem_args)
LK_DECLARE(tet_neohookean_gradient, elem_args)
LK_DECLARE(tet_neohookean_hessian, elem_args)
ELEM_DECLARE_CORNER(tet_neohookean)

#endif
