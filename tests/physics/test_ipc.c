/* Barrier contact and its friction against exact results: Coulomb's threshold on a
 * slope, the capstan equation, Newton's quadratic convergence, momentum, no intersections. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/sim.h"

/* ---- slope ---- */

/* As in test_slope.c: the plane falls along +x with tan(angle) = 0.5.  The block starts where
 * the barrier carries it: the vertices settle within d_hat. */
static const char slope[] =
    "[run]\nsteps = 100\ndt = 0.01\n[exec]\nbackend = cpu\n"
    "[stop]\ntol_abs = 1e-12\ntol_rel = 0\nmax_iters = 300\n[log]\naudit = off\n"
    "[cloth.block]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 4 4\ndensity = 2\n"
    "membrane = 1e4\nk_b = 1e-2\nthickness = 0\n"
    "transform = translate 0 0 5e-4 rotate 0 1 0 26.56505117707799\n"
    "[body.slope]\nshape = plane\nnormal = 0.4472135954999579 0 0.8944271909999159\n"
    "[solver]\nplugin = cholmod_newton\n"
    "[collision.bodies]\nplugin = sdf\n"
    "[contact.bodies]\nplugin = ipc_barrier\nepsilon_v = 1e-5\n";

static double downhill_component(const double *a) { return (2.0 * a[0] - a[2]) / sqrt(5.0); }

/* Mean downhill speed of frame t, and of the last one. */
static void measure_downhill_speeds(sim *s, int64_t t, double *then, double *now, double *dt)
{
  double *const v = calloc(3 * (size_t)s->n, sizeof *v), t0;
  cr_assert(v != NULL);
  sim_frame(s, t, NULL, v, &t0);
  *then = *now = 0.0;
  for (int64_t i = 0; i < s->n; ++i) {
    *then += downhill_component(v + 3 * i) / (double)s->n;
    *now += downhill_component(s->v + 3 * i) / (double)s->n;
  }
  *dt = s->time - t0;
  free(v);
}

Test(ipc, slope_sticks_within_a_five_hundredth_of_the_threshold)
{
  sim s;
  double v0, v1, dt;
  /* friction of the start of a step lets the first step of the contact go, 25 mm/s, which a
   * thousandth of g would take seconds to brake */
  sim_run(&s, slope,
          (const char *const[]){"body.slope.friction=0.501",
                                "contact.bodies.friction_lag=iteration", NULL},
          0);
  measure_downhill_speeds(&s, 50, &v0, &v1, &dt);
  printf("slope, mu = 1.002 tan: creeps at %.4g m/s (epsilon_v 1e-5), %.2g m/s before\n", v1, v0);
  /* sticking is creeping below epsilon_v, and not speeding up */
  cr_expect(v1 > 0 && v1 < 1e-5, "%g m/s", v1);
  /* and the slope carries it: each step has converged, far from the gap that a bound would leave
   */
  h5log_step_row *const st = sim_steps(&s);
  for (int64_t k = 50; k < s.steps; ++k)
    cr_expect(st[k].reason == H5LOG_converged_abs && st[k].min_gap > 1e-4,
              "step %d: reason %d, gap %g m", (int)k, (int)st[k].reason, st[k].min_gap);
  free(st);
  sim_free(&s);
}

Test(ipc, slope_slides_within_a_five_hundredth_of_the_threshold)
{
  sim s;
  double v0, v1, dt;
  sim_run(&s, slope, (const char *const[]){"body.slope.friction=0.499", NULL}, 0);
  measure_downhill_speeds(&s, 50, &v0, &v1, &dt);
  const double want = 9.81 * (1.0 - 0.499 / 0.5) / sqrt(5.0), a = (v1 - v0) / dt;
  printf("slope, mu = 0.998 tan: a = %.7f m/s^2, exact %.7f\n", a, want);
  /* a small difference of large forces: lambda is right to the settling of the block */
  cr_expect(fabs(a / want - 1) < 0.01, "%g m/s^2, want %g", a, want);
  sim_free(&s);
}

/* ---- capstan ---- */

enum { ROWS = 3, AROUND = 48, DOWN = 16, LONG = AROUND + 2 * DOWN + 1 };
static const double pi = 3.14159265358979323846;
static const double drum = 0.05, above = 5e-4, drop = 0.08, width = 8e-3; /* m */

/* A strip over the upper half of a drum around y, both ends hanging down along z. */
static void write_drum_strip(const char *path)
{
  FILE *const f = fopen(path, "w");
  cr_assert(f != NULL);
  for (int i = 0; i < LONG; ++i) {
    const double R = drum + above, a = pi * (i - DOWN) / AROUND;
    double x = -R * cos(a), z = R * sin(a);
    if (i < DOWN) x = -R, z = -drop * (DOWN - i) / DOWN;
    if (i > DOWN + AROUND) x = R, z = -drop * (i - DOWN - AROUND) / DOWN;
    for (int j = 0; j < ROWS; ++j)
      fprintf(f, "v %.17g %.17g %.17g\n", x, width * (j / (ROWS - 1.0) - 0.5), z);
  }
  for (int i = 0; i + 1 < LONG; ++i)
    for (int j = 0; j + 1 < ROWS; ++j) {
      const int a = i * ROWS + j + 1, b = a + 1, c = a + ROWS, d = c + 1;
      fprintf(f, "f %d %d %d\nf %d %d %d\n", a, c, b, b, c, d);
    }
  cr_assert_eq(fclose(f), 0);
}

/* The drum turns below the strip; its ends are held by springs and were pulled down; the
 * springs show the tensions.  T1 / T0 = exp(mu phi), phi = pi. */
Test(ipc, capstan)
{
  static const double mu = 0.25, pulled = 1.2e-3, spring = 100; /* m, N/m per vertex */
  char dir[] = "/tmp/loom_strip_XXXXXX", path[64], text[2048];
  sim s;
  double T[2] = {0, 0};
  cr_assert(mkdtemp(dir) != NULL);
  snprintf(path, sizeof path, "%s/strip.obj", dir);
  write_drum_strip(path);
  snprintf(text, sizeof text,
           "[run]\nsteps = 60\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n"
           "[stop]\ntol_abs = 1e-9\ntol_rel = 0\nmax_iters = 100\n[log]\naudit = off\n"
           "[cloth.strip]\nmodel = arap+isometric\nshape = obj\nfile = %s\ndensity = 0.2\nmembrane "
           "= 2000\n"
           "k_b = 1e-8\nthickness = 0\ndamping = 20\n"
           "[pin.left]\nobject = strip\nwhere = box -0.06 -1 -0.081 -0.04 1 -0.0799\n"
           "stiffness = %g\nmotion = translate 0 0 %g 0 0.1\n"
           "[pin.right]\nobject = strip\nwhere = box 0.04 -1 -0.081 0.06 1 -0.0799\n"
           "stiffness = %g\nmotion = translate 0 0 %g 0 0.1\n"
           "[body.drum]\nshape = capsule\nradius = %g\nlength = 0.2\nrotation = 1 0 0 90\n"
           "friction = %g\nmotion = rotate 0 1 0 0 0 0 40 0.1 10\n"
           "[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n"
           "[contact.bodies]\nplugin = ipc_barrier\nstiffness = 20\n",
           path, spring, -pulled / 0.1, spring, -pulled / 0.1, drum, mu);
  sim_run(&s, text, NULL, 0);
  for (int e = 0; e < 2; ++e)
    for (int j = 0; j < ROWS; ++j) {
      const int64_t i = (int64_t)(e ? LONG - 1 : 0) * ROWS + j;
      T[e] += spring * (s.x[3 * i + 2] - (-drop - pulled));
    }
  const double ratio = fmax(T[0], T[1]) / fmin(T[0], T[1]), want = exp(mu * pi);
  printf("capstan: tensions %.5g and %.5g N, ratio %.5f, exp(mu phi) = %.5f (%+.2f %%)\n", T[0],
         T[1], ratio, want, 100 * (ratio / want - 1));
  cr_expect(fabs(ratio / want - 1) < 0.05);
  sim_free(&s);
  unlink(path);
  rmdir(dir);
}

/* ---- convergence ----
 */

/* A smooth scene: a sheet resting on a ball, no friction.  Terminal convergence is quadratic:
 * from 1e-4 of the first residual on, each iteration about doubles the digits. */
Test(ipc, newton_converges_quadratically)
{
  static const char text[] =
      "[run]\nsteps = 12\ndt = 0.01\n[exec]\nbackend = cpu\n"
      "[stop]\ntol_abs = 1e-13\ntol_rel = 0\nmax_iters = 60\n[log]\naudit = off\n"
      "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 "
      "0.2\nresolution = 13 13\ndensity = 0.2\n"
      "membrane = 50\nk_b = 1e-5\nthickness = 0.001\ntransform = translate 0.003 0.002 0\n"
      "[body.ball]\nshape = sphere\nradius = 0.08\nposition = 0 0 -0.082\nfriction = 0\n"
      "[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n"
      "[contact.bodies]\nplugin = ipc_barrier\n";
  sim s;
  int seen = 0, steps = 0;
  double worst = 0.0;
  sim_run(&s, text, NULL, 0);
  h5log_iter_row *const r = sim_iters(&s);
  h5log_step_row *const st = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    cr_expect_eq(st[k].reason, H5LOG_converged_abs, "step %d", (int)k);
    steps += st[k].contacts > 0;
  }
  for (int64_t k = 1; k < s.iters; ++k) {
    const double a = r[k - 1].r_solved_rms, b = r[k].r_solved_rms;
    if (r[k].step != r[k - 1].step || !(r[k].e_contact > 0) || !(a < 1e-6 && a > 1e-9)) continue;
    /* r' <= C r^2 with C = 1/1e-5 m, a hundredth of d_hat: 1e-7 is followed by 1e-9; rounding
     * ends at about 1e-14 m */
    worst = fmax(worst, (b - 1e-13) / (a * a));
    ++seen;
  }
  printf("quadratic convergence: r' / r^2 <= %.3g 1/m in %d iterations of %d steps\n", worst, seen,
         steps);
  cr_expect(steps >= 5 && seen >= 5, "%d steps with contact, %d iterations", steps, seen);
  cr_expect(worst < 1e5, "%g 1/m", worst);
  free(r), free(st);
  sim_free(&s);
}

/* ---- cloth against cloth ---- */

static void collide_two_sheets(const char *thickness)
{
  static const char format[] =
      "[run]\nsteps = 30\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n"
      "[stop]\ntol_abs = 1e-9\ntol_rel = 0\nmax_iters = 200\n[log]\naudit = every\n"
      "[cloth.one]\nmodel = arap+isometric\nshape = grid\nsize = 0.2 0.2\nresolution = 9 "
      "9\ndensity = 0.2\nmembrane = 50\n"
      "k_b = 1e-5\nthickness = %s\nvelocity = 0 0 1\n"
      "[cloth.two]\nmodel = arap+isometric\nshape = grid\nsize = 0.2 0.2\nresolution = 9 "
      "9\ndensity = 0.2\nmembrane = 50\n"
      "k_b = 1e-5\nthickness = %s\nvelocity = 0.5 0 -1\n"
      "transform = translate 0.03 0.02 0.03 rotate 0 0 1 25 rotate 1 0 0 8\n"
      "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = patch_bvh\n"
      "[contact.self]\nplugin = ipc_barrier\nself_friction = 0.3\n";
  char text[2048];
  sim s;
  double p[3] = {0}, lowest = INFINITY;
  int touched = 0;
  snprintf(text, sizeof text, format, thickness, thickness);
  sim_run(&s, text, NULL, 0);
  /* equal masses up to the lumping, which is the same for both sheets: corners and sides weigh
   * a quarter and a half; mass from the log */
  h5log_step_row *const st = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    touched += st[k].contacts > 0;
    if (isfinite(st[k].min_gap)) lowest = fmin(lowest, st[k].min_gap);
    cr_expect_eq(st[k].intersections, 0, "step %d", (int)k);
  }
  for (int64_t i = 0; i < s.n; ++i) {
    double area = 0.0; /* third of the triangles around */
    for (int64_t t = 0; t < s.nt; ++t)
      for (int a = 0; a < 3; ++a) area += s.tris[3 * t + a] == i ? 0.5 * 0.025 * 0.025 / 3 : 0.0;
    for (int c = 0; c < 3; ++c) p[c] += 0.2 * area * s.v[3 * i + c];
  }
  printf("two sheets of %s m: %d steps in contact, smallest gap %.3g m, momentum %.3g %.3g %.3g\n",
         thickness, touched, lowest, p[0], p[1], p[2]);
  cr_expect(touched > 5 && lowest > 0);
  /* m v = 0.008 kg m/s each; the iterations stop at 1e-9 m, or 1e-9 kg m/s per step */
  cr_expect(fabs(p[0] - 0.004) < 1e-7 && fabs(p[1]) < 1e-7 && fabs(p[2]) < 1e-7);
  free(st);
  sim_free(&s);
}

/* Two sheets fly at each other in free space: momentum stays, no triangles intersect in any frame.
 */
Test(ipc, sheets_that_collide_keep_momentum) { collide_two_sheets("0.001"); }

/* Without thickness only d_hat keeps them apart. */
Test(ipc, sheets_without_thickness_collide) { collide_two_sheets("0"); }

/* ---- cloth and a body's mesh ---- */

/* A cube lifts a sheet that is held at its corners, and turns below it: the body waits for the
 * cloth to be pushed on, and every step converges. */
Test(ipc, cube_lifts_a_sheet)
{
  static const char cube[] = "v -.05 -.05 -.05\nv .05 -.05 -.05\nv .05 .05 -.05\nv -.05 .05 -.05\n"
                             "v -.05 -.05 .05\nv .05 -.05 .05\nv .05 .05 .05\nv -.05 .05 .05\n"
                             "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\n"
                             "f 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\n";
  char dir[] = "/tmp/loom_cube_XXXXXX", path[64], text[2048];
  sim s;
  double lowest = INFINITY;
  cr_assert(mkdtemp(dir) != NULL);
  snprintf(path, sizeof path, "%s/cube.obj", dir);
  FILE *const f = fopen(path, "w");
  cr_assert(f != NULL && fputs(cube, f) >= 0 && fclose(f) == 0);
  snprintf(text, sizeof text,
           "[run]\nsteps = 20\ndt = 0.01\n[exec]\nbackend = cpu\n[filter]\nmin_gap = 1e-5\n"
           "[stop]\ntol_abs = 1e-8\ntol_rel = 0\nmax_iters = 1000\n[log]\naudit = every\n"
           "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.3 "
           "0.3\nresolution = 13 13\ndensity = 0.2\n"
           "membrane = 100\nk_b = 1e-5\nthickness = 0.001\npins = corners\n"
           "[body.cube]\nshape = mesh\nfile = %s\nposition = 0.01 0.005 -0.06\nfriction = 0.4\n"
           "motion = translate 0 0 0.8 0 0.1 rotate 0 0 1 0 0 0 180 0.1 0.2\n"
           "[solver]\nplugin = cholmod_newton\n[collision.mesh]\nplugin = patch_bvh\n"
           "[contact.all]\nplugin = ipc_barrier\nd_hat = 3e-3\nstiffness = 10\n"
           "self_friction = 0.2\n",
           path);
  sim_run(&s, text, NULL, 0);
  h5log_step_row *const st = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    cr_expect_eq(st[k].reason, H5LOG_converged_abs, "step %d", (int)k);
    cr_expect_eq(st[k].intersections, 0, "step %d", (int)k);
    if (st[k].contacts > 0) lowest = fmin(lowest, st[k].min_gap);
  }
  /* the cube's top ends at -0.06 + 0.05 + 0.08 m, the radius is 0.5 mm; thrown up at 0.8 m/s the
   * middle may fly a little further */
  const double z = s.x[3 * (6 * 13 + 6) + 2];
  printf("cube lifts sheet: %d iterations, smallest gap %.3g m, the middle at %.4f m\n",
         (int)s.iters, lowest, z);
  cr_expect(lowest > 1e-5 && z > 0.0705 && z < 0.09, "%g m, %g m", lowest, z);
  free(st);
  sim_free(&s);
  unlink(path);
  rmdir(dir);
}
