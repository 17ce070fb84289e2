/* elastic.kern.h - element Hessians times a vector. */
#ifndef LOOM_ELASTIC_KERN_H
#define LOOM_ELASTIC_KERN_H

#include "loom/kernel.h"

/* One launch index per row: out[e][r] = sum_c H[e][r][c] p_e[c], r, c < 3 arity. */
typedef struct elastic_rows_args {
  const lk_real *LK_RESTRICT H;     /* [m][3a][3a] N/m */
  const int32_t *LK_RESTRICT verts; /* [m][a] */
  const lk_real *LK_RESTRICT p;     /* [n][3] m */
  lk_real *LK_RESTRICT out;         /* [m][a][3] N */
  int32_t arity, reserved;
} elastic_rows_args;

LK_DECLARE(elastic_rows, elastic_rows_args)

/* One launch index per element: its dense matrix times a weight, which is w at its first vertex. */
typedef struct elastic_weigh_args {
  const int32_t *LK_RESTRICT verts; /* [m][a] */
  const lk_real *LK_RESTRICT w;     /* [n] */
  lk_real *LK_RESTRICT H;           /* [m][len], out */
  lk_real scale, one;               /* H (one + scale w) */
  int32_t arity, len;
} elastic_weigh_args;
LK_DECLARE(elastic_weigh, elastic_weigh_args)

/* Sums of ELASTIC_PART numbers each, then of all of these: the parts of a chunk of elements
 * do not depend on where the chunk ends, as long as that is a multiple of ELASTIC_PART. */
enum { ELASTIC_PART = 32 };
typedef struct elastic_sum_args {
  const lk_real *LK_RESTRICT v; /* [num] */
  lk_real *LK_RESTRICT part;    /* [ceil(num / ELASTIC_PART)]; elastic_sum: unused */
  int32_t num, reserved;
} elastic_sum_args;
LK_DECLARE(elastic_parts, elastic_sum_args) /* one launch index per part */
LK_DECLARE(elastic_sum, elastic_sum_args)   /* sum of v */

#endif
