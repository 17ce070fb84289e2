/* element_share.h - the share of an edge or a triangle and the exact shape of a body (pairs EO) in
 * a law.
 *
 * A point of an edge that is deeper in a body than both ends needs a force of its own: a rod
 * between two vertices.  An edge along a rod is about as deep as its ends, which have the force
 * already, and its deepest point jumps from one end to the other as it tilts.  So the law of an
 * element has the factor
 *
 *   share = 0.01 + 0.99 prod_k s((f(rim_k) - f) / (1e-4 L)),   s(t) = 3 t^2 - 2 t^3 in [0, 1]
 *
 * f is the least signed distance of the element, f(rim_k) those of its ends, of a triangle those of
 * its edges, L its longest edge.  All are taken at the start of the step, with bodies at their
 * start poses: within a step the share is constant and the energy of the law smooth, as with lagged
 * friction.  It does not depend on the time of detection.
 *
 * The depth 1e-4 L has to be far below the gaps that a barrier keeps: an element with a small share
 * is held where its gap is far below that of its rim.  The thin bar of 5 mm under edges of 2.5 cm,
 * 70 steps with ipc_barrier: with 0.05 L and 0.001 most steps end at their limit of 100 iterations,
 * at gaps of 1e-8 m beside a vertex 0.03 mm above the bar; with 0.01 L and 0.1 a minimum on the
 * crease of parallel elements stalls a step; with these numbers it takes 703 iterations, at most 25
 * in a step.
 *
 * An element over one flat face of a body, by more than the reach of the law, has the share 0: a
 * corner is its deepest point wherever it may go in a step, and detection need not list it. */
#ifndef KIT_ELEMENT_SHARE_H
#define KIT_ELEMENT_SHARE_H

#include "kit/element_share.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct element_share {
  const loom_host *host;
  const loom_exec *e;
  int64_t num;            /* elements among the pairs of the last element_share_find() */
  loom_buf *share;        /* real [m], 1, where num > 0; else stale */
  loom_buf *flag, *row;   /* i64 [m], [m+1] */
  loom_buf *body, *point; /* i32 [num][4], [num][4][3] */
  loom_buf *gap, *flat;   /* real [num][4], m */
} element_share;

loom_status element_share_new(element_share *k, const loom_host *host, const loom_exec *e);
/* Shares of the m pairs `kind`, `v`, `obst` (loom_pairs) of the step s; kinds:
 * LOOM_BIT(LOOM_PAIR_*) among them;
 * reach, m: gap at which forces begin.  Waits for the device where elements are among them. */
loom_status element_share_find(element_share *k, const loom_step *s, loom_buf *kind, loom_buf *v,
                               loom_buf *obst, int64_t m, uint32_t kinds, double reach);
/* `share`, or NULL where no pair is an element: all shares are 1. */
loom_buf *element_share_of(const element_share *k);

#endif
