/* xpbd: with its multipliers it ends where Newton's method does, without them or without compliance
 * it does not; elements without a constraint form are refused. */
#include "regress/sweeps.h"
#include "support/day.h"

TestSuite(xpbd, .init = proc_enter, .fini = proc_leave);

Test(xpbd, ends_where_newtons_method_does)
{
  test_of_the_night();
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome few = sweep_scene("xpbd", "stop.max_iters=10", "run.seed=0"),
                many = sweep_scene("xpbd", "stop.max_iters=3000", "run.seed=0");
  cr_expect_gt(few.e_ref, 1e-4, "%g m", few.e_ref);
  cr_expect_lt(many.e_ref, 1e-7, "%g m", many.e_ref);
  cr_expect_lt(many.residual, 1e-3 * few.residual, "%g and %g m", many.residual, few.residual);
  /* the controls */
  const outcome hard = sweep_scene("xpbd", "stop.max_iters=3000", "solver.compliance=1e-6"),
                plain = sweep_scene("xpbd", "stop.max_iters=3000", "solver.multipliers=none");
  cr_expect_gt(hard.e_ref, 1e-4, "%g m", hard.e_ref);
  cr_expect_gt(plain.e_ref, 1e-4, "%g m", plain.e_ref);
}

Test(xpbd, in_contact)
{
  proc_write("scene.ini", TOUCH);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome many = sweep_scene("xpbd", "stop.max_iters=3000", "run.seed=0"),
                few = sweep_scene("xpbd", "stop.max_iters=10", "run.seed=0");
  cr_expect_gt(many.contacts, 100, "nothing touches");
  cr_expect_lt(many.e_ref, 1e-6, "%g m", many.e_ref);
  cr_expect_gt(few.e_ref, 1e-5, "%g m", few.e_ref);
}

Test(xpbd, springs_and_what_has_no_constraint_form)
{
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5", "--set", "cloth.sheet.model=springs",
            "--set", "cloth.sheet.membrane=", "--set", "cloth.sheet.k_b=");
  const outcome many = sweep_scene("xpbd", "stop.max_iters=3000", "cloth.sheet.model=springs");
  cr_expect_lt(many.e_ref, 1e-7, "%g m", many.e_ref);
  proc_expect_error(
      2, LOOM_TEXTS("xpbd", "element projection", "in its place [cloth] model takes arap;"),
      LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "no.h5", "--set", "solver.plugin=xpbd",
                "--set", "cloth.sheet.model=stvk"));
  proc_write("sheet.ini", "[cloth.sheet]\nresolution = 31 31\n[collision.c]\nplugin = none\n");
  /* the default: a plate has no constraint of 4 vertices, a hinge has */
  proc_expect_error(
      2,
      LOOM_TEXTS("xpbd", "4 vertices at most",
                 "plate_quadratic lacks it; in its place [cloth] model takes isometric;"),
      LOOM_ARGS("run", "sheet.ini", "--quiet", "-o", "no.h5", "--set", "solver.plugin=xpbd"));
  proc_write("block.ini", "[solid.block]\nmodel = neohookean\n[collision.c]\nplugin = none\n");
  static const char *const solvers[] = {"solver.plugin=xpbd", "solver.plugin=cholmod_pd",
                                        "solver.plugin=ndb_pd"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k)
    proc_expect_error(2,
                      LOOM_TEXTS(strchr(solvers[k], '=') + 1, "element projection",
                                 "tet_neohookean lacks it; in its place [solid] model takes arap",
                                 "cholmod_newton"),
                      LOOM_ARGS("run", "block.ini", "--quiet", "-o", "no.h5", "--set", solvers[k]));
}
