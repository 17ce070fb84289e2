/* gather.h - sums over the vertices of pairs, in a fixed order and without atomics.
 *
 * Every pair j writes the force on each of its corners to force[at[j]], force[at[j] + 1], ...;
 * gather_add() adds these forces to the vertices, at each vertex in the order of the pairs:
 *
 *   gather_sort(&g, v, fixed, n, m);          after each detection
 *   ... a kernel writes force[at[j] ...] ...
 *   gather_add(&g, NULL, NULL, grad);
 */
#ifndef KIT_GATHER_H
#define KIT_GATHER_H

#include "kit/gather.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct gather {
  const loom_host *host;
  const loom_exec *e;
  int32_t n;       /* vertices */
  int64_t count;   /* corners */
  loom_buf *num;   /* i64 [m], corners of each pair */
  loom_buf *at;    /* i64 [m+1], their exclusive sums */
  loom_buf *first; /* i64 [n+1], first corner of each vertex, in the order of the vertices */
  loom_buf *place; /* i32 [count], in that order: place in `force` */
  loom_buf *owner; /* i32 [count], in that order: pair */
  loom_buf *force; /* real [count][3], by place; with `compact` real [.][3] of the caller's size */
  int compact;     /* 1: the caller sizes `force`, for the pairs that have a force alone */
} gather;

loom_status gather_create(gather *g, const loom_host *host, const loom_exec *e);
/* Corners of m pairs v, i32 [m][4]: vertices 0 to n - 1 that are not `fixed`, u8 [n]; NULL: all of
 * them.  The contents of `force` are lost.  Waits for the device. */
loom_status gather_sort(gather *g, loom_buf *v, loom_buf *fixed, int32_t n, int64_t m);
/* out, real [n][3], += `force` of the pairs that count.  active: i64 [m+1], exclusive sums of 1 for
 * pairs that count and 0 for others; live: u8 [m], 0 for pairs without a force.  NULL: all count.
 * `force` of other pairs is not read and need not be written. */
loom_status gather_add(gather *g, loom_buf *active, loom_buf *live, loom_buf *out);
/* The same where live pairs alone have places in `force`: at, i64 [m+1], exclusive sums of the
 * corners of live pairs. */
loom_status gather_add_live(gather *g, loom_buf *live, loom_buf *at, loom_buf *out);

#endif
