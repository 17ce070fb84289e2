/* A knitted swatch through the real binary: the same bits for any number of threads and after a
 * restart, no yarn through another one, and refusals. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(knit, .init = proc_enter, .fini = proc_leave);

/* 6 x 6 loops, a striped yarn, which tighten as they fall on a ball; plastic. */
#define KNIT_SOLVER "[solver]\nplugin = yarn_explicit\nmu_prop = 4500\n"
#define KNIT                                                                                  \
  "[run]\ndt = 6.1728395e-05\nsteps = 60\n[exec]\nbackend = cpu\nthreads = 1\n"               \
  "[yarn.swatch]\nrows = 6\nloops = 6\nstripe = 3\nplasticity = 0.02\n"                       \
  "transform = translate 0 0 0.0235\nvelocity = 0 0 -0.6\n"                                   \
  "[body.ball]\nradius = 0.02\nfriction = 0.4\n[body.floor]\nshape = plane\n"                 \
  "[collision.yarns]\nplugin = yarn_grid\n[contact.yarns]\nplugin = acl\ncollision = yarns\n" \
  "[collision.bodies]\nplugin = sdf\n[contact.bodies]\nplugin = project\n"                    \
  "collision = bodies\n[detect]\nevery = step\n[filter]\nwhen = every\n"                      \
  "[log]\nframes_every = 1\ncheckpoint_every = 20\naudit = off\n"
#define FAST "shrink = 0.85\nshrink_time = 0.002\n" /* contact is reached within the test */

Test(knit, same_bits_for_any_number_of_threads)
{
  static const char *const threads[] = {"2", "4", "1"};
  proc_write("knit.ini", KNIT KNIT_SOLVER FAST);
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "one.h5");
  for (int i = 0; i < 3; ++i) {
    LOOM_FINE("run", "knit.ini", "--quiet", "--overwrite", "-o", "many.h5", "--threads",
              threads[i]);
    logs_same_bits("one.h5", "many.h5", LOGS_UNBROKEN);
  }
}

/* Frames, rest curvatures, contact sets and the detector's schedule outlive steps. */
Test(knit, continues_after_a_restart)
{
  proc_write("knit.ini", KNIT KNIT_SOLVER FAST);
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "knit.ini", "--quiet", "-n", "37", "-o", "parts.h5");
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 37);
}

/* The motion of the yarns must not depend on the measurements. */
Test(knit, steps_need_not_all_be_measured)
{
  loom_err err = {0};
  h5read *r;
  h5log_step_row rows[60];
  proc_write("knit.ini", KNIT KNIT_SOLVER FAST);
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "all.h5");
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "some.h5", "--set", "log.residual_every=25");
  cr_assert_eq(logs_distance("all.h5", "some.h5"), 0.0);
  cr_assert_eq(h5read_open(&err, "some.h5", &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_num_steps(r), 60);
  cr_assert_eq(h5read_steps(r, &err, 0, 60, rows), LOOM_OK, "%s", err.text);
  h5read_close(r);
  for (int i = 0; i < 60; ++i) {
    const int measured = i == 24 || i == 49 || i == 59;
    cr_expect_eq(isfinite(rows[i].r_final), measured, "step %d", i);
    cr_expect_eq(isfinite(rows[i].r_ref), measured, "step %d", i);
  }
}

static h5log_iter_row *iters_of(const char *path, int64_t *count)
{
  loom_err err = {0};
  h5read *r;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  *count = h5read_num_iters(r);
  h5log_iter_row *rows = malloc((size_t)*count * sizeof *rows);
  cr_assert_eq(h5read_iters(r, &err, 0, *count, rows), LOOM_OK, "%s", err.text);
  h5read_close(r);
  return rows;
}

/* No pull-through.  Centre lines that pass each other are at distance 0 in between.  In every
 * step the smallest distance of points that are not neighbours along a yarn is at least 0.75 of
 * 2 r (Y12 of the numerics), and no point moves by more than r/8 in a step, so no yarn gets
 * through between two steps, nor between points, which are 0.35 r apart: linking stays. */
Test(knit, yarns_do_not_pass_through_each_other)
{
  const double r = 1.25e-3;
  int64_t count;
  double nearest = 0, fastest = 0;
  proc_write("knit.ini", KNIT KNIT_SOLVER "shrink = 0.85\n");
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "drop.h5", "-n", "1600", "--set",
            "contact.yarns.plugin=yarn_penalty", "--set", "log.checkpoint_every=0");
  h5log_iter_row *rows = iters_of("drop.h5", &count);
  cr_assert(count >= 1600);
  int64_t touching = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (isfinite(rows[i].min_gap)) nearest = fmin(nearest, rows[i].min_gap);
    if (isfinite(rows[i].dx_max)) fastest = fmax(fastest, rows[i].dx_max);
    touching += rows[i].active > 0;
  }
  free(rows);
  cr_assert(touching > count / 2, "contact in %lld rows of %lld", (long long)touching,
            (long long)count);
  cr_expect(nearest > -0.25 * 2 * r, "centre lines came within %.3f of 2 r", 1 + nearest / (2 * r));
  cr_expect(fastest < r / 8, "a vertex moved by %g r in a step", fastest / r);
}

/* How far the distance of two vertices has changed from the first frame to the last, m. */
static double pair_change(const char *path, int64_t i, int64_t j)
{
  loom_err err = {0};
  h5read *r;
  double d[2];
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  double *x = malloc(24 * (size_t)h5read_num_verts(r));
  for (int k = 0; k < 2; ++k) {
    const int64_t frame = k == 0 ? 0 : h5read_num_frames(r) - 1;
    cr_assert_eq(h5read_frame(r, &err, frame, x, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
    d[k] =
        hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]), x[3 * i + 2] - x[3 * j + 2]);
  }
  free(x);
  h5read_close(r);
  return fabs(d[1] - d[0]);
}

/* So many lines of error with these texts, and exit code 2 (of a configuration). */
static void expect_refusal_of_knit(const char *text, int lines, const char *const *sets,
                                   const char *const *parts)
{
  const char *args[16] = {"run", "knit.ini", "--quiet", "-o", "no.h5"};
  for (int n = 5; sets != NULL && *sets != NULL; ++sets) {
    args[n++] = "--set";
    args[n++] = *sets;
  }
  proc_write("knit.ini", text);
  proc_expect_errors(2, lines, parts, args);
}

#define OTHER "[yarn.other]\nrows = 6\nloops = 6\ntransform = translate 0.001 0 0.0235\n"

Test(knit, refusals_say_what_and_how_much)
{
  expect_refusal_of_knit(
      KNIT KNIT_SOLVER, 1, LOOM_TEXTS("run.dt=0.001"),
      LOOM_TEXTS("0.001 s is longer than bending allows", "0.00037", "vertex", "k_b 2e-08"));
  expect_refusal_of_knit(KNIT KNIT_SOLVER, 2,
                         LOOM_TEXTS("yarn.swatch.loop_width=0.008", "yarn.swatch.row_height=0.004"),
                         LOOM_TEXTS("[yarn.swatch]", "interpenetrate", "radius is too large"));
  expect_refusal_of_knit(KNIT KNIT_SOLVER OTHER, 2, NULL,
                         LOOM_TEXTS("[yarn.swatch] yarn ", "[yarn.other] yarn 0 segment",
                                    "interpenetrate", "below 0.75 of both radii 0.0025 m",
                                    "move them apart"));
  expect_refusal_of_knit(KNIT KNIT_SOLVER, 1, LOOM_TEXTS("yarn.swatch.glue=3 40 7 7"),
                         LOOM_TEXTS("[yarn.swatch] glue", "vertex 7 is glued to itself"));
  expect_refusal_of_knit(KNIT KNIT_SOLVER, 1, LOOM_TEXTS("yarn.swatch.glue=20 40 60 20"),
                         LOOM_TEXTS("vertex 20 is glued twice"));
  expect_refusal_of_knit(KNIT KNIT_SOLVER, 1, LOOM_TEXTS("yarn.swatch.glue=20 1000"),
                         LOOM_TEXTS("[yarn.swatch] glue", "vertex 1000 does not exist", "0 to "));
  expect_refusal_of_knit(KNIT KNIT_SOLVER, 1, LOOM_TEXTS("yarn.swatch.glue=20 30 40"),
                         LOOM_TEXTS("[yarn.swatch] glue", "no list of pairs"));
  expect_refusal_of_knit(KNIT KNIT_SOLVER, 1, LOOM_TEXTS("contact.yarns.tolerance=-0.1"),
                         LOOM_TEXTS("contact.yarns", "tolerance", "-0.1"));
  expect_refusal_of_knit(KNIT "[solver]\nplugin = pcg_newton\n", 2, NULL,
                         LOOM_TEXTS("element Hessian", "yarn_explicit"));
}

/* The last point of one curve is the first one of another: no sample of a segment but its end is
 * there. */
Test(knit, ends_at_one_place_are_refused)
{
  static const char two[] =
      "[solver]\nplugin = yarn_explicit\n[collision.all]\nplugin = yarn_grid\n[contact.all]\n"
      "plugin = acl\n[yarn.y]\npattern = obj\nfile = two.obj\nradius = 0.5 mm\n[run]\ndt = "
      "1e-5\n";
  static const char *const ends[] = {"0 0 0", "0.002 0.001 0"};
  for (int k = 0; k < 2; ++k) {
    char file[300];
    snprintf(file, sizeof file,
             "v -.03 0 0\nv -.02 0 0\nv -.01 0 0\nv 0 0 0\nv %s\nv .01 .01 0\nv .02 .02 0\nl 1 2 "
             "3 4\nl 5 6 7\n",
             ends[k]);
    proc_write("two.obj", file);
    if (k == 0)
      expect_refusal_of_knit(two, 2, NULL,
                             LOOM_TEXTS("two.obj yarn 0 segment 2 and two.obj yarn 1 segment 0",
                                        "0 m apart", "need one point in place of two"));
    else
      LOOM_FINE("run", "knit.ini", "--quiet", "-n", "1", "-o", "no.h5");
  }
}

/* Share of the schedule's entries that the last 300 of 600 steps looked at. */
static double share_of_entries_looked_at(const char *path)
{
  enum { ALL = 600, LAST = 300 };
  static double tracked[LAST], examined[LAST];
  double looked = 0.0, all = 0.0;
  loom_err err = {0};
  h5read *r;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_column(r, &err, "steps_extra", "collision.yarns.tracked", 'R', ALL - LAST,
                             LAST, tracked),
               LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_column(r, &err, "steps_extra", "collision.yarns.examined", 'R', ALL - LAST,
                             LAST, examined),
               LOOM_OK, "%s", err.text);
  h5read_close(r);
  for (int i = 0; i < LAST; ++i) {
    looked += examined[i];
    all += tracked[i];
  }
  return looked / all;
}

/* Loops on the floor do not move, so detection looks at their pairs at long intervals: 10 % of all
 * entries a step.  Where `project` lets vertices fall through its clearance it is 60 %. */
Test(knit, detection_sleeps_on_a_floor)
{
  proc_write("knit.ini", KNIT KNIT_SOLVER "shrink = 0.88\nshrink_time = 0.0123\n");
  LOOM_FINE("run", "knit.ini", "--quiet", "-n", "600", "-o", "rest.h5", "--set",
            "yarn.swatch.rows=4", "--set", "yarn.swatch.loops=4", "--set", "yarn.swatch.stripe=0",
            "--set", "yarn.swatch.plasticity=0", "--set", "yarn.swatch.velocity=0 0 0", "--set",
            "yarn.swatch.transform=translate 0 0 0.0038", "--set", "body.ball.position=1 0 0.02",
            "--set", "log.frames_every=600", "--set", "log.checkpoint_every=600");
  const double share = share_of_entries_looked_at("rest.h5");
  cr_expect_lt(share, 0.2, "%g", share);
}

/* The pair keeps the distance it has. */
Test(knit, further_glue_holds)
{
  proc_write("knit.ini", KNIT KNIT_SOLVER FAST);
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "free.h5");
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "held.h5", "--set", "yarn.swatch.glue=30 150");
  const double moved = pair_change("free.h5", 30, 150), held = pair_change("held.h5", 30, 150);
  cr_expect(moved > 1e-5, "the pair would not have moved: %g m", moved);
  cr_expect(held < 0.1 * moved, "%g m, without glue %g m", held, moved);
}
