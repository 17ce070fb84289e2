/* chebyshev_pd.kern.h - a Jacobi step of the global step, and its extrapolation. */
#ifndef CHEBYSHEV_PD_KERN_H
#define CHEBYSHEV_PD_KERN_H

#include "loom/kernel.h"

typedef struct chebyshev_pd_args {
  const lk_real *LK_RESTRICT x;      /* [n][3] m, the iterate */
  const lk_real *LK_RESTRICT grad;   /* [n][3] N; rows of fixed vertices are zero */
  const lk_real *LK_RESTRICT diag;   /* [n] N/m, of M/h^2 + sum w A'A; infinity holds the row */
  const lk_real *LK_RESTRICT weight; /* [n] N/m, of contact */
  lk_real *LK_RESTRICT before;       /* [n][3] m, the iterate before x; then x (in, out) */
  lk_real *LK_RESTRICT trial;        /* [n][3] m, the next iterate (out) */
  lk_real gamma, omega;
} chebyshev_pd_args;
LK_DECLARE(chebyshev_pd_next, chebyshev_pd_args) /* per vertex */

/* With affine bodies an iteration is: a Jacobi step, in which their control points stand still, an
 * exact solve of each body (kit/body_turns.h), and the extrapolation of both. */
typedef struct chebyshev_pd_body_args {
  chebyshev_pd_args of;
  const int64_t *LK_RESTRICT ptr; /* [n+1], of L; rows of control points alone */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;  /* N/m */
  const int32_t *LK_RESTRICT vert; /* [bodies][4] */
  lk_real *LK_RESTRICT r;     /* [n][3] N, -grad - L (trial - x), rows of control points (out) */
  lk_real *LK_RESTRICT total; /* [n][3] m, steps of control points, else zero */
} chebyshev_pd_body_args;
LK_DECLARE(chebyshev_pd_jacobi, chebyshev_pd_body_args)      /* per vertex: trial */
LK_DECLARE(chebyshev_pd_residual, chebyshev_pd_body_args)    /* per control point: r, total = 0 */
LK_DECLARE(chebyshev_pd_extrapolate, chebyshev_pd_body_args) /* per vertex: trial, before */

#endif
