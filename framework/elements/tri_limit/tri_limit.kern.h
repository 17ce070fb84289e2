/* tri_limit.kern.h - limits of the principal stretches, beside any membrane:
 *   E = w/2 A |F - P(F)|_F^2 = w/2 A (d1^2 + d2^2),   d_i = s_i - min(max(s_i, lo), hi)
 * with the singular values s1 >= s2 of the 3x2 deformation gradient F = s1 u1 v1' + s2 u2 v2', and
 * P(F) the closest matrix whose singular values are between lo and hi.
 *
 * rest [4]: Dm^-1 row-major (1/m); A = 1/(2 det Dm^-1) m^2.  mat [3]: w (N/m), lo, hi (1).
 * Projective: A = G (2x3), p = P^T, weight w A (Bouaziz et al. 2014,
 * doi 10.1145/2601097.2601116, section 5).
 *
 * Hessian by F, over w A: d_i outside of the limits has the second derivative 1, else 0, and F has
 * the six modes
 *   u_i v_i'                       1 outside, 0 inside
 *   (u1 v2' + u2 v1')/sqrt 2       (d1 - d2)/(s1 - s2)
 *   (u1 v2' - u2 v1')/sqrt 2       (d1 + d2)/(s1 + s2)
 *   n v_i'                         d_i/s_i
 * n the normal.  The first three are not negative, so that clamping needs no numerical eigenvalues;
 * none is above 1. */
#ifndef LOOM_ELEM_TRI_LIMIT_KERN_H
#define LOOM_ELEM_TRI_LIMIT_KERN_H

#include "elements/listed.kern.h"

LK_DECLARE(tri_limit_energy, elem_args)
LK_DECLARE(tri_limit_gradient, elem_args)
LK_DECLARE(tri_limit_hessian, elem_args)
LK_DECLARE(tri_limit_project, elem_args)
LK_DECLARE(tri_limit_weights, elem_args)
ELEM_DECLARE_LISTED(tri_limit)
ELEM_DECLARE_CORNER(tri_limit)

#endif
