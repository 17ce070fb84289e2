/* cubic_barrier.kern.h - the cubic barrier for the kernels of kit/pair_energy, and the stiffness of
 * each contact.
 *
 * Of a contact with the gap g, the unit normal n and the weights w_b of its free vertices, at a
 * point where the stiffness is computed:
 *
 *   kappa = sum_b w_b^2 (m_b v^2 / g^2 + n . H_b n) / sum_b w_b^2,
 *
 * m_b the mass, v a speed, H_b the diagonal block of the elastic Hessian. */
#ifndef CUBIC_BARRIER_KERN_H
#define CUBIC_BARRIER_KERN_H

#include "kit/friction.kern.h"

PAIR_DECLARE(cubic_barrier)
PAIR_DECLARE_MOLLIFIED(cubic_barrier)
FRIC_DECLARE(cubic_barrier)

/* Gaps below this share of d_hat count as that share: kappa stays finite at a point that overlaps,
 * as solvers without a step bound may have. */
#define CUBIC_LEAST LK_R(1e-3)

typedef struct cubic_weigh_args {
  cand_state s;                       /* at the point of the stiffness */
  const lk_real *LK_RESTRICT mass;    /* [n] kg */
  const lk_real *LK_RESTRICT elastic; /* [n][3][3] N/m, diagonal blocks of the elastic Hessian */
  lk_real *LK_RESTRICT each;          /* [m] out: kappa, N/m */
  lk_real d_hat, speed2;              /* m, m^2/s^2 */
} cubic_weigh_args;
LK_DECLARE(cubic_weigh, cubic_weigh_args)

typedef struct cubic_most_args {
  const int32_t *LK_RESTRICT list; /* [active] candidates */
  const lk_real *LK_RESTRICT each; /* [m] N/m */
} cubic_most_args;
LK_DECLARE(cubic_most, cubic_most_args) /* largest kappa of the active contacts */

#endif
