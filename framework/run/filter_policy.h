/* filter_policy.h - state, policies and bounds, shared by the files of FILTER. */
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
  int cut;               /* see filter_has_cut */
  contact_inst *refused; /* a post-only model that could not correct x; NULL: none */
  double step_toi;       /* see filter_step_toi */
};

/* ---- filter_bound.c ---- */
/* out = a + t (b - a), with t_vertex (real [n]) instead where it is given; fixed rows take t */
loom_status filter_blend(run *r, loom_buf *a, loom_buf *b, double t, loom_buf *t_vertex,
                         loom_buf *out);
/* The share of the way from x0 to x1 that is safe; `to`: share of the prescribed motion at x1.  A
 * motion is never cut vertex by vertex: t_vertex is filled only if `to` is st.progress. */
loom_status filter_ask_bound(run *r, loom_buf *x0, loom_buf *x1, double to, double *toi);
/* The same at st.progress for each island: its share is in r->islands.share, the least is *toi. */
loom_status filter_ask_islands(run *r, loom_buf *x0, loom_buf *x1, double *toi);
/* out = a + t (b - a) with the bound that filter_ask_islands() found */
loom_status filter_blend_islands(run *r, loom_buf *a, loom_buf *b, double toi, loom_buf *out);
/* x may have run ahead of x_feas: cuts the way from x_feas to x at the bound. */
loom_status filter_apply_bound(run *r, double *toi);
/* x stays; x_feas follows as far as the bound allows; certified if it has arrived */
loom_status filter_lead_feasible(run *r, double *toi);

#endif
