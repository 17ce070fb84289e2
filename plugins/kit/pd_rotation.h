/* pd_rotation.h - the global step of projective dynamics with the rotations of affine bodies in it.
 *
 * A projective step takes the rotation R of w V/2 |F - R(F)|^2 as it is at x.  A body that contact
 * or a tie turns within the step then needs about 8 s iterations, with s the ratio of its stiffness
 * to its inertia.  The Hessian of the energy is the
 * projective operator plus a matrix C of rank 3 (kit/body_turn.kern.h).
 * With P = L + D the matrix of pd_global.h and E the rows of the control points, the step is
 *   (P + E C E') dx = -grad.
 * From z = -P^-1 grad, M = E' P^-1 E and the Schur complement S = M^-1 on the control points,
 *   (S + C) d = S E'z,   dx = z + P^-1 E S (d - E'z).
 * P acts on x, y and z alike, so P^-1 E is four columns per body, made once per factor whatever the
 * rotations are; an iteration solves a dense system of 12 rows per body.  Where a body would turn
 * by more than 0.2 in one iteration, the part beside z is scaled down: z alone is the projective
 * step, and both are descent directions.
 */
#ifndef KIT_PD_ROTATION_H
#define KIT_PD_ROTATION_H

#include "kit/chol.h"
#include "kit/control_points.h"

enum { PD_ROTATION_AUTO = 0, PD_ROTATION_EXACT = 1, PD_ROTATION_PLAIN = 2 };
enum { PD_ROTATION_MOST = 64 }; /* bodies, for auto */

typedef struct pd_rotation { /* fine to close when zeroed */
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  control_points bodies; /* none: the step is the projective one */
  int32_t *row;          /* [4 num], rows of the control points in the factor's order */
  double *columns;       /* P^-1 E: [solves][n][3], a column is one of three of a solve */
  double *S;             /* [4 num][4 num], N/m */
  double *A;             /* [12 num][12 num], N/m, factor of S + C */
  double *z, *d;         /* [12 num], m */
} pd_rotation;

/* how: PD_ROTATION_* */
loom_status pd_rotation_open(pd_rotation *r, const loom_host *host, const loom_scene *sc,
                             const loom_exec *e, int how);
void pd_rotation_close(pd_rotation *r);
/* After each factorisation: columns and S.  work: as for chol_solve3(). */
loom_status pd_rotation_factor(pd_rotation *r, const chol *c, double *work);
/* y, [n][3] in the factor's order: in z, out dx.  x, m, [n][3]: the iterate. */
loom_status pd_rotation_apply(pd_rotation *r, const loom_real *x, double *y);

#endif
