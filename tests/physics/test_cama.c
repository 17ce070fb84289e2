/* Two sheets, one turned on the other, fall on a table by cama_pcg, one linear solve a step, and
 * rest there: the force on each vertex is its weight at most times the number of layers, so that
 * layers and table stay apart by nearly the thickness of the force. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "support/day.h"
#include "support/sim.h"

static const double thickness = 3e-3, half = 5e-4; /* m, of the force, of the cloth */
static const char scene[] =
    "[run]\nsteps = 160\ndt = 0.005\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\nmax_iters = 1\n[log]\naudit = every\n"
    "[solver]\nplugin = cama_pcg\n"
    "[cloth.low]\nmodel = arap+isometric\npattern = regular\nsize = 0.1 0.1\nresolution = 11 "
    "11\ndensity = 0.2\nmembrane = 200\n"
    "k_b = 1e-5\nthickness = 1 mm\ndamping = 4\ntransform = translate 0 0 0.006\n"
    "[cloth.high]\nmodel = arap+isometric\npattern = regular\nsize = 0.08 0.08\nresolution = 10 "
    "10\ndensity = 0.2\nmembrane = 200\n"
    "k_b = 1e-5\nthickness = 1 mm\ndamping = 4\n"
    "transform = rotate 0 0 1 20 translate 0.003 0.002 0.013\n"
    "[body.table]\nshape = plane\nnormal = 0 0 1\nposition = 0 0 0\nfriction = 0.3\n"
    "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = spatial_hash\n"
    "[filter]\nbound = none\n"
    "[contact.all]\nplugin = cama_repulsion\nthickness = 3 mm\nself_friction = 0.3\n";

typedef struct rest {
  double low, high; /* m, least heights of both sheets in the last frame */
  double speed;     /* m/s, of the fastest vertex */
} rest;

static rest settle_with(const char *more, const char *const *sets)
{
  char text[2048];
  sim s;
  rest r = {INFINITY, INFINITY, 0.0};
  snprintf(text, sizeof text, "%s%s", scene, more);
  sim_run(&s, text, sets, 0);
  double *const x = calloc(3 * (size_t)s.n, sizeof *x), *const v =
                                                            calloc(3 * (size_t)s.n, sizeof *v);
  cr_assert(x != NULL && v != NULL);
  sim_frame(&s, s.frames - 1, x, v, NULL);
  for (int64_t i = 0; i < s.n; ++i) {
    double *const least = i < 121 ? &r.low : &r.high;
    *least = fmin(*least, x[3 * i + 2]);
    r.speed = fmax(r.speed, sqrt(v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] +
                                 v[3 * i + 2] * v[3 * i + 2]));
  }
  free(x), free(v);
  sim_free(&s);
  printf("%s: %g m, %g m, %g m/s\n", more, r.low, r.high, r.speed);
  return r;
}

static rest run_sheets_to_rest(const char *more) { return settle_with(more, NULL); }

/* A vertex weighs 0.2e-3 N: it sinks by 2e-6 m where 200 N/m hold it, both layers by some more. */
static void expect_sheet_heights(const char *more)
{
  const rest r = run_sheets_to_rest(more);
  cr_expect_gt(r.low, half + 0.97 * thickness, "%s: the low sheet is at %g m", more, r.low);
  cr_expect_gt(r.high, 3 * half + 1.9 * thickness, "%s: the high sheet is at %g m", more, r.high);
  cr_expect_lt(r.high, 3 * half + 2.1 * thickness, "%s: the high sheet is at %g m", more, r.high);
  cr_expect_lt(r.speed, 1e-2, "%s: %g m/s", more, r.speed);
}

Test(cama, layers_rest_without_sinking)
{
  expect_sheet_heights("stiffness = 200\n");
  expect_sheet_heights("stiffness = 1000\n");
  expect_sheet_heights("stiffness = 200\nmatrix = pairwise\n");
}

/* Force k V^2 / (2 t): the same weight takes more of the thickness, sqrt(2 t W / k) = 8e-5 m. */
Test(cama, quadratic_law_sinks_deeper)
{
  test_of_the_night();
  const rest linear = run_sheets_to_rest("stiffness = 200\n");
  const rest quadratic = run_sheets_to_rest("stiffness = 200\nlaw = quadratic\n");
  cr_expect_gt(quadratic.low, half + 0.9 * thickness, "%g m", quadratic.low);
  cr_expect_lt(quadratic.low, linear.low - 3e-5, "%g m, %g m", quadratic.low, linear.low);
}

Test(cama, without_stiffness_they_fall)
{
  const rest r = run_sheets_to_rest("stiffness = 0\n");
  cr_expect(r.low < -0.1 && r.high < -0.1, "%g m, %g m", r.low, r.high);
}

/* A sheet under a ceiling and another one under it, 0.2 mm farther than the thickness: adhesion
 * holds them there, and where it is off, they fall. */
static rest under_a_ceiling(const char *more)
{
  static const char *const sets[] = {"body.table.normal=0 0 -1", "body.table.position=0 0 0.02",
                                     "cloth.high.transform=translate 0.003 0.002 0.0163",
                                     "cloth.low.transform=translate 0 0 0.0121", NULL};
  return settle_with(more, sets);
}

Test(cama, adhesion_holds_what_hangs)
{
  test_of_the_night();
  const rest held = under_a_ceiling("adhesion = 100\nadhesion_range = 1 mm\n");
  cr_expect_gt(held.high, 0.0155, "%g m", held.high);
  cr_expect_gt(held.low, 0.011, "%g m", held.low);
  const rest off = under_a_ceiling("adhesion_range = 1 mm\n");
  cr_expect(off.low < -0.1 && off.high < -0.1, "%g m, %g m", off.low, off.high);
}
