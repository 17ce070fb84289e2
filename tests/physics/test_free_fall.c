/* Free fall under backward Euler, to rounding, with every solver.
 *
 * v_{k+1} = v_k + h g and x_{k+1} = x_k + h v_{k+1}: after N steps
 *   x = x_0 + N h v_0 + g h^2 N (N + 1) / 2,   v = v_0 + N h g,
 * and the cloth stays as it was (no elastic force in a translation).  With damping c the
 * velocity of a step is first multiplied by exp(-c h). */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>

#include "support/sim.h"

static const char scene[] = "[run]\nsteps = 20\ndt = 0.01\ngravity = 0.3 -0.2 -9.81\n"
                            "[exec]\nbackend = cpu\n"
                            "[stop]\ntol_abs = 1e-14\ntol_rel = 0\nmax_iters = 3\n"
                            "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = "
                            "grid\nsize = 1 0.5\nresolution = 11 6\n"
                            "density = 0.2\nvelocity = 1 2 3\ntransform = rotate 1 2 3 40\n"
                            "[solver]\nplugin = gd\n";

static char solvers[3][32] = {"gd", "cholmod_pd", "cholmod_newton"};

ParameterizedTestParameters(free_fall, parabola)
{
  return cr_make_param_array(char[32], solvers, 3);
}

ParameterizedTest(char solver[32], free_fall, parabola)
{
  static const double g[3] = {0.3, -0.2, -9.81}, v0[3] = {1, 2, 3};
  const double h = 0.01, N = 20;
  char set[64];
  sim s;
  snprintf(set, sizeof set, "solver.plugin=%s", solver);
  sim_run(&s, scene, (const char *const[]){set, NULL}, 0);
  for (int64_t i = 0; i < s.n; ++i)
    for (int c = 0; c < 3; ++c) {
      const double x = s.rest[3 * i + c] + N * h * v0[c] + g[c] * h * h * N * (N + 1) / 2;
      const double v = v0[c] + N * h * g[c];
      /* 20 steps of a few roundings of numbers of size 1; a difference quotient over h
       * multiplies the roundings of x by 100 in v */
      cr_assert_float_eq(s.x[3 * i + c], x, 1e-13, "%s x[%d][%d] %.17g not %.17g", solver, (int)i,
                         c, s.x[3 * i + c], x);
      cr_assert_float_eq(s.v[3 * i + c], v, 1e-11, "%s v[%d][%d] %.17g not %.17g", solver, (int)i,
                         c, s.v[3 * i + c], v);
    }
  sim_free(&s);
}

Test(free_fall, energy_is_accounted_for)
{
  sim s;
  sim_run(&s, scene, (const char *const[]){"cloth.sheet.velocity=0 0 0", NULL}, 0);
  h5log_step_row *rows = sim_steps(&s);
  cr_assert_eq(s.steps, 20);
  const double g2 = 0.3 * 0.3 + 0.2 * 0.2 + 9.81 * 9.81, m = 0.2 * 0.5, h = 0.01;
  for (int64_t k = 0; k < s.steps; ++k) {
    const double n = (double)(k + 1);
    const double kinetic = 0.5 * m * g2 * h * h * n * n;
    const double gravity = -m * g2 * h * h * n * (n + 1) / 2;
    cr_assert_float_eq(rows[k].e_kinetic, kinetic, 1e-11 * kinetic);
    cr_assert_float_eq(rows[k].e_gravity, gravity, -1e-10 * gravity);
    cr_assert(rows[k].e_elastic < 1e-20);
    cr_assert_eq(rows[k].reason, H5LOG_converged_abs);
    cr_assert_float_eq(rows[k].time, h * n, 1e-15);
  }
  free(rows);
  sim_free(&s);
}

Test(free_fall, damping_is_exponential)
{
  const double h = 0.01, c = 5.0, g = -9.81;
  sim s;
  double v = 0.0, x = 0.0;
  sim_run(&s, scene,
          (const char *const[]){"cloth.sheet.velocity=0 0 0", "cloth.sheet.damping=5",
                                "run.gravity=0 0 -9.81", NULL},
          0);
  for (int k = 0; k < 20; ++k) {
    v = exp(-c * h) * v + h * g;
    x += h * v;
  }
  for (int64_t i = 0; i < s.n; ++i) {
    cr_assert_float_eq(s.x[3 * i + 2], s.rest[3 * i + 2] + x, 1e-13);
    cr_assert_float_eq(s.v[3 * i + 2], v, 1e-11);
  }
  sim_free(&s);
}
