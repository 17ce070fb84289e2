/* gd.kern.c - the search direction of gradient descent, for CPU and CUDA.
 *
 * The build compiles this file as C with OpenMP and, where nvcc is installed, also as CUDA.
 * LK_KERNEL() expands to the loop over the vertices; its body computes one vertex.  The header
 * loom/kernel.h describes the language subset that both compilers accept.
 */
#include "gd.kern.h"

/* Loops over fewer vertices run on one thread.  The body takes about 4 ns per vertex and waking
 * the other threads some 10 us, so the default of 1024 would be too small. */
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
