/* filter_state.c - see filter_state.h. */
#include "run/base/filter_state.h"

#include <stdlib.h>

#include "run/base/filter_policy.h"

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

int filter_leads(const run *r) { return r->filter->policy->leads; }

int filter_searches(const run *r) { return r->filter->line_search; }

int filter_certified(const run *r) { return r->filter->certified; }

int filter_leaves_contact(const run *r)
{
  return r->filter->policy->splits && r->st.problem->contact == LOOM_CONTACT_FROZEN;
}

int filter_has_cut(const run *r) { return r->filter->left < 1.0; }

double filter_left(const run *r) { return r->filter->left; }

double filter_step_toi(const run *r) { return r->filter->step_toi; }

void filter_ask(run *r) { r->filter->asked = 1; }

void filter_begin_step(run *r) { r->filter->step_toi = 1.0; }

int filter_may_retry(const run *r) { return r->motion.bounded || r->filter->at_end.num > 0; }
int filter_refused(const run *r) { return r->filter->refused != NULL; }

loom_status filter_refusal_error(const run *r)
{
  return err_set(
      r->err, LOOM_E_NUMERIC,
      "step %lld: [%s] could not make its end free of impacts, also in %lld parts; "
      "look at the warnings of this step and for bodies that squeeze the cloth; lower dt, "
      "or raise [filter] max_halvings",
      (long long)r->st.index, r->filter->refused->in.name,
      (long long)(INT64_C(1) << r->set.filter.max_halvings));
}
