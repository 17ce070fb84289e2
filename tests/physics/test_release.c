/* Pins with hold_until and hold_from: vertices fall freely after their release, to rounding, and
 * are carried from where they were caught. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(release, .init = proc_enter, .fini = proc_leave);

static const double g = 9.81, h = 0.01;
enum { STEPS = 16, FREE = 10 }; /* released or caught before step 6 */

#define RUN                                                                                   \
  "[run]\nsteps = 16\ndt = 0.01\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-14\n"            \
  "tol_rel = 0\nmax_iters = 20\n[solver]\nplugin = cholmod_newton\n[cloth.sheet]\npattern = " \
  "regular\n"                                                                                 \
  "size = 0.2\nresolution = 4\ndensity = 0.2\nmembrane = 100\nmodel = arap+isometric\n"       \
  "k_b = 1e-4\nthickness = 1 mm\n"
#define ALL "[pin.p]\nobject = sheet\nwhere = box -1 -1 -1 1 1 1\n"

/* v_k = v_0 - k h g from the release on, and x = x_0 + 6 h v_0 before it. */
static double largest_fall_error(const sim *s, const double v0[3], int free_steps)
{
  double most = 0;
  for (int64_t k = 0; k < 3 * s->n; ++k) {
    const double fall = k % 3 == 2 ? g * h * h * free_steps * (free_steps + 1) / 2 : 0;
    most = fmax(most, fabs(s->x[k] - (s->rest[k] + STEPS * h * v0[k % 3] - fall)));
  }
  return most;
}

static char solvers[10][32] = {
    "gd",  "cholmod_newton", "pcg_newton", "cholmod_pd", "aa_pd", "chebyshev_pd", "ndb_pd",
    "vbd", "xpbd",           "pd_bfgs"}; /* the last one refuses an object that is all pinned */

ParameterizedTestParameters(release, falls_freely)
{
  return cr_make_param_array(char[32], solvers, 9);
}

ParameterizedTest(char solver[32], release, falls_freely)
{
  static const double v0[3] = {0.3, 0, -0.2}, none[3] = {0, 0, 0};
  char set[400];
  sim s;
  snprintf(set, sizeof set, "solver.plugin=%s", solver);
  sim_run(&s, RUN ALL "motion = translate 0.3 0 -0.2\nhold_until = 0.06\n",
          (const char *const[]){set, NULL}, 0);
  cr_expect_lt(largest_fall_error(&s, v0, FREE), 1e-12, "%s: %.3g m", solver,
               largest_fall_error(&s, v0, FREE));
  sim_free(&s);
  /* springs hold nearly where they are told, and pull no more afterwards: the control of both */
  sim_run(&s, RUN ALL "stiffness = 1e6\nhold_until = 0.06\n", (const char *const[]){set, NULL}, 0);
  cr_expect_lt(largest_fall_error(&s, none, FREE), 1e-4, "%s: %.3g m", solver,
               largest_fall_error(&s, none, FREE));
  sim_free(&s);
}

/* The middle of the step decides, so that rounding of times does not. */
Test(release, holds_in_steps_with_their_middle_in_its_time)
{
  static const double none[3] = {0, 0, 0};
  static const struct {
    const char *until;
    int free_steps;
  } cases[] = {{"pin.p.hold_until=0.0649", FREE}, {"pin.p.hold_until=0.0651", FREE - 1}};
  for (int k = 0; k < 2; ++k) {
    sim s;
    sim_run(&s, RUN ALL, (const char *const[]){cases[k].until, NULL}, 0);
    cr_assert_lt(largest_fall_error(&s, none, cases[k].free_steps), 1e-12);
    sim_free(&s);
  }
}

/* Sheets fall for 6 steps, then move on with the pin from where they are. */
Test(release, catches_vertices_where_they_are)
{
  const double fall = g * h * h * 6 * 7 / 2, angle = FREE * h * 3.14159265358979323846 / 2;
  static const char *const pins[3] = {
      "motion = rotate 0 0 1 0.3 0.1 0 90\n",
      "body = drum\n[body.drum]\nshape = sphere\nradius = 0.1\nposition = 5 5 5\n"
      "motion = rotate 0 0 1 0.3 0.1 0 90\n[contact.none]\nplugin = none\n",
      ""};
  for (int p = 0; p < 3; ++p) {
    char text[2000];
    double most = 0;
    sim s;
    snprintf(text, sizeof text, RUN ALL "hold_from = 0.06\n%s", pins[p]);
    sim_run(&s, text, NULL, 0);
    for (int64_t v = 0; v < s.n; ++v) {
      const double *const r = s.rest + 3 * v, *const x = s.x + 3 * v;
      const double q[2] = {r[0] - 0.3, r[1] - 0.1}, a = p < 2 ? angle : 0;
      most = fmax(most, fabs(x[0] - (0.3 + cos(a) * q[0] - sin(a) * q[1])));
      most = fmax(most, fabs(x[1] - (0.1 + sin(a) * q[0] + cos(a) * q[1])));
      most = fmax(most, fabs(x[2] - (r[2] - fall)));
    }
    cr_expect_lt(most, 1e-12, "pin %d: %.3g m", p, most);
    sim_free(&s);
  }
}

/* A vertex goes from one pin to the next one: the first moves up, the second down. */
Test(release, pins_take_turns)
{
  sim s;
  sim_run(&s,
          RUN ALL "motion = translate 0 0 1\nhold_until = 0.06\n[pin.q]\nobject = sheet\n"
                  "where = box -1 -1 -1 1 1 1\nmotion = translate 0.5 0 0\nhold_from = 0.06\n",
          NULL, 0);
  for (int64_t k = 0; k < s.n; ++k) {
    cr_expect_float_eq(s.x[3 * k], s.rest[3 * k] + 0.05, 1e-13);
    cr_expect_float_eq(s.x[3 * k + 2], s.rest[3 * k + 2] + 0.06, 1e-13);
  }
  sim_free(&s);
}

/* ---- a sheet that swings on one corner after the other is released ---- */

#define SWING                                                                                   \
  "[pin.a]\nobject = sheet\nwhere = 0\n[pin.b]\nobject = sheet\nwhere = 3\nhold_until = 0.06\n" \
  "motion = translate 0 0.4 0\n[pin.c]\nobject = sheet\nwhere = 12\nhold_from = 0.1\n"

/* Every solver has the same problem: they agree. */
Test(release, solvers_agree_across_a_switch)
{
  sim truth;
  sim_run(&truth, RUN SWING,
          (const char *const[]){"stop.tol_abs=1e-12", "stop.max_iters=100", NULL}, 0);
  for (int k = 0; k < 10; ++k) {
    char set[400];
    double most = 0;
    sim s;
    snprintf(set, sizeof set, "solver.plugin=%s", solvers[k]);
    sim_run(&s, RUN SWING,
            (const char *const[]){set, "stop.tol_abs=1e-9", "stop.max_iters=3000", "log.audit=off",
                                  NULL},
            0);
    for (int64_t i = 0; i < 3 * s.n; ++i) most = fmax(most, fabs(s.x[i] - truth.x[i]));
    cr_expect_lt(most, 2e-6, "%s: %.3g m from cholmod_newton", solvers[k], most);
    sim_free(&s);
  }
  sim_free(&truth);
}

#define CONTACT                                                                         \
  "[collision.self]\nplugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n"         \
  "[body.table]\nshape = box\nsize = 1 1 0.02\nmesh_size = 0.1\nposition = 0 0 -0.02\n" \
  "sdf_resolution = 0\n"

Test(release, resumes_replays_and_any_number_of_threads)
{
  static const char *const sets[3][2] = {
      {"solver.plugin=cholmod_newton", "contact.all.plugin=ipc_barrier"},
      {"solver.plugin=ndb_pd", "contact.all.plugin=ndb"},
      {"solver.plugin=cholmod_pd", "contact.all.plugin=dbb"}};
  proc_write("a.ini", RUN SWING CONTACT "[log]\ncheckpoint_every = 4\naudit = every\n");
  for (int k = 0; k < 3; ++k) {
    const char *const a = sets[k][0], *const b = sets[k][1];
#define WITH "--quiet", "--overwrite", "--set", a, "--set", b, "--set", "stop.tol_abs=1e-6"
    LOOM_FINE("run", "a.ini", WITH, "-o", "whole.h5");
    LOOM_FINE("run", "a.ini", WITH, "-o", "early.h5", "-n", "5");
    LOOM_FINE("run", "a.ini", "--quiet", "--set", a, "--set", b, "--set", "stop.tol_abs=1e-6", "-o",
              "early.h5", "--resume=3"); /* before the release */
    LOOM_FINE("compare", "whole.h5", "early.h5", "--tol", "0");
    LOOM_FINE("run", "a.ini", WITH, "-o", "late.h5", "-n", "9");
    LOOM_FINE("run", "a.ini", "--quiet", "--set", a, "--set", b, "--set", "stop.tol_abs=1e-6", "-o",
              "late.h5", "--resume=7"); /* behind it */
    LOOM_FINE("compare", "whole.h5", "late.h5", "--tol", "0");
    LOOM_FINE("run", "a.ini", WITH, "-o", "one.h5", "--threads", "1");
    LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
    LOOM_FINE("run", "a.ini", WITH, "-o", "again.h5", "--set", "run.replay=whole.h5");
    LOOM_FINE("compare", "whole.h5", "again.h5", "--tol", "1e-9");
  }
}

Test(release, refusals_name_the_key)
{
  static const struct {
    int lines;
    const char *pin, *texts[3];
  } cases[] = {
      {1, "hold_from = 0.2\nhold_until = 0.1\n", {"[pin.p] hold_until", "above hold_from"}},
      {2,
       "hold_until = 0.2\n[pin.q]\nobject = sheet\nwhere = 3\nhold_from = 0.1\n",
       {"vertex 3 is held by two pins at one time"}},
      {1, "hold_untill = 1\n", {"hold_untill", "hold_until"}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char text[2000];
    snprintf(text, sizeof text, RUN ALL "%s", cases[k].pin);
    proc_write("b.ini", text);
    proc_expect_errors(2, cases[k].lines, cases[k].texts, LOOM_ARGS("check", "b.ini"));
  }
}
