/* plate.kern.h - bending of a plate by the folds around each triangle (elements/plate_rest.h):
 *   E = D/2 |R theta - y0|^2
 * of a patch of 12 vertices with 9 folds theta, the angles of elements/hinge.kern.h.  D (N m) is
 * the flexural rigidity; Poisson's ratio and the ratios of rigidities are in R.
 *
 * rest [32]: R [3][9] (1), then y0 (1), which is R theta0 at the start, the area A of the triangle
 * (m^2), and p (1/m).  A column of R is 0 where a fold has no share or the edge is free; vertices
 * that are missing there repeat the first one.  mat [3]: D, kappa_y (1/m; 0: no yield), H (1).
 *
 * Yield: y0 and p are the state, which moves at the end of a step.  The curvature of the triangle
 * from its rest shape is
 *   kappa = |R theta - y0|/sqrt(A),   kappa^2 = k' [D] k/D
 * of the curvatures k, [D] the matrix of rigidities: kappa of a cylinder of curvature kappa in
 * every direction of an isotropic plate, on every triangulation.  After the move kappa <= kappa_y +
 * H p holds by the radial return of rate-independent plasticity with isotropic hardening (J. Simo,
 * T. Hughes, Computational Inelasticity, 1998, section 3.3):
 *   move = max(kappa - kappa_y - H p, 0)/(1 + H),   y0 += move (R theta - y0)/kappa,   p += move
 * Within a step y0 is constant, so E is an energy and its gradient is exact.  A plate bent one way
 * to the curvature k keeps (k - kappa_y)/(1 + H), in any number of steps.
 *
 * Gradient: sum over folds of m_f grad theta_f with the moments m = D R' (R theta - y0).
 * Hessian: EXACT is D B'B + sum m_f Hess theta_f, B = R grad theta.  Both semidefinite treatments
 * are Gauss-Newton, D B'B: exact at rest.
 *
 * Narrow matrix: sum over the triangle's own folds of w_a grad theta_a grad theta_a' with
 *   w_a = PLATE_NARROW D (|R_a|^2 + |R_b|^2 + |R_c|^2)
 * where R_a is the column of fold a, and R_b, R_c those of the two folds beyond its side.  It
 * couples the vertices of each hinge alone, as a hinge does. */
#ifndef LOOM_ELEM_PLATE_KERN_H
#define LOOM_ELEM_PLATE_KERN_H

#include "elements/listed.kern.h"

enum { PLATE_REST = 32, PLATE_MAT = 3, PLATE_SIDE = 36, PLATE_CURVED = 18 };

/* Vertices c [4] of fold f in the patch: along its edge, then opposite in the triangle whose side
 * it is, and in the one beyond. */
LK_FN void plate_fold_corners(int f, int *c)
{
  const int a = f < 3 ? f : (f - 3) / 2, b = (a + 1) % 3, second = f >= 3 && f % 2 == 0;
  c[0] = second ? 3 + a : a;
  c[1] = f < 3 || second ? b : 3 + a;
  c[2] = f < 3 ? (a + 2) % 3 : second ? a : b;
  c[3] = f < 3 ? 3 + a : f + 3;
}

LK_DECLARE(plate_energy, elem_args)
LK_DECLARE(plate_gradient, elem_args)
LK_DECLARE(plate_hessian, elem_args)
LK_DECLARE(plate_factor, elem_args)
LK_DECLARE(plate_narrow, elem_args)
LK_DECLARE(plate_moments, elem_args) /* out [ne][9], N m: m_f, 0 for folds without a share */

/* Second derivatives of the folds that patches own (elements/plate_folds.h). */
typedef struct plate_curved_args {
  elem_args all;                   /* out [ne][18][18], N/m, of the first six vertices */
  const int32_t *LK_RESTRICT ptr;  /* [3 ne + 1], moments of the side a of patch e at 3 e + a; none:
                                    * another patch owns the fold, or it has no share */
  const int32_t *LK_RESTRICT from; /* places in `moment` */
  const lk_real *LK_RESTRICT moment;
} plate_curved_args;
LK_DECLARE(plate_curved, plate_curved_args)
ELEM_DECLARE_CORNER(plate)

LK_DECLARE(plate_move, elem_move_args) /* the state */

#endif
