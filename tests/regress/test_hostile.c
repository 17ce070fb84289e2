/* Plugins that break rules in every callback: the core survives or names the plugin that ended it,
 * the exit code is never that of a success, and the message names plugin, callback and step. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "support/proc.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Nine vertices on a string: no system is solved, but every callback is called. */
static const char scene[] = "[run]\ndt = 0.01\nsteps = 2\nguess = last\n"
                            "[stop]\ntol_abs = 1e-12\ntol_rel = 0\nmax_iters = 2\n"
                            "[exec]\nbackend = cpu\nthreads = 1\n"
                            "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = "
                            "grid\nsize = 0.2 0.2\nresolution = 3 3\n"
                            "density = 0.2\nmembrane = 1\nk_b = 1e-6\nthickness = 1 mm\n"
                            "pins = 0\n"
                            "[body.ball]\nshape = sphere\nradius = 0.1\nposition = 0 0 -0.3\n"
                            "[log]\naudit = off\ncheckpoint_every = 1\n"
                            "[solver]\nplugin = fx_hostile\n"
                            "[collision.c]\nplugin = fx_hostile\n"
                            "[contact.c]\nplugin = fx_hostile\n";

static char folder[1024];

static void create_hostile_scene(void)
{
  const char *const dir = getenv("LOOM_FIXTURE_DIR");
  cr_assert(dir != NULL);
  snprintf(folder, sizeof folder, "%s/hostile", dir);
  proc_enter();
  proc_write("h.ini", scene);
}

TestSuite(hostile, .init = create_hostile_scene, .fini = proc_leave);

typedef struct deed {
  const char *section, *fault; /* "solver", "iterate:segv" */
  const char *texts[4];        /* of the message, beside the plugin's name */
} deed;

static void run_with_fault(const char *section, const char *fault, const char *more, proc *p)
{
  char set[256];
  snprintf(set, sizeof set, "%s.fault=%s", section, fault);
  proc_loom(p, LOOM_ARGS("run", "h.ini", "--quiet", "--overwrite", "-o", "h.h5", "--plugin-path",
                         folder, "--set", set, "--set", more != NULL ? more : "run.steps=2"));
}

static void expect_deed_text(const deed *d, const proc *p, const char *text)
{
  cr_expect(strstr(p->err, text) != NULL, "[%s] %s: '%s' is not in:\n%s", d->section, d->fault,
            text, p->err);
}

/* Exit code 1 and one message with all texts. */
static void expect_refusal_of_deed(const deed *d, const char *more)
{
  proc p;
  run_with_fault(d->section, d->fault, more, &p);
  cr_expect_eq(p.code, 1, "[%s] %s: exit code %d:\n%s", d->section, d->fault, p.code, p.err);
  for (int i = 0; i < 4 && d->texts[i] != NULL; ++i) expect_deed_text(d, &p, d->texts[i]);
}

Test(hostile, works_without_a_fault)
{
  proc p;
  run_with_fault("solver", "", NULL, &p);
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_assert_eq(proc_error_lines(p.err), 0, "%s", p.err);
}

/* ---- the process is ended ----
 */

typedef struct place {
  const char *section, *callback, *where;
} place;

static const place places[] = {
    {"solver", "create", "fx_hostile.create() of [solver]"},
    {"solver", "begin_step", "fx_hostile.begin_step() of [solver], step 0;"},
    {"solver", "contact_changed", "fx_hostile.contact_changed() of [solver], step 0;"},
    {"solver", "iterate", "fx_hostile.iterate() of [solver], step 0, iteration 0;"},
    {"solver", "accepted", "fx_hostile.accepted() of [solver], step 0, iteration 0;"},
    {"solver", "end_step", "fx_hostile.end_step() of [solver], step 0;"},
    {"solver", "checkpoint", "fx_hostile.checkpoint() of [solver], step 0;"},
    {"solver", "destroy", "fx_hostile.destroy() of [solver];"},
    {"collision.c", "create", "fx_hostile.create() of [collision.c];"},
    {"collision.c", "begin_step", "fx_hostile.begin_step() of [collision.c], step 0;"},
    {"collision.c", "detect", "fx_hostile.detect() of [collision.c], step 0;"},
    {"collision.c", "max_step", "fx_hostile.max_step() of [collision.c], step 0;"},
    {"collision.c", "end_step", "fx_hostile.end_step() of [collision.c], step 0;"},
    {"collision.c", "checkpoint", "fx_hostile.checkpoint() of [collision.c], step 0;"},
    {"collision.c", "destroy", "fx_hostile.destroy() of [collision.c];"},
    {"contact.c", "create", "fx_hostile.create() of [contact.c];"},
    {"contact.c", "begin_step", "fx_hostile.begin_step() of [contact.c], step 0;"},
    {"contact.c", "plan", "fx_hostile.plan() of [contact.c], step 0;"},
    {"contact.c", "update", "fx_hostile.update() of [contact.c], step 0;"},
    {"contact.c", "update_accept", "fx_hostile.update() of [contact.c], step 0, iteration 0;"},
    {"contact.c", "eval", "fx_hostile.eval() of [contact.c], step 0;"},
    {"contact.c", "hessian", "fx_hostile.hessian() of [contact.c], step 0, iteration 0;"},
    {"contact.c", "quad", "fx_hostile.quad() of [contact.c], step 0, iteration 0;"},
    {"contact.c", "resolve", "fx_hostile.resolve() of [contact.c], step 0, iteration 1;"},
    {"contact.c", "metrics", "fx_hostile.metrics() of [contact.c], step 0;"},
    {"contact.c", "velocity", "fx_hostile.velocity() of [contact.c], step 0;"},
    {"contact.c", "end_step", "fx_hostile.end_step() of [contact.c], step 0;"},
    {"contact.c", "checkpoint", "fx_hostile.checkpoint() of [contact.c], step 0;"},
    {"contact.c", "destroy", "fx_hostile.destroy() of [contact.c];"},
    {"contact.c", "lacks", "fx_hostile.lacks();"},
};
enum { NUM_PLACES = sizeof places / sizeof places[0] };

/* `where` without its last character: a sanitizer's report follows it. */
static void expect_named_death(const place *at, const char *act, int sig, const char *name)
{
  proc p;
  char fault[64], text[256];
  const deed d = {at->section, fault, {NULL}};
  snprintf(fault, sizeof fault, "%s:%s", at->callback, act);
  run_with_fault(at->section, fault, NULL, &p);
  const int kept = SANITIZED && sig != SIGABRT && sig != SIGILL; /* the sanitizer's own signals */
  const size_t n = strcspn(at->where, ";");
  cr_expect_eq(p.code, kept ? 1 : -sig, "%s: code %d:\n%s", fault, p.code, p.err);
  if (kept)
    snprintf(text, sizeof text, "loom: the process ended in %.*s", (int)n, at->where);
  else
    snprintf(text, sizeof text, "loom: signal %d (%s) in %s", sig, name, at->where);
  expect_deed_text(&d, &p, text);
}

Test(hostile, segmentation_faults_are_placed)
{
  for (int i = 0; i < NUM_PLACES; ++i)
    expect_named_death(&places[i], "segv", SIGSEGV, "segmentation fault");
}

Test(hostile, other_signals_are_placed)
{
  const place *const iterate = &places[3], *const detect = &places[10], *const eval = &places[20];
  expect_named_death(iterate, "abort", SIGABRT, "abort");
  expect_named_death(detect, "abort", SIGABRT, "abort");
  expect_named_death(eval, "abort", SIGABRT, "abort");
  expect_named_death(iterate, "fpe", SIGFPE, "arithmetic fault");
  expect_named_death(iterate, "bus", SIGBUS, "bus error");
  expect_named_death(iterate, "ill", SIGILL, "illegal instruction");
  expect_named_death(iterate, "stack", SIGSEGV, "segmentation fault");
  expect_named_death(iterate, "thread", SIGSEGV, "segmentation fault");
}

/* For every exit code that the plugin chose. */
Test(hostile, exit_is_a_failure)
{
  static const char *const acts[] = {"exit", "exit3", "quick_exit"};
  for (int i = 0; i < NUM_PLACES; ++i) {
    proc p;
    char fault[64], text[256];
    const deed d = {places[i].section, fault, {NULL}};
    snprintf(fault, sizeof fault, "%s:%s", places[i].callback, acts[i % 3]);
    snprintf(text, sizeof text, "loom: exit() was called in %s", places[i].where);
    run_with_fault(places[i].section, fault, NULL, &p);
    cr_expect_eq(p.code, 1, "%s: exit code %d:\n%s", fault, p.code, p.err);
    expect_deed_text(&d, &p, text);
  }
}

/* A file that ends the process while it is opened, or asked for its kind. */
Test(hostile, loading_is_guarded)
{
  const deed none = {"solver", "", {NULL}};
  proc p;
  setenv("FX_LOAD", "exit", 1);
  run_with_fault("solver", "", NULL, &p);
  cr_expect_eq(p.code, 1, "exit code %d", p.code);
  expect_deed_text(&none, &p, "loom: exit() was called while ");
  expect_deed_text(&none, &p, "/hostile/fx_hostile.so was opened");
  setenv("FX_LOAD", "abort", 1);
  run_with_fault("solver", "", NULL, &p);
  cr_expect_eq(p.code, -SIGABRT, "code %d", p.code);
  expect_deed_text(&none, &p, "loom: signal 6 (abort) while ");
  unsetenv("FX_LOAD");
  setenv("FX_QUERY", "exit3", 1);
  run_with_fault("solver", "", NULL, &p);
  cr_expect_eq(p.code, 1, "exit code %d", p.code);
  expect_deed_text(&none, &p, "loom: exit() was called in fx_hostile.loom_plugin_query();");
  unsetenv("FX_QUERY");
}

/* ---- statuses ----
 */

Test(hostile, statuses_that_no_callback_has)
{
  static const char *const acts[] = {"s42", "s-77", "s4", "s2", "s-11", "s1"};
  for (int i = 0; i < NUM_PLACES; ++i) {
    char fault[64], text[64];
    const char *act = acts[i % 6];
    const char *const c = places[i].callback;
    if (strcmp(c, "destroy") == 0 || strcmp(c, "lacks") == 0) continue; /* they return none */
    /* statuses that this one callback may return */
    if (strcmp(c, "eval") == 0 && strcmp(act, "s2") == 0) act = "s4";
    if (strcmp(act, "s4") == 0 &&
        (strcmp(c, "detect") == 0 || strcmp(c, "hessian") == 0 || strcmp(c, "quad") == 0))
      act = "s2";
    if (strcmp(c, "iterate") == 0 && strcmp(act, "s1") == 0) act = "s2";
    snprintf(fault, sizeof fault, "%s:%s", c, act);
    snprintf(text, sizeof text, "(): returned %s", act + 1);
    expect_refusal_of_deed(&(deed){places[i].section, fault, {text, places[i].section}}, NULL);
  }
}

Test(hostile, errors_have_a_place)
{
  static const deed deeds[] = {
      {"solver",
       "iterate:fail",
       {"loom: step 0, iteration 0: [solver] plugin fx_hostile, iterate(): pivot 12 is -1; raise "
        "the shift (acts.c:"}},
      {"contact.c",
       "quad:s-6",
       {"loom: step 0, iteration 0: [solver] plugin fx_hostile, iterate(): [contact.c] plugin "
        "fx_hostile, quad(): LOOM_E_NUMERIC: "}},
      {"collision.c",
       "begin_step:fail",
       {"loom: step 0: [collision.c] plugin fx_hostile, begin_step(): pivot 12"}},
      {"solver", "create:fail", {"loom: [solver] plugin fx_hostile: pivot 12"}},
      {"contact.c",
       "checkpoint:fail",
       {"loom: step 0: [contact.c] plugin fx_hostile, checkpoint(): pivot 12"}},
      {"solver",
       "iterate:unmap",
       {"step 0, iteration 0: [solver] plugin fx_hostile, iterate(): buffer 'x' of core: "
        "unmapped, but it is not mapped"}},
  };
  for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; ++i)
    expect_refusal_of_deed(&deeds[i], NULL);
}

/* An error that comes through another plugin names both, and the step once. */
Test(hostile, nested_calls_name_both)
{
  const deed d = {"solver", "", {NULL}};
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "h.ini", "--quiet", "--overwrite", "-o", "h.h5", "--plugin-path",
                          folder, "--set", "collision.c.fault=detect_again:fail", "--set",
                          "contact.c.fault=resolve:nothing"));
  cr_expect_eq(p.code, 1, "exit code %d", p.code);
  expect_deed_text(
      &d, &p,
      "loom: step 0, iteration 1: [contact.c] plugin fx_hostile, resolve(): [collision.c] plugin "
      "fx_hostile, detect(): pivot 12");
}

Test(hostile, maps_are_returned)
{
  for (int i = 0; i < NUM_PLACES; ++i) {
    char fault[64], text[64];
    const char *const c = places[i].callback;
    if (strcmp(c, "destroy") == 0 || strcmp(c, "lacks") == 0) continue;
    snprintf(fault, sizeof fault, "%s:keep_map", c);
    snprintf(text, sizeof text, "still mapped; every map needs its unmap");
    expect_refusal_of_deed(&(deed){places[i].section, fault, {text, "(): returned with buffer"}},
                           NULL);
  }
}

/* Resuming and replaying call callbacks that an ordinary run does not. */
Test(hostile, restore_and_reset)
{
  static const char *const sections[] = {"solver", "collision.c", "contact.c"};
  proc p;
  for (int i = 0; i < 3; ++i) {
    char set[64];
    const deed d = {sections[i], "reset:segv", {NULL}};
    const int code = SANITIZED ? 1 : -SIGSEGV;
    run_with_fault("solver", "", NULL, &p);
    cr_assert_eq(p.code, 0, "%s", p.err);
    cr_assert_eq(rename("h.h5", "ref.h5"), 0);
    snprintf(set, sizeof set, "%s.fault=reset:segv", sections[i]);
    proc_loom(&p, LOOM_ARGS("run", "h.ini", "--quiet", "--overwrite", "-o", "h.h5", "--plugin-path",
                            folder, "--set", "run.replay=ref.h5", "--set", set));
    cr_expect_eq(p.code, code, "code %d: %s", p.code, p.err);
    expect_deed_text(&d, &p,
                     "in fx_hostile.reset() of ["); /* a replay begins with it, before any step */
  }
  run_with_fault("solver", "", NULL, &p);
  setenv("FX_FAULT", "restore:fail", 1);
  proc_loom(&p, LOOM_ARGS("run", "h.ini", "--quiet", "-o", "h.h5", "--plugin-path", folder, "-n",
                          "3", "--resume", "--set", "solver.fault=", "--set", "run.steps=2"));
  unsetenv("FX_FAULT");
  cr_expect_eq(p.code, 1, "code %d", p.code);
  expect_deed_text(&(deed){"solver", "restore:fail", {NULL}}, &p,
                   "loom: [solver] plugin fx_hostile, checkpoint(): pivot 12");
}

/* ---- results ----
 */

static void all_refused(const deed *d, size_t num, const char *more)
{
  for (size_t i = 0; i < num; ++i) expect_refusal_of_deed(&d[i], more);
}
#define ALL_REFUSED(d, more) all_refused((d), sizeof(d) / sizeof((d)[0]), (more))

Test(hostile, what_is_not_written_is_not_used)
{
  static const deed deeds[] = {
      {"solver",
       "iterate:nothing",
       {"step 0, iteration 0: [solver]", "without writing step->trial"}},
      {"solver", "iterate:half", {"step->trial is not finite, first at vertex 4"}},
      {"solver", "create:null", {"[solver] plugin fx_hostile, create(): ", "left *self NULL"}},
  };
  ALL_REFUSED(deeds, NULL);
  /* only the change of x looks at it without a bound */
  static const deed free[] = {
      {"solver", "iterate:half", {"iterate(): step->trial is not finite, first at vertex 4"}},
      {"solver", "iterate:nothing", {"without writing step->trial"}},
  };
  ALL_REFUSED(free, "filter.bound=none");
}

Test(hostile, numbers_are_finite)
{
  static const deed deeds[] = {
      {"solver", "iterate:nan", {"iterate(): step->trial is not finite, first at vertex 2"}},
      {"solver", "iterate:inf", {"iterate(): step->trial is not finite, first at vertex 2"}},
      {"solver",
       "iterate:huge",
       {"iterate(): step->trial is too large to be squared, first at vertex 2"}},
      {"solver", "begin_step:nan", {"begin_step(): step->trial, the initial guess, is not finite"}},
      {"solver", "end_step:nan", {"step 0: ", "end_step(): step->v_end is not finite"}},
      {"solver", "end_step:nan_force", {"end_step(): step->f_next is not finite"}},
      {"contact.c", "velocity:nan", {"step 0: ", "velocity(): step->v_end is not finite"}},
      {"contact.c", "resolve:nan", {"resolve(): x_trial is not finite, first at vertex 2"}},
      {"contact.c", "eval:nan", {"eval(): gave energy = nan J"}},
      {"contact.c", "eval:minus_inf", {"eval(): gave energy = -inf J"}},
      {"contact.c", "eval:nan_dissipation", {"eval(): gave dissipation = nan J"}},
      {"contact.c", "eval:gradient", {"eval(): its gradient is not finite, first at vertex 2"}},
      {"contact.c", "metrics:negative", {"metrics(): gave active = -5"}},
      {"collision.c", "max_step:long", {"max_step(): gave t_global = 2"}},
      {"collision.c", "max_step:nan", {"max_step(): gave t_global = nan"}},
      {"collision.c", "max_step:blocker", {"max_step(): gave blocker = 9999"}},
  };
  ALL_REFUSED(deeds, NULL);
  static const deed vertex[] = {
      {"collision.c", "max_step:vertex_long", {"max_step(): 1 of 9 numbers in t_vertex"}},
      {"collision.c", "max_step:vertex_nan", {"max_step(): 1 of 9 numbers in t_vertex"}},
  };
  ALL_REFUSED(vertex, "filter.bound=vertex");
}

Test(hostile, counts_and_ids_are_within_range)
{
  static const deed deeds[] = {
      {"collision.c", "detect:over", {"detect(): returned LOOM_OK with count = 1002 pairs"}},
      {"collision.c", "detect:negative", {"detect(): returned LOOM_OK with count = -1 pairs"}},
      {"collision.c", "detect:fewer", {"detect(): returned LOOM_OK with count = -1 pairs"}},
      {"collision.c", "detect:grow_most", {"detect(): asked for room for 9223372036854775807"}},
      {"collision.c", "detect:grow_huge", {"detect(): asked for room for 2000000000 pairs"}},
      {"collision.c", "detect:grow_less", {"detect(): returned LOOM_GROW with count = 0 pairs"}},
      {"collision.c", "detect:kind", {"detect(): pair 1 cannot be: kind 77,"}},
      {"collision.c", "detect:other_kind", {"kind 0,", "asked for are: vertex-obstacle"}},
      {"collision.c", "detect:id", {"v = {123456789, -1, -1, -1}", "there are 9 vertices"}},
      {"collision.c", "detect:id_negative", {"v = {-5, -1, -1, -1}"}},
      {"collision.c", "detect:id_unused", {"v = {1, -1, -1, 123456789}"}},
      {"collision.c", "detect:body", {"obst 99;", "and 1 bodies"}},
      {"collision.c", "detect:body_negative", {"obst -2;"}},
      {"contact.c", "hessian:over", {"hessian(): returned LOOM_OK with count = 1001 blocks"}},
      {"contact.c", "hessian:negative", {"hessian(): returned LOOM_OK with count = -1 blocks"}},
      {"contact.c", "hessian:grow_most", {"hessian(): asked for room for 9223372036854775807"}},
      {"contact.c", "hessian:grow_less", {"hessian(): returned LOOM_GROW with count = 0"}},
      {"contact.c", "hessian:row", {"hessian(): row[0] = 123456789 is no vertex"}},
      {"contact.c", "hessian:col", {"hessian(): col[0] = -1 is no vertex"}},
      {"contact.c", "quad:over", {"quad(): returned LOOM_OK with count = 1001 terms"}},
      {"contact.c", "quad:negative", {"quad(): returned LOOM_OK with count = -1 terms"}},
      {"contact.c", "quad:grow_most", {"quad(): asked for room for 9223372036854775807"}},
      {"contact.c", "quad:grow_less", {"quad(): returned LOOM_GROW with count = 0"}},
      {"contact.c", "quad:id", {"quad(): v[1] = 123456789 is no vertex"}},
      {"contact.c", "quad:id_negative", {"quad(): v[1] = -9 is no vertex"}},
      {"contact.c", "update:changed", {"update(): gave changed = 0xff00"}},
  };
  ALL_REFUSED(deeds, test_on_cuda() ? "exec.debug=1" : NULL);
  /* on a device they are only counted without it, and the run ends all the same */
  for (size_t i = 0; test_on_cuda() && i < sizeof deeds / sizeof deeds[0]; ++i)
    expect_refusal_of_deed(&(deed){deeds[i].section, deeds[i].fault, {"loom: step 0"}}, NULL);
}

Test(hostile, queries_can_be_meant)
{
  static const deed deeds[] = {
      {"contact.c", "plan:x0", {"plan(): of the query, x0 is not a buffer of positions"}},
      {"contact.c", "plan:x0_short", {"plan(): of the query, x0 is not a buffer of positions"}},
      {"contact.c", "plan:margin", {"plan(): of the query, margin is not finite"}},
      {"contact.c", "plan:what", {"plan(): of the query, what has unknown bits"}},
      {"contact.c", "plan:progress", {"plan(): of the query, progress0 or progress1"}},
      {"contact.c", "plan:undeclared", {"continuous collision queries", "do not declare"}},
      {"contact.c", "plan:undeclared_mask", {"queries of marked vertices", "do not declare"}},
      {"solver", "iterate:detect_x0", {"iterate(): of the query, x0 is not"}},
  };
  ALL_REFUSED(deeds, NULL);
}

/* ---- services ----
 */

Test(hostile, services_refuse_arguments_by_name)
{
  static const char *const null[][3] = {
      {"eval_p", "eval", "p"},
      {"eval_x", "eval", "x"},
      {"eval_e", "eval", "e"},
      {"eval_grad", "eval", "grad"},
      {"hessian_x", "hessian", "x"},
      {"hessian_out", "hessian", "H"},
      {"apply_p", "hess_apply", "d"},
      {"quad_out", "contact_quad", "out"},
      {"map_buf", "map", "b"},
      {"map_p", "map", "p"},
      {"copy_src", "buf_copy", "src"},
      {"new_out", "buf_new", "out"},
      {"new_name", "buf_new", "name"},
      {"dot_out", "dot", "out"},
      {"dot_a", "dot", "a"},
      {"axpby_y", "axpby", "y"},
      {"norm_out", "norm_max3", "out"},
      {"spmv_A", "spmv_bsr3", "A"},
      {"scan_in", "scan_i64", "in"},
      {"sort_perm", "sort_u64", "perm"},
      {"match_old", "match_keys", "old_key"},
      {"detect_q", "detect", "q"},
      {"step_out", "max_step", "out"},
      {"count_buf", "buf_count", "b"},
  };
  for (size_t i = 0; i < sizeof null / sizeof null[0]; ++i) {
    char fault[64], text[128];
    snprintf(fault, sizeof fault, "iterate:%s", null[i][0]);
    snprintf(text, sizeof text, "[solver] plugin fx_hostile, iterate(): host->%s(): %s is NULL",
             null[i][1], null[i][2]);
    expect_refusal_of_deed(&(deed){"solver", fault, {"step 0, iteration 0: ", text}}, NULL);
  }
  static const deed deeds[] = {
      {"solver", "iterate:eval_short", {"host->eval(): x is buffer 'own' with 3 items"}},
      {"solver", "iterate:eval_type", {"host->eval(): x is buffer 'object'", "not real"}},
      {"solver", "iterate:eval_what", {"host->eval(): what = 64"}},
      {"solver", "iterate:terms", {"host->hessian(): the problem has", "terms 0x40"}},
      {"solver", "iterate:h", {"host->hessian(): the problem has h = nan"}},
      {"solver", "iterate:target", {"host->hessian(): p->target is buffer 'own' with 3 items"}},
      {"solver", "iterate:contact", {"host->hessian(): the problem has contact = 7"}},
      {"solver", "iterate:inertia", {"the problem has inertia = 0 1/s^2, it must"}},
      {"solver", "iterate:metric", {"host->hessian(): the problem has metric = 2"}},
      {"solver", "iterate:metric_pd", {"host->pd_operator()", "LOOM_METRIC_DIAGONAL"}},
      {"solver", "iterate:frozen", {"host->hessian()", "contact has not been frozen"}},
      {"solver", "iterate:hessian_how", {"host->hessian(): how = 77"}},
      {"solver", "iterate:apply_how", {"host->hess_apply(): how = 3"}},
      {"solver", "iterate:blocks_how", {"host->contact_hessian(): how = -1"}},
      {"solver", "iterate:elem_block", {"element block 99 does not exist"}},
      {"solver", "iterate:elem_range", {"host->elem_hessians(): 2147483647 elements from 1 on"}},
      {"solver", "iterate:elem_out", {"host->elem_hessians(): out is buffer 'trial'"}},
      {"solver", "iterate:state_io", {"host->state_io() outside checkpoint()"}},
      {"solver", "checkpoint:name", {"host->state_io(): name is NULL"}},
  };
  ALL_REFUSED(deeds, NULL);
}

/* The fit test cannot be gone around. */
Test(hostile, undeclared_needs)
{
  static const deed deeds[] = {
      {"solver",
       "iterate:undeclared",
       {"host->pd_operator()", "do not declare: element projection"}},
      {"solver", "iterate:undeclared_freeze", {"host->freeze_contact()", "do not declare"}},
  };
  ALL_REFUSED(deeds, NULL);
}

Test(hostile, buffers_of_others_stay)
{
  static const deed deeds[] = {
      {"solver", "iterate:resize", {"host->buf_resize(): buffer 'x' belongs to the core"}},
      {"solver", "iterate:free", {"host->buf_free(): buffer 'x' belongs to the core"}},
      {"solver", "create:free", {"host->buf_free(): buffer 'mass' belongs to the scene"}},
      {"solver", "destroy:free", {"host->buf_free(): buffer 'mass' belongs to the scene"}},
      {"solver", "iterate:free_twice", {"host->buf_free(): this is no buffer of this run"}},
      {"contact.c", "update:resize_pairs", {"buffer 'pairs.v' belongs to the core"}},
      {"contact.c", "update:free_pairs", {"buffer 'pairs.v' belongs to the core"}},
      {"collision.c", "begin_step:free", {"step 0: [collision.c]", "buffer 'x' belongs to"}},
  };
  ALL_REFUSED(deeds, NULL);
}
