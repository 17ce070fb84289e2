/* dense.h - dense kernels of the sparse factorisation, on column-major doubles.
 *
 * A BLAS of its own: the reference BLAS that CHOLMOD meets on a plain system is an order of
 * magnitude slower, and the fast ones choose kernels and threads by themselves.  Same bits on
 * one build, whatever the number of threads around it. */
#ifndef DENSE_H
#define DENSE_H

#include <stddef.h>

/* Doubles of workspace for the calls below, for matrices of at most `rows` rows. */
size_t dense_work(size_t rows);

/* C -= A B' for A [m][k], B [n][k]; with lower != 0 only entries (i, j) with i >= j
 * are wanted, others may or may not be computed.  lda, ldc: distance of columns; A and B have
 * the same. */
typedef struct dense_update {
  const double *A, *B;
  double *C;
  size_t lda, ldc;
  size_t m, n, k;
  int lower;
} dense_update;
void dense_subtract(const dense_update *u, double *work);

/* The first `cols` columns of L [rows][cols] hold a symmetric matrix's lower triangle and what
 * lies below: afterwards the columns of its Cholesky factor.  Returns -1, or the first column
 * whose pivot is not a positive number. */
long dense_factor(double *L, size_t rows, size_t cols, double *work);

#endif
