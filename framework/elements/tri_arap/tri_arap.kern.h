/* tri_arap.kern.h - as-rigid-as-possible membrane: E = E_mem/2 A |F - R(F)|_F^2 with the
 * closest isometry R of the 3x2 deformation gradient F.
 *
 * rest [4]: Dm^-1 row-major (1/m); A = 1/(2 det Dm^-1) m^2.  mat [1]: E_mem (N/m).
 * Projective: A = G (2x3), p = R^T, weight E_mem A (Bouaziz et al. 2014,
 * doi 10.1145/2601097.2601116, section 5).
 *
 * Hessian: with singular values s1, s2, tau = s1 + s2 and w = E_mem A, the energy is
 * w/2 (|F|^2 - 2 tau + 2).  Second derivatives of tau are 2/tau for the twist
 * T = R J/sqrt(2), J the quarter turn, and 1/s_i for n v_i^T, the right singular vectors
 * tilting out of the plane with normal n; every other direction has 0.  So the eigenvalues
 * of the Hessian are w (1 - 2/tau), w (1 - 1/s1), w (1 - 1/s2) and w three times, and
 * clamping needs no numerical eigenvalues (as Smith, De Goes and Kim 2019,
 * doi 10.1145/3241041, do for 3x3).  1/s_i and 2/tau tend to infinity as the triangle
 * collapses; they are kept numbers. */
#ifndef LOOM_ELEM_TRI_ARAP_KERN_H
#define LOOM_ELEM_TRI_ARAP_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(tri_arap_energy, elem_args)
LK_DECLARE(tri_arap_gradient, elem_args)
LK_DECLARE(tri_arap_hessian, elem_args)
LK_DECLARE(tri_arap_project, elem_args)
LK_DECLARE(tri_arap_weights, elem_args)
ELEM_DECLARE_LISTED(tri_arap)
ELEM_DECLARE_CORNER(tri_arap)

#endif
