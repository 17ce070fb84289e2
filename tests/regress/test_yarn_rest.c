/* Rest lengths that shrink, damping that ends, and the effect of linear models of contact on
 * energy. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(yarn_rest, .init = proc_enter, .fini = proc_leave);

static const int is_float = sizeof(loom_real) == 4;

#define RUN    "[run]\nsteps = 400\ndt = 1e-4\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"
#define SOLVER "[solver]\nplugin = yarn_explicit\nmu_prop = 0\nmu_const = 0\n"
/* no force is there at first, so that the residual of projected lengths grows without bound */
#define LOG     "[stop]\ndiverged = 1e30\n[log]\naudit = off\n"
#define ALONE   "[collision.none]\nplugin = none\n"
#define PI      3.14159265358979323846
#define RADIUS  0.03 /* m, of rings */
#define BENDING 2e-8 /* N m^2, the default */

/* ---- curves ---- */

/* n points; closed: the last one is joined to the first. */
static void write_rest_curve(const char *name, const double (*x)[3], int n, int closed)
{
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  for (int i = 0; i < n; ++i) fprintf(f, "v %.17g %.17g %.17g\n", x[i][0], x[i][1], x[i][2]);
  fprintf(f, "l");
  for (int i = 0; i < n + closed; ++i) fprintf(f, " %d", i % n + 1);
  fprintf(f, "\n");
  fclose(f);
}

enum { RING = 24, LINE = 13, HUNG = 51 };

/* A wavy ring: it bends in two directions. */
static void write_ring(const char *name, double wave)
{
  double x[RING][3];
  for (int i = 0; i < RING; ++i) {
    const double t = 2 * PI * i / RING;
    x[i][0] = RADIUS * cos(t);
    x[i][1] = RADIUS * sin(t);
    x[i][2] = wave * RADIUS * cos(4 * t);
  }
  write_rest_curve(name, (const double(*)[3])x, RING, 1);
}

/* 6 cm along an axis. */
static void write_line(const char *name, int axis)
{
  double x[LINE][3] = {{0}};
  for (int i = 0; i < LINE; ++i) x[i][axis] = -0.03 + 0.06 * i / (LINE - 1);
  write_rest_curve(name, (const double(*)[3])x, LINE, 0);
}

/* ---- records of a log ---- */

static h5read *open_rest_log(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  return r;
}

static h5log_step_row step_at(const char *path, int64_t from_end)
{
  loom_err err = {0};
  h5log_step_row row;
  h5read *const r = open_rest_log(path);
  const int64_t n = h5read_num_steps(r);
  cr_assert_eq(h5read_steps(r, &err, n - 1 - from_end, 1, &row), LOOM_OK, "%s", err.text);
  h5read_close(r);
  return row;
}

/* x [n][3], v [n][3] of frame `at`, or of the last one (-1) */
static int frame_of(const char *path, int64_t at, double *x, double *v)
{
  loom_err err = {0};
  h5read *const r = open_rest_log(path);
  const int64_t frame = at < 0 ? h5read_num_frames(r) - 1 : at;
  cr_assert_eq(h5read_frame(r, &err, frame, x, v, NULL, NULL), LOOM_OK, "%s", err.text);
  const int n = (int)h5read_num_verts(r);
  h5read_close(r);
  return n;
}

/* ---- rest lengths ---- */

/* Lengths of a ring follow the projection evenly.  Angles stay, so that it bears no energy: with
 * rest lengths of the start in the rods it would have 2 % (0.9) to 24 % (1.3) of k_b times its
 * curvature. */
static void shrinks_to_rest(const char *shrink, const char *time)
{
  double x[3 * RING], mean = 0;
  char set[2][64];
  snprintf(set[0], sizeof set[0], "solver.shrink=%s", shrink);
  snprintf(set[1], sizeof set[1], "solver.shrink_time=%s", time);
  LOOM_FINE("run", "ring.ini", "--quiet", "--overwrite", "-o", "ring.h5", "--set", set[0], "--set",
            set[1]);
  const h5log_step_row last = step_at("ring.h5", 0);
  frame_of("ring.h5", -1, x, NULL);
  for (int i = 0; i < RING; ++i) mean += hypot(x[3 * i], x[3 * i + 1]) / RING;
  cr_expect_float_eq(mean / (atof(shrink) * RADIUS), 1.0, 1e-4, "shrink %s: radius %g m", shrink,
                     mean);
  /* pi k_b / R of a ring that was straight at rest */
  cr_expect_lt(last.e_elastic, (is_float ? 1e-4 : 1e-10) * PI * BENDING / RADIUS,
               "shrink %s in %s s: %g J", shrink, time, last.e_elastic);
}

Test(yarn_rest, what_shrinks_evenly_is_at_rest)
{
  write_ring("ring.obj", 0.0);
  proc_write("ring.ini", RUN SOLVER ALONE LOG "[yarn.ring]\npattern = obj\nfile = ring.obj\n");
  shrinks_to_rest("0.9", "0.02");
  shrinks_to_rest("0.6", "0.02");
  shrinks_to_rest("1.3", "0.02");
}

/* Weights of contact are rest lengths: its energy and force have the square of the factor.  Two
 * straight yarns at 0.9 of both radii, lengths free, so that contact alone moves them. */
static double measure_contact_push(const char *model, double shrink, double *energy)
{
  double x[6 * LINE], v[6 * LINE], most = 0;
  char set[2][64];
  snprintf(set[0], sizeof set[0], "contact.yarns.plugin=%s", model);
  snprintf(set[1], sizeof set[1], "solver.shrink=%g", shrink);
  LOOM_FINE("run", "cross.ini", "--quiet", "--overwrite", "-o", "cross.h5", "-n", "1", "--set",
            "run.dt=1e-6", "--set", set[0], "--set", set[1], "--set", "solver.shrink_time=0",
            "--set", "solver.max_iters=0");
  const int n = frame_of("cross.h5", -1, x, v);
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(v[3 * i + 2]));
  *energy = step_at("cross.h5", 0).e_contact;
  return most;
}

#define CROSS(model)                                                             \
  "[collision.yarns]\nplugin = yarn_grid\n[contact.yarns]\nplugin = " model "\n" \
  "[detect]\nevery = step\n"                                                     \
  "[yarn.a]\npattern = obj\nfile = x.obj\n[yarn.b]\npattern = obj\nfile = y.obj\n"

Test(yarn_rest, contact_weighs_lengths_that_have_shrunk)
{
  static const char *const models[] = {"yarn_penalty", "acl"};
  static const double factors[] = {0.8, 1.5};
  double e1, e;
  write_line("x.obj", 0);
  write_line("y.obj", 1);
  proc_write("cross.ini", RUN SOLVER LOG
             "state = off\n" CROSS("acl") "transform = translate 0.001 0.002 0.00225\n");
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) {
      const double f = factors[k], v1 = measure_contact_push(models[i], 1, &e1),
                   v = measure_contact_push(models[i], f, &e);
      cr_assert_gt(v1, 1e-5, "%s: %g m/s", models[i], v1);
      /* the lengths have no time to act, so rods are straight and free of force */
      cr_expect_float_eq(v / (f * f * v1), 1.0, is_float ? 1e-4 : 1e-9, "%s at %g: %g and %g m/s",
                         models[i], f, v, v1);
      if (i == 0)
        cr_expect_float_eq(e / (f * f * e1), 1.0, 1e-3, "energy at %g: %g and %g J", f, e, e1);
    }
}

/* ---- energy of a collision ---- */

/* Share of its energy that a free collision of two yarns adds. */
static double measure_energy_gain(const char *model, const char *tolerance, const char *dt,
                                  const char *steps)
{
  char set[3][64];
  snprintf(set[0], sizeof set[0], "contact.yarns.plugin=%s", model);
  snprintf(set[1], sizeof set[1], "run.dt=%s", dt);
  snprintf(set[2], sizeof set[2], "contact.yarns.tolerance=%s", tolerance);
  if (strcmp(model, "acl") == 0)
    LOOM_FINE("run", "meet.ini", "--quiet", "--overwrite", "-o", "meet.h5", "-n", steps, "--set",
              set[0], "--set", set[1], "--set", set[2]);
  else
    LOOM_FINE("run", "meet.ini", "--quiet", "--overwrite", "-o", "meet.h5", "-n", steps, "--set",
              set[0], "--set", set[1]);
  const h5log_step_row a = step_at("meet.h5", atoi(steps) - 1), b = step_at("meet.h5", 0);
  return (b.e_kinetic + b.e_elastic) / (a.e_kinetic + a.e_elastic) - 1;
}

/* The numbers of plugins/contact/acl/README.md. */
Test(yarn_rest, energy_of_a_collision)
{
  write_line("x.obj", 0);
  write_line("y.obj", 1);
  proc_write("meet.ini",
             RUN SOLVER LOG "state = off\n" CROSS(
                 "acl") "transform = translate 0.008 0.005 0.004\nvelocity = 0 0 -0.36\n");
  const double exact = measure_energy_gain("yarn_penalty", "", "2.5e-5", "1600");
  const double models = measure_energy_gain("acl", "0.04", "2.5e-5", "1600");
  const double longer = measure_energy_gain("acl", "0.04", "1e-4", "400");
  const double fine = measure_energy_gain("acl", "0.004", "2.5e-5", "1600");
  printf("energy: exact %+.2f %%, acl %+.1f %% (dt 100 us %+.1f %%), tau = 0.004 %+.2f %%\n",
         100 * exact, 100 * models, 100 * longer, 100 * fine);
  cr_expect(fabs(exact) < 0.005, "%g", exact);
  cr_expect(fabs(fine) < 0.01, "%g", fine);
  cr_expect(models > 0.2 && models < 0.5, "%g", models);
  cr_expect(longer > 0.2 && longer < 0.5, "%g", longer);
}

/* ---- damping that ends ---- */

/* Largest distance of a vertex from the catenary of 0.5 m over 0.3 m, by arc length, m. */
static double off_catenary(const double *x)
{
  double lo = 0.05, hi = 1, most = 0;
  for (int i = 0; i < 100; ++i) { /* 2 a sinh(0.15/a) = 0.5 */
    const double a = 0.5 * (lo + hi);
    if (2 * a * sinh(0.15 / a) > 0.5)
      lo = a;
    else
      hi = a;
  }
  for (int i = 0; i < HUNG; ++i) {
    const double s = -0.25 + 0.5 * i / (HUNG - 1), at = lo * asinh(s / lo);
    const double z = lo * cosh(at / lo) - lo * cosh(0.15 / lo);
    most = fmax(most, hypot(x[3 * i] - at, x[3 * i + 2] - z));
  }
  return most;
}

/* From a V the constant damping lets it sink for a while, then holds it; without, it hangs. */
Test(yarn_rest, constant_damping_can_end)
{
  double v[HUNG][3] = {{0}}, x[3 * HUNG], speed[3 * HUNG], fastest = 0;
  for (int i = 0; i < HUNG; ++i) {
    const double s = 2.0 * i / (HUNG - 1) - 1;
    v[i][0] = 0.15 * s;
    v[i][2] = -0.2 * (1 - fabs(s));
  }
  write_rest_curve("v.obj", (const double(*)[3])v, HUNG, 0);
  proc_write("hung.ini",
             "[run]\nsteps = 3000\ndt = 1e-3\n[exec]\nbackend = cpu\nthreads = 1\n"
             "[solver]\nplugin = yarn_explicit\nmu_prop = 0\n" ALONE LOG
             "frames_every = 1000\nresidual_every = 3000\n[yarn.a]\npattern = obj\nfile = v.obj\n"
             "bending = 0\ntwisting = 0\ndamping = 4\npins = 0 50\n");
  LOOM_FINE("run", "hung.ini", "--quiet", "-o", "held.h5", "-n", "1000");
  frame_of("held.h5", -1, x, speed);
  for (int i = 0; i < 3 * HUNG; ++i) fastest = fmax(fastest, fabs(speed[i]));
  const double held = off_catenary(x);
  LOOM_FINE("run", "hung.ini", "--quiet", "-o", "let.h5", "--set", "solver.mu_const_end=0.2");
  frame_of("let.h5", -1, x, NULL);
  const double let = off_catenary(x);
  printf("held %.2f mm off, at %.2g m/s; let go at 0.2 s: %.3f mm\n", 1e3 * held, fastest,
         1e3 * let);
  cr_expect(held > 0.01, "%g m", held);
  cr_expect(fastest < 1e-3, "%g m/s", fastest);
  cr_expect(let < 3e-4, "%g m", let);
  /* up to that time the runs are equal */
  LOOM_FINE("run", "hung.ini", "--quiet", "-o", "late.h5", "-n", "1000", "--set",
            "solver.mu_const_end=1");
  frame_of("late.h5", -1, x, NULL);
  cr_expect_eq(off_catenary(x), held);
}
