/* jacobi_bound.c - see jacobi_bound.h. */
#include "kit/jacobi_bound.h"

#include <math.h>

enum { POWER_STEPS = 100 };

/* The first vector has random entries of both signs; the result is Rayleigh's quotient of the last
 * vector. */
double jacobi_largest(const jacobi_matrix *A, double *work)
{
  double *const v = work, *const t = work + A->n;
  uint32_t seed = 1;
  double mu = 1.0;
  for (int32_t i = 0; i < A->n; ++i) {
    seed = seed * 1664525U + 1013904223U;
    v[i] = A->fixed[i] ? 0.0 : (double)(seed >> 8) * 0x1p-24 - 0.5;
  }
  for (int step = 0; step < POWER_STEPS; ++step) {
    double vAv = 0.0, vDv = 0.0, norm = 0.0;
    for (int32_t i = 0; i < A->n; ++i) {
      double q = 0.0;
      for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) q += (double)A->val[k] * v[A->col[k]];
      vAv += v[i] * q;
      vDv += v[i] * v[i] * (double)A->diag[i];
      t[i] = A->fixed[i] ? 0.0 : q / (double)A->diag[i];
      norm = fmax(norm, fabs(t[i]));
    }
    if (!(norm > 0.0)) break;
    mu = vAv / vDv;
    for (int32_t i = 0; i < A->n; ++i) v[i] = t[i] / norm;
  }
  return mu;
}
