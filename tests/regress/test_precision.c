/* A tolerance that rounding keeps from being met is warned of, with a tolerance that can be met. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "loom/types.h"
#include "regress/drape.h"
#include "support/proc.h"

TestSuite(precision, .init = proc_enter, .fini = proc_leave);

/* A sheet that ends 1.08 m from the origin.  Rounding of positions, 2.2e-16 of that, becomes forces
 * by D = 4 membrane = 800 N/m, and a residual by h^2/m = 0.2 m/N, so that about 16 units of it are
 * left: 4e-15 m, in float 2e-6 m. */
static void check_tolerance_warning(const char *tol_abs, int warned)
{
  static const char scene[] =
      DRAPE_RUN DRAPE_EXEC "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nresolution = "
                           "5\nsize = 0.2\ntransform = translate 0.9 0 0.4\n"
                           "[solver]\nplugin = gd\n[log]\naudit = off\n[stop]\n";
  char text[sizeof scene + 64];
  proc p;
  snprintf(text, sizeof text, "%stol_abs = %s\n", scene, tol_abs);
  proc_write("scene.ini", text);
  proc_loom(&p, LOOM_ARGS("check", "scene.ini"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_assert_eq(strstr(p.err, "[stop] tol_abs = ") != NULL, warned, "%s: %s", tol_abs, p.err);
  if (!warned) return;
  cr_assert(strstr(p.err, "eps |x|") != NULL && strstr(p.err, "|x| up to 1.08 m") != NULL, "%s",
            p.err);
  cr_assert(strstr(p.err, "raise tol_abs") != NULL, "%s", p.err);
}

Test(precision, tolerances_that_rounding_keeps_away)
{
  const int is_double = sizeof(loom_real) == sizeof(double);
  check_tolerance_warning("1e-17", 1);
  check_tolerance_warning("1e-7", !is_double);
  check_tolerance_warning("1e-3", 0);
  check_tolerance_warning("0", 0); /* not meant to be met */
}
