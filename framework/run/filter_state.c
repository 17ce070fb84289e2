/* filter_state.c - what the rest of a run may ask of FILTER. */
#include <stdlib.h>

#include "run/filter_policy.h"

void filter_close(run *r) { free(r->filter); }

void filter_describe(const run *r, FILE *f)
{
  static const char *const when[] = {"every iteration", "on advice", "end of the step"};
  static const char *const bound[] = {"auto", "none", "global", "per vertex"};
  fprintf(f, "filter %s, bound %s%s, line search %s", when[r->filter->when],
          bound[r->filter->bound], r->filter->policy->note, r->filter->line_search ? "on" : "off");
}

int filter_bounded(const run *r) { return r->filter->bound != FILTER_BOUND_NONE; }

int filter_per_vertex(const run *r) { return r->filter->bound == FILTER_BOUND_VERTEX; }

int filter_searches(const run *r) { return r->filter->line_search; }

int filter_certified(const run *r) { return r->filter->certified; }

int filter_leaves_contact(const run *r)
{
  return r->filter->policy->splits && r->st.problem->contact == LOOM_CONTACT_FROZEN;
}

int filter_has_cut(const run *r) { return r->filter->cut; }

double filter_step_toi(const run *r) { return r->filter->step_toi; }

void filter_ask(run *r) { r->filter->asked = 1; }

void filter_begin_step(run *r) { r->filter->step_toi = 1.0; }
