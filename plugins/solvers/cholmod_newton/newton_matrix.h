/* newton_matrix.h - the Hessian on its way into the factorisation: pattern, order, values. */
#ifndef NEWTON_MATRIX_H
#define NEWTON_MATRIX_H

#include "mf.h"

typedef struct newton_matrix {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  mf f;
  int32_t ordering;        /* MF_* */
  int32_t ordered, shaped; /* there is a fill-reducing order; a pattern */
  double order_flops;      /* of the factorisation the order was made for */
  int64_t *ptr;            /* [n+1], blocks left of the diagonal by rows, of the present H */
  int32_t *col;            /* [cap] */
  int64_t *from;           /* [cap + n], block of H for each of them, then the diagonal ones */
  int64_t cap;
  loom_buf *saved_order; /* i32 [n] or [0], for checkpoints */
  loom_buf *saved_flops; /* u64 [1], the bits of order_flops */
} newton_matrix;

loom_status newton_matrix_open(newton_matrix *m, const loom_host *h, const loom_scene *sc,
                               const loom_exec *e, int ordering);
void newton_matrix_close(newton_matrix *m); /* fine on a zeroed struct */
void newton_matrix_forget(newton_matrix *m);
loom_status newton_matrix_checkpoint(newton_matrix *m, int restore);

/* Bring pattern and order up to date with H. */
loom_status newton_matrix_shape(newton_matrix *m, const loom_bsr3 *H);
/* Factor of H + shift M.  LOOM_REJECTED: not positive definite, seen at vertex *pivot. */
loom_status newton_matrix_factor(newton_matrix *m, const loom_bsr3 *H, double shift,
                                 int32_t *pivot);

#endif
