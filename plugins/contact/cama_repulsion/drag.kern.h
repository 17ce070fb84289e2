/* drag.kern.h - friction as a drag that is linear within the step, as ArcSim has it.
 *
 * A pair that slides with |T v| at the start of the step, T = I - n n', is held back by Coulomb's
 * force at that speed.  With the tangential displacement u over the step this is the dissipative
 * potential
 *   D = sum k/2 |u|^2,   k = mu f_n / max(h |T v|, h epsilon_v),
 * frozen for the step: quadratic, so one linear solve has it exactly.  The Hessian of a potential
 * that is smoothed below a small speed (kit/friction), taken at zero slip, would hold every pair
 * like glue in a single solve.
 *
 * DEVIATION: ArcSim bounds k by the impulse that stops the pair within the step, 1 / (h^2 sum w_i^2
 * / m_i).  In an implicit solve no k reverses a motion, and with this bound sticking pairs would
 * slide with h times their acceleration. */
#ifndef CAMA_DRAG_KERN_H
#define CAMA_DRAG_KERN_H

#include "kit/friction.kern.h"

typedef struct drag_limit_args {
  fric_state f;
  ahead_ways ahead;
  const lk_real *LK_RESTRICT end; /* [nf][3] m, points of bodies at the end of the step */
  lk_real *LK_RESTRICT k;         /* [nf] N/m, out */
} drag_limit_args;
LK_DECLARE(cama_drag_limit, drag_limit_args)

typedef struct drag_args {
  fric_state f;
  const lk_real *LK_RESTRICT k;        /* [nf] N/m */
  const int64_t *LK_RESTRICT at;       /* [nf+1] first corner */
  lk_real *LK_RESTRICT force;          /* [corners][3] N, out */
  const int64_t *LK_RESTRICT at_block; /* [nf+1] */
  int64_t first;                       /* blocks already there */
  int32_t *LK_RESTRICT row;
  int32_t *LK_RESTRICT col;
  lk_real *LK_RESTRICT val; /* [.][3][3] N/m */
} drag_args;
LK_DECLARE(cama_drag_work, drag_args) /* sum of k |u|^2 = 2 D, J */
LK_DECLARE(cama_drag_force, drag_args)
LK_DECLARE(cama_drag_blocks, drag_args)

#endif
