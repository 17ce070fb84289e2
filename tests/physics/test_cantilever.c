/* A heavy cantilever against the elastica.
 *
 * A strip of length l, clamped horizontally, weight per area w = rho g, bending rigidity B
 * (per width): B theta'' = -w (l - s) cos(theta), theta(0) = 0, theta'(l) = 0; with
 * Gamma = w l^3 / B the tip's drop H over its horizontal reach W is
 *   Gamma = 1: H/W = 0.124562,   Gamma = 10: H/W = 1.066802
 * (solved here again by shooting, so that the numbers are not taken on trust).
 *
 * Mesh and mapping: a grid of square cells d cut along alternating diagonals; every triangle
 * has its right angle at a vertex of valence 4.  Let a sheet have the curvatures kx, ky and
 * let these vertices stand off by t d^2/2.  Per cell, the Laplacian vectors of the three
 * edge families are d^2 (t - kx), d^2 (t - ky) and 2 d^2 t, each with weight 3 k_b/(2 d^2):
 *   energy per area = 3/2 k_b [ (t - kx)^2 + (t - ky)^2 + 4 t^2 ],  smallest at t = (kx + ky)/6.
 * A strip that is narrow against its length also chooses ky (= kx/5); the rest is
 * 1/2 (12/5 k_b) kx^2:  B = 12/5 k_b.  (Held to a cylinder, ky = 0, it would be 5/2 k_b; on
 * cells all cut along one diagonal bending couples to twist, the cylinder has 3 k_b and the
 * narrow strip, which then twists as it bends, again 12/5 k_b.)  The hinge at the clamped
 * column stands for the half cell on either side of it, so the free length begins half a cell
 * before that column.  The membrane is stiff enough not to stretch (w l / E_mem < 1e-4). */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>

#include "support/elastica.h"
#include "support/sim.h"

Test(cantilever, elastica_numbers)
{
  cr_assert_float_eq(elastica_drop_ratio(1.0), 0.124562, 1e-6);
  cr_assert_float_eq(elastica_drop_ratio(10.0), 1.066802, 1e-6);
}

typedef struct gamma_case {
  double gamma, expected;
  char model[32];
} gamma_case;
static gamma_case cases[] = {{1.0, 0.124562, "arap+isometric"},
                             {10.0, 1.066802, "arap+isometric"},
                             {1.0, 0.124562, "arap+shell"},
                             {10.0, 1.066802, "arap+shell"}};

ParameterizedTestParameters(cantilever, drop_over_reach)
{
  return cr_make_param_array(gamma_case, cases, 4);
}

/* Drop over reach of a strip of `cells` free cells, 2 cells wide. */
static double simulate_cantilever(const gamma_case *p, int cells)
{
  enum { ROWS = 3 };
  const int columns = cells + 2;
  const double length = 0.3, rho = 0.2, g = 9.81; /* m, kg/m^2, m/s^2 */
  /* columns 0 and 1 are held; the free length begins half a cell before column 1 */
  const double cell = length / (cells + 0.5);
  const double kb = rho * g * length * length * length / p->gamma / 2.4;
  char text[1024], pins[128] = "";
  for (int j = 0, at = 0; j < ROWS; ++j)
    at += snprintf(pins + at, sizeof pins - (size_t)at, " %d %d", j * columns, j * columns + 1);
  snprintf(text, sizeof text,
           "[run]\nsteps = 14\ndt = 0.4\n[exec]\nbackend = cpu\n"
           "[stop]\ntol_abs = 1e-6\ntol_rel = 0\nmax_iters = 400\n[log]\naudit = off\n"
           "[cloth.strip]\nshape = strip\nsize = %.17g %.17g\nresolution = %d %d\n"
           "pattern = alternate\ndensity = %g\nmodel = %s\nmembrane = 1e4\n%s = %.17g\npins =%s\n"
           "[solver]\nplugin = cholmod_newton\n",
           (columns - 1) * cell, (ROWS - 1) * cell, columns, ROWS, rho, p->model,
           p->model[5] == 's' ? "k_e" : "k_b", p->model[5] == 's' ? 12.0 * kb : kb, pins);
  sim s;
  sim_run(&s, text, NULL, 0);
  double reach = 0.0, drop = 0.0;
  for (int j = 0; j < ROWS; ++j) {
    const int64_t tip = (int64_t)j * columns + columns - 1, root = (int64_t)j * columns + 1;
    reach += (s.x[3 * tip] - s.rest[3 * root] + 0.5 * cell) / ROWS;
    drop += -(s.x[3 * tip + 2] - s.rest[3 * root + 2]) / ROWS;
  }
  sim_free(&s);
  return drop / reach;
}

/* The held columns keep the hinges next to them from relaxing (t = ky = 0 there), which
 * shortens the free length by about a fifth of a cell: an error of first order in the cell,
 * 3 x 0.2 / cells.  The error and the limit by extrapolation are checked. */
ParameterizedTest(gamma_case *p, cantilever, drop_over_reach)
{
  const double coarse = simulate_cantilever(p, 30), fine = simulate_cantilever(p, 60),
               limit = 2.0 * fine - coarse;
  const double e1 = coarse / p->expected - 1.0, e2 = fine / p->expected - 1.0;
  printf("cantilever %s Gamma %g: H/W = %.6f (30 x 2 cells, %+.2f %%), %.6f (60 x 2, %+.2f %%), "
         "limit %.6f (%+.3f %%), elastica %.6f\n",
         p->model, p->gamma, coarse, 100.0 * e1, fine, 100.0 * e2, limit,
         100.0 * (limit / p->expected - 1.0), p->expected);
  cr_assert(fabs(e2) < 0.02, "error %g on 60 cells", e2);
  cr_assert(e1 / e2 > 1.7 && e1 / e2 < 2.3, "errors %g, %g are not of first order", e1, e2);
  cr_assert_float_eq(limit, p->expected, 0.003 * p->expected);
}
