/* A projective solver that believes the headers word by word: L x = b with host->pd_rhs(), in a
 * scene with pins.  It checks the gradient of every iteration against L x - b itself
 * (plugins/fx_textbook.c); here it must arrive where cholmod_pd does. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(textbook, .init = proc_enter, .fini = proc_leave);

#define SHEET                                                                            \
  "[run]\nsteps = 5\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 2\n"                    \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.3 "  \
  "0.3\nresolution = 7 7\ndensity = 0.2\n"                                               \
  "membrane = 100\nk_b = 1e-5\npins = top_left top_right\ntransform = rotate 1 0 0 40\n" \
  "pin_motion = translate 0.3 0 0.2 0 1\n"                                               \
  "[stop]\ntol_abs = 1e-11\ntol_rel = 0\nmax_iters = 5000\n[log]\naudit = off\n[solver]\n"

/* Every step ended by tol_abs. */
static void check_textbook_converged(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_step_row s;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  const int64_t steps = h5read_num_steps(r);
  cr_assert_gt(steps, 0);
  for (int64_t i = 0; i < steps; ++i) {
    cr_assert_eq(h5read_steps(r, &err, i, 1, &s), LOOM_OK, "%s", err.text);
    cr_assert_eq(s.reason, H5LOG_converged_abs, "%s: step %lld ended with %s, residual %g m", path,
                 (long long)i, h5log_reason_name((int)s.reason), s.r_final);
  }
  h5read_close(r);
}

Test(textbook, pinned_sheet_is_that_of_cholmod_pd)
{
  char path[512];
  snprintf(path, sizeof path, "%s/textbook:%s", getenv("LOOM_FIXTURE_DIR"),
           getenv("LOOM_PLUGIN_PATH"));
  setenv("LOOM_PLUGIN_PATH", path, 1);
  proc_write("textbook.ini", SHEET "plugin = fx_textbook\n");
  proc_write("pd.ini", SHEET "plugin = cholmod_pd\nmomentum = none\n");
  LOOM_FINE("run", "textbook.ini", "--quiet", "-o", "textbook.h5");
  LOOM_FINE("run", "pd.ini", "--quiet", "-o", "pd.h5");
  check_textbook_converged("textbook.h5");
  check_textbook_converged("pd.h5");
  const double d = logs_distance("textbook.h5", "pd.h5");
  printf("textbook: %.3g m from cholmod_pd after 5 steps\n", d);
  cr_assert(d < 1e-9, "%g m", d);
}
