/* blocks.kern.h - lists of 3x3 blocks and of rows, by vertex. */
#ifndef LOOM_LINALG_BLOCKS_KERN_H
#define LOOM_LINALG_BLOCKS_KERN_H

#include "loom/kernel.h"

/* ---- sums by vertex over a list sorted by vertex ---- */
typedef struct {
  const int32_t *LK_RESTRICT id; /* [m] vertex id, < 0 for unused */
  uint64_t *LK_RESTRICT key;     /* [m] out: the id, or n */
  int32_t n;
} blocks_key_args;
LK_DECLARE(blocks_vertex_key, blocks_key_args)

typedef struct {
  const uint64_t *LK_RESTRICT key; /* [m] ascending vertex ids */
  const int32_t *LK_RESTRICT perm; /* [m] places in `val` */
  const lk_real *LK_RESTRICT val;  /* [m][3] */
  lk_real *LK_RESTRICT out;        /* [n][3] += */
  int64_t m;
} blocks_sum_args;
LK_DECLARE(blocks_key_sum, blocks_sum_args)

typedef struct {                  /* val[j] = H[j] (p - q)[col[j]] */
  const lk_real *LK_RESTRICT H;   /* [m][3][3] N/m */
  const int32_t *LK_RESTRICT col; /* [m] */
  const lk_real *LK_RESTRICT p;   /* [n][3] m */
  const lk_real *LK_RESTRICT q;   /* [n][3] m, NULL: zero */
  lk_real *LK_RESTRICT val;       /* [m][3] N */
} blocks_apply_args;
LK_DECLARE(blocks_apply, blocks_apply_args)

typedef struct { /* append blocks: pointers of the second list already stand at its end */
  const int32_t *LK_RESTRICT row, *LK_RESTRICT col; /* [m] */
  const lk_real *LK_RESTRICT val;                   /* [m][3][3] N/m */
  int32_t *LK_RESTRICT row2, *LK_RESTRICT col2;
  lk_real *LK_RESTRICT val2;
} blocks_append_args;
LK_DECLARE(blocks_append, blocks_append_args)

#endif
