/* run.c - build one run from a config, execute it, take it apart. */
#include "run/run_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/seconds.h"
#include "run/base/balls.h"
#include "run/base/blas.h"
#include "run/base/plugin_dirs.h"
#include "run/base/process.h"
#include "run/checks/asked.h"
#include "run/checks/memory_estimate.h"
#include "run/plugins/call.h"
#include "run/record/checkpoint.h"
#include "run/record/output.h"
#include "run/record/record.h"
#include "run/replay/start_log.h"
#include "run/services/host.h"
#include "run/step/settle.h"
#include "run/step/step.h"

/* ---- opening ----
 */

static void watch_host_kernels(run *r)
{
  if (r->exec_host.instead != NULL) return;
  r->exec_host.watch = r->record.watch; /* of plugins that have no launchers for the device */
  r->exec_host.instead = r->exec.watch != NULL ? r->exec.instead : NULL;
}

static loom_status open_exec_place(run *r, int backend)
{
  const exec_settings *const e = &r->set.exec;
  LOOM_TRY(exec_open(r->err, backend, (int)e->threads, e->deterministic, e->debug, &r->exec));
  r->exec.launches = &r->work.kernels.launches;
  r->exec.bytes = &r->work.kernels.bytes;
  r->exec.why = r->why;
  if (backend == LOOM_CUDA) r->clock.exec = &r->exec;
  r->record.traffic = *exec_traffic_now();
  if (!r->set.log.kernels) return LOOM_OK;
  LOOM_TRY(exec_watch_new(r->err, r->m, &r->exec, &r->record.watch));
  watch_host_kernels(r);
  return LOOM_OK;
}

/* A plugin that has no launchers for CUDA, or NULL. */
static const char *on_cpu_alone(const run *r)
{
  const instance *all[RUN_ALL_INSTANCES] = {&r->solver};
  int n = 1;
  for (int i = 0; i < r->num_collision; ++i) all[n++] = &r->collision[i];
  for (int i = 0; i < r->num_contact; ++i) all[n++] = &r->contact[i].in;
  for (int i = 0; i < n; ++i)
    if (!(all[i]->plugin->backends & LOOM_ON_CUDA)) return all[i]->plugin->name;
  return NULL;
}

/* The reason against a device where `auto` may take one; else "". */
static void against_device(const run *r, char *why, size_t len)
{
  char reason[256];
  const char *const name = on_cpu_alone(r);
  why[0] = '\0';
  if (exec_cuda_devices(reason, sizeof reason) == 0)
    snprintf(why, len, "%s", reason);
  else if (name != NULL)
    snprintf(why, len, "%s has no launchers for CUDA", name);
}

/* Checks that need no scene, so that errors appear before it is built. */
static loom_status open_exec(run *r)
{
  const exec_settings *const e = &r->set.exec;
  char why[320], text[400];
  LOOM_TRY(exec_open(r->err, LOOM_CPU, (int)e->threads, e->deterministic, e->debug, &r->exec_host));
  r->exec_host.launches = &r->work.kernels.launches;
  r->exec_host.bytes = &r->work.kernels.bytes;
  r->exec_host.why = r->why;
  r->threads_before = threads_limit(r->exec_host.num_threads);
  if (e->backend != EXEC_AUTO)
    return open_exec_place(r, e->backend == EXEC_CUDA ? LOOM_CUDA : LOOM_CPU);
  against_device(r, why, sizeof why);
  if (why[0] == '\0') return LOOM_OK; /* the scene decides */
#ifdef LK_HAVE_CUDA
  snprintf(text, sizeof text, "runs on the CPU: %s", why);
  run_message(r, LOOM_LOG_INFO, text);
#else
  (void)text; /* a build without CUDA needs no reason */
#endif
  return open_exec_place(r, LOOM_CPU);
}

/* `auto` with a device: it takes it for scenes that are worth its launches. */
static loom_status choose_exec(run *r)
{
  const int64_t n = r->scene->pub.num_verts, least = r->set.exec.cuda_from;
  char name[128], text[400];
  if (r->exec.struct_size != 0) return LOOM_OK;
  LOOM_TRY(open_exec_place(r, n >= least ? LOOM_CUDA : LOOM_CPU));
  exec_cuda_name(0, name, sizeof name);
  snprintf(text, sizeof text, "runs on %s%s: %lld vertices, %s [exec] cuda_from = %lld",
           n >= least ? "" : "the CPU, not on ", name, (long long)n,
           n >= least ? "at least" : "fewer than", (long long)least);
  run_message(r, LOOM_LOG_INFO, text);
  return LOOM_OK;
}

static loom_status make_scene_in_program(run *r, const run_options *o)
{
  LOOM_TRY(o->make_scene(o->user, r->err, r->m, &r->scene));
  return scene_check_thickness(r->err, r->scene);
}

/* Of foreign frames all, or as many as are asked for. */
static void plan_steps(run *r, const run_options *o)
{
  const int64_t asked = o->steps >= 0 ? o->steps : r->set.run.steps;
  r->sum.steps_planned = asked * r->set.run.substeps;
  r->sum.substeps = r->set.run.substeps;
  if (o->foreign == NULL) return;
  const int64_t all = o->foreign->num_frames - 1;
  if (o->steps < 0 || r->sum.steps_planned > all) r->sum.steps_planned = all;
}

static loom_status open_run_parts(run *r, const run_options *o)
{
  char note[1400];
  settings_drop_scheme(r->c, note, sizeof note);
  if (note[0] != '\0') run_message(r, LOOM_LOG_INFO, note);
  LOOM_TRY(settings_bind(r->err, r->c, &r->set));
  plan_steps(r, o);
  blas_settle(&r->set.exec);
  if (!o->no_log) LOOM_TRY(output_choose(r, o));
  if (r->set.exec.debug) mem_check_on(r->m);
  char dirs[8192];
  LOOM_TRY(plugin_dirs(r, o, dirs, sizeof dirs));
  LOOM_TRY(registry_scan(r->err, dirs, &r->reg));
  LOOM_TRY(instances_find(r));
  LOOM_TRY(blas_reserve(r->err, &r->set.exec, r->solver.plugin, &r->blas_taken));
  LOOM_TRY(open_exec(r));
  if (o->make_scene != NULL)
    LOOM_TRY(make_scene_in_program(r, o));
  else
    LOOM_TRY(memory_estimate_build(r, o->look_only));
  LOOM_TRY(choose_exec(r));
  if (r->scene->notes != NULL) run_message(r, LOOM_LOG_INFO, r->scene->notes);
  if (r->scene->warnings != NULL) run_message(r, LOOM_LOG_WARN, r->scene->warnings);
  LOOM_TRY(cfg_finish(r->err, r->c));
  if (r->scene->pub.num_obstacles > RUN_MAX_OBSTACLES)
    return err_set(r->err, LOOM_E_CONFIG, "%s: %d obstacles, at most %d are supported",
                   cfg_path(r->c), r->scene->pub.num_obstacles, RUN_MAX_OBSTACLES);
  LOOM_TRY(scene_resolve(r->err, r->scene, r->set.run.dt / (double)r->set.run.substeps));
  LOOM_TRY(bodies_open(r->err, r->m, &r->scene->pub, &r->bodies));
  LOOM_TRY(problem_new(r));
  if (o->scene_only) return LOOM_OK;
  LOOM_TRY(instances_fit(r));
  LOOM_TRY(filter_open(r));
  blocked_motion_open(r);
  LOOM_TRY(balls_open(r));
  LOOM_TRY(asked_check(r));
  LOOM_TRY(state_new(r));
  problem_pose(r);
  LOOM_TRY(columns_new(r));
  LOOM_TRY(detect_new(r));
  LOOM_TRY(scene_pose(r->scene, 0.0, 0.0));
  LOOM_TRY(replay_open(r));
  LOOM_TRY(foreign_open(r));
  LOOM_TRY(start_log_open(r));
  LOOM_TRY(switch_pins_open(r));
  LOOM_TRY(problem_diag(r));
  LOOM_TRY(objects_new(r));
  LOOM_TRY(switch_pins_start(r));
  LOOM_TRY(islands_new(r));
  LOOM_TRY(run_check_tolerance(r));
  LOOM_TRY(run_check_thin(r));
  LOOM_TRY(run_check_gas(r));
  LOOM_TRY(run_check_inside(r));
  LOOM_TRY(run_check_threads(r));
  LOOM_TRY(error_open(r));
  LOOM_TRY(vertex_fields_open(r));
  LOOM_TRY(instances_create(r, host_attach));
  return replay_ready(r);
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
  r->sum.intersections = r->sum.passes = r->sum.num_shapes = -1;
  r->sum.min_gap = NAN;
  clock_reset(&r->clock); /* plugins may use timed services from create() on */
  loom_status s = mem_new(err, o->mem_check, &r->m);
  if (s == LOOM_OK) s = open_run_parts(r, o);
  if (s != LOOM_OK) {
    run_failed(r, s);
    run_close(r, NULL);
    return s > 0 ? LOOM_E_INTERNAL : s;
  }
  *out = r;
  return LOOM_OK;
}

/* ---- executing ----
 */

static loom_status simulate_steps(run *r, const run_options *o, int64_t first)
{
  const int64_t every = r->set.log.checkpoint_every * r->set.run.substeps;
  int64_t end = r->first_step + r->sum.steps_planned;
  for (int64_t i = first; i < end && !r->sum.stopped; ++i) {
    const double begin = seconds_now();
    LOOM_TRY(step_once(r, i));
    r->sum.wall += seconds_now() - begin;
    int settled = 0;
    if (!foreign_or_replay(r)) LOOM_TRY(settle_look(r, i + 1 == end, &settled));
    if (settled) {
      end = i + 1;
      r->sum.steps_planned = end - r->first_step;
    }
    const int ask = o->progress != NULL ? o->progress(o->user, r, &r->sum) != 0 : 0;
    r->sum.stopped = ask && i + 1 < end; /* after the last step there is no step to stop */
    const int last = r->sum.stopped || i + 1 == end;
    if (r->record.log != NULL && !foreign_or_replay(r) &&
        (last || (every > 0 && (i + 1) % every == 0))) {
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
  if (start_log_waits(r)) {
    LOOM_TRY(start_log_take(r));
    LOOM_TRY(buf_copy(r->m, &r->exec, r->st.v_end, r->st.v_start));
    LOOM_TRY(scene_pose(r->scene, time, time));
  } else if (foreign_or_replay(r) && r->sum.steps_planned > 0) {
    LOOM_TRY(replay_load(r, r->first_step));
    LOOM_TRY(buf_copy(r->m, &r->exec, r->st.v_end, r->st.v_start));
    LOOM_TRY(scene_pose(r->scene, time, time));
  }
  LOOM_TRY(vertex_fields_record_start(r));
  return record_frame(r, r->first_step - 1, time);
}

/* The same of a log that begins at a checkpoint. */
static loom_status record_checkpoint(run *r, int64_t step)
{
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.v_end, r->st.v_start));
  LOOM_TRY(scene_pose(r->scene, r->st.time, r->st.time));
  LOOM_TRY(vertex_fields_record_start(r));
  return record_frame(r, step, r->st.time);
}

/* The run ended with s; returns that, or the error on closing. */
static loom_status close_log(run *r, const run_options *o, loom_status s)
{
  char status[H5LOG_STATUS_LEN], reason[H5LOG_STATUS_LEN], time[PROCESS_TIME_LEN];
  loom_err second = {0};
  const loom_err why = *r->err; /* messages of a step that failed must not hide it */
  const int named = s == LOOM_OK && r->sum.stopped && o->stopper != NULL;
  if (s == LOOM_OK)
    snprintf(status, sizeof status, "%s", r->sum.stopped ? "stopped" : "finished");
  else
    snprintf(status, sizeof status, "failed: %.200s", r->err->text);
  snprintf(reason, sizeof reason, "%.200s%s%s", status, named ? ": " : "",
           named ? o->stopper(o->user) : "");
  if (s != LOOM_OK && messages_write(r) != LOOM_OK) *r->err = why;
  process_time(time);
  h5log_set_end(
      r->record.log,
      &(h5log_end){.exit_reason = reason, .end_time = time, .rss_peak = process_rss_peak()});
  const loom_status closed = h5log_close(r->record.log, &second, status);
  r->record.log = NULL;
  if (s != LOOM_OK || closed == LOOM_OK) return s;
  *r->err = second;
  return closed;
}

loom_status run_try_start(run *r)
{
  if (r->rep.ref != NULL || start_log_waits(r) || r->sum.steps_planned == 0 ||
      r->scene->empty_grids)
    return LOOM_OK;
  const loom_status s = step_try_start(r, 0);
  if (s > 0) return err_set(r->err, LOOM_E_INTERNAL, "unexpected outcome: %s", err_status_text(s));
  return run_failed(r, s);
}

loom_status run_execute(run *r, const run_options *o)
{
  int64_t last_step = -1;
  loom_status s = LOOM_OK;
  if (r->rep.ref != NULL && !start_log_waits(r)) r->first_step = r->set.run.replay_first;
  if (!o->no_log) {
    LOOM_TRY(output_folders(r));
    if (r->out.resume) LOOM_TRY(run_failed(r, checkpoint_read(r, o->resume_step, &last_step)));
    LOOM_TRY(run_failed(r, record_open(r, o, last_step)));
  }
  if (o->opened != NULL) o->opened(o->user);
  if (last_step >= 0) start_log_close(r); /* the checkpoint has the state */
  if (last_step < 0)
    s = record_start(r);
  else if (r->out.anew)
    s = record_checkpoint(r, last_step);
  const int64_t first = last_step >= 0 ? last_step + 1 : r->first_step;
  r->sum.steps_done = r->sum.steps_before = first - r->first_step;
  if (s == LOOM_OK) s = simulate_steps(r, o, first);
  if (s > 0) s = err_set(r->err, LOOM_E_INTERNAL, "unexpected outcome: %s", err_status_text(s));
  run_failed(r, s);
  return r->record.log != NULL ? close_log(r, o, s) : s;
}

/* ---- closing ----
 */

void run_close(run *r, int *complaints)
{
  if (complaints != NULL) *complaints = 0;
  if (r == NULL) return;
  loom_err keep = *r->err; /* taking apart must not overwrite the message */
  if (r->m != NULL) mem_release_maps(r->m);
  r->calls.stepping = r->calls.misused = 0;
  const int found = instances_destroy(r);
  if (complaints != NULL) *complaints = found;
  if (r->m != NULL) {
    detect_free(r);
    error_close(r);
    state_free(r);
    balls_free(r);
    problem_free(r);
    replay_close(r);
    foreign_close(r);
    bodies_close(r->bodies);
    scene_free(r->scene);
    mem_free(r->m);
  }
  vertex_fields_close(r);
  islands_free(r);
  trajectory_free(r);
  if (r->threads_before > 0) threads_limit(r->threads_before);
  exec_close(&r->exec);
  exec_close(&r->exec_host);
  exec_watch_free(r->record.watch);
  registry_close(r->reg);
  columns_free(r);
  filter_close(r);
  messages_free(r);
  *r->err = keep;
  free(r);
}

const run_summary *run_get_summary(const run *r) { return &r->sum; }
const char *run_out_path(const run *r) { return r->out.path; }
