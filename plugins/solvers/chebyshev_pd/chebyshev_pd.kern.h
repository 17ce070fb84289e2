/* chebyshev_pd.kern.h - a Jacobi step of the global step, and its extrapolation. */
#ifndef CHEBYSHEV_PD_KERN_H
#define CHEBYSHEV_PD_KERN_H

#include "loom/kernel.h"

typedef struct chebyshev_pd_args {
  const lk_real *LK_RESTRICT x;      /* [n][3] m, the iterate */
  const lk_real *LK_RESTRICT grad;   /* [n][3] N; rows of fixed vertices are zero */
  const lk_real *LK_RESTRICT diag;   /* [n] N/m, of M/h^2 + sum w A'A */
  const lk_real *LK_RESTRICT weight; /* [n] N/m, of contact */
  lk_real *LK_RESTRICT before;       /* [n][3] m, the iterate before x; then x (in, out) */
  lk_real *LK_RESTRICT trial;        /* [n][3] m, the next iterate (out) */
  lk_real gamma, omega;
} chebyshev_pd_args;
LK_DECLARE(chebyshev_pd_next, chebyshev_pd_args) /* per vertex */

#endif
