/* pairwise.kern.h - the paper's matrix of a pair: springs along the normal n between each corner i
 * of one side and each corner j of the other, with the shares k |w_i| |w_j| of its stiffness k.
 * Blocks -k |w_i| |w_j| n n' off the diagonal (3 for a vertex and a triangle, 4 for two edges, and
 * their transposes), k |w_i| n n' on it: the weights of a side add up to one, so rows add up to
 * zero.  Its product with y is k sum_ij |w_i| |w_j| (n.(y_i - y_j))^2, at least the Gauss-Newton k
 * (n . sum w_i y_i)^2, the square of the mean (Jensen). */
#ifndef CAMA_PAIRWISE_KERN_H
#define CAMA_PAIRWISE_KERN_H

#include "cama_repulsion.kern.h"

typedef struct cama_pairwise_count_args {
  cand_state s;
  const int32_t *LK_RESTRICT list; /* [active] */
  int64_t *LK_RESTRICT count;      /* [active] out: blocks of a pair */
} cama_pairwise_count_args;
LK_DECLARE(cama_pairwise_count, cama_pairwise_count_args)

LK_DECLARE(cama_pairwise, pair_args)

#endif
