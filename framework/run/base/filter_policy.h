/* filter_policy.h - the policies of FILTER (filter.h), and its state. */
#ifndef LOOM_FILTER_POLICY_H
#define LOOM_FILTER_POLICY_H

#include "run/run_state.h"

/* How x and x_feas go on: see filter.h. */
typedef struct filter_policy {
  const char *note;             /* for `loom check`, behind the bound */
  int splits;                   /* contact models are not asked before the end of the step */
  int leads;                    /* x goes on where a bound stops x_feas */
  loom_status (*guess)(run *r); /* st.trial -> st.x */
  /* contact has seen st.x and is frozen where the policy wants it; NULL: iterates begin there */
  loom_status (*begin)(run *r);
  /* st.x, which is x_before + dx -> the accepted point */
  loom_status (*accept)(run *r, filter_result *out);
  /* x_feas follows x, contact models correct x where it cannot; NULL: x is never ahead */
  loom_status (*repair)(run *r, filter_result *out);
  loom_status (*finish)(run *r, filter_result *out);
} filter_policy;

extern const filter_policy filter_free, filter_cut, filter_lead, filter_split;

/* Contact models with a resolve() that is called at one moment of a step. */
typedef struct resolvers {
  contact_inst *model[RUN_MAX_INSTANCES];
  int num;
} resolvers;

struct filter {
  const filter_policy *policy;
  int when;  /* LOOM_FILTER_* */
  int bound; /* FILTER_BOUND_NONE, _GLOBAL or _VERTEX */
  int line_search;
  resolvers in_place;        /* models with forces: in place of the cut of a split step */
  resolvers before_last_cut; /* UNFILTERED models: before the last cut of a step */
  resolvers at_end;          /* post-only models: after the last cut, and where there is none */
  /* of the present step */
  int asked;             /* see filter_ask */
  int certified;         /* see filter_certified */
  double left;           /* see filter_left */
  contact_inst *refused; /* a post-only model that could not correct x; NULL: none */
  double step_toi;       /* see filter_step_toi */
};

#endif
