/* gd.kern.h - the arguments of the kernel gd_direction() of the gradient descent plugin. */
#ifndef GD_KERN_H
#define GD_KERN_H

#include "loom/kernel.h"

typedef struct gd_args {
  const lk_real *LK_RESTRICT grad; /* [n][3] N, r(x); rows of fixed vertices are zero */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  lk_real *LK_RESTRICT dir;        /* [n][3] m (out) */
  lk_real factor;                  /* s^2: sigma h^2 */
} gd_args;
LK_DECLARE(gd_direction, gd_args)

#endif
