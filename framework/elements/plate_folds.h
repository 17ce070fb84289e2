/* plate_folds.h - the exact Hessian of plates in two parts: B'B of each patch, of rank 3, and
 *   sum over folds of m Hess theta,   m = sum over patches of m_f
 * with the moments m_f of a fold in all patches that bend by it.
 *
 * A fold stands in up to six patches and more, and its second derivatives are half of the work of a
 * dense Hessian of 36 x 36.  Here one patch owns each fold as a side of its triangle, and only the
 * first six vertices of a patch (its triangle and the three beyond) have blocks of this part. */
#ifndef LOOM_PLATE_FOLDS_H
#define LOOM_PLATE_FOLDS_H

#include "elements/elastic_blocks.h"

/* *yes: every fold of block b is a side of one of its patches, so that plate_folds_add() may stand
 * in for the dense Hessians.  The first call makes the lists, on the host. */
loom_status plate_folds_open(elastic *el, int b, int *yes);
void plate_folds_free(plate_folds *p);
/* A += sum over the folds of block b of m Hess theta at x; after plate_folds_open() said yes. */
loom_status plate_folds_add(elastic *el, int b, loom_buf *x, asm_bsr *A);

#endif
