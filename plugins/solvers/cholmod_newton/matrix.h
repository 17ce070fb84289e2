/* matrix.h - the Hessian on its way into the factorisation: pattern and values. */
#ifndef CHOLMOD_NEWTON_MATRIX_H
#define CHOLMOD_NEWTON_MATRIX_H

#include "factor.h"

typedef struct cholmod_newton_matrix {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  cholmod_newton_factor factor;
  chol_graph p;  /* of the present H */
  int64_t *from; /* [cap + n], block of H for each of them, then the diagonal ones */
  int64_t cap;
  double *own;  /* [n], largest number of each block on the diagonal, N/m */
  int32_t *num; /* [n], blocks of each row of p */
} cholmod_newton_matrix;

loom_status cholmod_newton_matrix_open(cholmod_newton_matrix *m, const loom_host *host,
                                       const loom_scene *sc, const loom_exec *e, int ordering);
void cholmod_newton_matrix_close(cholmod_newton_matrix *m); /* fine on a zeroed struct */
void cholmod_newton_matrix_forget(cholmod_newton_matrix *m);
loom_status cholmod_newton_matrix_checkpoint(cholmod_newton_matrix *m, int restore);

/* Bring pattern and order up to date with H. */
loom_status cholmod_newton_matrix_shape(cholmod_newton_matrix *m, const loom_bsr3 *H);
/* Factor of H + shift M.  LOOM_REJECTED: not positive definite, seen at vertex *pivot. */
loom_status cholmod_newton_matrix_factor(cholmod_newton_matrix *m, const loom_bsr3 *H, double shift,
                                         int32_t *pivot);
/* x [n][3] := (H + shift M)^-1 x */
loom_status cholmod_newton_matrix_solve(cholmod_newton_matrix *m, double *x);

#endif
