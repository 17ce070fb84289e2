/* penalty.h - state of one instance, shared by penalty.c and state.c. */
#ifndef PENALTY_H
#define PENALTY_H

#include "kit/ahead.h"
#include "kit/element_share.h"
#include "kit/gather.h"
#include "loom/plug.h"
#include "loom/plugin.h"
#include "penalty.kern.h"

enum { LAG_STEP = 0, LAG_ITERATION = 1 };

typedef struct settings {
  double stiffness;
  double offset;
  double margin;
  double self_friction;
  double epsilon_v;
  double stick;
  int32_t friction_lag; /* LAG_* */
} settings;

typedef struct penalty {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  int friction; /* 1: some coefficient of friction is positive */

  int64_t m;                       /* pairs */
  loom_buf *v, *w, *normal, *kind; /* the core's arrays of the pairs, until the next update() */
  int64_t num_keys;                /* pairs of the latest detection, also across steps */
  loom_buf *key;                   /* u64 [num_keys], to see whether the set of pairs changed */
  loom_buf *c;                     /* real [m], m */
  loom_buf *k;                     /* real [m], N/m */
  loom_buf *mu;                    /* real [m] */
  loom_buf *move;                  /* real [m][3], m */
  loom_buf *lambda;                /* real [m], N */
  loom_buf *across;                /* real [m][3], normals where lambda is taken */
  loom_buf *push, *size;           /* real [n][3] N, see fric_temper */
  ahead_data ahead;                /* where secants of friction are */

  gather corner;
  element_share shares;            /* of the pairs */
  int64_t blocks;                  /* sum of the squares of corners */
  loom_buf *num_blocks, *at_block; /* i64 [m], [m+1]: of each pair, and exclusive sums */
  loom_buf *result;                /* real [4] */
} penalty;

/* Buffers of pairs, for m = 0. */
loom_status penalty_state_new(penalty *p);
/* Take over new pairs, found at s->x; *changed: LOOM_CHANGED_*. */
loom_status penalty_take_pairs(penalty *p, const loom_step *s, const loom_pairs *pairs,
                               uint32_t *changed);
/* Normal forces for friction, from s->x or from the start of the step. */
loom_status penalty_take_forces(penalty *p, const loom_step *s, int at_start);

/* Adds the forces of corners at the start of the step; which: PENALTY_*. */
loom_status penalty_sum_forces(penalty *p, const loom_step *s, int which, loom_buf *out);
/* Normal forces of cloth on cloth at the end of the step, where they serve all of it. */
loom_status penalty_temper_forces(penalty *p, const loom_step *s);

/* Maps the inputs of an evaluation at x; lambda: p->lambda, or NULL where it is written; expands: 1
 * in an expansion, with p->ahead. */
penalty_state penalty_open(penalty *p, plug_maps *m, const loom_step *s, loom_buf *x,
                           loom_buf *lambda, int expands);

#endif
