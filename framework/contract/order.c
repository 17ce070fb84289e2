/* order.c - the check with calls in the wrong order. */
#include <math.h>

#include "contract/contract.h"

enum { COLUMNS = 1024 }; /* more than a descriptor may announce */

/* A callback may refuse (an error) or cope; it must not crash, and after success it must
 * not hold a buffer. */
static void check_call_survived(run *r, loom_status s, const char *call)
{
  (void)results_settle(r); /* results that the call left for later point into the caller */
  if (s >= LOOM_OK)
    CT_ASSERT(mem_mapped(r->m) == NULL, "%s left %s mapped", call, mem_mapped(r->m));
  mem_release_maps(r->m);
}

static void misuse_solver(run *r, instance *in)
{
  const loom_solver_ops *o = in->plugin->ops.solver;
  double extra[COLUMNS] = {0};
  loom_iterate it = {.struct_size = sizeof it, .extra = extra};
  const loom_accept a = {.struct_size = sizeof a,
                         .alpha = 1.0,
                         .toi = 1.0,
                         .dx = r->buf.dx,
                         .rejected = r->buf.rejected,
                         .grad_solved = r->st.grad};
  if (o->accepted != NULL) check_call_survived(r, o->accepted(in->self, &r->st, &a), "accepted");
  if (o->contact_changed != NULL)
    check_call_survived(r, o->contact_changed(in->self, &r->st, LOOM_CHANGED_PATTERN),
                        "contact_changed");
  if (o->end_step != NULL) check_call_survived(r, o->end_step(in->self, &r->st), "end_step");
  check_call_survived(r, o->iterate(in->self, &r->st, &it), "iterate");
  if (o->begin_step != NULL) check_call_survived(r, o->begin_step(in->self, &r->st), "begin_step");
  if (o->begin_step != NULL) check_call_survived(r, o->begin_step(in->self, &r->st), "begin_step");
}

static void misuse_collision(run *r, instance *in)
{
  const loom_collision_ops *o = in->plugin->ops.collision;
  loom_pairs *const out = &r->contact[0].pairs;
  const loom_query q = ct_query(r, LOOM_DETECT_PROXIMITY);
  loom_bound b = {.struct_size = sizeof b};
  if (o->end_step != NULL) check_call_survived(r, o->end_step(in->self, &r->st), "end_step");
  if (r->num_contact > 0 && o->detect != NULL) {
    out->count = 0;
    check_call_survived(r, o->detect(in->self, &r->st, &q, out), "detect");
    out->count = 0;
  }
  if (o->max_step != NULL)
    check_call_survived(r, o->max_step(in->self, &r->st, r->st.x, r->st.x, &b), "max_step");
  if (o->begin_step != NULL) check_call_survived(r, o->begin_step(in->self, &r->st), "begin_step");
}

static void misuse_contact(run *r, instance *in)
{
  const loom_contact_ops *o = in->plugin->ops.contact;
  double extra[COLUMNS]; /* as plugin.h promises: [num_columns], preset to NaN */
  for (int k = 0; k < COLUMNS; ++k) extra[k] = NAN;
  loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN, .extra = extra};
  loom_query q = {.struct_size = sizeof q, .kinds = o->pair_kinds, .x0 = r->st.x, .x1 = r->st.x};
  uint32_t changed = 0;
  double energy = 0.0, dissipation = 0.0;
  if (o->metrics != NULL) check_call_survived(r, o->metrics(in->self, &r->st, &m), "metrics");
  if (o->end_step != NULL) check_call_survived(r, o->end_step(in->self, &r->st), "end_step");
  if (o->velocity != NULL) check_call_survived(r, o->velocity(in->self, &r->st), "velocity");
  if (o->eval != NULL)
    check_call_survived(r, o->eval(in->self, &r->st, r->st.x, &energy, &dissipation, NULL), "eval");
  if (o->quad != NULL)
    check_call_survived(r, o->quad(in->self, &r->st, r->st.x, &r->contact[0].quad), "quad");
  if (o->resolve != NULL)
    check_call_survived(r, o->resolve(in->self, &r->st, r->st.x, r->st.trial), "resolve");
  if (o->plan != NULL) check_call_survived(r, o->plan(in->self, &r->st, &q), "plan");
  if (o->update != NULL)
    check_call_survived(
        r, o->update(in->self, &r->st, &r->contact[0].pairs, LOOM_AFTER_ACCEPT, &changed),
        "update");
  if (o->begin_step != NULL) check_call_survived(r, o->begin_step(in->self, &r->st), "begin_step");
}

void ct_life_wrong_order(const ct_plugin *p)
{
  ct_run t;
  instance twin;
  ct_open_checked(&t, p, "");
  ct_twin(ct_instance(t.r, p), &twin);
  CT_ASSERT(ct_create(&twin) == LOOM_OK, "%s", t.err.text);
  check_call_survived(t.r, ct_reset(&twin), "reset");
  if (p->kind == LOOM_KIND_SOLVER) misuse_solver(t.r, &twin);
  if (p->kind == LOOM_KIND_COLLISION) misuse_collision(t.r, &twin);
  if (p->kind == LOOM_KIND_CONTACT) misuse_contact(t.r, &twin);
  check_call_survived(t.r, ct_reset(&twin), "reset");
  ct_destroy(&twin);
  ct_close(&t);
}
