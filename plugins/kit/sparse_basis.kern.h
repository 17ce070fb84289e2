/* sparse_basis.kern.h - restriction to the span of a sparse basis and prolongation from it. */
#ifndef KIT_SPARSE_BASIS_KERN_H
#define KIT_SPARSE_BASIS_KERN_H

#include "loom/kernel.h"

typedef struct sparse_basis_args {
  const int64_t *LK_RESTRICT ptr; /* [rows+1], rows of the matrix, P or its transpose */
  const int32_t *LK_RESTRICT col; /* [ptr[rows]] */
  const lk_real *LK_RESTRICT val; /* [ptr[rows]] */
  const lk_real *LK_RESTRICT x;   /* [.][3] */
  lk_real *LK_RESTRICT y;         /* [rows][3] */
  int32_t add, reserved;          /* nonzero: y += */
} sparse_basis_args;
LK_DECLARE(sparse_basis_product, sparse_basis_args) /* y = A x, per row */

#endif
