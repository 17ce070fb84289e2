/* A tube that hangs from its upper rim, of membranes with a limit of stretch (element tri_limit).
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "geom/vec3.h"
#include "support/proc.h"
#include "support/sim.h"

TestSuite(strain_limit, .init = proc_enter, .fini = proc_leave);

enum { NY = 9 };
static const double g = 9.81, sigma = 2, tall = 0.8, limit = 1.04, w = 2000;

/* All vertices of a ring have the same mass and the same triangles, so the law of a strip is exact.
 */
#define RUN                                                                         \
  "[run]\nsteps = 150\ndt = 0.02\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-11\n" \
  "tol_rel = 0\nmax_iters = 3000\n[log]\naudit = off\n[solver]\nplugin = cholmod_newton\n"
#define TUBE                                                                     \
  "[cloth.a]\nshape = cylinder\nsize = 0.2 0.8\nresolution = 8 9\ndensity = 2\n" \
  "pins = box -1 -1 0.39 1 1 0.41\ndamping = 6\n"
#define SOFT  "membrane = 30\nmodel = arap+isometric\npattern = regular\nk_b = 1e-6\n"
#define LIMIT "strain_limit = 1.04\nstrain_stiffness = 2000\n"

static char solvers[6][32] = {"cholmod_newton", "pcg_newton",   "cholmod_pd",
                              "aa_pd",          "chebyshev_pd", "vbd"};

/* G [3] of the edges of triangle t */
static void find_gram(const sim *s, const double *x, int64_t t, double G[3])
{
  const int32_t *const v = s->tris + 3 * t;
  double e[3], f[3];
  vec3_sub(x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[0], e);
  vec3_sub(x + 3 * (int64_t)v[2], x + 3 * (int64_t)v[0], f);
  G[0] = vec3_dot(e, e), G[1] = vec3_dot(e, f), G[2] = vec3_dot(f, f);
}

/* The larger principal stretch of triangle t: s^2 are the eigenvalues of A^-1 B, Gram matrices of
 * its edges at rest and now. */
static double find_stretch(const sim *s, int64_t t)
{
  double A[3], B[3];
  find_gram(s, s->rest, t, A);
  find_gram(s, s->x, t, B);
  const double det = A[0] * A[2] - A[1] * A[1];
  const double mean = (A[2] * B[0] - 2 * A[1] * B[1] + A[0] * B[2]) / (2 * det);
  return sqrt(mean + sqrt(fmax(mean * mean - (B[0] * B[2] - B[1] * B[1]) / det, 0)));
}

static double find_most(const sim *s)
{
  double most = 0;
  for (int64_t t = 0; t < s->nt; ++t) most = fmax(most, find_stretch(s, t));
  return most;
}

ParameterizedTestParameters(strain_limit, hanging_tube)
{
  return cr_make_param_array(char[32], solvers, 6);
}

/* A ring of triangles bears the tension T of the cloth below it: T = E (s - 1) + w (s - limit)
 * where s is above the limit, else T = E (s - 1).  A third of a triangle is at each corner, so the
 * lower rim weighs half a ring. */
ParameterizedTest(char solver[32], strain_limit, hanging_tube)
{
  const double E = 30, cell = tall / (NY - 1);
  double off = 0, most = 0;
  char set[64];
  sim s;
  snprintf(set, sizeof set, "solver.plugin=%s", solver);
  sim_run(&s, RUN TUBE SOFT LIMIT, (const char *const[]){set, NULL}, 0);
  for (int64_t t = 0; t < s.nt; ++t) {
    double low = 1;
    for (int a = 0; a < 3; ++a)
      low = fmin(low, s.rest[3 * (int64_t)s.tris[3 * t + a] + 2] + tall / 2);
    const double T = sigma * g * (low + cell / 2); /* N/m */
    const double law = T / E + 1 <= limit ? T / E + 1 : (T + E + w * limit) / (E + w);
    const double stretch = find_stretch(&s, t);
    off = fmax(off, fabs(stretch - law));
    most = fmax(most, stretch);
    cr_assert_leq(stretch, limit + sigma * g * tall / w);
  }
  printf("%s: largest stretch %.6f, %.2g from the law\n", solver, most, off);
  cr_expect_gt(most, limit, "%s: the limit is not met", solver);
  cr_expect_lt(off, 1e-6, "%s: %.3g from the law", solver, off);
  sim_free(&s);
}

/* Without the limit the same tube stretches by half, T/E. */
Test(strain_limit, tube_without_limit)
{
  sim s;
  sim_run(&s, RUN TUBE SOFT, NULL, 0);
  cr_assert_gt(find_most(&s), 1.4, "%.4f", find_most(&s));
  sim_free(&s);
}

Test(strain_limit, goes_with_every_membrane)
{
  static const char *const models[] = {"stvk+shell", "neohookean+isometric", "springs",
                                       "stvk+plate"};
  for (int k = 0; k < 4; ++k) {
    char set[64];
    double most[2];
    for (int with = 0; with < 2; ++with) {
      sim s;
      snprintf(set, sizeof set, "cloth.a.model=%s", models[k]);
      sim_run(&s, RUN TUBE LIMIT,
              (const char *const[]){set, "run.steps=60", "stop.tol_abs=1e-8", "cloth.a.density=20",
                                    with ? set : "cloth.a.strain_limit=0", NULL},
              0);
      most[with] = find_most(&s);
      sim_free(&s);
    }
    printf("%s: %.4f without the limit, %.4f with it\n", models[k], most[0], most[1]);
    cr_expect_gt(most[0], most[1] + 0.004, "%s: %.4f", models[k],
                 most[0]); /* neohookean has a wall */
    cr_expect_lt(most[1], limit + 10 * sigma * g * tall / w, "%s: %.4f", models[k], most[1]);
  }
}

Test(strain_limit, refuses_limits_below_one)
{
  proc_write("b.ini", RUN TUBE SOFT "strain_limit = 0.8\n");
  proc_expect_error(2, LOOM_TEXTS("[cloth.a] strain_limit", "below the stretch at rest"),
                    LOOM_ARGS("check", "b.ini"));
}
