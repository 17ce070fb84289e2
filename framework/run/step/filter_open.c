/* filter_open.c - which policy, bound, line search and resolvers are in force. */
#include <stdlib.h>

#include "run/base/filter_policy.h"

/* Forms of a model's force; one without any is post-only. */
static const uint32_t force_forms =
    LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD;

static void choose_resolvers(run *r, filter *f)
{
  for (int i = 0; i < r->num_contact; ++i) {
    const uint32_t provides = r->contact[i].provides;
    resolvers *const at = provides & LOOM_CONT_UNFILTERED ? &f->before_last_cut
                          : provides & force_forms        ? &f->in_place
                                                          : &f->at_end;
    if (provides & LOOM_CONT_RESOLVE) at->model[at->num++] = &r->contact[i];
  }
}

static int needs_bound(const run *r)
{
  uint32_t needs = 0;
  for (int i = 0; i < r->num_contact; ++i) needs |= r->contact[i].in.plugin->ops.contact->needs;
  return (needs & (LOOM_COLL_STEP_GLOBAL | LOOM_COLL_STEP_VERTEX)) != 0;
}

/* Some model is defined at points that intersect, and none with forces is not. */
static int all_defined_beyond(const run *r)
{
  int beyond = 0, within = 0;
  for (int i = 0; i < r->num_contact; ++i) {
    const uint32_t provides = r->contact[i].provides;
    beyond |= (provides & LOOM_CONT_UNFILTERED) != 0;
    within |= (provides & force_forms) && !(provides & LOOM_CONT_UNFILTERED);
  }
  return beyond && !within;
}

/* Contact is frozen as long as the solver iterates, and some model can do the rest alone. */
static int is_split_needed(const run *r, const filter *f)
{
  return (r->solver.plugin->ops.solver->needs & LOOM_WANT_CONTACT_FROZEN) != 0 &&
         f->bound == FILTER_BOUND_GLOBAL && f->when == LOOM_FILTER_END && f->in_place.num > 0;
}

static loom_status choose_policy(const run *r, filter *f, int beyond)
{
  const int go_on = r->set.filter.go_on;
  const int lead = f->bound == FILTER_BOUND_GLOBAL && f->when == LOOM_FILTER_ADVICE &&
                   (go_on == FILTER_GO_TRIAL || (go_on == FILTER_GO_AUTO && beyond));
  f->policy = f->bound == FILTER_BOUND_NONE ? &filter_free
              : lead                        ? &filter_lead
              : is_split_needed(r, f)       ? &filter_split
                                            : &filter_cut;
  if (f->policy != &filter_split || f->in_place.num == 1) return LOOM_OK;
  return err_set(
      r->err, LOOM_E_CONFIG,
      "[contact.%s] and [contact.%s] both correct positions at the end of a step that "
      "solver '%s' splits: each would undo the correction of the other; leave one of them out",
      f->in_place.model[0]->in.name, f->in_place.model[1]->in.name, r->solver.plugin->name);
}

loom_status filter_open(run *r)
{
  const loom_solver_ops *const s = r->solver.plugin->ops.solver;
  const filter_settings *const set = &r->set.filter;
  const int beyond = all_defined_beyond(r);
  filter *const f = r->filter = calloc(1, sizeof *f);
  if (f == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  f->when = set->when != FILTER_WHEN_AUTO                   ? set->when - 1
            : beyond && s->filter_when == LOOM_FILTER_EVERY ? LOOM_FILTER_ADVICE
                                                            : s->filter_when;
  f->bound = set->bound != FILTER_BOUND_AUTO ? set->bound
             : needs_bound(r)                ? FILTER_BOUND_GLOBAL
                                             : FILTER_BOUND_NONE;
  f->line_search = set->line_search == LINE_AUTO ? (s->needs & LOOM_NEEDS_LINE_SEARCH) != 0
                                                 : set->line_search == LINE_ON;
  f->certified = 1;
  f->left = f->step_toi = 1.0;
  choose_resolvers(r, f);
  return choose_policy(r, f, beyond);
}
