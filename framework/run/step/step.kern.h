/* step.kern.h - kernels of the step: prediction, velocity, shares of the way.  Fixed vertices carry
 * fixed[i] = 1. */
#ifndef LOOM_RUN_STEP_KERN_H
#define LOOM_RUN_STEP_KERN_H

#include "loom/kernel.h"

typedef struct {                      /* y = x + h v exp(-c h) + h^2 (g + f / m) */
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT v;       /* [n][3] m/s */
  const lk_real *LK_RESTRICT f;       /* [n][3] N, forwarded force, or NULL */
  const lk_real *LK_RESTRICT m;       /* [n] kg */
  const lk_real *LK_RESTRICT damping; /* [n] 1/s */
  const uint8_t *LK_RESTRICT fixed;   /* [n]; rows of y of fixed vertices are rows of x */
  lk_real *LK_RESTRICT y;             /* [n][3] m, out */
  lk_real g[3];                       /* m/s^2 */
  lk_real h;                          /* s */
} predict_args;
LK_DECLARE(run_predict, predict_args)

typedef struct { /* the guess x + h v exp(-c h), fixed rows from y */
  const lk_real *LK_RESTRICT x, *LK_RESTRICT v, *LK_RESTRICT damping, *LK_RESTRICT y;
  const uint8_t *LK_RESTRICT fixed;
  lk_real *LK_RESTRICT out; /* [n][3] m */
  lk_real h;                /* s; 0: the guess is x itself */
} guess_args;
LK_DECLARE(run_guess, guess_args)

typedef struct {
  const lk_real *LK_RESTRICT x;  /* [n][3] m */
  const lk_real *LK_RESTRICT x0; /* [n][3] m */
  lk_real *LK_RESTRICT v;        /* [n][3] m/s, out */
  lk_real h;                     /* s */
} velocity_args;
LK_DECLARE(run_velocity, velocity_args) /* v = (x - x0) / h */

typedef struct {                                /* per-vertex steps: out = a + t (b - a) */
  const lk_real *LK_RESTRICT a, *LK_RESTRICT b; /* [n][3] m */
  const lk_real *LK_RESTRICT t;                 /* [n] */
  const uint8_t *LK_RESTRICT fixed;             /* [n], fixed rows take t_all */
  lk_real *LK_RESTRICT out;                     /* [n][3] m */
  lk_real t_all;                                /* used also where t is NULL */
} blend_args;
LK_DECLARE(run_blend, blend_args)

#endif
