/* operator.kern.h - diagonal of the global step with contact, and the vectors around a solve. */
#ifndef NDB_PD_OPERATOR_KERN_H
#define NDB_PD_OPERATOR_KERN_H

#include "loom/kernel.h"

typedef struct ndb_pd_hold_args {
  const lk_real *LK_RESTRICT now; /* [n], N/m, weights of this iteration */
  lk_real *LK_RESTRICT held;      /* [n], N/m, weights in the matrix */
  lk_real headroom;
  int32_t first; /* nonzero: first iteration of a step, or no weights are held */
} ndb_pd_hold_args;

typedef struct ndb_pd_diagonal_args {
  const lk_real *LK_RESTRICT h; /* [n], N/m, diagonal of H */
  const lk_real *LK_RESTRICT w; /* [n], N/m, contact weights */
  lk_real *LK_RESTRICT dinv;    /* [n], m/N, 1 / (h + w) */
  lk_real *LK_RESTRICT mask;    /* [n], h / (h + w) */
  float *LK_RESTRICT wf;        /* [n]; NULL: no float path */
  float *LK_RESTRICT dinvf;     /* [n] */
  int64_t *LK_RESTRICT touched; /* [n], 1 where w > 0 */
} ndb_pd_diagonal_args;

typedef struct ndb_pd_vector_args {
  const lk_real *LK_RESTRICT x;      /* [n][3], m */
  const lk_real *LK_RESTRICT grad;   /* [n][3], N */
  const lk_real *LK_RESTRICT rest;   /* [n][3], m */
  const uint8_t *LK_RESTRICT fixed;  /* [n] */
  lk_real *LK_RESTRICT r;            /* [n][3], N */
  lk_real *LK_RESTRICT u;            /* [n][3], m */
  lk_real *LK_RESTRICT total;        /* [n][3], m */
  lk_real *LK_RESTRICT trial;        /* [n][3], m */
  lk_real *LK_RESTRICT before;       /* [n][3], m, momentum's memory */
  const lk_real *LK_RESTRICT weight; /* [1], beta where the device made it; NULL: beta */
  lk_real beta, omega;
  int32_t chebyshev, reserved;
} ndb_pd_vector_args;

typedef struct ndb_pd_nesterov_args {
  const lk_real *uphill; /* [1] */
  lk_real *t, *beta;     /* [1] */
  int32_t restart, reserved;
} ndb_pd_nesterov_args;

LK_DECLARE(ndb_pd_hold, ndb_pd_hold_args)         /* per vertex */
LK_DECLARE(ndb_pd_diagonal, ndb_pd_diagonal_args) /* per vertex */
LK_DECLARE(ndb_pd_heaviest, ndb_pd_diagonal_args) /* max of w */
LK_DECLARE(ndb_pd_touched, ndb_pd_diagonal_args)  /* number of w > 0 */
LK_DECLARE(ndb_pd_begin, ndb_pd_vector_args)      /* r = -grad, zero at fixed rows; total = 0 */
LK_DECLARE(ndb_pd_from_rest, ndb_pd_vector_args)  /* u = rest - x, zero at fixed rows */
LK_DECLARE(ndb_pd_point, ndb_pd_vector_args)      /* trial = x + total; x NULL: trial += total */
LK_DECLARE(ndb_pd_uphill, ndb_pd_vector_args)     /* sum of grad.(trial - before) */
LK_DECLARE(ndb_pd_nesterov, ndb_pd_nesterov_args) /* once: the weight, and t for the next */
LK_DECLARE(ndb_pd_longest, ndb_pd_vector_args)    /* largest |total| */
LK_DECLARE(ndb_pd_accelerate, ndb_pd_vector_args) /* momentum on trial; before for the next */

#endif
