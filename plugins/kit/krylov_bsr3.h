/* krylov_bsr3.h - systems of krylov.h with a matrix of 3x3 blocks, preconditioned by the inverses
 * of its diagonal blocks (block Jacobi), or of its diagonal alone, or not. */
#ifndef KIT_KRYLOV_BSR3_H
#define KIT_KRYLOV_BSR3_H

#include "kit/krylov.h"
#include "kit/krylov_bsr3.kern.h"
#include "loom/plug.h"

typedef struct krylov_bsr3 {
  const loom_host *host;
  const loom_exec *e;
  int32_t n;
  int32_t kind;  /* KRYLOV_BLOCK_JACOBI (0) ..., krylov_bsr3.kern.h; the caller's to set */
  loom_buf *inv; /* real [n][6] */
  plug_maps m;
  krylov_bsr3_args a;
  int64_t num_blocks; /* of the matrix */
} krylov_bsr3;

loom_status krylov_bsr3_new(krylov_bsr3 *b, const loom_host *host, const loom_exec *e, int32_t n);

/* *A is a system with this matrix, symmetric and with every diagonal block, until
 * krylov_bsr3_close().  A diagonal block that is not positive definite, or in Jacobi a number of
 * the diagonal that is not positive, is preconditioned by its largest row sum. */
loom_status krylov_bsr3_open(krylov_bsr3 *b, const loom_bsr3 *matrix, krylov_system *A);
loom_status krylov_bsr3_close(krylov_bsr3 *b);

#endif
