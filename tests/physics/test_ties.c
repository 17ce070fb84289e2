/* [attach.NAME]: ties between cloth and bodies pull both sides alike. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/vec3.h"
#include "support/sim.h"

/* ---- a hanging weight ---- */

/* N, of the body of 200 kg/m^3 inside the triangles of vertices from `first` on. */
static double weight_of_body(const sim *s, int32_t first)
{
  double six = 0.0;
  for (int64_t t = 0; t < s->nt; ++t) {
    const int32_t *const v = s->tris + 3 * t;
    double n[3];
    if (v[0] < first) continue;
    vec3_cross(s->rest + 3 * v[1], s->rest + 3 * v[2], n);
    six += vec3_dot(s->rest + 3 * v[0], n);
  }
  return 9.81 * 200 * six / 6;
}

/* A ball hangs at its highest vertex from one that is held: k (|d| - L) is its weight. */
static void hang_ball(double length)
{
  static const char scene[] =
      "[run]\nsteps = 250\ndt = 0.01\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-12\ntol_rel = 0\n"
      "[log]\naudit = off\n[cloth.hook]\nmodel = arap+isometric\npattern = regular\nshape = grid\n"
      "size = 0.02 0.02\nresolution = 3 3\npins = 0 1 2 3 4 5 6 7 8\n[solid.ball]\nshape = sphere\n"
      "radius = 0.05\nmodel = affine\nstiffness = 1e6\ndensity = 200\ndamping = 10\n"
      "transform = translate 0 0 -0.06\n[attach.thread]\nobject = hook\nwhere = 4\nto = ball\n"
      "stiffness = 500\nwithin = 0.02\n[solver]\nplugin = cholmod_newton\n";
  enum { BALL = 9, SURFACE = BALL + 4 };
  char set[64];
  double top = -INFINITY;
  sim s;
  snprintf(set, sizeof set, "attach.thread.length=%g", length);
  sim_run(&s, scene, (const char *const[]){set, NULL}, 0);
  for (int64_t i = SURFACE; i < s.n; ++i) top = fmax(top, s.x[3 * i + 2]);
  const double force = 500 * (-top - length), weight = weight_of_body(&s, SURFACE);
  printf("length %g m: the tie pulls with %.9f N, the ball weighs %.9f N\n", length, force, weight);
  cr_expect(fabs(force / weight - 1) < 1e-7, "%.9f N, not %.9f N", force, weight);
  sim_free(&s);
}

Test(ties, hanging_weight)
{
  hang_ball(0.0);
  hang_ball(0.02);
}

/* ---- momentum ---- */

/* A free sheet flies past, tied by two corners to `to`, which is free and at rest. */
static void drag_along(const char *solver, const char *to, double bound)
{
  static const char scene[] =
      "[run]\nsteps = 40\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\n"
      "tol_abs = 1e-12\ntol_rel = 0\nmax_iters = 400\n[log]\naudit = off\n"
      "[cloth.flag]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 0.1\n"
      "resolution = 5 5\ndensity = 0.2\nmembrane = 100\nk_b = 1e-4\nvelocity = 1 0.2 0.1\n"
      "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 0.2\n"
      "resolution = 4 4\ndensity = 0.2\nmembrane = 100\nk_b = 1e-4\n"
      "transform = translate 0.013 0.007 -0.005\n[solid.plate]\nsize = 0.2 0.2 0.01\n"
      "resolution = 2 2 2\ndensity = 100\nmodel = affine\nstiffness = 1e5\n"
      "transform = translate 0.003 0.002 0.01\n[attach.thread]\nobject = flag\n"
      "where = bottom_left top_left\nstiffness = 20\n";
  char sets[2][64];
  double size = 0.0, worst = 0.0;
  sim s;
  snprintf(sets[0], sizeof sets[0], "solver.plugin=%s", solver);
  snprintf(sets[1], sizeof sets[1], "attach.thread.to=%s", to);
  sim_run(&s, scene, (const char *const[]){sets[0], sets[1], NULL}, 0);
  const double v0[3] = {1, 0.2, 0.1}, mass = 0.2 * 0.1 * 0.1;
  h5log_step_row *const rows = sim_steps(&s);
  for (int c = 0; c < 3; ++c) size = hypot(size, mass * v0[c]);
  for (int64_t k = 0; k < s.steps; ++k) {
    const double p[3] = {rows[k].p_x, rows[k].p_y, rows[k].p_z};
    for (int c = 0; c < 3; ++c) worst = fmax(worst, fabs(p[c] - mass * v0[c]) / size);
  }
  const int64_t other = strcmp(to, "sheet") == 0 ? 25 : s.n - 1;
  printf("%s, tied to %s: momentum changes by %.2g of itself, the other side has %.3f m/s\n",
         solver, to, worst, s.v[3 * other]);
  cr_expect(worst < bound, "%s, %s: %g", solver, to, worst);
  cr_expect(fabs(s.v[3 * other]) > 0.01, "%s, %s: %g m/s", solver, to, s.v[3 * other]);
  free(rows);
  sim_free(&s);
}

Test(ties, momentum_stays)
{
  static const char *const solvers[] = {"cholmod_newton", "pcg_newton", "aa_pd"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    drag_along(solvers[k], "plate", 1e-9);
    drag_along(solvers[k], "sheet", 1e-9);
  }
}

/* ---- oscillation ---- */

/* Two triangles of one shape above each other, tied at their corners (`to` takes four vertices or
 * more, so each cloth has a further triangle, apart): with m of a corner of one, M
 * of the other and u = m M/(m + M) implicit Euler gives the distance d' = (d + h w)/(1 + h^2 k/u),
 * w' = (d' - d)/h, which loses 1/sqrt(1 + h^2 k/u) of its amplitude in each step. */
Test(ties, two_masses_oscillate)
{
  enum { STEPS = 40 };
  static const double h = 0.005, stiffness = 30, area = 0.5 * 0.1 * 0.08;
  char file[] = "/tmp/loom_triangle_XXXXXX.obj", config[1500];
  const int fd = mkstemps(file, 4);
  FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;
  cr_assert(f != NULL);
  fprintf(
      f,
      "v 0 0 0\nv 0.1 0 0\nv 0.03 0.08 0\nv 1 0 0\nv 1.1 0 0\nv 1.03 0.08 0\nf 1 2 3\nf 4 5 6\n");
  cr_assert_eq(fclose(f), 0);
  snprintf(config, sizeof config,
           "[run]\nsteps = %d\ndt = 0.005\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\n"
           "tol_abs = 1e-15\ntol_rel = 0\nmax_iters = 50\n[log]\naudit = off\nframes_every = 1\n"
           "[cloth.a]\nmodel = arap\nshape = mesh\nfile = %s\ndensity = 0.2\nmembrane = 100\n"
           "transform = translate 0 0 0.02\nvelocity = 0 0 0.3\n"
           "[cloth.b]\nmodel = arap\nshape = mesh\nfile = %s\ndensity = 0.5\nmembrane = 100\n"
           "[attach.t]\nobject = a\nwhere = 0 1 2\nto = b\nstiffness = 30\nwithin = 0.03\n"
           "[solver]\nplugin = cholmod_newton\n",
           STEPS, file, file);
  const double m = 0.2 * area / 3, M = 0.5 * area / 3, u = m * M / (m + M);
  double x[36], d = 0.02, w = 0.3, worst = 0.0, largest = 0.0;
  sim s;
  sim_run(&s, config, NULL, 0);
  cr_assert(s.n == 12 && s.frames == STEPS + 1);
  for (int k = 1; k <= STEPS; ++k) {
    const double next = (d + h * w) / (1 + h * h * stiffness / u);
    w = (next - d) / h;
    d = next;
    largest = fmax(largest, fabs(d));
    sim_frame(&s, k, x, NULL, NULL);
    for (int i = 0; i < 3; ++i) worst = fmax(worst, fabs(x[3 * i + 2] - x[3 * (i + 6) + 2] - d));
  }
  printf("two tied masses: %.3g m off the recurrence, of %.3g m\n", worst, largest);
  cr_expect(worst < 1e-10 * largest, "%g m of %g m", worst, largest);
  (void)unlink(file);
  sim_free(&s);
}

/* ---- refusals ---- */

static void expect_tie_refusal(const char *const *sets, const char *part)
{
  static const char scene[] =
      "[run]\nsteps = 1\n[exec]\nbackend = cpu\n[cloth.flag]\nsize = 0.1 0.1\nresolution = 5 5\n"
      "transform = translate 0 0 0.02\n[solid.plate]\nsize = 0.2 0.2 0.01\nresolution = 2 2 2\n"
      "model = affine\n[solid.lid]\nsize = 0.1 0.1 0.01\nresolution = 2 2 2\nmodel = affine\n"
      "transform = translate 0 0 0.1\n[attach.thread]\nobject = flag\nwhere = corners\nto = plate\n"
      "within = 0.016\n[solver]\nplugin = cholmod_newton\n";
  sim s;
  sim_run(&s, scene, sets, 1);
  if (part == NULL)
    cr_expect_eq(s.status, LOOM_OK, "%s", s.err.text);
  else
    cr_expect(s.status == LOOM_E_CONFIG && strstr(s.err.text, part) != NULL, "'%s' is not in: %s",
              part, s.err.text);
  sim_free(&s);
}

Test(ties, refusals)
{
  expect_tie_refusal(NULL, NULL);
  expect_tie_refusal((const char *const[]){"attach.thread.within=0.014", NULL},
                     "0.015 m away from [solid.plate], more than 0.014 m");
  expect_tie_refusal((const char *const[]){"attach.thread.to=flag", NULL}, "is the object itself");
  expect_tie_refusal((const char *const[]){"attach.thread.to=plait", NULL}, "there is plate");
  expect_tie_refusal((const char *const[]){"attach.thread.object=lid", NULL}, "not two affine");
  expect_tie_refusal(
      (const char *const[]){"attach.thread.object=plate", "attach.thread.to=flag", NULL},
      "name it in the key to");
  expect_tie_refusal((const char *const[]){"attach.thread.where=", NULL}, "names no vertex");
}
