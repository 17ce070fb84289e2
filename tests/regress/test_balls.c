/* Balls and a knitted swatch: momentum, continued runs, any number of threads, refusals. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(balls, .init = proc_enter, .fini = proc_leave);

#define RUN                                                                                      \
  "[run]\nsteps = 400\ndt = 6.1728395e-5\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 2\n" \
  "[detect]\nevery = step\n[log]\ncheckpoint_every = 50\naudit = off\nresidual_every = 10\n"     \
  "[collision.yarns]\nplugin = yarn_grid\n[collision.bodies]\nplugin = sdf\n"                    \
  "[contact.yarns]\nplugin = acl\ncollision = yarns\n"
#define SOLVER                                                                                   \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 4500\nmu_const = 0\nshrink = 0.9\nshrink_time = " \
  "6e-3\n"
#define SWATCH  "[yarn.swatch]\npattern = stockinette\nrows = 4\nloops = 5\n"
#define PROJECT "[contact.bodies]\nplugin = project\ncollision = bodies\n"
/* two balls that hit the swatch at 1 m/s, one of them turning */
#define BALLS                                                                               \
  "[body.ball]\nradius = 8 mm\nmass = 2e-3\nposition = 0 0 0.0115\nvelocity = 0.1 0.2 -1\n" \
  "spin = 50 0 20\ncopies = 2 1 1\ncopy_spacing = 0.018 0 0\n"

static double *read_ball_poses(const char *log, const char *name, int64_t *frames)
{
  loom_err err = {0};
  h5read *r;
  char path[128];
  void *data;
  int rank;
  int64_t dims[4];
  snprintf(path, sizeof path, "scene/obstacles/%s/pose", name);
  cr_assert_eq(h5read_open(&err, log, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_dataset(r, &err, path, 1, &data, &rank, dims), LOOM_OK, "%s", err.text);
  cr_assert(rank == 2 && dims[1] == 12);
  *frames = dims[0];
  h5read_close(r);
  return data;
}

static void same_poses(const char *a, const char *b)
{
  for (int k = 0; k < 2; ++k) {
    char name[32];
    int64_t n = 0, m = 0;
    snprintf(name, sizeof name, "ball_%d", k);
    double *const p = read_ball_poses(a, name, &n), *const q = read_ball_poses(b, name, &m);
    cr_assert_eq(n, m);
    for (int64_t i = 0; i < 12 * n; ++i)
      cr_assert(p[i] == q[i], "%s, frame %lld: %.17g %.17g", name, (long long)(i / 12), p[i], q[i]);
    free(p), free(q);
  }
}

/* Without gravity the momentum of swatch and balls stays.  A ball's velocity after step k is the
 * way it makes in step k + 1. */
Test(balls, an_impact_conserves_momentum)
{
  loom_err err = {0};
  h5read *r;
  void *mass;
  int rank;
  int64_t dims[4], frames = 0;
  const double h = 6.1728395e-5, m = 2e-3;
  double *ball[2], swatch_most = 0, start[3] = {0};
  proc_write("hit.ini", RUN SOLVER SWATCH PROJECT BALLS);
  LOOM_FINE("run", "hit.ini", "--quiet", "-o", "hit.h5");
  ball[0] = read_ball_poses("hit.h5", "ball_0", &frames);
  ball[1] = read_ball_poses("hit.h5", "ball_1", &frames);
  cr_assert_eq(frames, 401);
  cr_assert_eq(h5read_open(&err, "hit.h5", &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_dataset(r, &err, "scene/mass", 1, &mass, &rank, dims), LOOM_OK);
  double *const v = malloc(3 * (size_t)dims[0] * sizeof *v);
  cr_assert(v != NULL);
  for (int64_t f = 0; f < 400; ++f) {
    double p[3] = {0};
    cr_assert_eq(h5read_frame(r, &err, f, NULL, v, NULL, NULL), LOOM_OK, "%s", err.text);
    for (int64_t i = 0; i < dims[0]; ++i)
      for (int c = 0; c < 3; ++c) p[c] += ((double *)mass)[i] * v[3 * i + c];
    swatch_most = fmax(swatch_most, fabs(p[2]));
    for (int k = 0; k < 2; ++k)
      for (int c = 0; c < 3; ++c)
        p[c] += m * (ball[k][12 * (f + 1) + 9 + c] - ball[k][12 * f + 9 + c]) / h;
    for (int c = 0; c < 3; ++c) {
      if (f == 0) start[c] = p[c];
      /* ways of 6e-5 m are differences of numbers of 1e-2: 2e-18/h times 4e-3 kg; and 400 steps of
       * a few roundings of 4e-3 N s */
      cr_assert_float_eq(p[c], start[c], 2e-15, "frame %lld, %d: %.17g at first %.17g",
                         (long long)f, c, p[c], start[c]);
    }
  }
  cr_expect_float_eq(start[2], -2 * m, 1e-15);
  cr_expect(swatch_most > 1e-4, "balls push: %g of 4e-3 N s", swatch_most);
  free(v), free(mass), free(ball[0]), free(ball[1]);
  h5read_close(r);
}

Test(balls, resume)
{
  proc_write("hit.ini", RUN SOLVER SWATCH PROJECT BALLS);
  LOOM_FINE("run", "hit.ini", "--quiet", "-n", "300", "-o", "whole.h5");
  LOOM_FINE("run", "hit.ini", "--quiet", "-n", "170", "-o", "parts.h5");
  LOOM_FINE("run", "hit.ini", "--quiet", "-n", "300", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 170);
  same_poses("whole.h5", "parts.h5");
}

Test(balls, threads)
{
  proc_write("hit.ini", RUN SOLVER SWATCH PROJECT BALLS);
  LOOM_FINE("run", "hit.ini", "--quiet", "-n", "300", "--threads", "1", "-o", "one.h5");
  LOOM_FINE("run", "hit.ini", "--quiet", "-n", "300", "--threads", "3", "-o", "three.h5");
  logs_same_bits("one.h5", "three.h5", LOGS_UNBROKEN);
  same_poses("one.h5", "three.h5");
}

/* ---- refusals ---- */

static void expect_refusal_of_balls(const char *text, const char *const *texts)
{
  proc_write("bad.ini", text);
  proc_expect_error(2, texts, LOOM_ARGS("run", "bad.ini", "--quiet", "-o", "run.h5"));
}

#define SCENE RUN SOLVER SWATCH PROJECT

Test(balls, only_free_spheres_have_a_mass)
{
  expect_refusal_of_balls(SCENE "[body.crate]\nshape = box\nmass = 1\n",
                          LOOM_TEXTS("bad.ini:", "[body.crate] mass", "only spheres", "motion"));
  expect_refusal_of_balls(SCENE "[body.ball]\nmass = 1\nmesh_size = 0.01\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] mesh_size", "exact shape"));
  expect_refusal_of_balls(SCENE "[body.ball]\nmass = 1\nmotion = translate 0 0 1\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] motion", "moves by itself"));
  expect_refusal_of_balls(SCENE "[body.ball]\nvelocity = 0 0 1\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] velocity", "without a mass"));
  expect_refusal_of_balls(SCENE "[body.ball]\nspin = 0 0 1\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] spin", "without a mass"));
  expect_refusal_of_balls(SCENE "[body.ball]\nmass = -1\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] mass", "-1"));
}

Test(balls, copies_need_room_and_names)
{
  expect_refusal_of_balls(SCENE "[body.ball]\nmass = 1\ncopies = 2 1 1\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] copy_spacing", "above 0"));
  expect_refusal_of_balls(SCENE "[body.ball]\nmass = 1\ncopies = 2 1\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] copies", "three whole numbers"));
  expect_refusal_of_balls(SCENE "[body.ball]\nmass = 1\ncopies = 0 1 1\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball] copies", "0: 1 to"));
  expect_refusal_of_balls(
      SCENE "[body.ball]\nmass = 1\nradius = 0.1\nposition = 0 0 1\ncopies = 2 1 1\n"
            "copy_spacing = 0.19 0 0\n",
      LOOM_TEXTS("bad.ini: ", "[body.ball_0] overlaps [body.ball_1] by 0.01 m"));
  expect_refusal_of_balls(SCENE "[body.ball]\nradius = 0.1\nposition = 0 0 1\ncopies = 2 1 1\n"
                                "copy_spacing = 0.3 0 0\n[body.ball_1]\n",
                          LOOM_TEXTS("bad.ini:", "[body.ball_1]", "another name"));
}

/* Contact that would push the cloth and not the ball, bounds that would hold balls back, replays
 * that know no velocities, bodies without a distance. */
Test(balls, what_they_do_not_go_with)
{
  expect_refusal_of_balls(
      RUN SOLVER SWATCH "[contact.bodies]\nplugin = penalty\ncollision = bodies\n" BALLS,
      LOOM_TEXTS("[body.ball_0] has a mass", "[contact.bodies] 'penalty'", "project"));
  expect_refusal_of_balls(SCENE BALLS "[filter]\nbound = global\n",
                          LOOM_TEXTS("bad.ini: [body.ball_0] has a mass", "[filter] bound = none"));
  expect_refusal_of_balls(SCENE BALLS
                          "[body.tent]\nshape = box\nposition = 0 0 -1\nmesh_size = 0.1\n"
                          "sdf_resolution = 0\n",
                          LOOM_TEXTS("[body.tent]", "distance grid", "sdf_resolution"));
}
