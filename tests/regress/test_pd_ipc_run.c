/* contact pd_ipc that gives up a run names the remedy, and it does help. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"

TestSuite(pd_ipc_run, .init = proc_enter, .fini = proc_leave);

/* Two sheets fall on a ball at 3 m/s.  Where bounds come at the end of a step alone, overlaps stop
 * it. */
#define SHEET(name, more)                                                                        \
  "[cloth." name "]\nmodel = arap+isometric\npattern = regular\nsize = 0.3 0.3\nresolution = 8 " \
  "8\nmembrane = 3000\nthickness = 0.001\n" more
static const char scene[] =
    "[run]\nup_axis = z\ngravity = 0 0 -9.81\nsteps = 6\ndt = "
    "0.01\n[exec]\nbackend = cpu\nthreads = "
    "1\n" SHEET("s0", "transform = rotate 0 0 1 10.60 translate 0.0471 0.0478 0.300000\n"
                      "velocity = 0.33 -0.95 -3\ndensity = 0.2\nk_b = 1e-06\n")
        SHEET("s1", "transform = rotate 0 0 1 58.85 translate -0.0400 "
                    "0.0189 0.301100\n"
                    "velocity = 0.45 0.72 -3\ndensity = 0.5\nk_b = "
                    "1e-05\n") "[body.ball]\nshape = sphere\nradius = "
                               "0.1\nmesh_size = 0.03\nsdf_resolution = 0\n"
                               "position = 0 0 0.198900\nfriction = 1\n";

Test(pd_ipc_run, the_advice_of_a_run_that_gives_up_helps)
{
  const char *const source = getenv("LOOM_SOURCE_DIR");
  static const char *const said[] = {"pairs overlap", "every iteration must be filtered",
                                     "[filter] min_gap = 5e-05, a twentieth of d_hat",
                                     "raise kappa above 100"};
  char text[4096];
  proc p;
  cr_assert(source != NULL);
  snprintf(text, sizeof text, "include = %s/configs/methods/pd_ipc.ini\n%s", source, scene);
  proc_write("fall.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "fall.ini", "--quiet", "-o", "a.h5", "--set", "filter.when=end"));
  cr_assert_eq(p.code, 1, "%d %s", p.code, p.err);
  for (int k = 0; k < 4; ++k)
    cr_expect(strstr(p.err, said[k]) != NULL, "no '%s': %s", said[k], p.err);
  LOOM_FINE("run", "fall.ini", "--quiet", "-o", "a.h5",
            "--overwrite"); /* with the file's `every` */
  LOOM_FINE("run", "fall.ini", "--quiet", "-o", "b.h5", "--set", "filter.min_gap=5e-5");
  LOOM_FINE("run", "fall.ini", "--quiet", "-o", "c.h5", "--set", "contact.all.kappa=1000");
}
