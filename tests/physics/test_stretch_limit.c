/* A heavy sheet that hangs by its corners, of element tri_neohookean: its limit of stretch holds in
 * every frame, and without the limit the same sheet stretches further. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

static const double LIMIT = 1.1;

/* Largest singular value of dx/dX over all triangles; X lies in the plane z = 0. */
static double most_stretch(const sim *s, const double *x)
{
  double most = 0.0;
  for (int64_t t = 0; t < s->nt; ++t) {
    const int32_t *const v = s->tris + 3 * t;
    double D[2][2], e[2][3], f[2][3];
    for (int j = 0; j < 2; ++j) {
      for (int c = 0; c < 2; ++c)
        D[c][j] = s->rest[3 * (int64_t)v[j + 1] + c] - s->rest[3 * (int64_t)v[0] + c];
      for (int c = 0; c < 3; ++c) e[j][c] = x[3 * (int64_t)v[j + 1] + c] - x[3 * (int64_t)v[0] + c];
    }
    const double det = D[0][0] * D[1][1] - D[0][1] * D[1][0];
    double a = 0.0, b = 0.0, d = 0.0;
    for (int c = 0; c < 3; ++c) {
      f[0][c] = (e[0][c] * D[1][1] - e[1][c] * D[1][0]) / det;
      f[1][c] = (e[1][c] * D[0][0] - e[0][c] * D[0][1]) / det;
      a += f[0][c] * f[0][c];
      b += f[0][c] * f[1][c];
      d += f[1][c] * f[1][c];
    }
    most = fmax(most, sqrt(0.5 * (a + d) + sqrt(0.25 * (a - d) * (a - d) + b * b)));
  }
  return most;
}

/* The largest stretch in any frame, and how far the middle hangs at the end. */
static double measure_hanging_stretch(const char *tension, double *drop)
{
  char text[1024];
  double most = 0.0, time;
  sim s;
  snprintf(text, sizeof text,
           "[run]\nsteps = 40\ndt = 0.02\n[exec]\nbackend = cpu\n"
           "[stop]\ntol_abs = 1e-6\ntol_rel = 0\nmax_iters = 200\n"
           "[log]\naudit = off\nframes_every = 1\n"
           "[cloth.sheet]\nsize = 0.5\nresolution = 13\npattern = alternate\ndensity = 2\n"
           "damping = 2\npins = corners\nmodel = neohookean+isometric\nyoung = 200\n"
           "limit = %g\nlimit_tension = %s\n[solver]\nplugin = cholmod_newton\n"
           "[filter]\nline_search = on\n",
           LIMIT, tension);
  sim_run(&s, text, NULL, 0);
  double *const x = malloc(3 * (size_t)s.n * sizeof *x);
  cr_assert(x != NULL);
  for (int64_t t = 0; t < s.frames; ++t) {
    sim_frame(&s, t, x, NULL, &time);
    most = fmax(most, most_stretch(&s, x));
  }
  *drop = -s.x[3 * (s.n / 2) + 2];
  free(x);
  sim_free(&s);
  return most;
}

Test(stretch_limit, holds_where_the_free_sheet_exceeds_it)
{
  double drop, free_drop;
  const double limited = measure_hanging_stretch("1e4", &drop),
               unlimited = measure_hanging_stretch("0", &free_drop);
  printf("hanging sheet: stretch %.4f and drop %.4f m; without limit %.4f and %.4f m\n", limited,
         drop, unlimited, free_drop);
  cr_assert(limited > 1.0 + 0.5 * (LIMIT - 1.0), "%g: the wall was never touched", limited);
  cr_assert_lt(limited, LIMIT);
  cr_assert_gt(unlimited, LIMIT);
  cr_assert(drop > 0.0 && drop < free_drop);
}
