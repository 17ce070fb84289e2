/* contact_diagonal.kern.h - contact terms as weights on the diagonal of a global step. */
#ifndef KIT_CONTACT_DIAGONAL_KERN_H
#define KIT_CONTACT_DIAGONAL_KERN_H

#include "loom/kernel.h"

typedef struct contact_diagonal_args {
  const int32_t *LK_RESTRICT v;     /* [m][width], corners of a term, -1 for unused */
  const lk_real *LK_RESTRICT w;     /* [m][width] */
  const lk_real *LK_RESTRICT k;     /* [m], N/m */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  int64_t *LK_RESTRICT num;         /* [m], corners of a term that have a part (out) */
  lk_real *LK_RESTRICT all;         /* [m], sum of |w| of these (out); NULL: added up for each */
  const int64_t *LK_RESTRICT place; /* [m+1], their exclusive sums */
  uint64_t *LK_RESTRICT key;        /* [corners], vertex of the corner, n where it has no part */
  int32_t *LK_RESTRICT corner;      /* [corners] of `v`; NULL: all of them */
  const int32_t *LK_RESTRICT order; /* [corners], corners by vertex */
  lk_real *LK_RESTRICT weight;      /* [n], N/m (out) */
  int64_t corners;                  /* width m, or those with a part */
  int32_t n, width;
} contact_diagonal_args;

LK_DECLARE(contact_diagonal_count, contact_diagonal_args) /* per term: num, all */
LK_DECLARE(contact_diagonal_list, contact_diagonal_args)  /* per term: key and corner */
LK_DECLARE(contact_diagonal_key, contact_diagonal_args)   /* per corner: key, of all of them */
/* per corner in their order: weight, by the first one of each vertex */
LK_DECLARE(contact_diagonal_sum, contact_diagonal_args)
LK_DECLARE(contact_diagonal_none, contact_diagonal_args) /* per vertex: weight = 0 */

#endif
