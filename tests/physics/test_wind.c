/* Wind on cloth: terminal velocity and lift against the law of a flat plate, step by step. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(wind, .init = proc_enter, .fini = proc_leave);

static const double g = 9.81, h = 0.01, sigma = 0.1, rho = 1.2, c_n = 1.28, c_t = 0.05;

#define SHEET                                                                                 \
  "[run]\nsteps = 150\ndt = 0.01\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-13\n"           \
  "tol_rel = 0\nmax_iters = 20\n[solver]\nplugin = cholmod_newton\n[cloth.sheet]\npattern = " \
  "regular\n"                                                                                 \
  "size = 0.6 0.4\nresolution = 5 4\ndensity = 0.1\nmembrane = 100\n"                         \
  "model = arap+isometric\nk_b = 1e-4\n[log]\naudit = off\n"
#define AIR "[wind]\ndensity = 1.2\nnormal = 1.28\ntangential = 0.05\n"

static char solvers[11][32] = {"gd",    "cholmod_newton", "pcg_newton", "cholmod_pd",
                               "aa_pd", "chebyshev_pd",   "ndb_pd",     "vbd",
                               "xpbd",  "pd_bfgs",        "cama_pcg"};

ParameterizedTestParameters(wind, terminal_velocity)
{
  return cr_make_param_array(char[32], solvers, 11);
}

/* v' (1 + h c |v| / m) = v + h g down to the terminal velocity v^2 = 2 sigma g / (rho c_n). */
ParameterizedTest(char solver[32], wind, terminal_velocity)
{
  char set[64];
  double v = 0, z = 0, most = 0;
  const double terminal = sqrt(2 * sigma * g / (rho * c_n));
  sim s;
  snprintf(set, sizeof set, "solver.plugin=%s", solver);
  sim_run(&s, SHEET AIR, (const char *const[]){set, NULL}, 0);
  for (int k = 0; k < 150; ++k) {
    v = (v + h * g) / (1 + h * rho * c_n * v / (2 * sigma));
    z -= h * v;
  }
  for (int64_t i = 0; i < s.n; ++i) {
    cr_expect_float_eq(-s.v[3 * i + 2], terminal, 1e-6 * terminal, "%s: %.9g m/s, not %.9g", solver,
                       -s.v[3 * i + 2], terminal);
    most = fmax(most, fabs(s.x[3 * i + 2] - z));
  }
  cr_expect_lt(most, 1e-10, "%s: %.3g m from the law", solver, most);
  sim_free(&s);
}

/* One step of a plate at 30 degrees in a flow along x, from rest: force along the flow and across
 * it, with v implicit. */
Test(wind, drag_and_lift_at_an_angle)
{
  const double U = 8, a = 3.14159265358979323846 / 6, q = 0.5 * rho * U / sigma; /* 1/s */
  const double kn = q * c_n / (1 + h * q * c_n), kt = q * c_t / (1 + h * q * c_t);
  const double drag = U * (kn * sin(a) * sin(a) + kt * cos(a) * cos(a));
  const double lift = U * (kn - kt) * sin(a) * cos(a);
  sim s;
  sim_run(&s, SHEET AIR "velocity = 8 0 0\n",
          (const char *const[]){"run.steps=1", "run.gravity=0 0 0",
                                "cloth.sheet.transform=rotate 0 1 0 30", NULL},
          0);
  for (int64_t i = 0; i < s.n; ++i) {
    cr_assert_float_eq(s.v[3 * i], h * drag, 1e-9, "%.9g, not %.9g", s.v[3 * i], h * drag);
    cr_assert_float_eq(s.v[3 * i + 1], 0, 1e-9);
    cr_assert_float_eq(s.v[3 * i + 2], h * lift, 1e-9, "%.9g, not %.9g", s.v[3 * i + 2], h * lift);
  }
  sim_free(&s);
}

/* A small sheet across the flow: in the first step its velocity is that of the gust there. */
Test(wind, gusts_swing_and_travel)
{
  const double two_pi = 2 * 3.14159265358979323846;
  const double U = 8 * (1 + 0.4 * sin(two_pi * (h / 0.13 - 0.7 / 1.9)));
  const double q = 0.5 * rho * U * c_n / sigma;
  sim s;
  sim_run(&s, SHEET AIR "velocity = 8 0 0\ngust = 0.4\ngust_period = 0.13\ngust_length = 1.9\n",
          (const char *const[]){"run.steps=1", "run.gravity=0 0 0",
                                "cloth.sheet.transform=rotate 0 1 0 90 translate 0.7 0.2 0.3",
                                NULL},
          0);
  for (int64_t i = 0; i < s.n; ++i) cr_assert_float_eq(s.v[3 * i], h * q * U / (1 + h * q), 1e-9);
  sim_free(&s);
}

/* Explicit drag would turn the velocity of this light sheet round in every step. */
Test(wind, light_cloth_takes_on_the_velocity_of_a_storm)
{
  sim s;
  sim_run(&s, SHEET AIR "velocity = 0 0 60\n",
          (const char *const[]){"cloth.sheet.density=0.01", "run.gravity=0 0 0", NULL}, 0);
  for (int64_t i = 0; i < s.n; ++i) {
    cr_assert_gt(s.v[3 * i + 2], 40);
    cr_assert_lt(s.v[3 * i + 2], 60);
  }
  sim_free(&s);
}

Test(wind, resumes_replays_and_any_number_of_threads)
{
  proc_write("scene.ini", SHEET AIR "velocity = 5 1 0\ngust = 0.5\ngust_length = 0.7\n"
                                    "[pin.p]\nobject = sheet\nwhere = left\n");
  proc_write("a.ini", "include = scene.ini\n[run]\nsteps = 20\n[stop]\ntol_abs = 1e-9\n[log]\n"
                      "checkpoint_every = 5\n");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "-n", "12");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "--resume=9");
  LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "one.h5", "--threads", "1");
  LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "again.h5", "--set", "run.replay=whole.h5");
  LOOM_FINE("compare", "whole.h5", "again.h5", "--tol", "0");
  proc_expect_error(2, LOOM_TEXTS("[wind] velocity is 5 1 0 there"),
                    LOOM_ARGS("run", "a.ini", "--quiet", "-o", "other.h5", "--set",
                              "run.replay=whole.h5", "--set", "wind.velocity=4 0 0"));
  LOOM_FINE("describe", "wind");
}

Test(wind, refusals_name_the_key)
{
  proc_write("b.ini", SHEET "[wind]\nvelocty = 1 0 0\n");
  proc_expect_error(2, LOOM_TEXTS("b.ini:", "velocty", "velocity"), LOOM_ARGS("check", "b.ini"));
  proc_write("b.ini", SHEET "[wind]\ngust_period = 2\n");
  proc_expect_error(2, LOOM_TEXTS("[wind] gust_period", "has no effect"),
                    LOOM_ARGS("check", "b.ini"));
  proc_write("b.ini", SHEET "[wind]\ndensity = -1\n");
  proc_expect_error(2, LOOM_TEXTS("[wind] density"), LOOM_ARGS("check", "b.ini"));
  proc_write("b.ini", "[run]\nsteps = 1\n[solver]\nplugin = gd\n[solid.a]\n[wind]\n");
  proc_expect_error(2, LOOM_TEXTS("[wind]", "there is no cloth"), LOOM_ARGS("check", "b.ini"));
}
