/* candidates.h - the pairs near each other at a point x, with exact distances: what every contact
 * model on cloth and bodies needs before it has a force.
 *
 * Detection only names candidates; distances and closest features are evaluated at the x that is
 * asked for (candidates.kern.h).  Candidates are found up to a gap of reach + slack, and anew as
 * soon as a vertex is further than slack/2 from where it was: no pair within `reach` is ever
 * missed, and sums over the active ones are to the bit functions of x alone, whenever detection
 * ran.
 *
 *   create()      cand_new()             plan()    cand_plan()
 *   begin_step()  cand_begin_step()      update()  cand_update(), after detection
 *                                        eval()    cand_activate(), then kernels over act.list
 */
#ifndef KIT_CANDIDATES_H
#define KIT_CANDIDATES_H

#include "kit/candidates.kern.h"
#include "kit/gather.h"
#include "loom/plug.h"
#include "loom/plugin.h"

enum {
  CAND_KINDS = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_VO) |
               LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE)
};

enum { CAND_SUMS = 8 };

/* A model that counts only some of the pairs within reach: clears some of act.flag. */
typedef struct cand_choice {
  loom_status (*choose)(void *self, const loom_step *s, loom_buf *x, double progress);
  void *self;
} cand_choice;

/* Those within reach of the point looked at last. */
typedef struct cand_active {
  int64_t num;
  double least_room;    /* m^2, smallest D - xi^2; infinite without candidates */
  loom_buf *room;       /* real [m], m^2 */
  loom_buf *flag;       /* i64 [m], 0 or 1 */
  loom_buf *place;      /* i64 [m+1], exclusive sums of it */
  loom_buf *list;       /* i32 [num], candidates */
  loom_buf *count, *at; /* i64 [num], [num+1]: see cand_count() */
} cand_active;

/* Those of a vertex and a body, as host->body_gap answered at the point looked at last. */
typedef struct cand_touching {
  int64_t num;
  loom_buf *flag;          /* i64 [m], 1: it is one of them */
  loom_buf *row;           /* i64 [m+1], exclusive sums of it */
  loom_buf *body, *vert;   /* i32 [num] */
  loom_buf *gap;           /* real [num], m */
  loom_buf *slope, *curve; /* real [num][3], 1; real [num][3][3], 1/m */
} cand_touching;

typedef struct candidates {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  double reach, slack; /* m */
  uint32_t kinds;      /* LOOM_BIT(LOOM_PAIR_*) this instance is asked for */
  int moving;          /* 1: some body moves in this step */
  int rough;           /* 1: some body has friction */
  loom_buf *result;    /* real [CAND_SUMS], for reductions */
  plug_later later;    /* ... whose values come when the core waits */

  int64_t m;          /* every pair with a gap below reach + slack at `anchor` */
  int valid;          /* 0: there are none yet, or bodies have moved since */
  int planned;        /* 1: found for plan(), and the core's list, too */
  int asked;          /* 1: plan() asked for detection */
  double progress;    /* at which they were found */
  loom_buf *anchor;   /* real [n][3], m */
  loom_buf *kind, *v; /* i32 [m], [m][4] */
  loom_buf *obst;     /* i32 [m] */
  loom_buf *xi, *par; /* real [m], m and m^4 */
  int keeps_keys;     /* 1: a model that asks which triangle it is; before the first detection */
  loom_buf *key;      /* u64 [m], keys of the pairs; else empty */
  gather corner;
  cand_touching touch;
  cand_active act;
} candidates;

/* ---- life ---- */
/* slack 0: usual_slack, m, a quarter of the mean edge where that is less.  Warns where reach and
 * thickness do not fit the mesh. */
loom_status cand_new(candidates *c, const loom_host *h, const loom_scene *sc, const loom_exec *e,
                     double reach, double slack, double usual_slack);
void cand_reset(candidates *c);
/* Bodies stand elsewhere, and candidates are found anew. */
loom_status cand_begin_step(candidates *c);
/* Poses of the bodies for this step. */
loom_status cand_bodies(candidates *c);
/* plan() at s->x: asks for detection unless the candidates at hand will do. */
loom_status cand_plan(candidates *c, const loom_step *s, loom_query *q);
/* update() after detection: takes the pairs that were asked for. */
loom_status cand_update(candidates *c, const loom_step *s, const loom_pairs *pairs);

/* ---- candidates ---- */
/* From detection at x. */
loom_status cand_take_pairs(candidates *c, const loom_step *s, loom_buf *x, double progress,
                            const loom_pairs *pairs);
/* From detection at x unless those at hand will do. */
loom_status cand_cover(candidates *c, const loom_step *s, loom_buf *x, double progress);
/* They were found with the bodies where they are at `progress`. */
int cand_is_known(const candidates *c, double progress);
/* ... and hold every pair within reach as long as no vertex has gone farther than `way`, m. */
int cand_is_near(const candidates *c, double way);
/* D - xi^2 of the candidates at x, and its least. */
loom_status cand_measure_room(candidates *c, const loom_step *s, loom_buf *x, double progress);
/* Active ones at x; finds candidates for x first, unless those at hand will do.  LOOM_REJECTED
 * where some pair has no room left: act.num is 0 then. */
loom_status cand_activate(candidates *c, const loom_step *s, loom_buf *x, double progress);
/* The same where overlaps are fine; of those that `choice` leaves (NULL: all). */
loom_status cand_activate_all(candidates *c, const loom_step *s, loom_buf *x, double progress,
                              const cand_choice *choice);
/* Sum of what every active one has, its corners or with `square` their square, and the exclusive
 * sums in act.at. */
loom_status cand_count(candidates *c, int square, int64_t *total);
/* Smallest gap at the point activated last, m; NaN without candidates.  Later: when the core has
 * read it (plug_reduce_later()). */
loom_status cand_least_gap_now(candidates *c, double *gap);
loom_status cand_least_gap_later(candidates *c, double *gap);
/* Largest way of a vertex from a to b, m. */
loom_status cand_way(candidates *c, loom_buf *a, loom_buf *b, double *way);
/* An error that names the worst pair of the point measured last; loom_status of LOOM_FAIL.
 * `remedy` is for pairs that really overlap; where rounding takes the rest of a gap another is
 * named. */
loom_status cand_overlap_error(candidates *c, const loom_step *s, const char *what,
                               const char *remedy);

/* ---- kernels ---- */
/* Asks where x stands to the bodies; cand_measure_room() and cand_activate() do. */
loom_status cand_ask(candidates *c, loom_buf *x, double progress);
/* Maps what kernels read at x, for which cand_ask() or who calls it came last. */
cand_state cand_open(candidates *c, plug_maps *m, const loom_step *s, loom_buf *x, double progress);

#endif
