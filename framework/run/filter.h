/* filter.h - LINE and FILTER: from the solver's trial to the accepted point. */
#ifndef LOOM_FILTER_H
#define LOOM_FILTER_H

#include "core/err.h"
#include "loom/plugin.h"
#include "run/run.h"

typedef struct filter_state {
  /* what is in force, see filter_choose */
  int when;  /* LOOM_FILTER_* */
  int bound; /* FILTER_BOUND_NONE, _GLOBAL or _VERTEX */
  int line_search;
  int beyond;         /* x goes on where a bound would stop it, only x_feas is held back */
  int has_resolve;    /* some contact model corrects positions that passed FILTER */
  int resolve_at_end; /* ... and only before COMMIT: post-only models */
  int has_repair;     /* some contact model corrects positions that FILTER would cut */
  int moves;          /* bodies or pins move and a bound is in force: st.progress counts */
  /* of the present step */
  int asked;       /* FILTER is due after the next iteration, [filter] when = advice */
  int certified;   /* with `beyond`: x is x_feas */
  int cut;         /* the last filter's bound cut x; what it took is in `rejected` */
  int32_t blocker; /* the obstacle that last cut the motion short, -1: none of them */
  int64_t repairs; /* filters after the last iteration, but the last one */
  double step_toi; /* smallest bound of the step */
} filter_state;

typedef struct filter_result {
  double alpha, toi;
  int filtered, resolved, stalled;
} filter_result;

/* Which filter, bound and line search: the config's word, else what the plugins were made for. */
void filter_choose(run *r);
/* st.trial (point or direction) -> st.x, with line search, bound and resolve as due */
loom_status filter_trial(run *r, const loom_iterate *it, filter_result *out);
/* x_feas follows x; where it cannot, models that are defined beyond it correct x */
loom_status filter_repair(run *r, filter_result *out);
/* the last filter of a step: x becomes feasible */
loom_status filter_final(run *r, filter_result *out);
/* the initial guess, kept from crossing anything on its way from x_start */
loom_status filter_guess(run *r);
/* advance bodies and pins towards the end of their motion; *moved: x or they have moved */
loom_status filter_advance(run *r, int *moved);

#endif
