/* spmv.kern.h - sparse matrix times vector: argument blocks and prototypes. */
#ifndef LOOM_LINALG_SPMV_KERN_H
#define LOOM_LINALG_SPMV_KERN_H

#include "loom/kernel.h"

typedef struct spmv_args {
  const int64_t *LK_RESTRICT row_ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;     /* [row_ptr[n]] */
  const lk_real *LK_RESTRICT val;     /* bsr3: [.][3][3]; csr3: [.] */
  const lk_real *LK_RESTRICT x;       /* [n][3] */
  lk_real *LK_RESTRICT y;             /* [n][3] */
} spmv_args;

LK_DECLARE(spmv_bsr3, spmv_args)
LK_DECLARE(spmv_csr3, spmv_args)

#endif
