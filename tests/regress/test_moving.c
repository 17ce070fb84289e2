/* Where a bound is in force bodies and pins do not jump: they push what is in their way, and
 * a motion that nothing can make room for ends the run with the body's name. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5log.h"
#include "support/proc.h"

TestSuite(moving, .init = proc_enter, .fini = proc_leave);

enum { SIDE = 9, N = SIDE * SIDE, STEPS = 20 };

#define SHEET                                                                      \
  "[cloth.sheet]\nshape = grid\nsize = 0.2 0.2\nresolution = 9 9\ndensity = 0.2\n" \
  "membrane = 200\nbending = 1e-3\nthickness = 2 mm\ntransform = translate 0 0 0.003\n"
#define PLUGINS                                                                             \
  "[collision.bodies]\nplugin = sdf\n[contact.bodies]\nplugin = penalty\nstiffness = 1e6\n" \
  "offset = 1 mm\n[solver]\nplugin = cholmod_newton\n[exec]\nbackend = cpu\n"
#define FLOOR "[body.floor]\nshape = plane\n"

/* Smallest distance of the sheet's middle surface from the plane z = height(frame). */
static double lowest(const char *path, double speed, double dt, int64_t *frames)
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
  const double least = lowest("lift.h5", 0.5, 0.01, &frames);
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
  const double least = lowest("press.h5", 0.0, 0.01, &frames); /* finished steps are kept */
  cr_expect(frames >= 2 && frames < 31, "%lld frames", (long long)frames);
  cr_expect_gt(least, 1e-3);
}
