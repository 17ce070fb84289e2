/* The distance barrier under projective dynamics: sheets that collide keep their momentum and do
 * not intersect in any step, by the exact audit; and the fixed points are the ones of Newton's
 * method on the same barrier. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

static const char sheets[] =
    "[run]\nsteps = 5\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 4000\n[log]\naudit = every\n"
    "[filter]\nwhen = every\n"
    "[cloth.one]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 5 5\ndensity = 0.2\nmembrane = 20\n"
    "k_b = 1e-5\nthickness = 0.001\nvelocity = 0 0 0.4\n"
    "[cloth.two]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 5 5\ndensity = 0.2\nmembrane = 20\n"
    "k_b = 1e-5\nthickness = 0.001\nvelocity = 0.2 0 -0.4\n"
    "transform = translate 0.02 0.01 0.02 rotate 0 0 1 25 rotate 1 0 0 8\n"
    "[solver]\nplugin = cholmod_pd\n[collision.self]\nplugin = patch_bvh\n"
    "[contact.self]\nplugin = dbb\nd_hat = 3e-3\n\n";

/* Runs and checks all that must hold converged or not; returns the number of converged steps. */
static int run_sheet_collision(sim *s, const char *const *set)
{
  double lowest = INFINITY;
  int touched = 0, converged = 0;
  sim_run(s, sheets, set, 0);
  h5log_step_row *const st = sim_steps(s);
  for (int64_t k = 0; k < s->steps; ++k) {
    touched += st[k].contacts > 0;
    converged += st[k].reason == H5LOG_converged_abs;
    if (isfinite(st[k].min_gap)) lowest = fmin(lowest, st[k].min_gap);
    cr_expect_eq(st[k].intersections, 0, "step %d", (int)k);
  }
  printf("%s: %d of %d steps in contact, %d converged, %d iterations, smallest gap %.3g m\n",
         set[0], touched, (int)s->steps, converged, (int)s->iters, lowest);
  /* the cut alone keeps sheets apart by 1e-10 m */
  cr_expect(touched >= 3 && lowest > 1e-4 && lowest < 3e-3, "%d, %g m", touched, lowest);
  free(st);
  return converged;
}

/* Few iterations, each weight, with friction: penetration-free all the same. */
Test(dbb, sheets_that_collide_do_not_intersect)
{
  static const char *const sets[2][4] = {
      {"contact.self.weight=energy", "stop.max_iters=30", "contact.self.self_friction=0.2", NULL},
      {"contact.self.weight=curvature", "stop.max_iters=30", "contact.self.self_friction=0.2",
       NULL}};
  for (int k = 0; k < 2; ++k) {
    sim s;
    cr_expect_lt(run_sheet_collision(&s, sets[k]), s.steps, "no step was cut short");
    sim_free(&s);
  }
}

Test(dbb, sheets_that_collide_end_where_newton_ends)
{
  static const char *const sets[2][2] = {{"solver.plugin=cholmod_pd", NULL},
                                         {"solver.plugin=cholmod_newton", NULL}};
  sim s[2];
  double far = 0.0;
  for (int k = 0; k < 2; ++k) cr_expect_eq(run_sheet_collision(&s[k], sets[k]), s[k].steps);
  for (int64_t i = 0; i < 3 * s[0].n; ++i) far = fmax(far, fabs(s[0].x[i] - s[1].x[i]));
  printf("off by %.3g m\n", far);
  /* five steps to a residual of 1e-7 m, and errors that a step passes on to the next */
  cr_expect(far < 1e-5, "%g m", far);
  for (int k = 0; k < 2; ++k) sim_free(&s[k]);
}
