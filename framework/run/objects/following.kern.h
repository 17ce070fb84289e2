/* following.kern.h - kernels of followers (loom/followers.h): their places, and forces and blocks
 * of contact on them, which go to their nodes.  Sums are gathered by node: the same bits
 * everywhere.
 */
#ifndef LOOM_RUN_FOLLOWING_KERN_H
#define LOOM_RUN_FOLLOWING_KERN_H

#include "loom/kernel.h"

typedef struct follow_args {         /* x_i = sum_a w_a x_a, an element per follower */
  const int32_t *LK_RESTRICT id;     /* [m] */
  const int32_t *LK_RESTRICT first;  /* [m + 1] */
  const int32_t *LK_RESTRICT node;   /* [first[m]] */
  const lk_real *LK_RESTRICT weight; /* [first[m]], 1 */
  lk_real *x;                        /* [n][3]; rows of followers are written, of nodes read */
} follow_args;
LK_DECLARE(run_follow, follow_args)
LK_DECLARE(run_follow_clear, follow_args) /* rows of followers = 0 */

typedef struct fold_args {
  const int32_t *LK_RESTRICT node;        /* [nodes], vertex ids */
  const int32_t *LK_RESTRICT first_chunk; /* [nodes + 1] */
  const int32_t *LK_RESTRICT first;       /* [chunks + 1] */
  const int32_t *LK_RESTRICT member;      /* [first[chunks]], vertex ids */
  const lk_real *LK_RESTRICT weight;      /* [first[chunks]], 1 */
  lk_real *g;                             /* [n][3] N, or [n] shares of a way */
  lk_real *part;                          /* [chunks][3], or [chunks] */
} fold_args;
LK_DECLARE(run_fold_part, fold_args)   /* part = sum of w g over the members of a chunk */
LK_DECLARE(run_fold_sum, fold_args)    /* g of a node += its parts, in their order */
LK_DECLARE(run_share_part, fold_args)  /* part = least g of a chunk's members */
LK_DECLARE(run_share_least, fold_args) /* g of a node = least of its parts and its own */

typedef struct fold_block_args {    /* W' H W, an element per block of H */
  const int32_t *LK_RESTRICT slot;  /* [n], number of the follower, -1: none */
  const int32_t *LK_RESTRICT first; /* as in follow_args */
  const int32_t *LK_RESTRICT node;
  const lk_real *LK_RESTRICT weight;
  const int32_t *LK_RESTRICT row, *LK_RESTRICT col; /* [count] */
  const lk_real *LK_RESTRICT val;                   /* [count][3][3] N/m */
  int64_t *LK_RESTRICT num;                         /* [count], blocks that this one becomes */
  const int64_t *LK_RESTRICT place;                 /* [count + 1], sums of num */
  int32_t *LK_RESTRICT row2, *LK_RESTRICT col2;     /* [place[count]] */
  lk_real *LK_RESTRICT val2;
} fold_block_args;
LK_DECLARE(run_fold_count, fold_block_args)
LK_DECLARE(run_fold_expand, fold_block_args)

typedef struct fold_quad_args {    /* a term on nodes, each once; an element per term */
  const int32_t *LK_RESTRICT slot; /* as in fold_block_args */
  const int32_t *LK_RESTRICT first;
  const int32_t *LK_RESTRICT node;
  const lk_real *LK_RESTRICT weight;
  const int32_t *LK_RESTRICT v; /* [m][4] */
  const lk_real *LK_RESTRICT w; /* [m][4], 1 */
  int32_t *LK_RESTRICT v2;      /* [m][width], -1 for unused */
  lk_real *LK_RESTRICT w2;      /* [m][width] */
  int32_t width;
} fold_quad_args;
LK_DECLARE(run_fold_quad, fold_quad_args)

#endif
