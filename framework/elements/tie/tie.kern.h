/* tie.kern.h - a thread from a vertex i to a point of a surface, as long as L:
 * E = k/2 max(|d| - L, 0)^2, d = x_i - sum_a u_a x_a, sum_a u_a = 1.
 *
 * verts: i, four others.  rest: none.  mat [6]: k (N/m), L (m, >= 0), u (1).  The point belongs to
 * a triangle (one u is 0), or to the surface of an affine body and its four control points.  The
 * law is that of a stitch: L = 0 is a spring of no length, k/2 |d|^2; projective, A = [1, -u], and
 * p is the point of the ball of radius L that is nearest to d. */
#ifndef LOOM_ELEM_TIE_KERN_H
#define LOOM_ELEM_TIE_KERN_H

#include "elements/listed.kern.h"

enum { TIE_K, TIE_LENGTH, TIE_WEIGHTS, TIE_MAT = 6 }; /* places in mat */
enum { TIE_ARITY = 5 };

LK_DECLARE(tie_energy, elem_args)
LK_DECLARE(tie_gradient, elem_args)
LK_DECLARE(tie_hessian, elem_args)
LK_DECLARE(tie_project, elem_args)
LK_DECLARE(tie_weights, elem_args)
ELEM_DECLARE_LISTED(tie)
ELEM_DECLARE_CORNER(tie)

#endif
