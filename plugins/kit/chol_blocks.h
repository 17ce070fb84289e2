/* chol_blocks.h - the factor of a matrix of 3x3 blocks, analysed on the graph of its blocks.
 *
 * The graph has a ninth of the entries, and a supernode of blocks is one of the matrix: the order,
 * the elimination tree and the pattern of L are found on it and spread out afterwards.  The matrix
 * is kept in the factor's order, so that CHOLMOD makes no permuted copy of it. */
#ifndef KIT_CHOL_BLOCKS_H
#define KIT_CHOL_BLOCKS_H

#include "kit/chol.h"

/* Blocks of the strictly lower triangle, by rows. */
typedef struct chol_graph {
  int32_t n;    /* block rows */
  int64_t *ptr; /* [n+1] */
  int32_t *col; /* [ptr[n]], ascending in each row */
} chol_graph;

/* Where the block of row i, column j < i goes: its columns to at, at + far + 2, at + 2 far + 3 of
 * the values; transposed if it is stored as -far - 1. */
typedef struct chol_place {
  int32_t at, far;
} chol_place;

/* order [n]: a fill-reducing order of the block rows */
loom_status chol_order_blocks(chol *c, const chol_graph *g, int *order);
/* The matrix and its symbolic factor for this order; *flops: cost of the factorisation.
 * place [ptr[n] + n]: places of the blocks of g, then of the diagonal blocks. */
loom_status chol_analyse_blocks(chol *c, const chol_graph *g, const int *order, chol_place *place,
                                double *flops);

/* b [3][3] at its place */
static inline void chol_put(double *val, chol_place p, const double *b)
{
  const int flip = p.far < 0, far = flip ? -p.far - 1 : p.far;
  const int r = flip ? 1 : 3, c = flip ? 3 : 1; /* steps in b along a column, a row */
  double *v = val + p.at;
  for (int d = 0; d < 3; v += far + 2 - d, ++d)
    for (int i = 0; i < 3; ++i) v[i] = b[r * i + c * d];
}

/* the same on the diagonal: its lower half */
static inline void chol_put_diagonal(double *val, chol_place p, const double *b)
{
  double *v = val + p.at;
  for (int d = 0; d < 3; v += 3 - d + p.far, ++d)
    for (int i = d; i < 3; ++i) v[i - d] = b[3 * i + d];
}

#endif
