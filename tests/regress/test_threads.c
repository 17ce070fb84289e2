/* Same config, 1, 2 and 4 threads, and a second run: the same bits. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/day.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(threads, .init = proc_enter, .fini = proc_leave);

static void same_in(const char *config, const char *plugin, const char *set)
{
  static const char *const threads[] = {"2", "4", "1"}; /* the last: a second run */
  char solver[64];
  snprintf(solver, sizeof solver, "solver.plugin=%s", plugin);
  proc_write("drape.ini", config);
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "one.h5", "--threads", "1", "--set", solver,
            "--set", set);
  cr_assert_eq(log_is_whole("one.h5", "finished"), 25);
  for (int i = 0; i < 3; ++i) {
    LOOM_FINE("run", "drape.ini", "--quiet", "--overwrite", "-o", "many.h5", "--threads",
              threads[i], "--set", solver, "--set", set);
    logs_same_bits("one.h5", "many.h5", LOGS_UNBROKEN);
  }
}

static void same_with(const char *plugin, const char *set)
{
  same_in(DRAPE "[solver]\n", plugin, set);
}

static void same_for_all(const char *plugin) { same_with(plugin, "exec.backend=cpu"); }

/* Impacts of all first rounds: no other column tells that they were resolved. */
static double impacts_found(const char *log)
{
  loom_err err = {0};
  h5read *r = NULL;
  double v[64], total = 0.0;
  cr_assert_eq(h5read_open(&err, log, &r), LOOM_OK, "%s", err.text);
  const int64_t steps = h5read_num_steps(r);
  cr_assert_leq(steps, 64);
  cr_assert_eq(h5read_column(r, &err, "steps_extra", "contact.impacts.first", 'R', 0, steps, v),
               LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < steps; ++i) total += v[i];
  h5read_close(r);
  return total;
}

Test(threads, gd) { same_for_all("gd"); }
Test(threads, cholmod_pd) { same_for_all("cholmod_pd"); }
Test(threads, aa_pd) { same_for_all("aa_pd"); }
Test(threads, cholmod_newton) { same_for_all("cholmod_newton"); }
Test(threads, cholmod_newton_by_amd)
{
  test_of_the_night();
  same_with("cholmod_newton", "solver.ordering=amd");
}
Test(threads, pcg_newton) { same_for_all("pcg_newton"); }
Test(threads, cama_pcg)
{
  test_of_the_night();
  same_for_all("cama_pcg");
}
Test(threads, vbd) { same_for_all("vbd"); }
Test(threads, xpbd) { same_for_all("xpbd"); }
Test(threads, chebyshev_pd) { same_for_all("chebyshev_pd"); }
Test(threads, pd_bfgs) { same_for_all("pd_bfgs"); }
Test(threads, split_steps)
{
  same_in(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
          "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = patch_bvh\n"
          "[contact.all]\nplugin = ipc_barrier\nd_hat = 2 mm\n[solver]\n",
          "pd_bfgs", "exec.backend=cpu");
}
Test(threads, one_linear_system_a_step)
{
  test_of_the_night();
  same_in(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
          "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = patch_bvh\n"
          "[contact.all]\nplugin = cama_repulsion\nself_friction = 0.3\n[solver]\n",
          "cama_pcg", "exec.backend=cpu");
}
Test(threads, impacts_in_one_system)
{
  test_of_the_night();
  same_in(DRAPE_IMPACTS "[solver]\n", "cama_pcg", "contact.impacts.mode=equality");
  cr_expect_gt(impacts_found("one.h5"), 50);
}
Test(threads, targets_shared_by_mass)
{
  test_of_the_night();
  same_in(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
          "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = patch_bvh\n"
          "[contact.all]\nplugin = pd_ipc\n[solver]\n",
          "cholmod_pd", "exec.backend=cpu");
}
Test(threads, fronts_of_box_pairs)
{
  test_of_the_night();
  same_in(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
          "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = bvtt_front\n"
          "[contact.all]\nplugin = ipc_barrier\nd_hat = 2 mm\n[solver]\n",
          "cholmod_newton", "exec.backend=cpu");
}
Test(threads, weights_that_grow)
{
  same_in(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
          "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = patch_bvh\n"
          "[contact.all]\nplugin = ndb\n[solver]\n",
          "cholmod_pd", "exec.backend=cpu");
}
