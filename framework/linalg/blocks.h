/* blocks.h - lists of 3x3 blocks (loom_blocks3) that grow, their product with a vector, and sums of
 * rows by vertex. */
#ifndef LOOM_BLOCKS_H
#define LOOM_BLOCKS_H

#include "mem/mem.h"

loom_status blocks_new(mem *m, loom_blocks3 *b); /* empty */
void blocks_free(mem *m, loom_blocks3 *b);
/* Makes room for `capacity` blocks of a loom_blocks3, and some more. */
loom_status blocks_reserve(mem *m, void *list, int64_t capacity);
/* Appends the blocks of b to `out`, which grows. */
loom_status blocks_add(mem *m, const loom_exec *e, loom_blocks3 *out, const loom_blocks3 *b);
/* out[row[j]] += val[j] (p - q)[col[j]] for p, q and out [n][3]; q NULL: zero */
loom_status blocks_product(mem *m, const loom_exec *e, const loom_blocks3 *b, loom_buf *p,
                           loom_buf *q, loom_buf *out);

/* A list with its rows sorted for products.  As long as the rows stay the same, only the first of
 * many products sorts. */
typedef struct blocks_ordered {
  const loom_blocks3 *b;
  loom_buf *key, *perm; /* u64, i32 [count]: rows in ascending order, and where they stand */
  loom_buf *val;        /* real [count][3]: products of the blocks */
} blocks_ordered;

loom_status blocks_order(mem *m, const loom_exec *e, const loom_blocks3 *b, int32_t n,
                         blocks_ordered *out); /* n: rows of the vectors */
void blocks_order_free(mem *m, blocks_ordered *o);
loom_status blocks_ordered_product(mem *m, const loom_exec *e, const blocks_ordered *o, loom_buf *p,
                                   loom_buf *q, loom_buf *out); /* as blocks_product() */
/* out[id[j]] += val[j] for val [count][3] and out [n][3], in the order of j; id < 0 is skipped */
loom_status sum_by_vertex(mem *m, const loom_exec *e, loom_buf *id, int64_t count, loom_buf *val,
                          loom_buf *out);

#endif
