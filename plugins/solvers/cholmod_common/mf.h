/* mf.h - multifrontal Cholesky factorisation of a sparse symmetric matrix of 3x3 blocks.
 *
 * P A P' = L L', P a permutation of the block rows (vertices).  Symbolic work is done on the
 * graph of the blocks, a ninth of the entries; the numeric part is dense algebra on fronts
 * (dense.h): I. Duff, J. Reid, The Multifrontal Solution of Indefinite Sparse Symmetric Linear
 * Equations, ACM TOMS 9(3), 1983, doi 10.1145/356044.356047; J. Liu, The Multifrontal Method for
 * Sparse Matrix Solution, SIAM Review 34(1), 1992, doi 10.1137/1034004.
 *
 * The three parts cost very differently and are called apart:
 *   mf_order    a fill-reducing permutation by METIS or AMD: slow, and seldom needed anew, since
 *               contact changes the pattern only here and there
 *   mf_analyse  the pattern of L under the present permutation: linear in its blocks
 *   mf_factor   the numbers
 */
#ifndef MF_H
#define MF_H

#include "loom/plugin.h"

enum { MF_AMD = 0, MF_METIS = 1 };

/* Columns with one pattern, stored as a dense matrix. */
typedef struct mf_node {
  int32_t first, cols; /* its block columns, in the order of elimination */
  int32_t rows;        /* block rows, its own columns included */
  int32_t parent;      /* node that takes its update, -1: none */
  int64_t row;         /* begin of its rows in mf.row */
  int64_t val;         /* begin of its numbers in mf.val: real [3 cols][3 rows], column-major */
} mf_node;

/* Where a block of A goes: to val + at with columns `ld` apart; transposed if ld < 0. */
typedef struct mf_place {
  int64_t at;
  int32_t ld, reserved;
} mf_place;

typedef struct mf {
  const loom_host *h;
  int32_t n; /* block rows */
  int32_t num_nodes;
  /* strictly lower triangle of A by rows, in the caller's order */
  int64_t *ptr;     /* [n+1] */
  int32_t *col;     /* [ptr[n]], ascending in each row */
  int32_t *order;   /* [n], fill-reducing: order[k] is eliminated k-th, but for a postorder */
  int32_t *perm;    /* [n], perm[k]: the vertex eliminated k-th */
  int32_t *inverse; /* [n] */
  int32_t *work_i;  /* [MF_WORK (n + 1)] */
  mf_node *node;    /* [num_nodes], children before parents */
  int32_t *row;     /* block rows of the nodes, ascending, in the order of elimination */
  mf_place *place;  /* [ptr[n] + n], of the blocks in ptr/col, then of the diagonal */
  double *val;      /* L */
  double *stack;    /* update matrices that wait for their parents */
  double *work;     /* of dense.h and of mf_solve */
  int64_t *waiting; /* [num_nodes], begin of their update matrices in stack */
  int64_t cap_col, cap_row, cap_place, cap_val, cap_stack, cap_work, cap_node; /* allocated */
  int64_t num_val;                                                             /* length of val */
  double flops; /* of mf_factor, without fill that rounding up to nodes brings */
} mf;

loom_status mf_open(mf *f, const loom_host *h, int32_t n);
void mf_close(mf *f); /* fine on a zeroed struct */

/* Room for a triangle of `blocks` blocks; the caller fills ptr and col, then has them ordered
 * (or sets `order`) and analysed. */
loom_status mf_reserve(mf *f, int64_t blocks);
loom_status mf_order(mf *f, int ordering);
loom_status mf_analyse(mf *f);

/* L := 0, to be filled with the blocks of A through mf_put. */
void mf_clear(mf *f);
/* Block k: the one at ptr/col, or ptr[n] + i for the diagonal block of row i.  b [3][3]. */
static inline void mf_put(mf *f, int64_t k, const double *b)
{
  const mf_place *const p = &f->place[k];
  double *const v = f->val + p->at;
  const int64_t ld = p->ld < 0 ? -p->ld : p->ld;
  const int r = p->ld < 0 ? 1 : 3, c = p->ld < 0 ? 3 : 1; /* steps in b along a column, a row */
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) v[i + ld * j] = b[r * i + c * j];
}

/* LOOM_REJECTED: A is not positive definite, seen in the row of vertex *pivot. */
loom_status mf_factor(mf *f, int32_t *pivot);
void mf_solve(mf *f, double *x); /* x [n][3] := A^-1 x, in the caller's order */

#endif
