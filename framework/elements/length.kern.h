/* length.kern.h - energies k/2 (|y| - L)^2 of a vector y that is linear in x.
 *
 * With n = y/|y| the gradient with respect to y is k (|y| - L) n, the Hessian
 * k (n n' + t (I - n n')) with t = 1 - L/|y|: t < 0 where y is shorter than L. */
#ifndef LOOM_ELEM_LENGTH_KERN_H
#define LOOM_ELEM_LENGTH_KERN_H

#include "geom/small.kern.h"

/* n = y/|y|, or `other` where y vanishes; returns |y|. */
LK_FN lk_real length_direction(const lk_real *y, const lk_real *other, lk_real *n)
{
  const lk_real len = lk_norm3(y);
  const int zero = !(len > LK_TINY);
  const lk_real inv = LK_R(1.0) / (zero ? LK_R(1.0) : len);
  n[0] = zero ? other[0] : y[0] * inv;
  n[1] = zero ? other[1] : y[1] * inv;
  n[2] = zero ? other[2] : y[2] * inv;
  return len;
}

/* t as `how` treats it.  It tends to -infinity with |y|; it is kept a number. */
LK_FN lk_real length_transverse(lk_real len, lk_real L, int how)
{
  return lk_psd(LK_R(1.0) - L / LK_FMAX(len, LK_EPSILON * L + LK_TINY), how);
}

#endif
