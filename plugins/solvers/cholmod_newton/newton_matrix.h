/* newton_matrix.h - the Hessian on its way into the factorisation: pattern and values. */
#ifndef NEWTON_MATRIX_H
#define NEWTON_MATRIX_H

#include "newton_factor.h"

typedef struct newton_matrix {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  newton_factor factor;
  chol_graph p;  /* of the present H */
  int64_t *from; /* [cap + n], block of H for each of them, then the diagonal ones */
  int64_t cap;
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
/* x [n][3] := (H + shift M)^-1 x */
loom_status newton_matrix_solve(newton_matrix *m, double *x);

#endif
