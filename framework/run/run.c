/* run.c - build one run from a config, execute it, take it apart. */
#include "run/run_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/call.h"
#include "run/record.h"

/* ---- instances ------------------------------------------------------------------------------ */

static loom_status find_plugin(run *r, const cfg_section *s, int kind, instance *in)
{
  const char *name = NULL;
  char place[1200];
  uint32_t count;
  const reg_entry *e = NULL;
  const loom_param *const key = settings_params("solver", &count);
  LOOM_TRY(cfg_bind(r->err, s, key, count, &name));
  const loom_status found = registry_find(r->err, r->reg, kind, name, &e);
  if (found != LOOM_OK) {
    err_prefix(r->err, "%s", cfg_place(s, "plugin", place, sizeof place));
    return found;
  }
  in->r = r;
  in->plugin = e->plugin;
  snprintf(in->name, sizeof in->name, "%s", cfg_section_name(s));
  if (e->plugin->settings_size > 0) {
    in->settings = calloc(1, e->plugin->settings_size);
    if (in->settings == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: out of memory", in->name);
  }
  LOOM_TRY(swap_keys(r, s, kind));
  return cfg_bind(r->err, s, e->plugin->params, e->plugin->num_params, in->settings);
}

/* Which collision plugins serve a contact instance: a list of names, empty for all. */
static loom_status pick_collision(run *r, const cfg_section *s, const char *list, contact_inst *c)
{
  char text[512], place[1200], *save = NULL;
  if (list[0] == '\0') {
    for (int i = 0; i < r->num_collision; ++i) c->collision[c->num_collision++] = i;
    return LOOM_OK;
  }
  snprintf(text, sizeof text, "%s", list);
  for (char *w = strtok_r(text, " ,", &save); w != NULL; w = strtok_r(NULL, " ,", &save)) {
    const char *names[RUN_MAX_INSTANCES];
    int found = -1;
    for (int i = 0; i < r->num_collision; ++i) {
      names[i] = r->collision[i].name + strlen("collision.");
      if (strcmp(names[i], w) == 0) found = i;
    }
    if (found < 0) {
      const char *const near = err_nearest(w, names, r->num_collision);
      return err_set(r->err, LOOM_E_CONFIG, "%s: there is no section [collision.%s]%s%s%s",
                     cfg_place(s, "collision", place, sizeof place), w,
                     near ? "; nearest is '" : "", near ? near : "", near ? "'" : "");
    }
    if (c->num_collision < RUN_MAX_INSTANCES) c->collision[c->num_collision++] = found;
  }
  return LOOM_OK;
}

static loom_status find_instances(run *r)
{
  static const uint32_t masks[] = {LOOM_PAIR_MASK_SELF, LOOM_PAIR_MASK_OBSTACLE,
                                   LOOM_PAIR_MASK_ALL};
  const cfg_section *s = cfg_find(r->c, "solver");
  char place[1200];
  uint32_t num_keys;
  const loom_param *const keys = settings_params("contact", &num_keys);
  if (s == NULL)
    return err_set(
        r->err, LOOM_E_CONFIG,
        "%s: there is no [solver] section; add one with plugin = NAME (loom list solver)",
        cfg_path(r->c));
  LOOM_TRY(find_plugin(r, s, LOOM_KIND_SOLVER, &r->solver));
  for (s = NULL; (s = cfg_next(r->c, "collision", s)) != NULL;) {
    if (r->num_collision == RUN_MAX_INSTANCES)
      return err_set(r->err, LOOM_E_CONFIG, "%s: more than %d collision plugins",
                     cfg_place(s, NULL, place, sizeof place), RUN_MAX_INSTANCES);
    LOOM_TRY(find_plugin(r, s, LOOM_KIND_COLLISION, &r->collision[r->num_collision]));
    r->num_collision++;
  }
  for (s = NULL; (s = cfg_next(r->c, "contact", s)) != NULL;) {
    if (r->num_contact == RUN_MAX_INSTANCES)
      return err_set(r->err, LOOM_E_CONFIG, "%s: more than %d contact plugins",
                     cfg_place(s, NULL, place, sizeof place), RUN_MAX_INSTANCES);
    contact_inst *const c = &r->contact[r->num_contact];
    contact_settings k;
    LOOM_TRY(find_plugin(r, s, LOOM_KIND_CONTACT, &c->in));
    r->num_contact++;
    LOOM_TRY(cfg_bind(r->err, s, keys, num_keys, &k));
    LOOM_TRY(pick_collision(r, s, k.collision, c));
    c->provides =
        fit_contact_provides(c->in.plugin) & ~fit_contact_lacks(c->in.plugin, c->in.settings);
    c->kinds = masks[k.pairs] & c->in.plugin->ops.contact->pair_kinds;
  }
  return LOOM_OK;
}

/* As which pairs the bodies can be met; returns their number. */
static int list_bodies(const run *r, fit_body *out)
{
  int n = 0;
  for (int i = 0; i < r->scene->pub.num_obstacles; ++i) {
    const loom_obstacle *const o = &r->scene->obstacles[i];
    const int mesh = o->kind == LOOM_OBST_MESH;
    uint32_t kinds = 0;
    if (mesh) kinds |= LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE);
    if (!mesh || o->sdf != NULL) kinds |= LOOM_BIT(LOOM_PAIR_VO);
    out[n++] = (fit_body){o->name, kinds, mesh && o->sdf == NULL};
  }
  return n;
}

static loom_status check_fit(run *r)
{
  fit_contact f[RUN_MAX_INSTANCES];
  const loom_plugin *coll[RUN_MAX_INSTANCES][RUN_MAX_INSTANCES];
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    for (int j = 0; j < c->num_collision; ++j) coll[i][j] = r->collision[c->collision[j]].plugin;
    f[i] = (fit_contact){strchr(c->in.name, '.') ? strchr(c->in.name, '.') + 1 : c->in.name,
                         c->in.plugin,
                         c->kinds,
                         coll[i],
                         c->num_collision,
                         fit_contact_lacks(c->in.plugin, c->in.settings)};
  }
  fit_body *const bodies = calloc((size_t)r->scene->pub.num_obstacles + 1, sizeof *bodies);
  if (bodies == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  const fit_scene scene = {.elem_caps = elastic_caps(r->el),
                           .ball = balls_name(r),
                           .yarns = r->scene->pub.num_yarns > 0,
                           .bodies = bodies,
                           .num_bodies = list_bodies(r, bodies)};
  const loom_status s = fit_check(r->err, r->reg, r->solver.plugin, f, r->num_contact, &scene,
                                  r->exec.backend, r->set.exec.fallback);
  free(bodies);
  return s;
}

static loom_status create(run *r, instance *in)
{
  const int on_cuda = r->exec.backend == LOOM_CUDA && (in->plugin->backends & LOOM_ON_CUDA);
  in->exec = r->exec.backend == LOOM_CPU || on_cuda ? &r->exec : &r->exec_host;
  host_attach(in);
  return call_create(in);
}

static loom_status create_instances(run *r)
{
  for (int i = 0; i < r->num_collision; ++i) LOOM_TRY(create(r, &r->collision[i]));
  for (int i = 0; i < r->num_contact; ++i) LOOM_TRY(create(r, &r->contact[i].in));
  return create(r, &r->solver);
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static loom_status open_exec(run *r)
{
  const exec_settings *const e = &r->set.exec;
  int all_cuda = (r->solver.plugin->backends & LOOM_ON_CUDA) != 0;
  char why[256];
  for (int i = 0; i < r->num_collision; ++i)
    all_cuda &= (r->collision[i].plugin->backends & LOOM_ON_CUDA) != 0;
  for (int i = 0; i < r->num_contact; ++i)
    all_cuda &= (r->contact[i].in.plugin->backends & LOOM_ON_CUDA) != 0;
  int backend = e->backend == EXEC_CUDA ? LOOM_CUDA : LOOM_CPU;
  if (e->backend == EXEC_AUTO && all_cuda && exec_cuda_devices(why, sizeof why) > 0)
    backend = LOOM_CUDA;
  LOOM_TRY(exec_open(r->err, LOOM_CPU, (int)e->threads, e->deterministic, e->debug, &r->exec_host));
  LOOM_TRY(exec_open(r->err, backend, (int)e->threads, e->deterministic, e->debug, &r->exec));
  r->exec.launches = r->exec_host.launches = &r->launches;
  r->exec.why = r->exec_host.why = r->why;
  r->threads_before = threads_limit(r->exec.num_threads);
  return LOOM_OK;
}

void run_share_trial(run *r) { r->dx = r->wanted = r->st.v_end = r->st.trial; }

static loom_status open_state(run *r)
{
  const int64_t n = r->scene->pub.num_verts;
  const int bounded = r->bound != FILTER_BOUND_NONE;
  const struct {
    loom_buf **b;
    const char *name;
    int64_t count;
    int wanted;
  } all[] = {{&r->st.x_start, "x_start", 3 * n, 1},
             {&r->st.x_feas, "x_feas", 3 * n, bounded},
             {&r->st.y, "y", 3 * n, 1},
             {&r->st.trial, "trial", 3 * n, 1},
             {&r->st.grad, "grad", 3 * n, 1},
             {&r->st.f_next, "f_next", 3 * n, 1},
             {&r->grad_free, "grad_free", 3 * n, r->num_contact > 0},
             {&r->grad_solved, "grad_solved", 3 * n, r->line_search},
             {&r->x_before, "x_before", 3 * n, 1},
             {&r->rejected, "rejected", 3 * n, bounded},
             {&r->t_vertex, "t_vertex", n, r->bound == FILTER_BOUND_VERTEX},
             {&r->target, "target", 3 * n, r->moves},
             {&r->x_retry, "x_retry", 3 * n, r->moves},
             {&r->v_retry, "v_retry", 3 * n, r->moves},
             {&r->f_retry, "f_retry", 3 * n, r->moves},
             {&r->diag, "diag", n, 1}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    if (all[i].wanted)
      LOOM_TRY(buf_new(r->m, "core", all[i].name, LOOM_REAL, all[i].count, all[i].b));
  LOOM_TRY(buf_new(r->m, "core", "touched", LOOM_U8, n, &r->touched));
  r->st.struct_size = sizeof r->st;
  r->st.scheme = r->set.run.scheme;
  r->st.h = r->set.run.dt / (double)r->set.run.substeps;
  r->st.progress = 1.0;
  r->st.body0 = r->scene->body0;
  r->st.body1 = r->scene->body1;
  LOOM_TRY(buf_new(r->m, "core", "x", LOOM_REAL, 3 * n, &r->st.x));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x, r->scene->x0));
  r->st.v_start = r->scene->v0;
  r->scene->v0 = NULL;
  if (!bounded) r->st.x_feas = r->st.x; /* nothing is ever infeasible */
  /* without contact the gradient is free of it, and no fixed row enters a norm */
  if (r->num_contact == 0) r->grad_free = r->st.grad;
  /* the line search needs both at once; else x_before has served when the gradient is kept */
  if (!r->line_search) r->grad_solved = r->x_before;
  run_share_trial(r);
  LOOM_TRY(forward_new(r));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.v_end, r->st.v_start)); /* frame 0 */

  void *m, *f;
  LOOM_TRY(buf_map(r->m, NULL, r->scene->pub.mass, LOOM_READ, LOOM_AT_HOST, &m));
  LOOM_TRY(buf_map(r->m, NULL, r->scene->pub.fixed, LOOM_READ, LOOM_AT_HOST, &f));
  for (int64_t i = 0; i < n; ++i) {
    r->all_mass += ((loom_real *)m)[i];
    if (!((uint8_t *)f)[i]) r->total_mass += ((loom_real *)m)[i];
  }
  LOOM_TRY(buf_unmap(r->m, r->scene->pub.fixed));
  LOOM_TRY(buf_unmap(r->m, r->scene->pub.mass));
  return columns_new(r);
}

/* What is in force: the config's word, else what the plugins were made for. */
static void decide_schedule(run *r)
{
  const loom_solver_ops *const s = r->solver.plugin->ops.solver;
  const uint32_t forms = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD;
  int needs_bound = 0, unfiltered = 0, filtered = 0;
  for (int i = 0; i < r->num_contact; ++i) {
    const loom_contact_ops *const c = r->contact[i].in.plugin->ops.contact;
    needs_bound |= (c->needs & (LOOM_COLL_STEP_GLOBAL | LOOM_COLL_STEP_VERTEX)) != 0;
    unfiltered |= (c->provides & LOOM_CONT_UNFILTERED) != 0;
    filtered |= (c->provides & forms) && !(c->provides & LOOM_CONT_UNFILTERED);
    if ((c->provides & LOOM_CONT_RESOLVE) && (c->provides & LOOM_CONT_UNFILTERED)) {
      r->has_repair = 1;
    } else if (c->provides & LOOM_CONT_RESOLVE) {
      r->has_resolve = 1;
      r->resolve_at_end |= !(c->provides & forms);
    }
  }
  unfiltered = unfiltered && !filtered;
  r->filter_when = r->set.filter.when == FILTER_WHEN_AUTO ? s->filter_when : r->set.filter.when - 1;
  if (r->set.filter.when == FILTER_WHEN_AUTO && unfiltered && s->filter_when == LOOM_FILTER_EVERY)
    r->filter_when = LOOM_FILTER_ADVICE;
  r->bound = r->set.filter.bound != FILTER_BOUND_AUTO ? r->set.filter.bound
             : needs_bound                            ? FILTER_BOUND_GLOBAL
                                                      : FILTER_BOUND_NONE;
  r->line_search = r->set.filter.line_search == LINE_AUTO ? (s->needs & LOOM_NEEDS_LINE_SEARCH) != 0
                                                          : r->set.filter.line_search == LINE_ON;
  r->beyond = r->bound == FILTER_BOUND_GLOBAL && r->filter_when == LOOM_FILTER_ADVICE &&
              (r->set.filter.go_on == FILTER_GO_TRIAL ||
               (r->set.filter.go_on == FILTER_GO_AUTO && unfiltered));
  r->uses_gradient = (s->needs & LOOM_USES_GRADIENT) != 0;
  r->moves =
      r->bound != FILTER_BOUND_NONE && (scene_pins_move(r->scene) || scene_bodies_move(r->scene));
}

/* Before any plugin brings a threaded BLAS in: it reads its number of threads when it is loaded,
 * and the number changes bits. */
static void limit_blas(const exec_settings *e)
{
  static const char *const names[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                      "MKL_NUM_THREADS"};
  char number[16];
  if (!e->deterministic && e->threads == 0) return; /* as the environment has it */
  snprintf(number, sizeof number, "%d", e->deterministic ? 1 : (int)e->threads);
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) setenv(names[k], number, 1);
}

static loom_status open_all(run *r, const run_options *o)
{
  LOOM_TRY(settings_bind(r->err, r->c, &r->set));
  r->sum.steps_planned = (o->steps >= 0 ? o->steps : r->set.run.steps) * r->set.run.substeps;
  limit_blas(&r->set.exec);
  if (!o->no_log) LOOM_TRY(output_choose(r, o));
  if (r->set.exec.debug) mem_check_on(r->m);
  char dirs[8192];
  LOOM_TRY(plugin_dirs(r, o, dirs, sizeof dirs));
  LOOM_TRY(registry_scan(r->err, dirs, &r->reg));
  LOOM_TRY(find_instances(r));
  LOOM_TRY(open_exec(r));
  if (o->make_scene != NULL)
    LOOM_TRY(o->make_scene(o->user, r->err, r->m, &r->scene));
  else
    LOOM_TRY(room_build(r, o->look_only));
  if (r->scene->notes != NULL) run_message(r, LOOM_LOG_INFO, r->scene->notes);
  LOOM_TRY(cfg_finish(r->err, r->c));
  if (r->scene->pub.num_obstacles > RUN_MAX_OBSTACLES)
    return err_set(r->err, LOOM_E_CONFIG, "%s: %d obstacles, at most %d are supported",
                   cfg_path(r->c), r->scene->pub.num_obstacles, RUN_MAX_OBSTACLES);
  LOOM_TRY(problem_new(r));
  LOOM_TRY(check_fit(r));
  decide_schedule(r);
  LOOM_TRY(balls_open(r));
  LOOM_TRY(open_state(r));
  LOOM_TRY(detect_new(r));
  LOOM_TRY(scene_pose(r->scene, 0.0, 0.0));
  LOOM_TRY(replay_open(r));
  LOOM_TRY(problem_diag(r));
  LOOM_TRY(run_check_tolerance(r));
  LOOM_TRY(create_instances(r));
  return replay_ready(r);
}

loom_status run_failed(run *r, loom_status s)
{
  if (s < LOOM_OK && r->err->code == LOOM_OK) {
    const loom_err *const m = r->m != NULL ? mem_err(r->m) : NULL;
    err_set(r->err, s, "%s", m != NULL && m->code != LOOM_OK ? m->text : err_status_text(s));
  }
  return s;
}

loom_status run_open(loom_err *err, cfg *c, const run_options *o, run **out)
{
  run *const r = calloc(1, sizeof *r);
  *out = NULL;
  if (r == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  r->err = err;
  r->c = c;
  r->opt = o;
  r->sum.last_step = r->sum.checkpoint_step = -1;
  r->sum.intersections = -1;
  r->sum.min_gap = NAN;
  clock_reset(&r->clock); /* plugins may use timed services from create() on */
  loom_status s = mem_new(err, o->mem_check, &r->m);
  if (s == LOOM_OK) s = open_all(r, o);
  if (s != LOOM_OK) {
    run_failed(r, s);
    run_close(r, NULL);
    return s > 0 ? LOOM_E_INTERNAL : s;
  }
  *out = r;
  return LOOM_OK;
}

/* ---- executing --------------------------------------------------------------------------------
 */

static loom_status simulate(run *r, const run_options *o, int64_t first)
{
  const int64_t every = r->set.log.checkpoint_every * r->set.run.substeps;
  const int64_t end = r->first_step + r->sum.steps_planned;
  for (int64_t i = first; i < end && !r->sum.stopped; ++i) {
    const double begin = clock_now();
    LOOM_TRY(step_once(r, i));
    r->sum.wall += clock_now() - begin;
    const int ask = o->progress != NULL ? o->progress(o->user, r, &r->sum) != 0 : 0;
    r->sum.stopped = ask && i + 1 < end; /* after the last step nothing is left to stop */
    const int last = r->sum.stopped || i + 1 == end;
    if (r->log != NULL && r->rep.ref == NULL && (last || (every > 0 && (i + 1) % every == 0))) {
      LOOM_TRY(checkpoint_write(r, i));
      r->sum.checkpoint_step = i;
    }
  }
  return LOOM_OK;
}

/* Frame 0: the state from which the first step starts. */
static loom_status record_start(run *r)
{
  const double time = (double)r->first_step * r->st.h;
  if (r->rep.ref != NULL && r->sum.steps_planned > 0) {
    LOOM_TRY(replay_load(r, r->first_step));
    LOOM_TRY(buf_copy(r->m, &r->exec, r->st.v_end, r->st.v_start));
    LOOM_TRY(scene_pose(r->scene, time, time));
  }
  return record_frame(r, r->first_step - 1, time);
}

loom_status run_execute(run *r, const run_options *o)
{
  int64_t last_step = -1;
  loom_status s = LOOM_OK;
  r->first_step = r->rep.ref != NULL ? r->set.run.replay_first : 0;
  if (!o->no_log) {
    LOOM_TRY(output_folders(r));
    if (r->resume) LOOM_TRY(run_failed(r, checkpoint_read(r, o->resume_step, &last_step)));
    LOOM_TRY(run_failed(r, record_open(r, o, last_step)));
  }
  if (last_step < 0) s = record_start(r);
  const int64_t first = last_step >= 0 ? last_step + 1 : r->first_step;
  r->sum.steps_done = r->sum.steps_before = first - r->first_step;
  if (s == LOOM_OK) s = simulate(r, o, first);
  if (s > 0) s = err_set(r->err, LOOM_E_INTERNAL, "unexpected outcome: %s", err_status_text(s));
  run_failed(r, s);
  if (r->log != NULL) {
    char status[H5LOG_STATUS_LEN];
    loom_err second = {0};
    const loom_err why = *r->err; /* messages of a step that failed must not hide it */
    if (s == LOOM_OK)
      snprintf(status, sizeof status, "%s", r->sum.stopped ? "stopped" : "finished");
    else
      snprintf(status, sizeof status, "failed: %.200s", r->err->text);
    if (s != LOOM_OK && record_messages(r) != LOOM_OK) *r->err = why;
    const loom_status closed = h5log_close(r->log, &second, status);
    r->log = NULL;
    if (s == LOOM_OK && closed != LOOM_OK) {
      *r->err = second;
      s = closed;
    }
  }
  return s;
}

/* ---- closing ----------------------------------------------------------------------------------
 */

static int destroy(instance *in)
{
  const int complaints = call_destroy(in);
  free(in->settings);
  return complaints;
}

/* Buffers that plugins did not free, each reported by name. */
static int count_leaks(run *r)
{
  const instance *all[1 + 2 * RUN_MAX_INSTANCES];
  char text[1024];
  int n = 0, leaks = 0;
  all[n++] = &r->solver;
  for (int i = 0; i < r->num_collision; ++i) all[n++] = &r->collision[i];
  for (int i = 0; i < r->num_contact; ++i) all[n++] = &r->contact[i].in;
  for (int i = 0; i < n; ++i) {
    const int k = all[i]->created ? mem_leaks(r->m, all[i]->name, text, sizeof text) : 0;
    if (k > 0) {
      run_message(r, LOOM_LOG_WARN, "buffers left behind by a plugin:");
      run_message(r, LOOM_LOG_WARN, text);
    }
    leaks += k;
  }
  return leaks;
}

void run_close(run *r, int *leaks)
{
  if (leaks != NULL) *leaks = 0;
  if (r == NULL) return;
  loom_err keep = *r->err; /* taking apart must not overwrite the message */
  if (r->m != NULL) mem_release_maps(r->m);
  r->stepping = r->misused = 0;
  int complaints = destroy(&r->solver);
  for (int i = 0; i < RUN_MAX_INSTANCES; ++i) complaints += destroy(&r->contact[i].in);
  for (int i = 0; i < RUN_MAX_INSTANCES; ++i) complaints += destroy(&r->collision[i]);
  if (r->m != NULL) {
    if (leaks != NULL) *leaks = count_leaks(r) + complaints;
    detect_free(r);
    problem_free(r);
    replay_close(r);
    scene_free(r->scene);
    mem_free(r->m);
  }
  if (r->threads_before > 0) threads_limit(r->threads_before);
  exec_close(&r->exec);
  exec_close(&r->exec_host);
  registry_close(r->reg);
  columns_free(r);
  free(r->messages);
  *r->err = keep;
  free(r);
}

const run_summary *run_get_summary(const run *r) { return &r->sum; }
const char *run_out_path(const run *r) { return r->out_path; }
