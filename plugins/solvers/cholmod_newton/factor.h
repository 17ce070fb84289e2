/* factor.h - H + sigma M/h^2 factorised by CHOLMOD, in an order that outlives
 * patterns. */
#ifndef CHOLMOD_NEWTON_FACTOR_H
#define CHOLMOD_NEWTON_FACTOR_H

#include "kit/chol_blocks.h"

/* Numbers for a pattern, the blocks of H left of the diagonal that are not zero: H + shift M. */
typedef struct cholmod_newton_entries {
  const loom_real *val;    /* [num_blocks][3][3], N/m, all blocks of H */
  const int64_t *lower;    /* [ptr[n]], index in val of each block of the pattern */
  const int64_t *diagonal; /* [n], index in val of each diagonal block */
  const loom_real *mass;   /* [n], kg */
  double shift;            /* 1/s^2 */
} cholmod_newton_entries;

typedef struct cholmod_newton_factor {
  const loom_host *host;
  const loom_exec *e;
  chol c;
  chol_graph g;            /* the pattern last analysed */
  int64_t cap;             /* blocks that g.col has room for; place has n more */
  chol_place *place;       /* [ptr[n] + n] */
  int *order;              /* [n], fill-reducing */
  int32_t ordered, shaped; /* there is an order; a pattern */
  double order_flops;      /* of the factorisation the order was made for */
  loom_buf *saved_order;   /* i32 [n] or [0], for checkpoints */
  loom_buf *saved_flops;   /* u64 [1], the bits of order_flops */
} cholmod_newton_factor;

/* ordering: CHOL_*, of the vertices */
loom_status cholmod_newton_factor_open(cholmod_newton_factor *f, const loom_host *host,
                                       const loom_exec *e, int32_t n, int ordering);
void cholmod_newton_factor_close(cholmod_newton_factor *f); /* fine on a zeroed struct */
/* Brings order and pattern of the factor up to date, if the pattern has changed. */
loom_status cholmod_newton_factor_analyse(cholmod_newton_factor *f, const chol_graph *g);
/* The factor, of the pattern last analysed.  LOOM_REJECTED: not positive definite, seen at
 * vertex *pivot. */
loom_status cholmod_newton_factor_make(cholmod_newton_factor *f, const cholmod_newton_entries *v,
                                       int32_t *pivot);
loom_status cholmod_newton_factor_solve(cholmod_newton_factor *f,
                                        double *x);          /* x [n][3] := A^-1 x */
void cholmod_newton_factor_forget(cholmod_newton_factor *f); /* drops order and pattern */
loom_status cholmod_newton_factor_checkpoint(cholmod_newton_factor *f, int restore);

#endif
