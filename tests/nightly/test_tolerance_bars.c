/* All rows of the stopping test: see tests/physics/test_tolerance.c, which has the quick ones. */
#include "physics/tolerance.h"

TestSuite(tolerance_bars, .init = proc_enter_memory, .fini = proc_leave);

static const char *const solvers[] = {"cholmod_newton", "pcg_newton", "ndb_pd", "aa_pd", "vbd"};

Test(tolerance_bars, a_flag_hangs_at_every_time_step)
{
  static const char *const dts[] = {"1e-2", "1e-3", "1e-4", "1e-5"};
  for (size_t k = 0; k < sizeof dts / sizeof *dts; ++k)
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; ++i)
      tol_flag(solvers[i], dts[k], k > 0 || strcmp(solvers[i], "vbd") != 0);
}

Test(tolerance_bars, stiff_objects)
{
  static const char *const all[] = {"cholmod_newton", "pcg_newton", "cholmod_pd", "aa_pd",
                                    "ndb_pd",         "gd",         "vbd",        "xpbd",
                                    "chebyshev_pd",   NULL};
  tol_pendulum(all, "1e4");
  tol_pendulum(all, "1e6");
  tol_pendulum(all, "1e8");
}

#define SELF(contact, solver)                                                                      \
  "[collision.s]\nplugin = patch_bvh\n[collision.b]\nplugin = sdf\n[contact.c]\nplugin = " contact \
  "\n[solver]\nplugin = " solver "\n"

Test(tolerance_bars, what_is_far_away_changes_nothing)
{
  static const char *const methods[] = {SELF("penalty", "cholmod_newton"), SELF("penalty", "aa_pd"),
                                        SELF("ipc_barrier", "cholmod_newton"), SELF("dbb", "aa_pd"),
                                        SELF("ndb", "ndb_pd")};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) {
    fprintf(stderr, "%s", methods[i]);
    tol_far(methods[i], TOL_HEAVY, "60");
    tol_far(methods[i], TOL_FAST, "60");
  }
}
