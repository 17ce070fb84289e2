/* tri_neohookean.kern.h - compressible Neo-Hookean sheet with a limit of stretch:
 *   E = A [ mu/2 (s1 - s2)^2 + (la + mu)/2 (J - 1)^2 + k d/5 (u1^5 + u2^5) ]
 *   J = s1 s2,   u_i = max(s_i - s_on, 0)/d,   d = s_max - s_on
 *
 * with the singular values s1 >= s2 >= 0 of the 3x2 deformation gradient F.
 *
 * Membrane: the rest-stable Neo-Hookean energy of Smith, De Goes and Kim 2018 (Stable
 * Neo-Hookean Flesh Simulation, ACM Trans. Graph. 37(2), doi 10.1145/3180491), mu/2 (I_C - 2) -
 * mu (J - 1) + la/2 (J - 1)^2 written for two dimensions, where I_C - 2 J = (s1 - s2)^2.  la + mu
 * in the place of la makes it linear elasticity at small strain (their reparametrisation), la = Y
 * nu/(1 - nu^2) and mu = Y/(2 (1 + nu)) that of plane stress.  Finite for collapsed triangles.
 *
 * Limit: a wall in each principal stretch, as the constitutive strain limiting of Li, Kaufman and
 * Jiang 2021 (Codimensional Incremental Potential Contact, doi 10.1145/3450626.3459767).
 * DEVIATION: theirs tends to infinity at s_max, which takes a filter of steps and a feasible
 * start; here tension k u^4 grows from 0 at s_on to k at s_max and further beyond, so s_max holds
 * for tensions below k.  Four times continuously differentiable.
 *
 * Hessian: for an energy of s1 and s2, with F = s1 a1 v1' + s2 a2 v2' and the normal n, these do
 * not mix: stretches {a1 v1', a2 v2'} with the 2x2 matrix E_ij, twist (a1 v2' - a2 v1')/sqrt(2)
 * with (E_1 + E_2)/(s1 + s2), shear (a1 v2' + a2 v1')/sqrt(2) with (E_1 - E_2)/(s1 - s2), and
 * n v_i' with E_i/s_i (Smith, De Goes and Kim 2019, Analytic Eigensystems for Isotropic Distortion
 * Energies, ACM Trans. Graph. 38(1), doi 10.1145/3241041, without their third direction). Quotients
 * have s1 - s2 divided out; s_i = 0 is kept a number.
 *
 * rest [4]: Dm^-1 row-major (1/m); A = 1/(2 det Dm^-1) m^2.
 * mat [4]: mu, la + mu, k (N/m), s_max - 1 (1).  The wall begins half-way: d = (s_max - 1)/2. */
#ifndef LOOM_ELEM_TRI_NEOHOOKEAN_KERN_H
#define LOOM_ELEM_TRI_NEOHOOKEAN_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(tri_neohookean_energy, elem_args)
LK_DECLARE(tri_neohookean_gradient, elem_args)
LK_DECLARE(tri_neohookean_hessian, elem_args)
ELEM_DECLARE_CORNER(tri_neohookean)

#endif
