/* sparse_basis.h - a subspace of the displacements of n vertices, u = P q, with basis functions of
 * small support (splines.h): the basis where the kernels run, restriction, prolongation, and
 * reduced matrices on the host.
 *
 * One column of numbers per degree of freedom, the same for the three components.  Cost and memory
 * grow with the entries of P.  Rows and columns are both kept, so that all sums are gathers in a
 * fixed order. */
#ifndef KIT_SPARSE_BASIS_H
#define KIT_SPARSE_BASIS_H

#include "kit/sparse_basis.kern.h"
#include "kit/splines.h"
#include "kit/subspace.h"
#include "loom/plug.h"

typedef struct sparse_basis { /* fine when zeroed: there is none */
  const loom_host *host;
  const loom_exec *e;
  int32_t n, cols;
  loom_buf *ptr, *col, *val;    /* i64 [n+1], i32, real: rows of P */
  loom_buf *tptr, *tcol, *tval; /* i64 [cols+1], i32, real: its columns */
} sparse_basis;

loom_status sparse_basis_new(sparse_basis *b, const loom_host *host, const loom_exec *e);
loom_status sparse_basis_set(sparse_basis *b, const spline_rows *rows);

/* g [cols][3] = P' r, r [n][3]; u [n][3] = P q, or += with `add`. */
loom_status sparse_basis_restrict(const sparse_basis *b, loom_buf *r, loom_buf *g);
loom_status sparse_basis_prolong(const sparse_basis *b, loom_buf *q, loom_buf *u, int add);

/* ---- on the host ---- */

typedef struct sparse_reduced { /* S = P' A P, malloc'ed; fine when zeroed */
  int32_t n;                    /* rows: cols of the basis */
  int64_t *ptr;                 /* [n+1] */
  int32_t *col;                 /* [ptr[n]], ascending in each row */
  double *val;                  /* [ptr[n]] */
} sparse_reduced;

/* A is symmetric, of numbers that hold for each component. */
loom_status sparse_basis_reduce(const loom_host *host, const subspace_csr *A, const spline_rows *P,
                                sparse_reduced *S);
void sparse_reduced_free(sparse_reduced *S);

#endif
