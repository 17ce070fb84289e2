/* call.c - entering and leaving the callbacks of plugins, see call.h. */
#include "run/plugins/call.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/crash.h"
#include "run/plugins/pairs.h"
#include "run/plugins/vet.h"
#include "run/run_state.h"
#include "scene/objects/followers.h"

typedef struct call {
  crash_place place;
  instance *in;
  int64_t maps; /* held before */
  double cpu;   /* s, processor time when it began; < 0: it is not charged to plugins */
} call;

/* Outcomes that a callback may return beside LOOM_OK and errors. */
enum {
  ONLY_OK = 0,
  OR_ADVICE = 1 << LOOM_CONVERGED | 1 << LOOM_STALLED,
  OR_REJECTED = 1 << LOOM_REJECTED,
  OR_GROW = 1 << LOOM_GROW
};

/* Bytes of one item in all arrays of a list. */
enum {
  TERM_BYTES = 4 * sizeof(int32_t) + 11 * sizeof(loom_real),
  BLOCK_BYTES = 2 * sizeof(int32_t) + 9 * sizeof(loom_real)
};

static void begin_call(call *c, instance *in, const char *callback)
{
  run *const r = in->r;
  c->place = (crash_place){.plugin = in->plugin->name,
                           .callback = callback,
                           .section = in->name,
                           .step = r->calls.stepping ? &r->st.index : NULL,
                           .iter = &r->st.iter};
  c->in = in;
  c->maps = mem_num_maps(r->m);
  r->why[0] = '\0'; /* drops the message of an earlier launch */
  /* callbacks that a callback calls are in its time */
  c->cpu = !crash_inside() && clock_charges_method(&r->clock) ? clock_cpu_now() : -1.0;
  crash_enter(&c->place);
}

/* ---- messages ----
 */

static const char *outcome_names(uint32_t allowed)
{
  return allowed == OR_ADVICE     ? "LOOM_OK, LOOM_CONVERGED, LOOM_STALLED"
         : allowed == OR_REJECTED ? "LOOM_OK, LOOM_REJECTED"
         : allowed == OR_GROW     ? "LOOM_OK, LOOM_GROW"
                                  : "LOOM_OK";
}

static int is_status_allowed(loom_status s, uint32_t allowed)
{
  return s == LOOM_OK || (s > LOOM_OK && s <= LOOM_GROW && (allowed & LOOM_BIT(s)) != 0);
}

/* The message of a call that did not keep to the rules or returned an error. */
static loom_status report_bad_call(const call *c, loom_status s, uint32_t allowed)
{
  run *const r = c->in->r;
  loom_err *const e = r->err;
  const loom_err *const m = mem_err(r->m);
  int defect = 1; /* of the plugin's code; an error that it returns need not be one */
  loom_err wrote; /* outside of its buffers */
  const int has_written = mem_take_defect(r->m, &wrote);
  if (is_status_allowed(s, allowed) && r->calls.misused) {
    s = e->code;
  } else if (is_status_allowed(s, allowed) && has_written) {
    s = err_set(e, LOOM_E_INTERNAL, "%s", wrote.text);
  } else if (is_status_allowed(s, allowed)) {
    const char *const name = c->maps == 0 ? mem_mapped(r->m) : NULL;
    if (name != NULL)
      s = err_set(e, LOOM_E_INTERNAL,
                  "returned with buffer '%s' still mapped; every map needs its unmap", name);
    else
      s = err_set(e, LOOM_E_INTERNAL,
                  "returned with %lld buffers mapped, %lld were before; every map needs its unmap",
                  (long long)mem_num_maps(r->m), (long long)c->maps);
  } else if (s > LOOM_OK || s < LOOM_E_INTERNAL) {
    const int known = s > LOOM_OK && s <= LOOM_GROW;
    s = err_set(e, LOOM_E_INTERNAL, "returned %d%s%s%s; it may return %s or an error LOOM_E_...",
                (int)s, known ? " (" : ", which is no status", known ? err_status_text(s) : "",
                known ? ")" : "", outcome_names(allowed));
  } else {
    defect = 0;
    if (e->code == LOOM_OK) err_set(e, s, "%s", m->code != LOOM_OK ? m->text : err_status_text(s));
    e->code = s;
    char *const why = c->in->exec->why;
    if (s == LOOM_E_DEVICE && why != NULL && why[0] != '\0') { /* not reported yet */
      err_append(e, "%s", why);
      why[0] = '\0';
    }
  }
  r->calls.misused = 0;
  /* create() refuses settings: the message does not name the callback */
  const int about_settings = !defect && strcmp(c->place.callback, "create") == 0;
  call_add_place(c->in, about_settings ? NULL : c->place.callback, c->place.outer != NULL);
  return s;
}

static loom_status end_call(call *c, loom_status s, uint32_t allowed)
{
  run *const r = c->in->r;
  if (c->cpu >= 0.0) r->clock.cpu_plugins += clock_cpu_now() - c->cpu;
  crash_leave(&c->place);
  if (!is_status_allowed(s, allowed) || mem_num_maps(r->m) != c->maps || r->calls.misused ||
      mem_has_defect(r->m))
    return report_bad_call(c, s, allowed);
  if (c->place.outer == NULL) { /* the message of a service has been handled */
    if (r->err->code != LOOM_OK) err_clear(r->err);
    if (mem_err(r->m)->code != LOOM_OK) err_clear(mem_err(r->m));
  }
  return s;
}

int call_again(const run *r, loom_status *s, int64_t before, int64_t *count,
               loom_status (*reserve)(mem *m, void *list, int64_t capacity), void *list)
{
  const int64_t needed = *count;
  if (*s != LOOM_GROW) return 0;
  *count = before;
  *s = reserve(r->m, list, needed);
  return *s == LOOM_OK;
}

/* ---- all kinds ----
 */

typedef loom_status (*create_fn)(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                 const void *settings, void **self);
typedef loom_status (*reset_fn)(void *self);
typedef loom_status (*step_fn)(void *self, const loom_step *s);
typedef loom_status (*log_fn)(void *self, const loom_step *s, double *out);
typedef loom_status (*checkpoint_fn)(void *self, const loom_step *s, int restore);

loom_status call_create(instance *in)
{
  const create_fn f = INSTANCE_OP(in, create);
  call c;
  begin_call(&c, in, "create");
  loom_status s = f(&in->host, scene_seen_by(in->r->scene, in->plugin->kind), in->exec,
                    in->settings, &in->self);
  in->created = 1;
  LOOM_TRY(end_call(&c, s, ONLY_OK));
  if (in->self != NULL) return LOOM_OK;
  return call_refuse(in, "create", LOOM_E_INTERNAL,
                     "returned LOOM_OK and left *self NULL; set it to the instance");
}

int call_destroy(instance *in)
{
  run *const r = in->r;
  call c;
  if (!in->created || in->self == NULL) return 0;
  void (*const f)(void *self) = INSTANCE_OP(in, destroy);
  err_clear(r->err);
  begin_call(&c, in, "destroy");
  f(in->self);
  if (end_call(&c, LOOM_OK, ONLY_OK) == LOOM_OK) return 0;
  run_message(r, LOOM_LOG_WARN, r->err->text);
  return 1;
}

loom_status call_reset(instance *in)
{
  const reset_fn f = INSTANCE_OP(in, reset);
  call c;
  if (f == NULL) return LOOM_OK;
  begin_call(&c, in, "reset");
  return end_call(&c, f(in->self), ONLY_OK);
}

/* A buffer that a callback may write: if it did, its numbers are finite. */
static loom_status check_written(const instance *in, const char *callback, const char *what,
                                 loom_buf *b, int64_t writes)
{
  return buf_writes(b) == writes ? LOOM_OK : vet_finite(in, callback, what, b);
}

loom_status call_begin_step(instance *in)
{
  run *const r = in->r;
  const step_fn f = INSTANCE_OP(in, begin_step);
  const int64_t writes = buf_writes(r->st.trial);
  call c;
  if (f == NULL) return LOOM_OK;
  begin_call(&c, in, "begin_step");
  LOOM_TRY(end_call(&c, f(in->self, &r->st), ONLY_OK));
  /* without a bound the residual finds it */
  if (!filter_bounded(r)) return LOOM_OK;
  return check_written(in, "begin_step", "step->trial, the initial guess,", r->st.trial, writes);
}

/* COMMIT: the velocities written there begin the next step. */
static loom_status commit_call(instance *in, const char *callback, step_fn f)
{
  run *const r = in->r;
  const int64_t velocity = buf_writes(r->st.v_end), force = buf_writes(r->st.f_next);
  call c;
  begin_call(&c, in, callback);
  LOOM_TRY(end_call(&c, f(in->self, &r->st), ONLY_OK));
  LOOM_TRY(check_written(in, callback, "step->v_end", r->st.v_end, velocity));
  return check_written(in, callback, "step->f_next", r->st.f_next, force);
}

loom_status call_end_step(instance *in)
{
  const step_fn f = INSTANCE_OP(in, end_step);
  return f != NULL ? commit_call(in, "end_step", f) : LOOM_OK;
}

int call_has_checkpoint(const instance *in) { return INSTANCE_OP(in, checkpoint) != NULL; }

loom_status call_checkpoint(instance *in, int restore, instances_state_io io)
{
  const checkpoint_fn f = INSTANCE_OP(in, checkpoint);
  run *const r = in->r;
  call c;
  if (f == NULL) return LOOM_OK;
  begin_call(&c, in, "checkpoint");
  r->calls.state_io = io;
  r->calls.restoring = restore;
  const loom_status s = f(in->self, &r->st, restore);
  r->calls.state_io = NULL;
  return end_call(&c, s, ONLY_OK);
}

loom_status call_log_iter(instance *in, double *out)
{
  const loom_collision_ops *const ops = in->plugin->ops.collision;
  call c;
  if (ops->log_iter == NULL) return LOOM_OK;
  begin_call(&c, in, "log_iter");
  return end_call(&c, ops->log_iter(in->self, &in->r->st, out), ONLY_OK);
}

loom_status call_log_step(instance *in, double *out)
{
  const log_fn f = INSTANCE_OP(in, log_step);
  call c;
  if (f == NULL) return LOOM_OK;
  begin_call(&c, in, "log_step");
  return end_call(&c, f(in->self, &in->r->st, out), ONLY_OK);
}

/* ---- solver ----
 */

loom_status call_contact_changed(run *r, uint32_t changed)
{
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  call c;
  if (ops->contact_changed == NULL) return LOOM_OK;
  begin_call(&c, &r->solver, "contact_changed");
  return end_call(&c, ops->contact_changed(r->solver.self, &r->st, changed), ONLY_OK);
}

loom_status call_rest_change(run *r, double *change)
{
  instance *const in = &r->solver;
  const loom_solver_ops *const ops = in->plugin->ops.solver;
  call c;
  *change = 0.0;
  if (ops->rest_change == NULL) return LOOM_OK;
  begin_call(&c, in, "rest_change");
  LOOM_TRY(end_call(&c, ops->rest_change(in->self, &r->st, change), ONLY_OK));
  if (isfinite(*change) && *change > -1.0) return LOOM_OK;
  return call_refuse(in, "rest_change", LOOM_E_INTERNAL,
                     "*change is %g: rest lengths would be %g times those of the scene; it must be "
                     "finite and above -1",
                     *change, 1.0 + *change);
}

/* Fills the trial with NaN, so that rows that iterate() does not write are found. */
static loom_status forget_trial(run *r)
{
  const kernel_work kernels = r->work.kernels;
  clock_push(&r->clock, CLOCK_MEASURE);
  const loom_status s = la_fill(r->m, &r->exec, r->st.trial, NAN);
  clock_pop(&r->clock);
  r->work.kernels = kernels;
  return s;
}

loom_status call_iterate(run *r, loom_iterate *it)
{
  instance *const in = &r->solver;
  call c;
  LOOM_TRY(forget_trial(r));
  const int64_t writes = buf_writes(r->st.trial);
  begin_call(&c, in, "iterate");
  const loom_status s =
      end_call(&c, in->plugin->ops.solver->iterate(in->self, &r->st, it), OR_ADVICE);
  if (s < LOOM_OK) return s;
  if (buf_writes(r->st.trial) == writes)
    return call_refuse(in, "iterate", LOOM_E_INTERNAL,
                       "returned without writing step->trial; to leave x as it is, write step->x "
                       "(LOOM_TRIAL_POINT) or zero (LOOM_TRIAL_DIRECTION)");
  /* before energies or collisions would be evaluated at NaN; else the change of x shows it */
  if (!filter_bounded(r) && !filter_searches(r)) return s;
  clock_push(&r->clock, CLOCK_MEASURE);
  const loom_status finite = vet_trial(r, r->st.trial);
  clock_pop(&r->clock);
  return finite < LOOM_OK ? finite : s;
}

loom_status call_accepted(run *r, const loom_accept *a)
{
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  call c;
  if (ops->accepted == NULL) return LOOM_OK;
  begin_call(&c, &r->solver, "accepted");
  return end_call(&c, ops->accepted(r->solver.self, &r->st, a), ONLY_OK);
}

/* ---- collision ----
 */

loom_status call_detect(instance *in, const loom_query *q, loom_pairs *out)
{
  const loom_collision_ops *const ops = in->plugin->ops.collision;
  const int64_t before = out->count;
  call c;
  if (ops->detect == NULL) return LOOM_OK;
  begin_call(&c, in, "detect");
  const loom_status s = end_call(&c, ops->detect(in->self, &in->r->st, q, out), OR_GROW);
  if (s == LOOM_GROW)
    LOOM_TRY(vet_growth(in, "detect", "pairs", out->count, out->capacity, PAIR_BYTES));
  if (s != LOOM_OK) return s;
  return vet_count(in, "detect", "pairs", before, out->count, out->capacity);
}

loom_status call_max_step(instance *in, loom_buf *x0, loom_buf *x1, loom_bound *out)
{
  const int32_t bodies = in->r->scene->pub.num_obstacles;
  call c;
  begin_call(&c, in, "max_step");
  LOOM_TRY(end_call(&c, in->plugin->ops.collision->max_step(in->self, &in->r->st, x0, x1, out),
                    ONLY_OK));
  if (!(out->t_global >= 0.0 && out->t_global <= 1.0))
    return call_refuse(in, "max_step", LOOM_E_INTERNAL, "gave t_global = %g, allowed is [0, 1]",
                       out->t_global);
  if (out->blocker < -1 || out->blocker >= bodies)
    return call_refuse(in, "max_step", LOOM_E_INTERNAL,
                       "gave blocker = %d; it is the index of one of %d bodies, or -1",
                       (int)out->blocker, (int)bodies);
  return out->per_vertex ? vet_shares(in, "max_step", "t_vertex", out->t_vertex) : LOOM_OK;
}

/* ---- contact ----
 */

static const loom_contact_ops *contact_ops(const contact_inst *c)
{
  return c->in.plugin->ops.contact;
}

loom_status call_plan(contact_inst *c, loom_query *q)
{
  const loom_contact_ops *const ops = contact_ops(c);
  call k;
  if (ops->plan == NULL) return LOOM_OK; /* the preset: no query */
  begin_call(&k, &c->in, "plan");
  loom_status s = ops->plan(c->in.self, &c->in.r->st, q);
  if (s == LOOM_OK && q->what != 0) s = vet_query(&c->in, q);
  return end_call(&k, s, ONLY_OK);
}

loom_status call_update(contact_inst *c, int when, uint32_t *changed)
{
  const loom_contact_ops *const ops = contact_ops(c);
  call k;
  if (ops->update == NULL) return LOOM_OK;
  begin_call(&k, &c->in, "update");
  LOOM_TRY(end_call(&k, ops->update(c->in.self, &c->in.r->st, &c->pairs, when, changed), ONLY_OK));
  const uint32_t known = LOOM_CHANGED_VALUES | LOOM_CHANGED_PATTERN | LOOM_ASK_FILTER;
  if ((*changed & ~known) == 0) return LOOM_OK;
  return call_refuse(&c->in, "update", LOOM_E_INTERNAL,
                     "gave changed = 0x%x, which has unknown bits", (unsigned)*changed);
}

/* An energy is a number, unless the model has none. */
static loom_status check_energy(const contact_inst *c, const char *what, const double *energy)
{
  if (energy == NULL || *energy > -INFINITY) return LOOM_OK;
  if (isnan(*energy) && !(c->provides & LOOM_CONT_ENERGY)) return LOOM_OK;
  return call_refuse(&c->in, "eval", LOOM_E_NUMERIC,
                     "gave %s = %g J; return LOOM_REJECTED where x is infeasible", what, *energy);
}

loom_status call_eval(contact_inst *c, loom_buf *x, double *energy, double *dissipation,
                      loom_buf *grad)
{
  call k;
  begin_call(&k, &c->in, "eval");
  const loom_status s =
      end_call(&k, contact_ops(c)->eval(c->in.self, &c->in.r->st, x, energy, dissipation, grad),
               OR_REJECTED);
  if (s != LOOM_OK) return s;
  LOOM_TRY(check_energy(c, "energy", energy));
  return check_energy(c, "dissipation", dissipation);
}

loom_status call_hessian(contact_inst *c, loom_buf *x, int how, loom_blocks3 *out)
{
  const instance *const in = &c->in;
  const int64_t before = out->count;
  call k;
  begin_call(&k, &c->in, "hessian");
  const loom_status s =
      end_call(&k, contact_ops(c)->hessian(in->self, &in->r->st, x, how, out), OR_GROW);
  if (s == LOOM_GROW)
    LOOM_TRY(vet_growth(in, "hessian", "blocks", out->count, out->capacity, BLOCK_BYTES));
  if (s != LOOM_OK) return s;
  LOOM_TRY(vet_count(in, "hessian", "blocks", before, out->count, out->capacity));
  LOOM_TRY(vet_vertex_ids(in, "hessian", "row", out->row, before, out->count, 0));
  return vet_vertex_ids(in, "hessian", "col", out->col, before, out->count, 0);
}

loom_status call_quad(contact_inst *c, loom_buf *x, loom_quad *out)
{
  const instance *const in = &c->in;
  const int64_t before = out->count;
  call k;
  begin_call(&k, &c->in, "quad");
  const loom_status s = end_call(&k, contact_ops(c)->quad(in->self, &in->r->st, x, out), OR_GROW);
  if (s == LOOM_GROW)
    LOOM_TRY(vet_growth(in, "quad", "terms", out->count, out->capacity, TERM_BYTES));
  if (s != LOOM_OK) return s;
  LOOM_TRY(vet_count(in, "quad", "terms", before, out->count, out->capacity));
  return vet_vertex_ids(in, "quad", "v", out->v, 4 * before, 4 * out->count, -1);
}

loom_status call_resolve(contact_inst *c, loom_buf *x_start, loom_buf *x_trial)
{
  run *const r = c->in.r;
  const int64_t writes = buf_writes(x_trial);
  call k;
  begin_call(&k, &c->in, "resolve");
  r->calls.resolving = c->in.name;
  const loom_status s = contact_ops(c)->resolve(c->in.self, &r->st, x_start, x_trial);
  r->calls.resolving = NULL;
  const int post_only =
      !(c->provides & (LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD));
  LOOM_TRY(end_call(&k, s, post_only ? OR_REJECTED : ONLY_OK));
  return check_written(&c->in, "resolve", "x_trial", x_trial, writes);
}

loom_status call_metrics(contact_inst *c, loom_contact_metrics *out)
{
  const loom_contact_ops *const ops = contact_ops(c);
  call k;
  if (ops->metrics == NULL) return LOOM_OK;
  begin_call(&k, &c->in, "metrics");
  LOOM_TRY(end_call(&k, ops->metrics(c->in.self, &c->in.r->st, out), ONLY_OK));
  if (out->active >= 0) return LOOM_OK;
  return call_refuse(&c->in, "metrics", LOOM_E_INTERNAL, "gave active = %lld pairs",
                     (long long)out->active);
}

loom_status call_velocity(contact_inst *c)
{
  const loom_contact_ops *const ops = contact_ops(c);
  if (!(ops->provides & LOOM_CONT_VELOCITY) || ops->velocity == NULL) return LOOM_OK;
  return commit_call(&c->in, "velocity", ops->velocity);
}
