/* Coulomb friction on a slope with tan(angle) = 0.5.
 *
 * A block stays where mu >= tan(angle), and slides with a = g (sin - mu cos) otherwise:
 * mu = 0.49 gives a = 0.0877433 m/s^2.  Friction is smoothed below the speed epsilon_v, so
 * a sticking block may creep with a speed below epsilon_v. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "support/sim.h"

/* The slope falls along +x: its normal is (sin, 0, cos), downhill is (cos, 0, -sin). */
static const char scene[] =
    "[run]\nsteps = 100\ndt = 0.01\n[exec]\nbackend = cpu\n"
    "[stop]\ntol_abs = 1e-11\ntol_rel = 0\nmax_iters = 200\n[log]\naudit = off\n"
    "[cloth.block]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 6 6\ndensity = 2\n"
    "membrane = 1e4\nk_b = 1e-2\nthickness = 0\ntransform = rotate 0 1 0 26.56505117707799\n"
    "[body.slope]\nshape = plane\nnormal = 0.4472135954999579 0 0.8944271909999159\n"
    "friction = 0.5\n"
    "[solver]\nplugin = cholmod_newton\n"
    "[collision.bodies]\nplugin = sdf\n"
    "[contact.bodies]\nplugin = penalty\npairs = obstacle\nepsilon_v = 1e-5\nstick = 1e6\n";

static double slope_component(const double *a) { return (2.0 * a[0] - a[2]) / sqrt(5.0); }

Test(slope, block_sticks_at_mu_0_50)
{
  sim s;
  sim_run(&s, scene, NULL, 0);
  double v = 0.0, x = 0.0;
  for (int64_t i = 0; i < s.n; ++i) {
    const double d[3] = {s.x[3 * i] - s.rest[3 * i], s.x[3 * i + 1] - s.rest[3 * i + 1],
                         s.x[3 * i + 2] - s.rest[3 * i + 2]};
    v = fmax(v, fabs(slope_component(s.v + 3 * i)));
    x = fmax(x, fabs(slope_component(d)));
  }
  printf("slope mu 0.50: speed %.3g m/s, moved %.3g m in 1 s\n", v, x);
  /* tan = mu is the limit itself: rounding decides the side, so the speed may reach
   * epsilon_v (1e-5 m/s here) and the way 1e-5 m in a second, ten times as allowance */
  cr_assert(v < 1e-4, "speed %g", v);
  cr_assert(x < 1e-4, "moved %g", x);
  sim_free(&s);
}

Test(slope, block_slides_at_mu_0_49)
{
  sim s;
  sim_run(&s, scene, (const char *const[]){"body.slope.friction=0.49", NULL}, 0);
  double *v = calloc(3 * (size_t)s.n, sizeof *v), t0, t1 = s.time, mean0 = 0.0, mean1 = 0.0;
  cr_assert(v != NULL);
  sim_frame(&s, 50, NULL, v, &t0);
  for (int64_t i = 0; i < s.n; ++i) {
    mean0 += slope_component(v + 3 * i) / (double)s.n;
    mean1 += slope_component(s.v + 3 * i) / (double)s.n;
  }
  const double a = (mean1 - mean0) / (t1 - t0);
  printf("slope mu 0.49: a = %.7f m/s^2, exact 0.0877433\n", a);
  /* lagged normal forces and the penalty's settling leave less than 1 % */
  cr_assert_float_eq(a, 0.0877433, 0.01 * 0.0877433);
  free(v);
  sim_free(&s);
}
