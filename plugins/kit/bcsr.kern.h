/* bcsr.kern.h - staged assembly into block rows: argument block and prototypes of the kernels. */
#ifndef KIT_BCSR_KERN_H
#define KIT_BCSR_KERN_H

#include "loom/kernel.h"

typedef struct bcsr_args {
  /* elements of one kind */
  const int64_t *LK_RESTRICT
      ptr; /* [count+1], first corner of each; NULL: arity times its number */
  const int32_t *LK_RESTRICT node; /* [corners], a row; outside 0 to n - 1: no corner */
  const int64_t *LK_RESTRICT
      block; /* [count+1], first block of each; NULL: arity^2 times its number */
  const int32_t *LK_RESTRICT to; /* [corners], columns of the corners' blocks; NULL: `node` */
  const lk_real *LK_RESTRICT K;  /* [blocks][b][b], of an element row by row; see `dense` */
  /* their index */
  uint64_t *LK_RESTRICT key;    /* [corners], row of a corner, n for none; ascending once sorted */
  int32_t *LK_RESTRICT owner;   /* [corners], its element, as they were before the sort */
  int32_t *LK_RESTRICT corner;  /* [corners], where they were */
  int64_t *LK_RESTRICT first;   /* [n+1], first corner of each row */
  int64_t *LK_RESTRICT squares; /* [count], blocks of each element */
  /* the pattern */
  int64_t *LK_RESTRICT num;            /* [n], columns of a row so far */
  const int64_t *LK_RESTRICT room;     /* [n+1], where they are in `list` */
  int32_t *LK_RESTRICT list;           /* columns of each row, in the end ascending and each once */
  int32_t *LK_RESTRICT spare;          /* as `list`, for sorting */
  const int64_t *LK_RESTRICT row;      /* [n+1] */
  int32_t *LK_RESTRICT col;            /* [row[n]] */
  int64_t *LK_RESTRICT diag;           /* [n], place of the diagonal block */
  const int64_t *LK_RESTRICT base_row; /* [n+1], of a pattern to begin with; NULL: the diagonal */
  const int32_t *LK_RESTRICT base_col; /* [base_row[n]], ascending in each row */
  int32_t *LK_RESTRICT map;            /* [base_row[n]], places of its blocks */
  lk_real *LK_RESTRICT val;            /* [row[n]][b][b] */
  int64_t corners;
  int64_t from, end; /* elements that K has, one after the other */
  int32_t n, arity, b;
  int32_t dense;  /* 1: K of an element is one matrix [arity b][arity b] */
  int32_t atomic; /* bcsr_scatter: 1: others add at the same time */
} bcsr_args;

LK_DECLARE(bcsr_corner, bcsr_args) /* per element: key, owner; squares, unless NULL */
LK_DECLARE(bcsr_first, bcsr_args)  /* per row and one more: first */
LK_DECLARE(bcsr_start, bcsr_args)  /* per row: the base, or the diagonal; list NULL: only counted */
LK_DECLARE(bcsr_count, bcsr_args)  /* per row: num += columns of its corners, with repetitions */
LK_DECLARE(bcsr_collect, bcsr_args)    /* per row: the same, and writes them */
LK_DECLARE(bcsr_unique, bcsr_args)     /* per row: sorts, removes repetitions */
LK_DECLARE(bcsr_compact, bcsr_args)    /* per row: col, diag, map */
LK_DECLARE(bcsr_add, bcsr_args)        /* per row: val += K */
LK_DECLARE(bcsr_add_number, bcsr_args) /* the same per number of a block, n b b elements */
LK_DECLARE(bcsr_scatter, bcsr_args)    /* per element: val += K */

#endif
