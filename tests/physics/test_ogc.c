/* Offset geometric contact: a card that lies on a card without friction stays where it is, as all
 * forces between flat cards are normal to them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

#define CARD                                                                           \
  "shape = grid\ndensity = 0.25\nmembrane = 15000\nmodel = arap+isometric\npattern = " \
  "regular\nk_b = 0.008\nthickness = 0.6 mm\n"
/* 20 um apart, within d_hat: the first steps push the cards up. */
static const char cards[] =
    "[run]\nsteps = 60\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_rel = 1e-3\nmax_iters = 100\n[filter]\nwhen = every\n[log]\naudit = every\n"
    "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = patch_bvh\n"
    "[contact.all]\nplugin = ogc\npairs = all\n"
    "[cloth.low]\n" CARD "size = 0.08 0.05\nresolution = 9 6\ntransform = translate 0 0 0.00032\n"
    "[cloth.high]\n" CARD "size = 0.07 0.045\nresolution = 11 8\n"
    "transform = translate 0 0 0.00094\n"
    "[body.table]\nshape = box\nsize = 7 1.6 0.08\nmesh_size = 0.4\nsdf_resolution = 0\n"
    "position = 0 0 -0.04\nfriction = 0\n\n";
enum { LOW = 9 * 6 };

/* m, of the middle of vertices [from, to), which was at 0 */
static double sideways_way(const sim *s, int64_t from, int64_t to)
{
  double sum[2] = {0, 0};
  for (int64_t i = from; i < to; ++i)
    for (int c = 0; c < 2; ++c) sum[c] += (double)s->x[3 * i + c];
  return hypot(sum[0], sum[1]) / (double)(to - from);
}

Test(ogc, flat_cards_do_not_drift)
{
  static const char *const none[] = {NULL};
  sim s;
  int unconverged = 0;
  sim_run(&s, cards, none, 0);
  h5log_step_row *const st = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    cr_expect_eq(st[k].intersections, 0, "step %d", (int)k);
    unconverged += st[k].reason != H5LOG_converged_abs && st[k].reason != H5LOG_converged_rel;
  }
  const double low = sideways_way(&s, 0, LOW), high = sideways_way(&s, LOW, s.n);
  printf("cards: %.3g and %.3g m sideways, %d steps not converged\n", low, high, unconverged);
  cr_expect(low < 1e-4 && high < 1e-4, "%g m, %g m", low, high);
  cr_expect_eq(unconverged, 0);
  free(st);
  sim_free(&s);
}
