/* gd.kern.c - the search direction of gradient descent, for CPU and CUDA alike.
 *
 * This text is compiled twice, as C (OpenMP) and, where there is nvcc, as CUDA; the
 * macro makes the loop over vertices around the body.  The common language subset is
 * described in loom/kernel.h.
 */
#include "gd.kern.h"

/* Bodies of about 4 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

/* d_i = -sigma h^2 r_i / m_i */
LK_KERNEL(gd_direction, a, i)
{
  const lk_real f = -a->factor / a->mass[i];
  lk_real r[3], d[3];
  LK_LOAD3(r, a->grad, i);
  d[0] = f * r[0];
  d[1] = f * r[1];
  d[2] = f * r[2];
  LK_STORE3(a->dir, i, d);
}
