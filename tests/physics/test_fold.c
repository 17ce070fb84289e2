/* Folds that last: a strip of a plate that was bent to an arc and let go. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(fold, .init = proc_enter, .fini = proc_leave);

/* A strip of N x 4 cells of 1 cm, bent to exterior angles of CELL rad: a curvature of 10/m.  Steps
 * of 1 s are long beside the strip's period of 0.16 s: it is let go without a swing, in which its
 * middle would yield once more. */
enum { N = 24, ACROSS = 5, VERTS = (N + 1) * ACROSS };
static const double side = 0.01, cell = 0.1;

#define STRIP                                                                              \
  "[run]\nsteps = 8\ndt = 1\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\n"             \
  "tol_abs = 1e-9\ntol_rel = 0\nmax_iters = 200\n[log]\naudit = off\nframes_every = 1\n"   \
  "[solver]\nplugin = cholmod_newton\n[cloth.a]\nshape = obj\nfile = flat.obj\n"           \
  "positions = bent.obj\ndensity = 0.1\nbending = 1e-3\nmodel = stvk+plate\ndamping = 6\n" \
  "[pin.ends]\nobject = a\nwhere = %s\nhold_until = 1.5\n"

/* The strip along x with exterior angles of `angle` rad between its cells, which keep their size:
 * vertex ACROSS i + j is the j-th one of column i. */
static void write_arc(const char *name, double angle)
{
  FILE *const f = fopen(name, "w");
  double x = 0, z = 0;
  cr_assert_not_null(f);
  for (int i = 0; i <= N; ++i) {
    for (int j = 0; j < ACROSS; ++j) fprintf(f, "v %.17g %.17g %.17g\n", x, side * j, z);
    x += side * cos(angle * i), z += side * sin(angle * i);
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j + 1 < ACROSS; ++j) {
      const int a = ACROSS * i + j + 1, b = a + ACROSS;
      fprintf(f, "f %d %d %d\nf %d %d %d\n", a, b, b + 1, a, b + 1, a + 1);
    }
  cr_assert_eq(fclose(f), 0);
}

/* Vertices that hold the arc: all of them. */
static void write_scene(char *text, size_t len)
{
  char held[8 * VERTS] = "";
  for (int i = 0; i < VERTS; ++i) snprintf(held + strlen(held), 8, "%d ", i);
  snprintf(text, len, STRIP, held);
}

/* rad, by which cells 4 and N - 5 differ in direction at x [VERTS][3] */
static double find_kept_turn(const double *x)
{
  double angle[2];
  for (int k = 0; k < 2; ++k) {
    const double *const at = x + (ptrdiff_t)(3 * (ACROSS * (k ? N - 5 : 4) + ACROSS / 2));
    angle[k] = atan2(at[3 * ACROSS + 2] - at[2], at[3 * ACROSS] - at[0]);
  }
  return angle[1] - angle[0];
}

static double turn_after(double angle, const char *yield, const char *hardening)
{
  char text[2048], keys[2][64], file[2][PROC_NAME + 48], dir[PROC_NAME];
  sim s;
  write_arc("flat.obj", 0);
  write_arc("bent.obj", angle);
  write_scene(text, sizeof text);
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  snprintf(file[0], sizeof file[0], "cloth.a.file=%s/flat.obj", dir);
  snprintf(file[1], sizeof file[1], "cloth.a.positions=%s/bent.obj", dir);
  snprintf(keys[0], sizeof keys[0], "cloth.a.bending_yield=%s", yield);
  snprintf(keys[1], sizeof keys[1], "cloth.a.bending_hardening=%s", hardening);
  sim_run(&s, text, (const char *const[]){file[0], file[1], keys[0], keys[1], NULL}, 0);
  const double got = find_kept_turn(s.x);
  sim_free(&s);
  return got;
}

/* The curvature k = cell/side keeps (k - yield)/(1 + H), the elastic-plastic strip under end
 * moments. */
Test(fold, angle_after_unloading)
{
  static const struct {
    double angle;
    const char *yield, *hardening;
    double y, H;
  } all[] = {{0.1, "4", "0", 4, 0},
             {-0.1, "4", "0", 4, 0},
             {0.1, "4", "0.5", 4, 0.5},
             {0.1, "11", "0", 11, 0},
             {0.1, "0", "0", 10, 0}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    const double left = fmax(fabs(all[k].angle) / side - all[k].y, 0) / (1 + all[k].H);
    const double law = copysign(left * side * (N - 9), all[k].angle);
    const double got = turn_after(all[k].angle, all[k].yield, all[k].hardening);
    printf("bent to %.3g 1/m: %.9f rad stays, law %.9f\n", all[k].angle / side, got, law);
    cr_expect_float_eq(got, law, 1e-5, "case %zu: %.9g rad, not %.9g", k, got, law);
  }
}

Test(fold, resumes_replays_and_refuses)
{
  char text[2048];
  write_arc("flat.obj", 0);
  write_arc("bent.obj", cell);
  write_scene(text, sizeof text);
  proc_write("scene.ini", text);
  proc_write("a.ini", "include = scene.ini\n[run]\nsteps = 8\n[log]\ncheckpoint_every = 1\n"
                      "[cloth.a]\nbending_yield = 4\nbending_hardening = 0.5\n");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "-n", "5");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "--resume=3");
  LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "again.h5", "--set", "run.replay=whole.h5");
  LOOM_FINE("compare", "whole.h5", "again.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "first.h5", "--set", "cloth.a.bending_yield=11");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "never.h5", "--set", "cloth.a.bending_yield=0",
            "--set", "cloth.a.bending_hardening=0");
  LOOM_FINE("compare", "first.h5", "never.h5", "--tol", "0");
  proc_write("b.ini", "[run]\nsteps = 1\n[solver]\nplugin = gd\n[cloth.a]\nmodel = arap+shell\n"
                      "bending_yield = 5\n");
  proc_expect_error(2, LOOM_TEXTS("[cloth.a] bending_yield", "no effect", "model = stvk+plate"),
                    LOOM_ARGS("check", "b.ini"));
  proc_write("c.ini", "[run]\nsteps = 1\n[solver]\nplugin = gd\n[cloth.a]\n"
                      "model = arap+plate_quadratic\nbending = 1e-3\nbending_yield = 5\n");
  proc_expect_error(2, LOOM_TEXTS("bending_yield", "plate_quadratic does not yield", "take plate"),
                    LOOM_ARGS("check", "c.ini"));
  proc_write("d.ini", "[run]\nsteps = 1\n[solver]\nplugin = gd\n[cloth.a]\nmodel = stvk+fold\n");
  proc_expect_error(2, LOOM_TEXTS("'stvk+fold' is no choice", "plate with bending_yield"),
                    LOOM_ARGS("check", "d.ini"));
}
