/* krylov_bsr3.kern.h - a matrix of 3x3 blocks and its block-Jacobi preconditioner: argument blocks
 * and prototypes of the kernels. */
#ifndef KIT_KRYLOV_BSR3_KERN_H
#define KIT_KRYLOV_BSR3_KERN_H

#include "loom/kernel.h"

enum {                          /* part of the matrix that makes P */
       KRYLOV_BLOCK_JACOBI = 0, /* its diagonal blocks */
       KRYLOV_JACOBI = 1,       /* its diagonal */
       KRYLOV_PLAIN = 2         /* 1 N/m: no preconditioner */
};

typedef struct krylov_bsr3_invert_args {
  const int64_t *LK_RESTRICT row_ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;     /* [row_ptr[n]] */
  const lk_real *LK_RESTRICT val;     /* [row_ptr[n]][3][3] N/m */
  lk_real *LK_RESTRICT inv;           /* [n][6] m/N: P^-1 by its entries 00 01 02 11 12 22 */
  int32_t kind, reserved;
} krylov_bsr3_invert_args;
LK_DECLARE(krylov_bsr3_invert, krylov_bsr3_invert_args)

typedef struct krylov_bsr3_bodies_args {
  const int64_t *LK_RESTRICT row_ptr; /* as above */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;
  const int32_t *LK_RESTRICT vert; /* [num][4], control points of affine bodies */
  lk_real *LK_RESTRICT inv;        /* [num][12][12] m/N */
} krylov_bsr3_bodies_args;
/* inverses of the bodies' 12 x 12 parts; of one that is not positive definite those of its four
 * diagonal blocks, as in krylov_bsr3_invert */
LK_DECLARE(krylov_bsr3_invert_bodies, krylov_bsr3_bodies_args)

typedef struct krylov_bsr3_args {
  const int64_t *LK_RESTRICT row_ptr; /* as above */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;
  const lk_real *LK_RESTRICT inv;
  const lk_real *LK_RESTRICT x;    /* [n][3] */
  lk_real *LK_RESTRICT y;          /* [n][3] */
  const int32_t *LK_RESTRICT stop; /* [1]; not 0: y is left as it is */
  int32_t split; /* krylov_bsr3_multiply; 1: an element is a component of a row, 3 n elements */
  int32_t reserved;
  const int32_t *LK_RESTRICT slot;     /* i32 [n], 4 body + corner, -1: no control point; or NULL */
  const int32_t *LK_RESTRICT vert;     /* [num][4], as above */
  const lk_real *LK_RESTRICT body_inv; /* [num][12][12] m/N */
} krylov_bsr3_args;
LK_DECLARE(krylov_bsr3_multiply, krylov_bsr3_args)     /* y = A x; sum x.y */
LK_DECLARE(krylov_bsr3_precondition, krylov_bsr3_args) /* y = P^-1 x; sum x.y */

#endif
