/* Problems other than the step's own: results of the services for their terms, targets and step
 * sizes, of live and frozen contact.  The solvers of plugins/fx_problem.c compare in every
 * iteration and end the run where something disagrees. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(problem, .init = proc_enter, .fini = proc_leave);

/* A sheet with a pin, 0.6 mm over a floor, where the barrier of 1 mm is felt. */
#define SHEET                                                                             \
  "[run]\nsteps = 3\ndt = 0.002\n[exec]\nbackend = cpu\nthreads = 2\n"                    \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.06 "  \
  "0.06\nresolution = 5 5\ndensity = 0.2\n"                                               \
  "membrane = 100\nk_b = 1e-5\npins = top_left\ntransform = translate 0 0 0.0006\n"       \
  "[body.floor]\nshape = plane\nnormal = 0 0 1\nposition = 0 0 0\n"                       \
  "[collision.bodies]\nplugin = sdf\n[contact.all]\nplugin = ipc_barrier\nd_hat = 1e-3\n" \
  "[stop]\ntol_abs = 0\ntol_rel = 0\nmax_iters = 3\n[log]\naudit = off\n[solver]\nplugin = "

static void run_problem_solver(const char *solver, const char *damping, const char *friction)
{
  char path[512], ini[2048];
  loom_err err = {0};
  h5read *r = NULL;
  h5log_iter_row row;
  snprintf(path, sizeof path, "%s/problem:%s", getenv("LOOM_FIXTURE_DIR"),
           getenv("LOOM_PLUGIN_PATH"));
  setenv("LOOM_PLUGIN_PATH", path, 1);
  snprintf(ini, sizeof ini, SHEET "%s\n", solver);
  proc_write("problem.ini", ini);
  LOOM_FINE("run", "problem.ini", "--quiet", "-o", "problem.h5", "--set", damping, "--set",
            friction);
  cr_assert_eq(h5read_open(&err, "problem.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t rows = h5read_num_iters(r);
  cr_assert_geq(rows, 9);
  int64_t checked = 0;
  for (int64_t i = 0; i < rows; ++i) {
    cr_assert_eq(h5read_iters(r, &err, i, 1, &row), LOOM_OK, "%s", err.text);
    checked += row.inner_iters > 500; /* comparisons that iterate() made */
  }
  cr_assert_eq(checked, 9, "%d iterations compared something", (int)checked);
  h5read_close(r);
}

#define DAMPED   "cloth.sheet.stiffness_damping=0.001"
#define UNDAMPED "cloth.sheet.stiffness_damping=0"
#define RUBS     "body.floor.friction=0.5"
#define SLIDES   "body.floor.friction=0" /* frozen friction has secants, not its Hessian */

Test(problem, services_hold_with_live_contact) { run_problem_solver("fx_problem", UNDAMPED, RUBS); }
Test(problem, services_hold_with_frozen_contact_and_a_filter_at_the_end)
{
  run_problem_solver("fx_frozen", UNDAMPED, SLIDES);
}
Test(problem, services_hold_with_damping) { run_problem_solver("fx_problem", DAMPED, RUBS); }
Test(problem, services_hold_with_damping_and_frozen_contact)
{
  run_problem_solver("fx_frozen", DAMPED, SLIDES);
}
