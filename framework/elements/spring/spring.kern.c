/* spring.kern.c - kernels of the spring element. */
#include "elements/spring/spring.kern.h"

#include "elements/length.kern.h"

/* Direction n of d = x0 - x1; returns its length. */
LK_FN lk_real spring_direction(const elem_args *a, lk_int i, lk_real *n)
{
  lk_real x0[3], x1[3], d[3], ex[3];
  LK_LOAD3(x0, a->x, a->verts[2 * i]);
  LK_LOAD3(x1, a->x, a->verts[2 * i + 1]);
  lk_sub3(x0, x1, d);
  ex[0] = LK_R(1.0), ex[1] = LK_R(0.0), ex[2] = LK_R(0.0);
  return length_direction(d, ex, n);
}

LK_REDUCE_SUM_PLAIN(spring_energy, a, i)
{
  lk_real n[3];
  const lk_real r = spring_direction(a, i, n) - a->rest[i];
  return LK_R(0.5) * a->mat[i] * r * r;
}

LK_KERNEL_PLAIN(spring_gradient, a, i)
{
  lk_real n[3];
  const lk_real r = spring_direction(a, i, n) - a->rest[i];
  const lk_real f = a->mat[i] * r;
  if (a->energy) a->energy[i] = LK_R(0.5) * f * r;
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    a->out[6 * i + c] = f * n[c];
    a->out[6 * i + 3 + c] = -f * n[c];
  }
}

LK_KERNEL_PLAIN(spring_hessian, a, i)
{
  lk_real n[3];
  lk_real *H = a->out + (int64_t)36 * i;
  const lk_real k = a->mat[i];
  const lk_real t = length_transverse(spring_direction(a, i, n), a->rest[i], a->how);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    LK_UNROLL
    for (int d = 0; d < 3; ++d) {
      const lk_real b = k * ((c == d ? t : LK_R(0.0)) + (LK_R(1.0) - t) * (n[c] * n[d]));
      H[6 * c + d] = b;
      H[6 * (c + 3) + d + 3] = b;
      H[6 * (c + 3) + d] = -b;
      H[6 * c + d + 3] = -b;
    }
  }
}

LK_KERNEL_PLAIN(spring_project, a, i)
{
  lk_real n[3];
  spring_direction(a, i, n);
  const lk_real f = a->mat[i] * a->rest[i];
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    a->out[6 * i + c] = f * n[c];
    a->out[6 * i + 3 + c] = -f * n[c];
  }
}

LK_KERNEL(spring_weights, a, i)
{
  const lk_real k = a->mat[i];
  a->out[4 * i] = k;
  a->out[4 * i + 1] = -k;
  a->out[4 * i + 2] = -k;
  a->out[4 * i + 3] = k;
}

ELEM_LISTED(spring, 2, 1, 1)
ELEM_CORNER(spring, 2, 1, 1)
