/* Contact weights of overlaps do not stay in the matrix of a step.
 *
 * A small soft sheet falls fast onto a ball: the guess of a step is several edges behind the ball
 * and behind other parts of the sheet, so that the first iterates overlap in many pairs, with
 * weights that grow.  A matrix that keeps these weights until the end of the step holds the cloth
 * where they left it; the step ends far from its solution, its error goes into the velocity, and
 * the next guess overlaps more. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

static const char drape[] =
    "[run]\nsteps = 12\ndt = 0.01\ngravity = 0 0 -30\nup_axis = z\n"
    "[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_rel = 1e-2\nmax_iters = 30\n[filter]\nmin_gap = 5e-5\n[log]\naudit = every\n"
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.15 0.15\n"
    "resolution = 31 31\ntransform = rotate 0 0 1 10 translate 0.0025 0.00125 0.455\n"
    "density = 0.2\nmembrane = 300\nk_b = 1e-5\nthickness = 0.002\ndamping = 0.5\n"
    "[body.ball]\nshape = sphere\nradius = 0.03\nmesh_size = 0.006\nsdf_resolution = 0\n"
    "position = 0 0 0.42\nfriction = 0.3\n"
    "[collision.self]\nplugin = patch_bvh\n"
    "[contact.all]\nplugin = ndb\npairs = all\ncollision = self\n"
    "[solver]\n";

/* The largest end residual of the steps in contact, over the scale of their tolerance. */
static double find_worst_end(const char *const *sets)
{
  sim s;
  double worst = 0.0;
  sim_run(&s, drape, sets, 0);
  h5log_step_row *const st = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    cr_expect_eq(st[k].intersections, 0, "%s, step %d", sets[0], (int)k);
    if (k >= 6) worst = fmax(worst, st[k].r_final / st[k].r_ref);
  }
  printf("%s %s: largest end residual %.3g r_ref\n", sets[0], sets[1], worst);
  free(st);
  sim_free(&s);
  return worst;
}

Test(overlap_weights, ndb_pd_lets_them_go)
{
  static const char *const set[] = {"solver.plugin=ndb_pd", "solver.cache=", NULL};
  static const char *const held[] = {"solver.plugin=ndb_pd", "solver.weights=held",
                                     "solver.cache=", NULL};
  const double now = find_worst_end(set), control = find_worst_end(held);
  cr_expect(now < 4.0, "%g r_ref", now);
  cr_expect(control > 8.0, "the scene shows nothing: held weights end at %g r_ref", control);
}
