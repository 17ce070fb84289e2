/* body_matrix.kern.h - symmetric matrices of the 12 unknowns of an affine body, [12][12]. */
#ifndef KIT_BODY_MATRIX_KERN_H
#define KIT_BODY_MATRIX_KERN_H

#include "geom/small.kern.h"

/* The lower triangle of A becomes L with A = L L'; 0: A is not positive definite. */
LK_FN int body_matrix_factorise(lk_real *A)
{
  LK_ROLLED
  for (int j = 0; j < 12; ++j) {
    lk_real *const a = A + 12 * j;
    LK_ROLLED
    for (int i = 0; i <= j; ++i) {
      lk_real s = a[i];
      LK_ROLLED
      for (int k = 0; k < i; ++k) s -= a[k] * A[12 * i + k];
      if (i == j && !(s > LK_R(0.0))) return 0;
      a[i] = i == j ? LK_SQRT(s) : s / A[13 * i];
    }
  }
  return 1;
}

/* y [12] becomes (L L')^-1 y. */
LK_FN void body_matrix_solve(const lk_real *L, lk_real *y)
{
  LK_ROLLED
  for (int i = 0; i < 12; ++i) {
    lk_real s = y[i];
    LK_ROLLED
    for (int k = 0; k < i; ++k) s -= L[12 * i + k] * y[k];
    y[i] = s / L[13 * i];
  }
  LK_ROLLED
  for (int i = 11; i >= 0; --i) {
    lk_real s = y[i];
    LK_ROLLED
    for (int k = i + 1; k < 12; ++k) s -= L[12 * k + i] * y[k];
    y[i] = s / L[13 * i];
  }
}

#endif
