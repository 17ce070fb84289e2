/* blas1.kern.h - vector kernels: argument blocks and prototypes. */
#ifndef LOOM_LINALG_BLAS1_KERN_H
#define LOOM_LINALG_BLAS1_KERN_H

#include "loom/kernel.h"

typedef struct blas1_args {
  const lk_real *LK_RESTRICT x; /* real [n], norm_max3: [n][3] */
  const lk_real *LK_RESTRICT y; /* real [n] */
  lk_real *LK_RESTRICT z;       /* real [n], read and written by axpby and scale */
  lk_real a, b;
} blas1_args;

LK_DECLARE(blas1_dot, blas1_args)         /* sum x_i y_i */
LK_DECLARE(blas1_sumsq, blas1_args)       /* sum x_i^2 */
LK_DECLARE(blas1_norm_max3, blas1_args)   /* max |x_i| over rows */
LK_DECLARE(blas1_axpby, blas1_args)       /* z = a x + b z */
LK_DECLARE(blas1_waxpby, blas1_args)      /* z = a x + b y */
LK_DECLARE(blas1_copy_scaled, blas1_args) /* z = a x */
LK_DECLARE(blas1_scale, blas1_args)       /* z = a z */
LK_DECLARE(blas1_fill, blas1_args)        /* z = a */

#endif
