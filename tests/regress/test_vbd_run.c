/* vbd: sweeps over single vertices end where Newton's method does; the energy falls in each. */
#include "regress/sweeps.h"
#include "support/logdiff.h"

TestSuite(vbd, .init = proc_enter, .fini = proc_leave);

Test(vbd, sweeps_end_where_newtons_method_does)
{
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome many = sweep_scene("vbd", "stop.max_iters=3000", "solver.rho=0"),
                few = sweep_scene("vbd", "stop.max_iters=3", "solver.rho=0");
  cr_expect_lt(many.e_ref, 1e-7, "%g m", many.e_ref);
  cr_expect_gt(few.e_ref, 1e-4, "%g m", few.e_ref);
  cr_expect_eq(many.rises, 0, "%lld of %lld", (long long)many.rises, (long long)many.iters);
}

/* Acceleration gets further in as many iterations; its energy does not only fall. */
Test(vbd, acceleration)
{
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome plain = sweep_scene("vbd", "stop.max_iters=100", "solver.rho=0"),
                fast = sweep_scene("vbd", "stop.max_iters=100", "solver.rho=0.9");
  cr_expect_lt(3 * fast.e_ref, plain.e_ref);
  cr_expect_eq(plain.rises, 0);
  cr_expect_gt(fast.rises, 0);
}

/* A term that the sweeps would leave out is refused. */
Test(vbd, damping_by_stiffness_is_refused)
{
  proc_write("scene.ini", HANG);
  proc_expect_error(1, LOOM_TEXTS("vbd", "stiffness_damping"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "no.h5", "--set",
                              "solver.plugin=vbd", "--set", "cloth.sheet.stiffness_damping=1e-3"));
}

Test(vbd, in_contact)
{
  proc_write("scene.ini", TOUCH);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome many = sweep_scene("vbd", "stop.max_iters=3000", "solver.rho=0"),
                few = sweep_scene("vbd", "stop.max_iters=3", "solver.rho=0");
  cr_expect_gt(many.contacts, 100, "nothing touches");
  cr_expect_lt(many.e_ref, 1e-6, "%g m", many.e_ref);
  cr_expect_gt(few.e_ref, 1e-5, "%g m", few.e_ref);
}

/* The paper's guess knows the velocity of the step before: it must be in the checkpoint. */
Test(vbd, its_guess_goes_on_after_a_restart)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = vbd\nguess = adaptive\nrho = 0.5\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}
