/* momentum.kern.h - Nesterov's extrapolation over outer iterations; its weight stays on the device.
 */
#ifndef PD_BFGS_MOMENTUM_KERN_H
#define PD_BFGS_MOMENTUM_KERN_H

#include "loom/kernel.h"

enum {
  MOMENTUM_LONGEST = 0,
  MOMENTUM_UPHILL,
  MOMENTUM_T,
  MOMENTUM_BETA,
  MOMENTUM_LEN
}; /* record */

typedef struct pd_bfgs_momentum_args {
  const lk_real *LK_RESTRICT x;    /* [n][3], m, where the gradient is of */
  const lk_real *LK_RESTRICT u;    /* [n][3], m */
  const lk_real *LK_RESTRICT grad; /* [n][3], N */
  lk_real *LK_RESTRICT before;     /* [n][3], m, x + u of the last iteration, then of this one */
  lk_real *LK_RESTRICT trial;      /* [n][3], m */
  lk_real *LK_RESTRICT record;
  int32_t first, reserved; /* nonzero: there is no `before` */
} pd_bfgs_momentum_args;

LK_DECLARE(pd_bfgs_longest, pd_bfgs_momentum_args) /* largest |u| */
LK_DECLARE(pd_bfgs_uphill, pd_bfgs_momentum_args)  /* sum grad.(x + u - before) */
LK_DECLARE(pd_bfgs_weight, pd_bfgs_momentum_args)  /* one element: the weight, from that */
LK_DECLARE(pd_bfgs_extrapolate, pd_bfgs_momentum_args)

#endif
