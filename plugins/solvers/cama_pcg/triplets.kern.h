/* triplets.kern.h - assembly by sorting: argument blocks and prototypes of the kernels. */
#ifndef CAMA_TRIPLETS_KERN_H
#define CAMA_TRIPLETS_KERN_H

#include "loom/kernel.h"

typedef struct triplet_write_args {
  const int32_t *LK_RESTRICT node; /* [count][arity], rows */
  const int32_t *LK_RESTRICT to;   /* [count], of arity 1: columns; NULL: `node` */
  const lk_real *LK_RESTRICT K;    /* [count][3 arity][3 arity] N/m; NULL: zeros */
  uint64_t *LK_RESTRICT key;       /* [slots], row << 32 | column */
  lk_real *LK_RESTRICT val;        /* [slots][3][3] N/m */
  int64_t first;                   /* slot of the first element */
  int32_t arity, reserved;
} triplet_write_args;
LK_DECLARE(triplet_write, triplet_write_args)    /* per element: its arity^2 slots */
LK_DECLARE(triplet_diagonal, triplet_write_args) /* per row: a slot of zeros on the diagonal */

typedef struct triplet_sum_args {
  const uint64_t *LK_RESTRICT key;  /* [slots], ascending */
  const int32_t *LK_RESTRICT perm;  /* [slots], slots in this order */
  const lk_real *LK_RESTRICT each;  /* [slots][3][3] N/m */
  int64_t *LK_RESTRICT head;        /* [slots], 1: first of its block */
  const int64_t *LK_RESTRICT place; /* [slots+1], exclusive sums of head */
  int64_t *LK_RESTRICT start;       /* [nnz+1], first slot of each block */
  int64_t *LK_RESTRICT row;         /* [n+1] */
  int32_t *LK_RESTRICT col;         /* [nnz] */
  int64_t *LK_RESTRICT diag;        /* [n] */
  lk_real *LK_RESTRICT val;         /* [nnz][3][3] N/m */
  int64_t slots;
} triplet_sum_args;
LK_DECLARE(triplet_head, triplet_sum_args) /* per slot: head */
LK_DECLARE(triplet_list, triplet_sum_args) /* per slot: start, col, diag */
LK_DECLARE(triplet_rows, triplet_sum_args) /* per row and one more: row */
LK_DECLARE(triplet_sum, triplet_sum_args)  /* per block: val, slots in their order */

#endif
