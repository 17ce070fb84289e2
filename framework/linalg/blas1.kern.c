/* blas1.kern.c - vector kernels. */
#include "linalg/blas1.kern.h"

/* Bodies of about 1 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 32768

LK_REDUCE_SUM(blas1_dot, a, i) { return a->x[i] * a->y[i]; }

LK_REDUCE_SUM(blas1_sumsq, a, i) { return a->x[i] * a->x[i]; }

LK_REDUCE_MAX(blas1_norm_max3, a, i)
{
  lk_real v[3];
  LK_LOAD3(v, a->x, (int64_t)i);
  return LK_SQRT(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

LK_KERNEL(blas1_axpby, a, i) { a->z[i] = a->a * a->x[i] + a->b * a->z[i]; }

LK_KERNEL(blas1_waxpby, a, i) { a->z[i] = a->a * a->x[i] + a->b * a->y[i]; }

LK_KERNEL(blas1_copy_scaled, a, i) { a->z[i] = a->a * a->x[i]; }

LK_KERNEL(blas1_scale, a, i) { a->z[i] = a->a * a->z[i]; }

LK_KERNEL(blas1_fill, a, i) { a->z[i] = a->a; }
