/* Friction with the normal forces of the last iterate makes Newton's method a fixed-point
 * iteration.  These drapes have steps in which full steps go to and fro between two states for
 * ever (sticking and free, by 2 mm); both Newtons must solve all of them to rounding. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(friction_lag, .init = proc_enter, .fini = proc_leave);

static void all_converge(const char *plugin, const char *set, const char *more)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_step_row s;
  char solver[64];
  int64_t most = 0, contacts = 0;
  snprintf(solver, sizeof solver, "solver.plugin=%s", plugin);
  proc_write("drape.ini", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_PLUGINS DRAPE_LOG
             "[stop]\ntol_abs = 1e-10\ntol_rel = 0\nmax_iters = 80\n[solver]\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "30", "--overwrite", "-o", "run.h5", "--set",
            solver, "--set", set, "--set", more);
  cr_assert_eq(h5read_open(&err, "run.h5", &r), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < h5read_num_steps(r); ++i) {
    cr_assert_eq(h5read_steps(r, &err, i, 1, &s), LOOM_OK, "%s", err.text);
    cr_expect_eq(s.reason, H5LOG_converged_abs, "%s, %s: step %lld ended with %s after %lld",
                 plugin, set, (long long)i, h5log_reason_name((int)s.reason), (long long)s.iters);
    most = s.iters > most ? s.iters : most;
    contacts += s.contacts;
  }
  printf("friction_lag, %s, %s: at most %lld iterations\n", plugin, set, (long long)most);
  cr_expect_gt(contacts, 1000);
  cr_expect_gt(most, 15, "no friction to speak of: the test would be empty");
  h5read_close(r);
}

/* without damping: steps 26 and 27; 22 and 28; 11 */
static const char *const cases[][2] = {{"body.ball.friction=1.0", "run.dt=0.01"},
                                       {"body.ball.friction=0.6", "run.dt=0.01"},
                                       {"run.dt=0.02", "body.ball.friction=0.3"}};

static void all_cases(const char *plugin)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    all_converge(plugin, cases[i][0], cases[i][1]);
}

Test(friction_lag, cholmod_newton) { all_cases("cholmod_newton"); }
Test(friction_lag, pcg_newton) { all_cases("pcg_newton"); }
