/* cama_pcg.kern.h - rows of the linear system: argument blocks and prototypes of the kernels. */
#ifndef CAMA_PCG_KERN_H
#define CAMA_PCG_KERN_H

#include "loom/kernel.h"

typedef struct cama_rows_args {
  const int64_t *LK_RESTRICT row;   /* [n+1] */
  const int32_t *LK_RESTRICT col;   /* [row[n]] */
  const int64_t *LK_RESTRICT diag;  /* [n], where the diagonals are */
  const lk_real *LK_RESTRICT mass;  /* [n] kg */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  lk_real *LK_RESTRICT val;         /* [row[n]][3][3] N/m */
  lk_real scale;                    /* 1/h^2, 1/s^2 */
} cama_rows_args;
LK_DECLARE(cama_rows, cama_rows_args) /* + M/h^2; rows and columns of fixed vertices are unit */

typedef struct cama_start_args {
  const uint8_t *LK_RESTRICT fixed;   /* [n] */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const lk_real *LK_RESTRICT v;       /* [n][3] m/s */
  lk_real *LK_RESTRICT out;           /* [n][3] m */
  lk_real h;                          /* s */
} cama_start_args;
LK_DECLARE(cama_linearise, cama_start_args) /* x_start on free rows, other rows stay */
LK_DECLARE(cama_velocity, cama_start_args)  /* h v on free rows, zero on others */

typedef struct cama_differ_args {
  const int32_t *LK_RESTRICT row0, *LK_RESTRICT row1; /* [n] */
  const int32_t *LK_RESTRICT col0, *LK_RESTRICT col1; /* [n] */
} cama_differ_args;
LK_DECLARE(cama_differ, cama_differ_args) /* most: 1 where a row or a column is another one */

#endif
