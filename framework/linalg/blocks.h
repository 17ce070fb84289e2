/* blocks.h - lists of 3x3 blocks (loom_blocks3) that grow, their product with a vector, and sums of
 * rows by vertex. */
#ifndef LOOM_BLOCKS_H
#define LOOM_BLOCKS_H

#include "mem/mem.h"

loom_status blocks_new(mem *m, loom_blocks3 *b); /* empty */
void blocks_free(mem *m, loom_blocks3 *b);
/* room for so many blocks of a loom_blocks3, and some more */
loom_status blocks_reserve(mem *m, void *list, int64_t capacity);
/* Behind those of `out`, which grows. */
loom_status blocks_add(mem *m, const loom_exec *e, loom_blocks3 *out, const loom_blocks3 *b);
/* out[row[j]] += val[j] (p - q)[col[j]] for p, q and out [n][3]; q NULL: zero */
loom_status blocks_product(mem *m, const loom_exec *e, const loom_blocks3 *b, loom_buf *p,
                           loom_buf *q, loom_buf *out);
/* out[id[j]] += val[j] for val [count][3] and out [n][3], in the order of j; id < 0 is skipped */
loom_status sum_by_vertex(mem *m, const loom_exec *e, loom_buf *id, int64_t count, loom_buf *val,
                          loom_buf *out);

#endif
