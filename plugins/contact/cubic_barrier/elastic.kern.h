/* elastic.kern.h - diagonal blocks of the elastic Hessian, from the Hessians of elements. */
#ifndef ELASTIC_DIAGONAL_KERN_H
#define ELASTIC_DIAGONAL_KERN_H

#include "loom/kernel.h"

typedef struct elastic_add_args {
  const int64_t *LK_RESTRICT first;  /* [n+1] first corner of a vertex */
  const int64_t *LK_RESTRICT corner; /* [.] arity * element + corner, ascending at each vertex */
  const lk_real *LK_RESTRICT dense;  /* [count][3 arity][3 arity] N/m, of elements from `from` on */
  lk_real *LK_RESTRICT sum;          /* [n][3][3] N/m += */
  int64_t from, count;
  int32_t arity;
} elastic_add_args;
LK_DECLARE(elastic_add, elastic_add_args) /* one vertex each */

#endif
