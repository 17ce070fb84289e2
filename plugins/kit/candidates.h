/* candidates.h - the pairs near each other at a point x, with exact distances, for contact models
 * on cloth and bodies.
 *
 * Detection lists candidates: pairs with a gap below reach + slack.  Distances and closest features
 * are computed at each x anew (candidates.kern.h).  A candidate is active at x if its gap there is
 * below `reach`.  As soon as a vertex has moved by more than slack/2, detection runs again.  So no
 * active pair is ever missed, and the bits of sums over active pairs depend on x alone, not on the
 * time of detection.  Not so with leaves_rest: pairs that it leaves out come in with the next
 * detection that finds them nearer.
 *
 *   create()      cand_new()             plan()    cand_plan()
 *   begin_step()  cand_begin_step()      update()  cand_update(), after detection
 *                                        eval()    cand_activate(), then kernels over act.list
 */
#ifndef KIT_CANDIDATES_H
#define KIT_CANDIDATES_H

#include "kit/candidates.kern.h"
#include "kit/element_share.h"
#include "kit/gather.h"
#include "loom/plug.h"
#include "loom/plugin.h"

enum {
  CAND_KINDS = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_VO) |
               LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE) | LOOM_BIT(LOOM_PAIR_EO)
};

enum { CAND_SUMS = LOOM_ISLANDS_MOST };

/* For a model that uses only some of the active pairs: choose() clears act.flag of the others. */
typedef struct cand_choice {
  loom_status (*choose)(void *self, const loom_step *s, loom_buf *x, double progress);
  void *self;
} cand_choice;

/* Candidates that are active at the x of the last cand_activate(). */
typedef struct cand_active {
  int64_t num;
  double least_room;    /* m^2, smallest D - xi^2; infinite without candidates */
  loom_buf *room;       /* real [m], m^2, D - xi^2 of each candidate */
  loom_buf *flag;       /* i64 [m], 1: active, else 0 */
  loom_buf *place;      /* i64 [m+1], exclusive sums of `flag` */
  loom_buf *list;       /* i32 [num], indices of the active candidates */
  loom_buf *count, *at; /* i64 [num], [num+1]: see cand_count() */
} cand_active;

/* Candidates of a point of cloth and the exact shape of a body, with the answers of the core at the
 * x of the last cand_ask(): of host->body_gap for vertices (VO), which have the first rows, and of
 * host->body_near for elements (EO). */
typedef struct cand_touching {
  int64_t num, elements;   /* rows, and rows of elements among them */
  loom_buf *row;           /* i64 [m+1], exclusive sums of 1 for a point and a body */
  loom_buf *body, *vert;   /* i32 [num]; i32 [num][4], corners, -1: none */
  loom_buf *gap;           /* real [num], m */
  loom_buf *slope, *curve; /* real [num][3], 1; real [num][3][3], 1/m */
  loom_buf *weight;        /* real [num][4], 1, of the corners; of elements alone */
} cand_touching;

typedef struct candidates {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  double reach, slack;       /* m */
  uint32_t kinds;            /* LOOM_BIT(LOOM_PAIR_*) that this instance handles */
  int moving;                /* 1: some body moves in this step */
  int rough;                 /* 1: some body or named pair has friction */
  int leaves_rest;           /* 1: pairs of an object that are near at rest are no candidates while
                              * they are farther apart than half of the way from there to reach; a
                              * model sets it before cand_new() */
  int thins;                 /* 1: pairs that others cover are not active (candidates.kern.h) */
  const cand_choice *choice; /* of cand_activate(); NULL: all active pairs */
  loom_buf *result;          /* real [CAND_SUMS], for reductions */
  plug_later later;          /* sums that the core has not read yet */
  loom_buf *island;          /* i32 [num_objects], for cand_least_gaps(); else empty */

  int64_t m;          /* candidates: every pair with a gap below reach + slack at `anchor` */
  int64_t generation; /* grows whenever candidates are replaced: numbers kept per candidate are
                       * stale, also when cand_activate() detects during eval() */
  int valid;          /* 0: no candidates yet, or bodies have moved since */
  int planned;        /* 1: the last plan() and update() found the candidates */
  int picked;         /* 1: `pick` has the indices of candidates in the pairs of detection */
  loom_buf *pick;     /* i32 [m] */
  int asked;          /* 1: plan() asked for detection */
  double progress;    /* of the bodies' motion at detection */
  loom_buf *anchor;   /* real [n][3], m, positions at detection */
  loom_buf *kind, *v; /* i32 [m], [m][4] */
  loom_buf *obst;     /* i32 [m] */
  loom_buf *xi, *par; /* real [m]: sum of both radii, m; e of the mollifier, m^4 */
  int keeps_keys;     /* 1: keep `key`; a model sets it before the first detection */
  loom_buf *key;      /* u64 [m], keys of the pairs; else empty */
  gather corner;
  cand_touching touch;
  element_share shares; /* of the candidates, in laws */
  cand_active act;
} candidates;

/* ---- life ---- */
/* All lengths in m.  slack 0: the least of usual_slack, a quarter of the mean edge and, unless
 * leaves_rest is set, the length by which neighbours at rest are farther apart than reach and
 * thickness, where that is more than a fifth of reach.  Warns where reach plus thickness exceeds
 * the smallest height of a triangle at rest. */
loom_status cand_new(candidates *c, const loom_host *host, const loom_scene *sc, const loom_exec *e,
                     double reach, double slack, double usual_slack);
void cand_reset(candidates *c);
/* For begin_step(): drops the candidates, because bodies have new poses. */
loom_status cand_begin_step(candidates *c);
/* Sets `moving` and `rough` for this step; drops the candidates where a body moves. */
loom_status cand_bodies(candidates *c);
/* For plan(): asks for detection at s->x unless the present candidates cover it. */
loom_status cand_plan(candidates *c, const loom_step *s, loom_query *q);
/* For update() after detection: takes over the pairs that cand_plan() asked for. */
loom_status cand_update(candidates *c, const loom_step *s, const loom_pairs *pairs);

/* ---- candidates ---- */
/* Makes candidates of the pairs that detection found at x. */
loom_status cand_take_pairs(candidates *c, const loom_step *s, loom_buf *x, double progress,
                            const loom_pairs *pairs);
/* Runs detection at x unless the present candidates cover x. */
loom_status cand_cover(candidates *c, const loom_step *s, loom_buf *x, double progress);
/* 1: the bodies stood at detection where they stand at `progress`. */
int cand_is_known(const candidates *c, double progress);
/* 1: the candidates hold every active pair after vertices have moved by at most `way`, m. */
int cand_is_near(const candidates *c, double way);
/* Computes act.room, D - xi^2 of the candidates at x, and act.least_room. */
loom_status cand_measure_room(candidates *c, const loom_step *s, loom_buf *x, double progress);
/* Lists the active candidates at x in `act`, after detection where the present candidates do not
 * cover x.  LOOM_REJECTED, with act.num = 0, where some candidate overlaps (D <= xi^2), whether it
 * is chosen or not. */
loom_status cand_activate(candidates *c, const loom_step *s, loom_buf *x, double progress);
/* The same, but pairs may overlap.  choice: keeps only some of them; NULL: all. */
loom_status cand_activate_all(candidates *c, const loom_step *s, loom_buf *x, double progress,
                              const cand_choice *choice);
/* *total: sum over active pairs of their corners, or with `square` of the squares of these numbers;
 * the exclusive sums are in act.at. */
loom_status cand_count(candidates *c, int square, int64_t *total);
/* Smallest gap at the x of the last cand_activate(), m; NaN without candidates.  _later: *gap is
 * set when the core has read it (plug_reduce_later()). */
loom_status cand_least_gap_now(candidates *c, double *gap);
loom_status cand_least_gap_later(candidates *c, double *gap);
/* gap [num of islands], the smallest gap of each island's active pairs there, m; very large without
 * any. */
loom_status cand_least_gaps(candidates *c, const loom_islands *at, double *gap);
/* Largest way of a vertex from a to b, m. */
loom_status cand_way(candidates *c, loom_buf *a, loom_buf *b, double *way);
/* Fails with a message that names the worst pair at the x of the last cand_measure_room() or
 * cand_activate().  `remedy` ends the message; where only rounding makes the pair overlap the
 * message ends with another remedy. */
loom_status cand_overlap_error(candidates *c, const loom_step *s, const char *what,
                               const char *remedy);

/* ---- kernels ---- */
/* Asks the core about the touched bodies at x; cand_measure_room() and cand_activate() call
 * it. */
loom_status cand_ask(candidates *c, loom_buf *x, double progress);
/* Maps positions and candidates for kernels at x; the last cand_ask() must have been for this x. */
cand_state cand_open(candidates *c, plug_maps *m, const loom_step *s, loom_buf *x, double progress);

#endif
