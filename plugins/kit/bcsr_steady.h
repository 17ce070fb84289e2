/* bcsr_steady.h - kinds of elements that never change: their pattern is made once, and every block
 * of an element knows its place in it, so that neither is looked for in a step.
 *
 *   bcsr_base(&A, n, kinds, num);                     once
 *   bcsr_steady_new(&s[k], &A, &kinds[k], part);      once for each of them
 *   bcsr_pattern(&A, others, num_others);             the base plus the rows that others couple
 *   bcsr_clear(&A);
 *   for p < s[k].parts:  ... dense matrices K of elements [p part, (p + 1) part) ...
 *                        bcsr_steady_add(&A, &s[k], K, p);
 *
 * A part fits into a cache together with its rows, so that K is still in the cache when rows gather
 * it.  The bits are those of bcsr_add_kind().
 */
#ifndef KIT_BCSR_STEADY_H
#define KIT_BCSR_STEADY_H

#include "kit/bcsr.h"
#include "kit/bcsr_steady.kern.h"

typedef struct bcsr_steady { /* fine when zeroed */
  int64_t count, part, parts, corners;
  int32_t arity;
  int64_t *from;    /* [parts+1], on the host: the first segment of each part */
  loom_buf *row;    /* i32 [segments], row of the matrix; a segment: corners of a part in it */
  loom_buf *start;  /* i32 [segments+1], where its corners begin */
  loom_buf *corner; /* i32 [corners], by part, row and number */
  loom_buf *place;  /* i32 [corners][arity], of each corner's blocks in the base */
} bcsr_steady;

/* Kinds of n rows, which are dense, of 3x3 blocks and of one arity each. */
loom_status bcsr_base(bcsr *A, int32_t n, bcsr_kind *kinds, int num);
/* After bcsr_base() with that kind among others; part: elements.  Waits for the device. */
loom_status bcsr_steady_new(bcsr_steady *s, bcsr *A, const bcsr_kind *kind, int64_t part);
void bcsr_steady_free(bcsr_steady *s);
/* Elements of part p. */
int64_t bcsr_steady_count(const bcsr_steady *s, int64_t p);
/* A += K real [elements of part p][3 arity][3 arity], N/m; the pattern is made. */
loom_status bcsr_steady_add(bcsr *A, const bcsr_steady *s, loom_buf *K, int64_t p);

#endif
