/* tridiag.kern.h - tridiagonal systems of one yarn, open or closed, by Thomas' algorithm.
 *
 * Row j: lower[j] v[j-1] + diag[j] v[j] + upper[j] v[j+1] = right side.  In a closed yarn
 * lower[0] couples to the last row and upper[n-1] to the first one, and both are equal.  No
 * pivoting: for symmetric positive definite systems. */
#ifndef LOOM_TRIDIAG_KERN_H
#define LOOM_TRIDIAG_KERN_H

#include "loom/kernel.h"

/* Factors in place: upper[j] becomes that of the unit upper factor, diag[j] the pivot. */
LK_FN void tridiag_factor(lk_int n, const lk_real *lower, lk_real *diag, lk_real *upper)
{
  for (lk_int j = 0; j < n; ++j) {
    if (j > 0) diag[j] -= lower[j] * upper[j - 1];
    upper[j] /= diag[j];
  }
}

/* v: the right side, then the solution; after tridiag_factor. */
LK_FN void tridiag_back(lk_int n, const lk_real *lower, const lk_real *diag, const lk_real *upper,
                        lk_real *v)
{
  for (lk_int j = 0; j < n; ++j)
    v[j] = (v[j] - (j > 0 ? lower[j] * v[j - 1] : LK_R(0.0))) / diag[j];
  for (lk_int j = n - 2; j >= 0; --j) v[j] -= upper[j] * v[j + 1];
}

/* v: the right side, then the solution; the other arrays are used up, spare [n] only if
 * closed.  n > 2 if closed.  The corner c of a closed yarn is a change of rank one (Sherman and
 * Morrison): A = T + p q' with p = (g, 0, ..., c), q = (1, 0, ..., c/g). */
LK_FN void tridiag_solve(lk_int n, int closed, lk_real *lower, lk_real *diag, lk_real *upper,
                         lk_real *v, lk_real *spare)
{
  const lk_real c = lower[0];
  if (!closed || c == LK_R(0.0)) {
    tridiag_factor(n, lower, diag, upper);
    tridiag_back(n, lower, diag, upper, v);
    return;
  }
  const lk_real g = -diag[0];
  diag[0] -= g;
  diag[n - 1] -= c * c / g;
  for (lk_int j = 0; j < n; ++j) spare[j] = LK_R(0.0);
  spare[0] = g;
  spare[n - 1] = c;
  tridiag_factor(n, lower, diag, upper);
  tridiag_back(n, lower, diag, upper, v);
  tridiag_back(n, lower, diag, upper, spare);
  const lk_real f = (v[0] + c / g * v[n - 1]) / (LK_R(1.0) + spare[0] + c / g * spare[n - 1]);
  for (lk_int j = 0; j < n; ++j) v[j] -= f * spare[j];
}

#endif
