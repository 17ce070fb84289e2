/* pin.kern.c - kernels of the pin element. */
#include "elements/pin/pin.kern.h"

#include "geom/small.kern.h"

LK_FN void pin_offset(const elem_args *a, lk_int i, lk_real *d)
{
  lk_real x[3];
  LK_LOAD3(x, a->x, a->verts[i]);
  d[0] = x[0] - a->mat[4 * i + 1];
  d[1] = x[1] - a->mat[4 * i + 2];
  d[2] = x[2] - a->mat[4 * i + 3];
}

LK_REDUCE_SUM_PLAIN(pin_energy, a, i)
{
  lk_real d[3];
  pin_offset(a, i, d);
  return LK_R(0.5) * a->mat[4 * i] * lk_dot3(d, d);
}

LK_KERNEL_PLAIN(pin_gradient, a, i)
{
  lk_real d[3];
  const lk_real k = a->mat[4 * i];
  pin_offset(a, i, d);
  if (a->energy) a->energy[i] = LK_R(0.5) * k * lk_dot3(d, d);
  a->out[3 * i] = k * d[0];
  a->out[3 * i + 1] = k * d[1];
  a->out[3 * i + 2] = k * d[2];
}

LK_KERNEL_PLAIN(pin_hessian, a, i)
{
  lk_real *H = a->out + (int64_t)9 * i;
  LK_UNROLL
  for (int c = 0; c < 9; ++c) H[c] = c % 4 == 0 ? a->mat[4 * i] : LK_R(0.0);
}

LK_KERNEL(pin_project, a, i)
{
  const lk_real k = a->mat[4 * i];
  a->out[3 * i] = k * a->mat[4 * i + 1];
  a->out[3 * i + 1] = k * a->mat[4 * i + 2];
  a->out[3 * i + 2] = k * a->mat[4 * i + 3];
}

LK_KERNEL(pin_weights, a, i) { a->out[i] = a->mat[4 * i]; }

ELEM_LISTED(pin, 1, 0, 4)
ELEM_CORNER(pin, 1, 0, 4)
