/* stitch.kern.h - a thread from a vertex i to the point (1-t) x_a + t x_b of an edge a-b, as long
 * as L: E = k/2 max(|d| - L, 0)^2, d = x_i - (1-t) x_a - t x_b.
 *
 * verts: i, a, b.  rest: none.  mat [3]: k (N/m), L (m, >= 0, the scene shortens it), t (1, in
 * [0,1]).  A thread pulls and does not push, so the energy is convex; L = 0 is a spring of no
 * length, k/2 |d|^2.  Projective: A = [1, -(1-t), -t], p is the point of the ball of radius L that
 * is nearest to d.  At |d| = L > 0 the Hessian jumps; its value there is that of a loose thread. */
#ifndef LOOM_ELEM_STITCH_KERN_H
#define LOOM_ELEM_STITCH_KERN_H

#include "elements/listed.kern.h"

enum { STITCH_K, STITCH_LENGTH, STITCH_T, STITCH_MAT }; /* places in mat */

LK_DECLARE(stitch_energy, elem_args)
LK_DECLARE(stitch_gradient, elem_args)
LK_DECLARE(stitch_hessian, elem_args)
LK_DECLARE(stitch_project, elem_args)
LK_DECLARE(stitch_weights, elem_args)
ELEM_DECLARE_LISTED(stitch)
ELEM_DECLARE_CORNER(stitch)

#endif
