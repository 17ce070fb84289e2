/* Every plugin found: create and destroy, memory that runs out, reset, restart, two
 * instances at once, calls in the wrong order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

static struct criterion_test_params in_tree(void)
{
  return ct_plugins(-1); /* tests skip what is not of this tree: its kind is unknown */
}
#define NEEDS_KIND(p)                                                     \
  do {                                                                    \
    if ((p)->kind < 0) cr_skip_test("%s is not of this tree", (p)->name); \
  } while (0)

static int left_behind(run *r) { return mem_leaks(r->m, "twin", NULL, 0); }

ParameterizedTestParameters(life, create_destroy) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, create_destroy)
{
  NEEDS_KIND(p);
  ct_run t;
  instance twin;
  ct_open_checked(&t, p, "");
  ct_twin(ct_instance(t.r, p), &twin);
  for (int i = 0; i < 3; ++i) {
    cr_assert_eq(ct_create(&twin), LOOM_OK, "%s", t.err.text);
    cr_assert(mem_mapped(t.r->m) == NULL, "create() left %s mapped", mem_mapped(t.r->m));
    ct_destroy(&twin);
    cr_assert_eq(left_behind(t.r), 0, "round %d", i);
  }
  ct_close(&t);
}

ParameterizedTestParameters(life, memory_runs_out_in_create) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, memory_runs_out_in_create)
{
  NEEDS_KIND(p);
  ct_run t;
  instance twin;
  loom_status s = LOOM_E_NOMEM;
  ct_open(&t, p, "");
  ct_twin(ct_instance(t.r, p), &twin);
  for (int64_t k = 1; s != LOOM_OK; ++k) {
    cr_assert_lt(k, 1000, "create() never succeeds");
    err_clear(&t.err);
    mem_fail_after(t.r->m, k);
    s = ct_create(&twin);
    mem_fail_after(t.r->m, 0);
    cr_assert(s == LOOM_OK || s == LOOM_E_NOMEM, "allocation %lld failed, create() said %d",
              (long long)k, s);
    mem_release_maps(t.r->m);
    ct_destroy(&twin);
    cr_assert_eq(left_behind(t.r), 0, "allocation %lld failed: buffers left", (long long)k);
  }
  ct_close(&t);
}

/* Whatever allocation of a step fails, the step ends with LOOM_E_NOMEM and a message, and
 * everything can be taken apart. */
ParameterizedTestParameters(life, memory_runs_out_in_step) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, memory_runs_out_in_step)
{
  NEEDS_KIND(p);
  loom_status s = LOOM_E_NOMEM;
  unsetenv("LOOM_MEM_CHECK"); /* where every map allocates: thousands of times the same */
  for (int64_t k = 1; s != LOOM_OK; ++k) {
    ct_run t;
    cr_assert_lt(k, 5000, "the step never succeeds");
    ct_open(&t, p, "stop.max_iters=2");
    mem_fail_after(t.r->m, k);
    s = step_once(t.r, 0);
    mem_fail_after(t.r->m, 0);
    cr_assert(s == LOOM_OK || s == LOOM_E_NOMEM, "allocation %lld failed, the step said %d",
              (long long)k, s);
    if (s != LOOM_OK) cr_assert(ct_message(&t)[0] != '\0', "no message");
    ct_close(&t);
  }
}

/* After reset() an instance is as good as new: same bits as a fresh run from that state. */
ParameterizedTestParameters(life, reset_forgets) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, reset_forgets)
{
  NEEDS_KIND(p);
  ct_run used, fresh;
  ct_open_checked(&used, p, "");
  ct_open_checked(&fresh, p, "");
  ct_steps(&used, 0, 2);
  double *const x = ct_values(used.r, used.r->st.x, NULL);
  double *const v = ct_values(used.r, used.r->st.v_start, NULL);
  ct_set_values(fresh.r, fresh.r->st.x, x);
  ct_set_values(fresh.r, fresh.r->st.v_start, v);
  /* all of them: the others have histories too */
  cr_assert_eq(ct_reset(&used.r->solver), LOOM_OK);
  for (int i = 0; i < used.r->num_collision; ++i)
    cr_assert_eq(ct_reset(&used.r->collision[i]), LOOM_OK);
  for (int i = 0; i < used.r->num_contact; ++i)
    cr_assert_eq(ct_reset(&used.r->contact[i].in), LOOM_OK);
  ct_steps(&used, 2, 2);
  ct_steps(&fresh, 2, 2);
  ct_same_x(used.r, fresh.r, "after reset()");
  free(x);
  free(v);
  ct_close(&used);
  ct_close(&fresh);
}

/* ---- restart ------------------------------------------------------------------------------- */

typedef struct saved_state { /* what checkpoint() wrote, by name */
  struct {
    char name[64];
    int64_t count;
    void *data;
  } item[32];
  int num;
} saved_state;

/* stands in for the file: host->state_io on memory */
static loom_status memory_io(const loom_host *h, int restore, const char *name, loom_buf *b)
{
  instance *const in = h->core;
  saved_state *const st = in->r->opt->user;
  const size_t size = buf_type_size(buf_type(b));
  void *p;
  int i = 0;
  while (i < st->num && strcmp(st->item[i].name, name) != 0) ++i;
  if (restore) {
    cr_assert_lt(i, st->num, "%s was never saved", name);
    LOOM_TRY(buf_resize(in->r->m, b, st->item[i].count));
    LOOM_TRY(buf_map(in->r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
    memcpy(p, st->item[i].data, size * (size_t)st->item[i].count);
    return buf_unmap(in->r->m, b);
  }
  cr_assert_eq(i, st->num, "%s was saved twice", name);
  cr_assert_lt(i, 32);
  snprintf(st->item[i].name, sizeof st->item[i].name, "%s", name);
  st->item[i].count = buf_count(b);
  st->item[i].data = malloc(size * (size_t)buf_count(b) + 1);
  LOOM_TRY(buf_map(in->r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
  memcpy(st->item[i].data, p, size * (size_t)buf_count(b));
  st->num++;
  return buf_unmap(in->r->m, b);
}

/* Destroyed and created between two steps, with what checkpoint() saved (nothing, if there
 * is none), an instance continues to the same bits. */
ParameterizedTestParameters(life, restart_continues) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, restart_continues)
{
  NEEDS_KIND(p);
  ct_run whole, cut;
  saved_state saved = {.num = 0};
  ct_open_checked(&whole, p, "");
  ct_open_checked(&cut, p, "");
  cut.opt.user = &saved;
  instance *const in = ct_instance(cut.r, p);
  ct_steps(&whole, 0, 4);
  ct_steps(&cut, 0, 2);
  in->host.state_io = memory_io;
  if (ct_has_checkpoint(in)) cr_assert_eq(ct_checkpoint(in, &cut.r->st, 0), LOOM_OK);
  ct_destroy(in);
  cr_assert_eq(ct_create(in), LOOM_OK, "%s", cut.err.text);
  if (ct_has_checkpoint(in)) cr_assert_eq(ct_checkpoint(in, &cut.r->st, 1), LOOM_OK);
  ct_steps(&cut, 2, 2);
  ct_same_x(whole.r, cut.r, "after a restart");
  for (int i = 0; i < saved.num; ++i) free(saved.item[i].data);
  ct_close(&whole);
  ct_close(&cut);
}

/* ---- company -------------------------------------------------------------------------------- */

/* Two runs with different step sizes, step by step in turn: each as if it were alone. */
ParameterizedTestParameters(life, two_at_once) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, two_at_once)
{
  NEEDS_KIND(p);
  static const char *const dt[] = {"run.dt=0.01", "run.dt=0.004"};
  ct_run alone[2], both[2];
  for (int i = 0; i < 2; ++i) {
    ct_open(&alone[i], p, dt[i]);
    ct_steps(&alone[i], 0, 3);
  }
  for (int i = 0; i < 2; ++i) ct_open(&both[i], p, dt[i]);
  for (int64_t k = 0; k < 3; ++k)
    for (int i = 0; i < 2; ++i) ct_steps(&both[i], k, 1);
  for (int i = 0; i < 2; ++i) {
    ct_same_x(alone[i].r, both[i].r, dt[i]);
    ct_close(&alone[i]);
    ct_close(&both[i]);
  }
}

/* Same bits for one thread and for more, and in a second run. */
ParameterizedTestParameters(life, threads_do_not_matter) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, threads_do_not_matter)
{
  NEEDS_KIND(p);
  static const char *const sets[] = {"exec.threads=1", "exec.threads=1", "exec.threads=3"};
  ct_run t[3];
  for (int i = 0; i < 3; ++i) {
    ct_open(&t[i], p, sets[i]);
    ct_steps(&t[i], 0, 3);
    ct_same_x(t[0].r, t[i].r, sets[i]);
  }
  for (int i = 0; i < 3; ++i) ct_close(&t[i]);
}

/* ---- wrong order ------------------------------------------------------------------------------
 */

/* A callback may refuse (an error) or cope; it must not crash, and after success it must
 * not hold a buffer. */
static void survived(run *r, loom_status s, const char *call)
{
  if (s >= LOOM_OK)
    cr_expect(mem_mapped(r->m) == NULL, "%s left %s mapped", call, mem_mapped(r->m));
  mem_release_maps(r->m);
}

static void misuse_solver(run *r, instance *in)
{
  const loom_solver_ops *o = in->plugin->ops.solver;
  double extra[64] = {0};
  loom_iterate it = {.struct_size = sizeof it, .extra = extra};
  const loom_accept a = {.struct_size = sizeof a,
                         .alpha = 1.0,
                         .toi = 1.0,
                         .dx = r->dx,
                         .rejected = r->rejected,
                         .grad_solved = r->st.grad};
  if (o->accepted != NULL) survived(r, o->accepted(in->self, &r->st, &a), "accepted");
  if (o->contact_changed != NULL)
    survived(r, o->contact_changed(in->self, &r->st, LOOM_CHANGED_PATTERN), "contact_changed");
  if (o->end_step != NULL) survived(r, o->end_step(in->self, &r->st), "end_step");
  survived(r, o->iterate(in->self, &r->st, &it), "iterate");
  survived(r, o->begin_step(in->self, &r->st), "begin_step");
  survived(r, o->begin_step(in->self, &r->st), "begin_step");
}

static void misuse_collision(run *r, instance *in)
{
  const loom_collision_ops *o = in->plugin->ops.collision;
  loom_pairs *const out = &r->contact[0].pairs;
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_PROXIMITY,
                        .kinds = LOOM_PAIR_MASK_ALL,
                        .margin = 1e-3,
                        .x0 = r->st.x,
                        .x1 = r->st.x,
                        .progress0 = 1,
                        .progress1 = 1};
  loom_bound b = {.struct_size = sizeof b};
  if (o->end_step != NULL) survived(r, o->end_step(in->self, &r->st), "end_step");
  if (r->num_contact > 0) {
    out->count = 0;
    survived(r, o->detect(in->self, &r->st, &q, out), "detect");
    out->count = 0;
  }
  if (o->max_step != NULL)
    survived(r, o->max_step(in->self, &r->st, r->st.x, r->st.x, &b), "max_step");
  survived(r, o->begin_step(in->self, &r->st), "begin_step");
}

static void misuse_contact(run *r, instance *in)
{
  const loom_contact_ops *o = in->plugin->ops.contact;
  loom_contact_metrics m = {.struct_size = sizeof m};
  loom_query q = {.struct_size = sizeof q, .kinds = o->pair_kinds, .x0 = r->st.x, .x1 = r->st.x};
  uint32_t changed = 0;
  double energy = 0.0, dissipation = 0.0;
  survived(r, o->metrics(in->self, &r->st, &m), "metrics");
  if (o->end_step != NULL) survived(r, o->end_step(in->self, &r->st), "end_step");
  if (o->velocity != NULL) survived(r, o->velocity(in->self, &r->st), "velocity");
  if (o->eval != NULL)
    survived(r, o->eval(in->self, &r->st, r->st.x, &energy, &dissipation, NULL), "eval");
  if (o->quad != NULL) survived(r, o->quad(in->self, &r->st, r->st.x, &r->contact[0].quad), "quad");
  if (o->resolve != NULL)
    survived(r, o->resolve(in->self, &r->st, r->st.x, r->st.trial), "resolve");
  survived(r, o->plan(in->self, &r->st, &q), "plan");
  survived(r, o->update(in->self, &r->st, &r->contact[0].pairs, LOOM_AFTER_ACCEPT, &changed),
           "update");
  survived(r, o->begin_step(in->self, &r->st), "begin_step");
}

ParameterizedTestParameters(life, wrong_order) { return in_tree(); }
ParameterizedTest(const ct_plugin *p, life, wrong_order)
{
  NEEDS_KIND(p);
  ct_run t;
  instance twin;
  ct_open_checked(&t, p, "");
  ct_twin(ct_instance(t.r, p), &twin);
  cr_assert_eq(ct_create(&twin), LOOM_OK, "%s", t.err.text);
  survived(t.r, ct_reset(&twin), "reset");
  if (p->kind == LOOM_KIND_SOLVER) misuse_solver(t.r, &twin);
  if (p->kind == LOOM_KIND_COLLISION) misuse_collision(t.r, &twin);
  if (p->kind == LOOM_KIND_CONTACT) misuse_contact(t.r, &twin);
  survived(t.r, ct_reset(&twin), "reset");
  ct_destroy(&twin);
  cr_assert_eq(left_behind(t.r), 0);
  ct_close(&t);
}
