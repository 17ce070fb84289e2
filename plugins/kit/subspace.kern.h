/* subspace.kern.h - restriction to a subspace and prolongation from it: argument block and
 * prototypes.
 *
 * Columns come in groups of eight, so that a row's numbers are used together; sums over rows go by
 * chunks of fixed size, in a fixed order. */
#ifndef KIT_SUBSPACE_KERN_H
#define KIT_SUBSPACE_KERN_H

#include "loom/kernel.h"

/* columns of a group, rows of a chunk, rows that a CPU prolongs at a time */
enum { SUBSPACE_GROUP = 8, SUBSPACE_ROWS = 256, SUBSPACE_LANES = 4 };

typedef struct subspace_args {
  /* from subspace_bind() */
  const lk_real *LK_RESTRICT U; /* [n][ld] */
  lk_real *LK_RESTRICT part;    /* [chunks][ld][3] */
  lk_real *LK_RESTRICT g;       /* [ld][3], U' r */
  lk_real *LK_RESTRICT q;       /* [ld][3] */
  int32_t n, ld;
  int32_t cols; /* leading columns that take part; all, unless the caller wants fewer */
  /* the caller's */
  int32_t add;                      /* nonzero: u += instead of u = */
  const lk_real *LK_RESTRICT scale; /* [n], of the rows of U; NULL: 1 */
  const lk_real *LK_RESTRICT inv;   /* [cols][cols], inverse of the reduced matrix */
  const lk_real *LK_RESTRICT r;     /* [n][3] */
  lk_real *LK_RESTRICT u;           /* [n][3] */
  int32_t lanes;                    /* set by subspace_prolong(): rows of a launch's element */
  int32_t reserved;
} subspace_args;

LK_DECLARE(subspace_restrict_part, subspace_args) /* per chunk and group: part */
LK_DECLARE(subspace_restrict_sum, subspace_args)  /* per column and component: g = U' r */
LK_DECLARE(subspace_invert, subspace_args)        /* per column: q = inv g */
LK_DECLARE(subspace_invert_turned, subspace_args) /* the same; inv is the transposed inverse */
LK_DECLARE(subspace_prolong_rows, subspace_args)  /* per `lanes` rows: u = U q */

LK_FN int32_t subspace_groups(int32_t cols) { return (cols + SUBSPACE_GROUP - 1) / SUBSPACE_GROUP; }
LK_FN int32_t subspace_chunks(int32_t n) { return (n + SUBSPACE_ROWS - 1) / SUBSPACE_ROWS; }

#endif
