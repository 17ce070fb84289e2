/* elastic_form.kern.h - a block of elements whose energy is quadratic in the positions:
 *   E = 1/2 sum_ij A_ij x_i . x_j,   A = sum over elements of w A'A, rows with the sum 0.
 * Differences of positions keep it exact under translation:
 *   dE/dx_i = sum_j A_ij (x_j - x_i),   E = -1/4 sum_ij A_ij |x_j - x_i|^2 */
#ifndef LOOM_ELASTIC_FORM_KERN_H
#define LOOM_ELASTIC_FORM_KERN_H

#include "loom/kernel.h"

/* One launch index per vertex. */
typedef struct elastic_form_args {
  const int64_t *LK_RESTRICT row_ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;     /* [nnz] */
  const lk_real *LK_RESTRICT val;     /* [nnz] N/m, A */
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  lk_real *LK_RESTRICT grad;          /* [n][3] N, added to; NULL: no gradient */
  lk_real *LK_RESTRICT energy;        /* [n] J, the shares of the vertices; NULL: no energy */
} elastic_form_args;
LK_DECLARE(elastic_form, elastic_form_args)

#endif
