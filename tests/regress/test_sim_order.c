/* The elements of a kernel run side by side on a device: in any order, the bits are
 * the same.  Only the simulated device can choose one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(sim_order, .init = proc_enter, .fini = proc_leave);

static void same_in_any_order(const char *config, const char *plugin)
{
  static const char *const orders[] = {"backward", "forward", "scattered"};
  char set[64], log[64];
  snprintf(set, sizeof set, "solver.plugin=%s", plugin);
  proc_write("drape.ini", config);
  for (int i = 0; i < 3; ++i) { /* 15 steps: in contact from step 5 on */
    setenv("LOOM_SIM_ORDER", orders[i], 1);
    snprintf(log, sizeof log, "%s.h5", orders[i]);
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "15", "-o", log, "--set", set, "--set",
              "exec.backend=cuda");
    if (i > 0) logs_same_bits("backward.h5", log, LOGS_UNBROKEN);
  }
  unsetenv("LOOM_SIM_ORDER");
}

Test(sim_order, cholmod_pd) { same_in_any_order(DRAPE "[solver]\n", "cholmod_pd"); }
Test(sim_order, vbd) { same_in_any_order(DRAPE "[solver]\n", "vbd"); }
Test(sim_order, chebyshev_pd) { same_in_any_order(DRAPE "[solver]\n", "chebyshev_pd"); }
Test(sim_order, xpbd) { same_in_any_order(DRAPE "[solver]\n", "xpbd"); }
Test(sim_order, ndb_pd) { same_in_any_order(DRAPE "[solver]\n", "ndb_pd"); }

Test(sim_order, barrier_with_self_contact)
{
  same_in_any_order(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
                    "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = patch_bvh\n"
                    "[contact.all]\nplugin = ipc_barrier\n[solver]\n",
                    "pcg_newton");
}

Test(sim_order, an_unknown_one_is_refused)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = gd\n");
  setenv("LOOM_SIM_ORDER", "sideways", 1);
  proc_expect_error(
      2, LOOM_TEXTS("LOOM_SIM_ORDER=sideways: backward, forward or scattered is known"),
      LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "a.h5", "--set", "exec.backend=cuda"));
  unsetenv("LOOM_SIM_ORDER");
}
