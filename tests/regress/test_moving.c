/* Where a bound is in force bodies and pins do not jump: they push cloth that is in their way, and
 * a motion for which cloth cannot make room ends the run with the body's name. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(moving, .init = proc_enter, .fini = proc_leave);

enum { SIDE = 9, N = SIDE * SIDE, STEPS = 20 };

#define SHEET                                                                           \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 " \
  "0.2\nresolution = 9 9\ndensity = 0.2\n"                                              \
  "membrane = 200\nk_b = 1e-3\nthickness = 2 mm\ntransform = translate 0 0 0.003\n"
#define PLUGINS                                                                             \
  "[collision.bodies]\nplugin = sdf\n[contact.bodies]\nplugin = penalty\nstiffness = 1e6\n" \
  "offset = 1 mm\n[solver]\nplugin = cholmod_newton\n[exec]\nbackend = cpu\n"
#define FLOOR "[body.floor]\nshape = plane\n"

/* Smallest distance of the sheet's middle surface from the plane z = height(frame). */
static double smallest_sheet_height(const char *path, double speed, double dt, int64_t *frames)
{
  loom_err err = {0};
  h5read *r = NULL;
  double x[3 * N], v[3 * N], least = INFINITY;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  *frames = h5read_num_frames(r);
  for (int64_t f = 0; f < *frames; ++f) {
    cr_assert_eq(h5read_frame(r, &err, f, x, v, NULL, NULL), LOOM_OK, "%s", err.text);
    for (int i = 0; i < N; ++i) least = fmin(least, x[3 * i + 2] - speed * dt * (double)f);
  }
  h5read_close(r);
  return least;
}

static int64_t most_iterations(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  int64_t most = 0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < h5read_num_steps(r); ++i) {
    h5log_step_row s;
    cr_assert_eq(h5read_steps(r, &err, i, 1, &s), LOOM_OK, "%s", err.text);
    most = s.iters > most ? s.iters : most;
  }
  h5read_close(r);
  return most;
}

/* A lift that moves 5 mm per step, several times the gap that keeps the sheet above it. */
Test(moving, a_rising_plate_lifts_the_sheet)
{
  int64_t frames = 0;
  proc_write("lift.ini", "[run]\nsteps = 20\ndt = 0.01\n" SHEET PLUGINS
                         "[body.lift]\nshape = plane\nmotion = translate 0 0 0.5\n"
                         "[filter]\nwhen = every\nbound = global\n[stop]\nmax_iters = 200\n"
                         "tol_abs = 1e-7\n[log]\nfile = lift.h5\n");
  LOOM_FINE("run", "lift.ini", "--quiet");
  const double least = smallest_sheet_height("lift.h5", 0.5, 0.01, &frames);
  cr_assert_eq(frames, STEPS + 1);
  cr_expect_gt(least, 1e-3, "the plate has passed the sheet: %g m", least); /* half thickness */
  cr_expect_geq(most_iterations("lift.h5"), 3, "it never had to wait");
}

/* Between a press and the floor there is no room in the end. */
Test(moving, a_blocked_press_is_named)
{
  proc_write("press.ini", "[run]\nsteps = 30\ndt = 0.01\n" SHEET PLUGINS FLOOR
                          "[body.press]\nshape = box\nsize = 0.3 0.3 0.02\nposition = 0 0 0.03\n"
                          "motion = translate 0 0 -0.3\n[filter]\nwhen = every\nbound = global\n"
                          "max_halvings = 2\n[stop]\nmax_iters = 30\n[log]\nfile = press.h5\n");
  proc_expect_error(1, LOOM_TEXTS("[body.press] cannot follow its motion", "2 halvings"),
                    LOOM_ARGS("run", "press.ini", "--quiet"));
  cr_assert(proc_exists("press.h5"));
  int64_t frames = 0;
  const double least =
      smallest_sheet_height("press.h5", 0.0, 0.01, &frames); /* finished steps are kept */
  cr_expect(frames >= 2 && frames < 31, "%lld frames", (long long)frames);
  cr_expect_gt(least, 1e-3);
}

/* ---- pins ---- */

#define BARRIER                                                                           \
  "[run]\nsteps = 8\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n[solver]\n"           \
  "plugin = cholmod_newton\n[stop]\ntol_rel = 1e-3\nmax_iters = 40\n[filter]\n"           \
  "when = every\nmax_halvings = 3\n[collision.self]\nplugin = patch_bvh\n[contact.all]\n" \
  "plugin = ipc_barrier\npairs = all\n[log]\naudit = every\n"
#define HANDS                                                                            \
  BARRIER                                                                                \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.12\nresolution = " \
  "7\ntransform = translate 0 0 0.1\ndensity = 0.18\n"                                   \
  "membrane = 420\nk_b = 2e-5\nthickness = 1 mm\n"                                       \
  "[pin.corner]\nobject = sheet\nwhere = 0\n"                                            \
  "[pin.finger]\nobject = sheet\nwhere = box -0.021 -0.021 0 0.021 0.021 1\n"            \
  "motion = translate 0 0 -0.5\n"
#define TABLE                                                                           \
  "[body.table]\nshape = box\nsize = 1 1 0.02\nmesh_size = 0.1\nposition = 0 0 0.065\n" \
  "sdf_resolution = 0\n"

/* The body holds still, and so does one of the pins. */
Test(moving, a_pin_that_is_led_into_a_body_is_named)
{
  proc_write("finger.ini", HANDS TABLE);
  proc_expect_error(1,
                    LOOM_TEXTS("[pin.finger] cannot follow its motion, [body.table] is in its way",
                               "no smaller dt helps", "its key stiffness"),
                    LOOM_ARGS("run", "finger.ini", "--quiet"));
  proc_write("own.ini",
             BARRIER TABLE "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = "
                           "0.12\nresolution = 7\ntransform = translate 0 0 0.1\n"
                           "density = 0.18\nmembrane = 420\nthickness = 1 mm\npins = 24\n"
                           "pin_motion = translate 0 0 -0.5\n");
  proc_expect_error(1, LOOM_TEXTS("[cloth.sheet] pins cannot follow its motion, [body.table]"),
                    LOOM_ARGS("run", "own.ini", "--quiet"));
}

/* Into cloth that is held. */
Test(moving, a_pin_that_is_led_into_cloth_is_named)
{
  proc_write("cloth.ini", HANDS
             "[cloth.drum]\nmodel = arap+isometric\npattern = regular\nsize = 0.12\nresolution = "
             "4\ntransform = translate 0.003 0.002 0.07\n"
             "density = 0.18\nmembrane = 420\nthickness = 1 mm\npins = 0 1 2 3 4 5 6 7 8 9 10 11 "
             "12 13 14 15\n");
  proc_expect_error(1, LOOM_TEXTS("[pin.finger] cannot follow its motion, cloth is in its way"),
                    LOOM_ARGS("run", "cloth.ini", "--quiet"));
}

/* ---- parts of a step ---- */

/* 0.1 m in a step: it takes parts of it to push the sheet ahead. */
Test(moving, a_fast_ball_takes_a_trampoline_with_it)
{
  proc p;
  proc_write("ball.ini", BARRIER "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = "
                                 "0.3\nresolution = 8\ndensity = 0.18\nmembrane = 420\n"
                                 "k_b = 2e-5\nthickness = 1.2 mm\npins = boundary\n"
                                 "[body.ball]\nshape = sphere\nradius = 0.045\nmesh_size = 0.03\n"
                                 "sdf_resolution = 0\nposition = 0.004 0.003 -0.08\n"
                                 "motion = translate 0 0 10 0 0.015\n");
  proc_loom(&p, LOOM_ARGS("run", "ball.ini", "-n", "3", "-o", "ball.h5", "--set",
                          "filter.max_halvings=", "--set", "stop.max_iters="));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  cr_expect(strstr(p.out, "found by the audit: 0, after 3 of 3 steps") != NULL, "%s", p.out);
  cr_expect(strstr(p.out, "all 3 steps converged") != NULL, "%s", p.out);
  /* the control: as a whole the step is blocked */
  proc_expect_error(
      1, LOOM_TEXTS("[body.ball] cannot follow its motion", "0 halvings"),
      LOOM_ARGS("run", "ball.ini", "--quiet", "-o", "whole.h5", "--set", "filter.max_halvings=0"));
}
