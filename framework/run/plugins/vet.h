/* vet.h - checks the output of plugins before the core uses it.
 *
 * Counts, ids and kinds are checked always, on every backend: a wrong one would be an address.
 * The check is one pass over the ids of the plugin's new items.  Numbers are checked where NaN
 * would be committed, or would reach a plugin that did not make it. */
#ifndef LOOM_RUN_VET_H
#define LOOM_RUN_VET_H

#include "run/run_state.h"

/* After LOOM_OK: `before` items were there, `count` are, `capacity` fit. */
loom_status vet_count(const instance *in, const char *callback, const char *what, int64_t before,
                      int64_t count, int64_t capacity);
/* After LOOM_GROW: room for `needed` items of so many bytes can be meant. */
loom_status vet_growth(const instance *in, const char *callback, const char *what, int64_t needed,
                       int64_t capacity, size_t bytes);
/* A query of `in`, made in plan() or handed to host->detect; the message has no place yet. */
loom_status vet_query(const instance *in, const loom_query *q);
/* Starts counting the bad ones among all pairs; the number will be in result `slot`. */
loom_status vet_pairs_begin(run *r, const loom_pairs *p, uint32_t kinds, int slot);
/* The message on the first bad pair in [first, end), LOOM_OK if all are fine. */
loom_status vet_pairs_tell(const instance *in, const loom_pairs *p, uint32_t kinds, int64_t first,
                           int64_t end);
/* ids [first, end) of `b`, i32, lie in [least, number of vertices) */
loom_status vet_vertex_ids(const instance *in, const char *callback, const char *what, loom_buf *b,
                           int64_t first, int64_t end, int32_t least);
/* All numbers of b, real [n], lie in [0, 1]. */
loom_status vet_shares(const instance *in, const char *callback, const char *what, loom_buf *b);
/* All numbers of b, real [n][3], are finite. */
loom_status vet_finite(const instance *in, const char *callback, const char *what, loom_buf *b);
/* The solver's trial, or the change of x that became of it, in b. */
loom_status vet_trial(const run *r, loom_buf *b);
/* The first vertex with a row of b that is not finite, or has no finite square; -1 if none (on the
 * host). */
int64_t vet_find_nan(const run *r, loom_buf *b);

#endif
