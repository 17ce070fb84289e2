/* sweep.kern.h - damped Jacobi on (H + B) u = r: H numbers for all components, B 3x3 blocks. */
#ifndef PD_BFGS_SWEEP_KERN_H
#define PD_BFGS_SWEEP_KERN_H

#include "loom/kernel.h"

typedef struct pd_bfgs_sweep_args {
  const int64_t *LK_RESTRICT ptr;   /* [n+1], H */
  const int32_t *LK_RESTRICT col;   /* [ptr[n]] */
  const lk_real *LK_RESTRICT val;   /* [ptr[n]], N/m */
  const int64_t *LK_RESTRICT bptr;  /* [n+1], B; NULL: there is none */
  const int32_t *LK_RESTRICT bcol;  /* [bptr[n]] */
  const lk_real *LK_RESTRICT bval;  /* [bptr[n]][3][3], N/m */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  lk_real *LK_RESTRICT inv;         /* [n][6], m/N, symmetric: 00 01 02 11 12 22 */
  const lk_real *LK_RESTRICT r;     /* [n][3], N; NULL: zero */
  const lk_real *LK_RESTRICT from;  /* [n][3], m */
  lk_real *LK_RESTRICT to;          /* [n][3], m */
  lk_real *LK_RESTRICT left;        /* [n][3], N */
  lk_real omega;
  int32_t scalar; /* the diagonal of the blocks alone */
} pd_bfgs_sweep_args;

LK_DECLARE(pd_bfgs_invert, pd_bfgs_sweep_args) /* inv */
LK_DECLARE(pd_bfgs_sweep, pd_bfgs_sweep_args)  /* to = from + omega inv (r - (H + B) from) */
LK_DECLARE(pd_bfgs_power, pd_bfgs_sweep_args)  /* to = inv (H + B) from; sum from.(H + B) from */
LK_DECLARE(pd_bfgs_weigh, pd_bfgs_sweep_args) /* sum to.(H + B) from, of the `to` of the last one */
LK_DECLARE(pd_bfgs_settle, pd_bfgs_sweep_args) /* to += from, left -= (H + B) from */
LK_DECLARE(pd_bfgs_blocks, pd_bfgs_sweep_args) /* to = B from */
LK_DECLARE(pd_bfgs_noise, pd_bfgs_sweep_args)  /* to: noise; with B, on its vertices alone */

#endif
