/* jacobi_bound.h - how far the sweeps of a damped Jacobi iteration may go.
 *
 * x <- x + theta D^-1 (b - A x) converges for theta below 2/mu, mu the largest eigenvalue of
 * D^-1 A (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM 2003, section 4.2.1).
 * On the host, once for each matrix. */
#ifndef KIT_JACOBI_BOUND_H
#define KIT_JACOBI_BOUND_H

#include "loom/plugin.h"

typedef struct jacobi_matrix { /* symmetric, CSR, on the host; rows of fixed vertices are left out
                                */
  const int64_t *ptr;          /* [n+1] */
  const int32_t *col;          /* [nnz] */
  const loom_real *val;        /* [nnz] */
  const loom_real *diag;       /* [n] */
  const uint8_t *fixed;        /* [n] */
  int32_t n;
} jacobi_matrix;

/* mu by power iteration.  The result lies below the true value: add a few per cent.  work: [2 n] */
double jacobi_largest(const jacobi_matrix *A, double *work);

#endif
