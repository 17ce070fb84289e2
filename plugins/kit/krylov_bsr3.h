/* krylov_bsr3.h - systems of krylov.h with a matrix of 3x3 blocks, preconditioned by the inverses
 * of its diagonal blocks (block Jacobi), or of its diagonal alone, or not.  The four control points
 * of an affine body may be one block of 12 x 12 numbers: the body's stiffness joins them, and
 * blocks of 3 x 3 do not see that the body moves easily as a whole. */
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
  /* affine bodies: i32 [n], i32 [num_bodies][4], real [num_bodies][144]; NULL: there are none */
  loom_buf *slot, *vert, *body_inv;
  int32_t num_bodies;
  plug_maps m;
  krylov_bsr3_args a;
  int64_t num_blocks; /* of the matrix */
} krylov_bsr3;

loom_status krylov_bsr3_new(krylov_bsr3 *b, const loom_host *host, const loom_exec *e, int32_t n);
/* With KRYLOV_BLOCK_JACOBI: a block for each affine body of the scene.  Call it once, after
 * krylov_bsr3_new(). */
loom_status krylov_bsr3_bodies(krylov_bsr3 *b, const loom_scene *sc);

/* *A is a system with this matrix, symmetric and with every diagonal block, until
 * krylov_bsr3_close().  A diagonal block that is not positive definite, or in Jacobi a number of
 * the diagonal that is not positive, is preconditioned by its largest row sum. */
loom_status krylov_bsr3_open(krylov_bsr3 *b, const loom_bsr3 *matrix, krylov_system *A);
loom_status krylov_bsr3_close(krylov_bsr3 *b);

#endif
