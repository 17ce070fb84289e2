/* bcsr_steady.kern.h - elements that never change: argument block and prototypes of the kernels. */
#ifndef KIT_BCSR_STEADY_KERN_H
#define KIT_BCSR_STEADY_KERN_H

#include "loom/kernel.h"

typedef struct steady_args {
  const int32_t *LK_RESTRICT node;     /* [count][arity], rows; outside 0 to n - 1: none */
  uint64_t *LK_RESTRICT key;           /* [corners], part << 32 | row; ascending once sorted */
  int64_t *LK_RESTRICT head;           /* [corners], 1: first of a segment */
  const int64_t *LK_RESTRICT seg;      /* [corners+1], exclusive sums of head */
  int64_t *LK_RESTRICT from;           /* [parts+1], first segment of each part */
  int32_t *LK_RESTRICT row;            /* [segments], n: none */
  int32_t *LK_RESTRICT start;          /* [segments+1] */
  int32_t *LK_RESTRICT corner;         /* [corners] */
  int32_t *LK_RESTRICT place;          /* [corners][arity], -1: none */
  const int64_t *LK_RESTRICT base_row; /* [n+1] */
  const int32_t *LK_RESTRICT base_col; /* [base_row[n]] */
  const int32_t *LK_RESTRICT map;      /* [base_row[n]] */
  const lk_real *LK_RESTRICT K;        /* [elements of the part][3 arity][3 arity] N/m */
  lk_real *LK_RESTRICT val;            /* [nnz][3][3] N/m */
  int64_t corners, part;               /* elements of a part */
  int64_t first;                       /* steady_add: a segment */
  int64_t elem;                        /* steady_add: the element that K begins with */
  int32_t n, arity;
} steady_args;

LK_DECLARE(steady_corner, steady_args)     /* per corner: key */
LK_DECLARE(steady_head, steady_args)       /* per corner, sorted: head */
LK_DECLARE(steady_from, steady_args)       /* per part and one more: from */
LK_DECLARE(steady_list, steady_args)       /* per corner, sorted: row, start, place */
LK_DECLARE(steady_add, steady_args)        /* per segment from `first` on: val += K */
LK_DECLARE(steady_add_number, steady_args) /* the same per number of a block, 9 times as many */

#endif
