/* correction.kern.h - the point that a correction tends to. */
#ifndef IPC_BARRIER_CORRECTION_KERN_H
#define IPC_BARRIER_CORRECTION_KERN_H

#include "loom/kernel.h"

typedef struct correction_target_args {
  const int64_t *LK_RESTRICT ptr;  /* [n+1] */
  const int32_t *LK_RESTRICT col;  /* [ptr[n]] */
  const lk_real *LK_RESTRICT val;  /* [ptr[n]][3][3] N/m, diagonal blocks are multiples of I */
  const lk_real *LK_RESTRICT grad; /* [n][3] N */
  lk_real *LK_RESTRICT target;     /* [n][3] m */
} correction_target_args;
LK_DECLARE(correction_target, correction_target_args) /* target -= W^-1 grad */

#endif
