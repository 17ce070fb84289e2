/* settings.c - parameter tables of the core's own sections. */
#include "run/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/plugin.h"
#include "run/base/field_names.h"

static const loom_param run_params[] = {
    LOOM_PARAM_INT(run_settings, steps, 100, 0, 1e9, "1",
                   "Time steps of dt to simulate; -n replaces it."),
    LOOM_PARAM_REAL(run_settings, dt, 0.01, 1e-9, 10, "s", "Time step."),
    LOOM_PARAM_INT(run_settings, substeps, 1, 1, 100000, "1",
                   "Equal parts each step is divided into; every part is solved, measured and "
                   "logged as a step of its own, and messages, logs and tables count parts."),
    LOOM_PARAM_GONE("scheme", "every step is a step of backward Euler; remove the key"),
    LOOM_PARAM_INT(run_settings, seed, 0, 0, 1e15, "1", "Seed of every random number in the run."),
    LOOM_PARAM_ENUM(
        run_settings, start, RUN_START_REFUSE, "refuse|exclude|untangle",
        "Intersections before the first step, and starts inside a body: refuse; exclude: "
        "contact leaves intersecting pairs out until they have parted, /steps counts "
        "them apart; untangle: cloth is moved apart, and out of bodies, until it is at "
        "least its thickness from all surfaces (small tangles, layers at one place; "
        "Volino and Magnenat-Thalmann 2006), remaining intersections are refused."),
    LOOM_PARAM_ENUM(run_settings, guess, RUN_GUESS_INERTIAL, "inertial|velocity|last",
                    "Initial guess of a step: the inertial target y, x + h v, or x."),
    LOOM_PARAM_ENUM(
        run_settings, forwarding, RUN_FORWARD_OFF, "off|paper|corrected|iterate",
        "Residual forwarding (Lan et al. 2024, eqs. 20 to 24): delta, the part that a step left "
        "undone, goes into the next one's target: 2 delta as printed; less the delta of "
        "the step before where a bound had cut that; or the part that the bound took."),
    LOOM_PARAM_INT(
        run_settings, forwarding_iters, 2, 1, 1000, "1",
        "Iterations of the solver that make up delta, for paper and corrected; 1 as printed."),
    LOOM_PARAM_REAL(run_settings, forwarding_below, 1, 0, 1, "1",
                    "Forwarding only after a step of which the last bound left at most this share "
                    "(alpha of its last row in /iters): the trigger of Lan et al. 2024, "
                    "Algorithm 1; 1: after each step."),
    LOOM_PARAM_PATH(run_settings, replay, "",
                    "Reference log: every step starts from its x and v, and from its state of "
                    "contact models, so that methods are compared on the same problems."),
    LOOM_PARAM_INT(run_settings, replay_first, 0, 0, 1e9, "1",
                   "Step of the reference log to begin with."),
    LOOM_PARAM_ENUM(run_settings, replay_state, RUN_REPLAY_REFERENCE, "reference|fresh",
                    "Contact models that keep something from step to step (stiffness, weights): "
                    "as it was in the reference, which must have the same model with the same "
                    "keys; or fresh: where it cannot be had, they begin every step anew."),
    LOOM_PARAM_PATH(
        run_settings, start_log, "",
        "Log of another run that has the state to begin with: positions and velocities "
        "of start_frame, and from [log] state the data of elements (frames of yarns), solver "
        "and contact models, as a replay takes them (replay_state).  The clock goes "
        "on from the frame, and steps are counted from there.  Meshes must be the "
        "same; all else may differ."),
    LOOM_PARAM_INT(run_settings, start_frame, -1, -1, 1e9, "1",
                   "Frame of start_log, 0 the start of that run; -1: the last one."),
};
static const loom_param exec_params[] = {
    LOOM_PARAM_ENUM(
        exec_settings, backend, EXEC_AUTO, "auto|cpu|cuda",
        "Where kernels run; auto: CUDA if a device is there, every plugin has it, and the "
        "scene has cuda_from vertices."),
    LOOM_PARAM_INT(
        exec_settings, cuda_from, 20000, 0, 1e9, "1",
        "With backend = auto: vertices from which a device is taken; below, its launches "
        "cost more than the work."),
    LOOM_PARAM_INT(exec_settings, threads, 0, 0, 4096, "1",
                   "CPU threads; 0: OMP_NUM_THREADS, or all cores."),
    LOOM_PARAM_BOOL(exec_settings, deterministic, 1,
                    "Same bits for any number of threads; pins threaded BLAS to one thread."),
    LOOM_PARAM_BOOL(exec_settings, fallback, 1,
                    "A plugin without CUDA may run on the host beside a CUDA core."),
    LOOM_PARAM_BOOL(exec_settings, memory_check, 1,
                    "Refuse a scene if its estimate of memory exceeds the limits of the machine, "
                    "ulimit, the control group and Slurm."),
    LOOM_PARAM_BOOL(
        exec_settings, debug, 0,
        "Synchronise after every launch, and check buffers: writes through READ maps and past "
        "either end, pointers kept after unmap. Slow; LOOM_MEM_CHECK=1 checks buffers."),
    LOOM_PARAM_TEXT(
        exec_settings, plugin_path, "",
        "Further plugin directories, colon-separated, searched first; relative to the file, "
        "which needs --trust-config, as code in them is run."),
};
static const loom_param stop_params[] = {
    LOOM_PARAM_ENUM(
        stop_settings, on, STOP_AUTO, "auto|next|solved|energy",
        "Number that ends a step: the residual in metres, auto: r_next where it exists, else "
        "r_solved; or r_energy, which means the same for every method and needs [log] "
        "error and tol_energy.  An iterate with an indefinite Hessian has not "
        "converged in energy."),
    LOOM_PARAM_REAL(
        stop_settings, tol_acc, 0.01, 0, 1e6, "m/s^2",
        "Converged when of every object (cloth, solid, yarn) the mass-weighted RMS of M^-1 r, the "
        "acceleration that is left, is at most this, for any time step; or when the residual "
        "is rounding of positions.  0: no such test.  Not read where tol_abs is given."),
    LOOM_PARAM_REAL(
        stop_settings, tol_abs, -1, -1, 1, "m",
        "The same as a length, in place of tol_acc: of every object the RMS of h^2 M^-1 r is at "
        "most this; 0: no such test; -1: not given.  It lets the more of a force pass the smaller "
        "dt is.  Rounding leaves about eps |x| h^2 D/(10 m) of it, D the stiffness of a vertex: a "
        "float build needs 1e-5 m or more."),
    LOOM_PARAM_REAL(
        stop_settings, tol_rel, 1e-4, 0, 1, "1",
        "Converged when of every object the RMS of h^2 M^-1 r is at most this share of its r_ref: "
        "sqrt(|h^2 g|^2 + d^2), d the RMS of y - x_start less the nearest rigid motion, the way "
        "that gravity and the object's own deformation (up to 12 times gravity's) lead in a step."),
    LOOM_PARAM_REAL(
        stop_settings, tol_energy, 0, 0, 1e6, "sqrt(J)",
        "With on = energy: converged when r_energy is at most this; tol_abs and tol_rel "
        "are then not read.  It is about sqrt(2 (E - E*))."),
    LOOM_PARAM_INT(stop_settings, max_iters, 100, 1, 1e9, "1", "Outer iterations per step."),
    LOOM_PARAM_REAL(stop_settings, time_budget_ms, 0, 0, 1e9, "ms",
                    "Wall time per step without measuring and logging; 0: none.  Iterations that "
                    "fit in it differ from run to run, and so do the bits of the result."),
    LOOM_PARAM_REAL(stop_settings, cpu_budget_ms, 0, 0, 1e9, "ms",
                    "The same of processor time, of all threads."),
    LOOM_PARAM_INT(stop_settings, byte_budget, 0, 0, 1e18, "B",
                   "Bytes per step that kernels and factors move (column n_bytes of the log); 0: "
                   "none.  A step ends after the iteration that reaches it, the same one in every "
                   "run."),
    LOOM_PARAM_REAL(stop_settings, diverged, 1e6, 1, 1e30, "1",
                    "Diverged when the residual exceeds this multiple of the larger of its first "
                    "value and r_ref."),
};
static const loom_param detect_params[] = {
    LOOM_PARAM_TEXT(detect_settings, every, "iteration",
                    "Collision detection: step, iteration, or every that many iterations."),
};
static const loom_param filter_params[] = {
    LOOM_PARAM_ENUM(filter_settings, when, FILTER_WHEN_AUTO, "auto|every|advice|end",
                    "When FILTER runs; auto: the solver's own choice, end with contact that "
                    "only corrects positions."),
    LOOM_PARAM_ENUM(
        filter_settings, bound, FILTER_BOUND_AUTO, "auto|none|global|vertex",
        "Step bound from collision; auto: global if a contact model needs it.  Each collision "
        "plugin that bounds steps must give the one that is asked for."),
    LOOM_PARAM_ENUM(filter_settings, go_on, FILTER_GO_AUTO, "auto|feasible|trial",
                    "Where iterations go on after a bound has cut one short, with when = advice: "
                    "from the feasible point, or from the trial; auto: trial if the contact model "
                    "is made for it."),
    LOOM_PARAM_ENUM(filter_settings, line_search, LINE_AUTO, "auto|on|off",
                    "Energy line search; auto: if the solver asks for it."),
    LOOM_PARAM_REAL(
        filter_settings, min_gap, 1e-8, 0, 1, "m",
        "Gap that every accepted step keeps, where a bound is in force; with 0 rounding "
        "decides whether a pair crosses in the end."),
    LOOM_PARAM_INT(filter_settings, max_backtracks, 40, 0, 1000, "1",
                   "Halvings of the step before the line search reports a stall."),
    LOOM_PARAM_INT(
        filter_settings, max_halvings, 12, 0, FILTER_MAX_HALVINGS, "1",
        "Halvings of a time step in which a moving body or pin cannot follow its motion without "
        "passing through something, or a contact model cannot resolve a collision, before the run "
        "ends with an error.  Up to 4 the whole step begins again in equal parts; beyond that "
        "only the blocked part is halved."),
    LOOM_PARAM_INT(filter_settings, repairs, 8, 0, 1000, "1",
                   "How often contact that iterates may pass through (go_on = trial) corrects the "
                   "end of a step by itself, before a bound cuts it."),
};
static const loom_param log_params[] = {
    LOOM_PARAM_TEXT(log_settings, file, "",
                    "HDF5 log, relative to the current directory; empty: out/<config name>.h5."),
    LOOM_PARAM_INT(log_settings, frames_every, 1, 1, 1e9, "1", "Steps between stored frames."),
    LOOM_PARAM_INT(
        log_settings, residual_every, 1, 1, 1e9, "1",
        "Iterations between measurements; 1 for research.  Steps of a one-shot method "
        "are counted through; steps without a measurement have no residual and no energies."),
    LOOM_PARAM_INT(log_settings, checkpoint_every, 20, 0, 1e9, "1",
                   "Steps between checkpoints; 0: only at the end."),
    LOOM_PARAM_INT(log_settings, compression, 0, 0, 9, "1",
                   "gzip level of frames; 0: none (gzip costs about 50 times the writing time)."),
    LOOM_PARAM_ENUM(log_settings, frames, 0, "f64|f32", "Precision of stored frames."),
    LOOM_PARAM_ENUM(
        log_settings, audit, AUDIT_END, "off|end|every|trajectory",
        "Audit by the core of cloth with itself and with bodies (meshes: exact; exact shapes: "
        "distances of edges and triangles): never, of the last frame, after "
        "every step, or there and of the straight way of every step, too (fast scenes; "
        "as verify --trajectory)."),
    LOOM_PARAM_TEXT(log_settings, fields, "",
                    "Numbers per vertex that frames hold, too, in /fields: any of contact_force "
                    "(N), residual (m), strain, gap (m), separated by spaces."),
    LOOM_PARAM_ENUM(
        log_settings, error, ERROR_OFF, "off|newton|projective",
        "Distance to the solution, r_energy in /iters, measured by the core and not "
        "charged to the method.  newton: sqrt(r' H^-1 r), one factorisation each time; projective: "
        "sqrt(r' P^-1 r), P the projective operator with contact as it is, about one "
        "back-substitution."),
    LOOM_PARAM_INT(log_settings, error_every, 1, 1, 1e9, "1",
                   "Iterations between two measurements of it; the last one is always measured."),
    LOOM_PARAM_ENUM(log_settings, error_by, ERROR_BY_AUTO, "auto|factor|cg",
                    "How its systems are solved: by factors of the module factors/cholmod.so, by "
                    "conjugate gradients, or auto: by the module where there is one."),
    LOOM_PARAM_BOOL(log_settings, kernels, 0,
                    "Launches, elements, bytes and time of every kernel go into /kernels, step by "
                    "step; every launch is waited for."),
    LOOM_PARAM_ENUM(log_settings, state, LOG_STATE_AUTO, "auto|off|all|frames",
                    "The state of plugins goes into the log with every step, so that it can be "
                    "replayed.  auto: of solver and contact models, where there is "
                    "a frame of every step; all: of collision plugins, too; frames: as auto, with "
                    "every frame, however rare, for a start_log."),
};

/* [solver], [collision.NAME], [contact.NAME]; further keys belong to the plugin. */
static const loom_param plugin_params[] = {
    LOOM_PARAM_TEXT(plugin_settings, plugin, NULL, "Name of the plugin.", LOOM_P_NO_DEFAULT)};
static const loom_param contact_params[] = {
    LOOM_PARAM_ENUM(contact_settings, pairs, CONTACT_ALL, "self|obstacle|all",
                    "Pairs this model answers for: of cloth with cloth, of cloth with bodies, or "
                    "both; two models may share a scene."),
    LOOM_PARAM_TEXT(contact_settings, collision, "",
                    "Names of the [collision.NAME] sections that find its pairs, separated by "
                    "spaces; empty: all of them."),
};

static const struct {
  const char *name;
  const loom_param *params;
  uint32_t count;
} sections[] = {
    {"run", run_params, LOOM_COUNT(run_params)},
    {"exec", exec_params, LOOM_COUNT(exec_params)},
    {"stop", stop_params, LOOM_COUNT(stop_params)},
    {"detect", detect_params, LOOM_COUNT(detect_params)},
    {"filter", filter_params, LOOM_COUNT(filter_params)},
    {"log", log_params, LOOM_COUNT(log_params)},
    /* bound with their plugins, see find_plugin() */
    {"solver", plugin_params, LOOM_COUNT(plugin_params)},
    {"collision", plugin_params, LOOM_COUNT(plugin_params)},
    {"contact", contact_params, LOOM_COUNT(contact_params)},
};

const loom_param *settings_params(const char *section, uint32_t *count)
{
  for (size_t i = 0; i < LOOM_COUNT(sections); ++i)
    if (strcmp(sections[i].name, section) == 0) {
      *count = sections[i].count;
      return sections[i].params;
    }
  *count = 0;
  return NULL;
}

/* A test on the energy needs [log] error, and a tolerance in its unit. */
static loom_status check_stop(loom_err *err, cfg *c, const settings *s)
{
  char place[1200];
  const cfg_section *const stop = cfg_find(c, "stop");
  if (s->stop.tol_abs < 0.0 && s->stop.tol_abs != -1.0)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: %g m is no bound; give a length from 0, or -1 for tol_acc in its place",
                   cfg_place(stop, "tol_abs", place, sizeof place), s->stop.tol_abs);
  if (s->stop.on != STOP_ENERGY && s->stop.tol_energy > 0.0)
    return err_set(err, LOOM_E_CONFIG, "%s: it is tested only with [stop] on = energy",
                   cfg_place(stop, "tol_energy", place, sizeof place));
  if (s->stop.on != STOP_ENERGY) return LOOM_OK;
  if (s->log.error == ERROR_OFF)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: r_energy is not measured; set [log] error = newton or projective",
                   cfg_place(stop, "on", place, sizeof place));
  if (!(s->stop.tol_energy > 0.0))
    return err_set(err, LOOM_E_CONFIG,
                   "%s: it needs [stop] tol_energy, in sqrt(J); tol_abs and tol_rel are of the "
                   "residual in metres",
                   cfg_place(stop, "on", place, sizeof place));
  return LOOM_OK;
}

void settings_drop_scheme(cfg *c, char *note, size_t len)
{
  char place[1200];
  const cfg_section *const s = cfg_need(c, "run");
  const char *const scheme = s != NULL ? cfg_text(s, "scheme") : NULL;
  note[0] = '\0';
  if (scheme == NULL || strcmp(scheme, "backward_euler") != 0) return;
  snprintf(note, len, "%s is the only scheme and no key any more: the line can be removed",
           cfg_place(s, "scheme", place, sizeof place));
  cfg_drop(s, "scheme");
}

loom_status settings_bind(loom_err *err, cfg *c, settings *out)
{
  void *const into[] = {&out->run, &out->exec, &out->stop, &out->detect, &out->filter, &out->log};
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < LOOM_COUNT(into); ++i)
    LOOM_TRY(cfg_bind(err, cfg_need(c, sections[i].name), sections[i].params, sections[i].count,
                      into[i]));

  char place[1200];
  detect_settings *const d = &out->detect;
  if (strcmp(d->every, "iteration") == 0) {
    d->period = 1;
  } else if (strcmp(d->every, "step") != 0) {
    char *end = NULL;
    d->period = strtoll(d->every, &end, 10);
    if (d->period < 1 || d->period > 1000000000 || *end != '\0')
      return err_set(err, LOOM_E_CONFIG,
                     "%s: '%s' is not a schedule; allowed: step, iteration, or a number from 1 to "
                     "1e9",
                     cfg_place(cfg_find(c, "detect"), "every", place, sizeof place), d->every);
  }
  LOOM_TRY(check_stop(err, c, out));
  if (field_names_parse(err, out->log.fields, &out->log.field_bits) != LOOM_OK) {
    err_prefix(err, "%s", cfg_place(cfg_find(c, "log"), "fields", place, sizeof place));
    return err->code;
  }
  if (out->run.dt / (double)out->run.substeps < 1e-9)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: %lld parts of %g s are below 1e-9 s each; lower it, or raise dt",
                   cfg_place(cfg_find(c, "run"), "substeps", place, sizeof place),
                   (long long)out->run.substeps, out->run.dt);
  if (out->run.replay_first > 0 && out->run.replay[0] == '\0')
    return err_set(err, LOOM_E_CONFIG, "%s: it needs [run] replay = FILE.h5",
                   cfg_place(cfg_find(c, "run"), "replay_first", place, sizeof place));
  if (out->run.start_frame >= 0 && out->run.start_log[0] == '\0')
    return err_set(err, LOOM_E_CONFIG, "%s: it needs [run] start_log = FILE.h5",
                   cfg_place(cfg_find(c, "run"), "start_frame", place, sizeof place));
  return LOOM_OK;
}
