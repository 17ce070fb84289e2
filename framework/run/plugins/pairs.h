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

/* Starts counting the neighbours that are not in order of (kind, key), or equal; the number will be
 * in e->result[slot].  A list of one pair has none: no kernel is started. */
loom_status pairs_disorder_begin(mem *m, const loom_exec *e, const loom_pairs *p, int slot);
/* Sorts by (kind, key) and drops duplicates.  `spare`: zeroed, or used by an earlier call;
 * the two exchange their arrays. */
loom_status pairs_sort(mem *m, const loom_exec *e, loom_pairs *p, loom_pairs *spare);
/* Leaves pairs within an object out where rigid, u8 [num_objects], is 1: they cannot approach each
 * other.  spare: as above. */
loom_status pairs_drop_rigid(mem *m, const loom_exec *e, loom_pairs *p, const loom_scene *sc,
                             loom_buf *rigid, loom_pairs *spare);

#endif
