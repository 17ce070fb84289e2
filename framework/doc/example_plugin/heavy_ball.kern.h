/* heavy_ball.kern.h - the kernels of the heavy-ball plugin. */
#ifndef HEAVY_BALL_KERN_H
#define HEAVY_BALL_KERN_H

#include "loom/kernel.h"

typedef struct heavy_ball_args {
  const lk_real *LK_RESTRICT grad; /* [n][3] N, r(x); rows of fixed vertices are zero */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  const lk_real *LK_RESTRICT last; /* [n][3] m, the previous accepted move */
  lk_real *LK_RESTRICT dir;        /* [n][3] m (out) */
  lk_real factor;                  /* s^2: sigma h^2 */
  lk_real beta;                    /* 1 */
} heavy_ball_args;
LK_DECLARE(heavy_ball_direction, heavy_ball_args)

typedef struct heavy_ball_longest_args {
  const lk_real *LK_RESTRICT dir; /* [n][3] m */
} heavy_ball_longest_args;
LK_DECLARE(heavy_ball_longest, heavy_ball_longest_args)

#endif
