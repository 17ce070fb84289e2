/* following.h - followers (loom/followers.h) in a step: their places are means of their nodes', and
 * forces, blocks and bounds of contact on them go to the nodes.  Scenes without followers: all
 * functions do nothing, without a launch. */
#ifndef LOOM_FOLLOWING_H
#define LOOM_FOLLOWING_H

#include "core/err.h"
#include "loom/scene.h"
#include "run/run.h"

typedef struct following { /* unused in scenes without followers */
  loom_buf *part;          /* real [chunks][3], sums of chunks */
  loom_quad wide;          /* k, p and dir are those of the list that is folded */
  loom_blocks3 spare;      /* exchanged with the folded list */
  const loom_buf *done;    /* the iterate with followers in their places, as long as its number */
  int64_t writes;          /* of write maps is this one */
} following;

loom_status following_new(run *r);
void following_free(run *r);
/* Rows of followers of x, real [n][3]: positions, velocities or directions. */
loom_status follow_rows(run *r, loom_buf *x);
/* g: rows of followers = 0, before contact adds to them ... */
loom_status follow_clear(run *r, loom_buf *g);
/* ... and afterwards: rows of nodes += W' rows of followers, which become 0 */
loom_status follow_fold(run *r, loom_buf *g);
/* H becomes W' H W, a list without followers. */
loom_status follow_fold_blocks(run *r, loom_blocks3 *H);
/* *out: the terms of q on nodes, FOLLOW_WIDTH wide; q itself without followers. */
enum { FOLLOW_WIDTH = 8 /* a pair has two objects, with 4 nodes or 3 vertices at most */ };
loom_status follow_fold_quad(run *r, const loom_quad *q, const loom_quad **out);
/* t, real [n], shares of a way: nodes go as far as the least share of their followers. */
loom_status follow_share(run *r, loom_buf *t);

#endif
