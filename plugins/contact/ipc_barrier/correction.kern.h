/* correction.kern.h - the point that a correction tends to. */
#ifndef IPC_BARRIER_CORRECTION_KERN_H
#define IPC_BARRIER_CORRECTION_KERN_H

#include "loom/kernel.h"

typedef struct correction_target_args {
  const lk_real *LK_RESTRICT hat;    /* [n][3] m */
  const lk_real *LK_RESTRICT grad;   /* [n][3] N */
  const lk_real *LK_RESTRICT weight; /* [n][3] N/m, > 0 */
  lk_real *LK_RESTRICT target;       /* [n][3] m */
} correction_target_args;
LK_DECLARE(correction_target, correction_target_args) /* target = hat - W^-1 grad */

#endif
