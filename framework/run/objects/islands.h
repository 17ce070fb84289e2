/* islands.h - islands: groups of objects (cloths, solids, yarns) that cannot touch in a step.
 *
 * Islands are problems of their own, which a step solves side by side.  A step bound, and a line
 * search, of the whole scene would let one island decide on the way of another: where a step has
 * two solutions (a strip that buckles to one side or the other), an object far away would choose.
 *
 * Objects are in one island if an element ties them (a stitch), or if their boxes come closer than
 * contact reaches.  The box of an object holds all points of the present step that were looked at:
 * its start, its guess, every iterate and every trial.  Islands therefore only merge within a step.
 * There are at most ISLANDS_MOST; the objects of all others belong to the last one. */
#ifndef LOOM_ISLANDS_H
#define LOOM_ISLANDS_H

#include "core/err.h"
#include "loom/host.h"
#include "run/run.h"

enum { ISLANDS_MOST = LOOM_ISLANDS_MOST };

typedef struct run_islands {
  int32_t num;      /* islands, at least 1 */
  int32_t *of;      /* [objects], island of each object, numbered by their first objects */
  int32_t *tied;    /* [objects], first of the objects that elements tie to this one */
  double (*box)[6]; /* [objects], m, largest x, y, z, -x, -y and -z in this step */
  double radius;    /* m, largest radius of a vertex */
  int64_t reach_pm; /* pm, largest gap that contact has asked for so far */
  double *share;    /* [objects], 1, share of its way that each object goes */
  double *only;     /* [objects], 1: see islands_only() */
  /* of the last trial, for each object: the step length, and the bound in it */
  double *alpha, *toi;
  int accepted;  /* 1: accepted() of the solver is running */
  int iterating; /* 1: iterate() of the solver is running, so x does not change */
  int grown;     /* 1: the boxes hold the x of this iterate() */
  int by_solver; /* 1: the solver asks for islands and solves each by itself */
  double alpha_of[ISLANDS_MOST], toi_of[ISLANDS_MOST]; /* the same of islands: islands_ways() */
  int32_t *settled; /* [objects], 1: an iteration of this step left its island within tolerance */
  int32_t settled_of[ISLANDS_MOST]; /* the same of islands: islands_settled() */
  int32_t
      *held; /* [objects], 1: within tolerance in the last test, so the island stays where it is */
  int missed[ISLANDS_MOST]; /* objects of each island beyond their tolerances: islands_test() */
  loom_buf *shares; /* real [objects], `share` for kernels; NULL: one object, no buffers at all */
  loom_buf *island; /* i32 [objects], `of` for kernels */
  loom_buf *beyond; /* real [ISLANDS_MOST], `missed` of kernels */
} run_islands;

/* Needs objects_new(). */
loom_status islands_new(run *r);
void islands_free(run *r);
void islands_begin_step(run *r);
/* Contact asks for pairs up to a gap of `margin`. */
void islands_reach(run *r, double margin);
int64_t islands_reach_pm(const run *r); /* the reach, in pm */
/* Boxes grow to x, and islands that come close merge. */
loom_status islands_grow(run *r, loom_buf *x);
/* All objects of island k get `share`; k < 0: of every island. */
void islands_share(run *r, int32_t k, double share);
/* A trial begins: shares, alpha and toi become 1. */
void islands_begin_trial(run *r);
/* alpha (1) or toi (0) of every object is multiplied by its share. */
void islands_take(run *r, int alpha);
void islands_ways(run *r); /* alpha_of, toi_of */
/* g: the gradient at x.  Counts the objects of each island beyond their tolerances; the counts
 * are there after results_settle(). */
loom_status islands_test(run *r, loom_buf *g);
/* Islands without an object beyond its tolerance are settled from now on: alone their step would
 * end here.  They are held as long as the tests say so. */
void islands_settle(run *r);
void islands_unsettle(run *r);
void islands_let_go(run *r);               /* no island is held */
int islands_hold(const run *r, int32_t k); /* 1: island k is held; only with by_solver */
/* Rows of held islands in d [n][3] become 0; `room`, real [n][3], is written over. */
loom_status islands_hold_back(run *r, loom_buf *d, loom_buf *room);
/* settled_of: an island is settled if all of its objects are. */
void islands_settled(run *r);
/* The share of island k. */
double islands_share_of(const run *r, int32_t k);
/* `share` for the objects of island k, 0 for all others; valid until the next call. */
const double *islands_only(run *r, int32_t k, double share);
/* out = a + s (b - a), s the share of the object: that of `share` [objects] */
loom_status islands_blend(run *r, loom_buf *a, loom_buf *b, const double *share, loom_buf *out);
/* out = a + s d */
loom_status islands_step(run *r, loom_buf *a, loom_buf *d, const double *share, loom_buf *out);
/* y = a x + b y, a [num] of islands */
loom_status islands_axpby(run *r, const double *a, loom_buf *x, double b, loom_buf *y);
/* out [num], of every island: sum of a.b, and, g a gradient, sum of |g|^2/m over free vertices. */
loom_status islands_dots(run *r, loom_buf *a, loom_buf *b, double *out);
loom_status islands_squares(run *r, loom_buf *g, double *out);

#endif
