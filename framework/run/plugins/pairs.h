/* pairs.h - lists of contact pairs: their arrays, their order, their duplicates. */
#ifndef LOOM_RUN_PAIRS_H
#define LOOM_RUN_PAIRS_H

#include "loom/host.h"
#include "mem/mem.h"

/* Bytes of one pair in all arrays. */
enum { PAIR_BYTES = 6 * sizeof(int32_t) + 12 * sizeof(loom_real) + sizeof(uint64_t) };

loom_status pairs_new(mem *m, loom_pairs *p);
/* Room for so many, and some more, of a loom_pairs: see call_again() */
loom_status pairs_reserve(mem *m, void *list, int64_t capacity);
void pairs_free(mem *m, loom_pairs *p);

/* Objects that leave no pairs of their own in a list, as these cannot approach each other. */
typedef struct pairs_rigid {
  loom_buf *object; /* i32 [num_verts] */
  loom_buf *rigid;  /* u8 [num_objects], 1: leave them out; NULL: no object does */
} pairs_rigid;
/* Starts counting the neighbours that are not in order of (kind, key), or equal; the number will be
 * in e->result[slot].  A list of one pair has none: no kernel is started. */
loom_status pairs_disorder_begin(mem *m, const loom_exec *e, const loom_pairs *p, int slot);
/* Starts counting the pairs within rigid objects, r->rigid not NULL; as above. */
loom_status pairs_within_begin(mem *m, const loom_exec *e, const loom_pairs *p,
                               const pairs_rigid *r, int slot);
/* Sorts by (kind, key), drops duplicates and pairs within rigid objects. */
loom_status pairs_sort(mem *m, const loom_exec *e, loom_pairs *p, const pairs_rigid *r);
/* For a list in order: drops pairs within rigid objects. */
loom_status pairs_drop_rigid(mem *m, const loom_exec *e, loom_pairs *p, const pairs_rigid *r);

#endif
