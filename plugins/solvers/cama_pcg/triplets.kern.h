/* triplets.kern.h - assembly by sorting: argument blocks and prototypes of the kernels. */
#ifndef CAMA_TRIPLETS_KERN_H
#define CAMA_TRIPLETS_KERN_H

#include "loom/kernel.h"

typedef struct triplet_write_args {
  const int32_t *LK_RESTRICT node; /* [count][arity], rows */
  const int32_t *LK_RESTRICT to;   /* [count], of arity 1: columns; NULL: `node` */
  const lk_real *LK_RESTRICT K;    /* [count][3 arity][3 arity] N/m; NULL: zeros */
  uint64_t *LK_RESTRICT key;       /* [slots], row << 32 | column; of entries [slots][3][3] */
  lk_real *LK_RESTRICT val;        /* [slots][3][3] N/m */
  int64_t first;                   /* slot of the first element */
  int32_t arity;
  int32_t entries; /* 1: rows and columns of numbers, not of blocks */
} triplet_write_args;
LK_DECLARE(triplet_write, triplet_write_args)    /* per element: its arity^2 slots */
LK_DECLARE(triplet_diagonal, triplet_write_args) /* per row: a slot of zeros on the diagonal */

typedef struct triplet_sum_args {
  const uint64_t *LK_RESTRICT key;  /* [keys], ascending */
  const int32_t *LK_RESTRICT perm;  /* [keys], where they were */
  const lk_real *LK_RESTRICT each;  /* [slots][3][3] N/m */
  int64_t *LK_RESTRICT head;        /* [keys], 1: first of its place */
  const int64_t *LK_RESTRICT place; /* [keys+1], exclusive sums of head */
  int64_t *LK_RESTRICT start;       /* [places+1], first key of each place */
  int64_t *LK_RESTRICT row;         /* [n+1] */
  int32_t *LK_RESTRICT col;         /* [nnz] */
  int64_t *LK_RESTRICT diag;        /* [n] */
  lk_real *LK_RESTRICT val;         /* [nnz][3][3] N/m */
  int64_t keys;
  int32_t n;
  int32_t entries; /* 1: a place is a number; 0: a block */
} triplet_sum_args;
LK_DECLARE(triplet_head, triplet_sum_args) /* per key: head */
LK_DECLARE(triplet_list, triplet_sum_args) /* per key: start */
LK_DECLARE(triplet_rows, triplet_sum_args) /* per row and one more: row */
LK_DECLARE(triplet_sum, triplet_sum_args)  /* per row: col, diag, val; slots in their order */

#endif
