/* [twist.NAME] in runs: Michell's ring leaves its plane above the critical twist and not below, and
 * imposed twist is the same after a resume and with other numbers of threads. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(michell, .init = proc_enter, .fini = proc_leave);

#define PI     3.14159265358979323846
#define RADIUS 0.03 /* m */
enum { RING = 48 };

static const double wave = 1e-3; /* of the radius, out of the plane at the start */

/* A straight yarn bent into a ring, C = 1.4 A; dt is half of the stable one. */
#define KEYS                                                                                       \
  "[run]\nsteps = 6000\ndt = 6e-4\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"          \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 0\nmu_const = 0\n[collision.none]\nplugin = none\n" \
  "[stop]\ndiverged = 1e30\n[log]\naudit = off\nframes_every = 100\ncheckpoint_every = 0\n"        \
  "[yarn.ring]\npattern = obj\nfile = ring.obj\nrest_curvature = straight.txt\nradius = 1e-3\n"    \
  "bending = 2e-8\ntwisting = 2.8e-8\ndamping = 0.5\n[twist.t]\nobject = ring\n"

static void write_michell_ring(const char *twist)
{
  char text[2000];
  FILE *const f = fopen("ring.obj", "w"), *const g = fopen("straight.txt", "w");
  cr_assert(f != NULL && g != NULL);
  for (int i = 0; i < RING; ++i) {
    const double t = 2 * PI * i / RING;
    fprintf(f, "v %.17g %.17g %.17g\n", RADIUS * cos(t), RADIUS * sin(t),
            wave * RADIUS * cos(2 * t));
    fprintf(g, "0 0 0 0 0\n");
  }
  fprintf(f, "l");
  for (int i = 0; i <= RING; ++i) fprintf(f, " %d", i % RING + 1);
  fprintf(f, "\n");
  fclose(f);
  fclose(g);
  snprintf(text, sizeof text, "%s%s", KEYS, twist);
  proc_write("ring.ini", text);
}

/* The largest |z| of any frame over the radius. */
static double measure_way_out(const char *path)
{
  static double x[3 * RING];
  loom_err err = {0};
  h5read *r = NULL;
  double most = 0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  for (int64_t k = 0; k < h5read_num_frames(r); ++k) {
    cr_assert_eq(h5read_frame(r, &err, k, x, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
    for (int i = 0; i < RING; ++i) most = fmax(most, fabs(x[3 * i + 2]) / RADIUS);
  }
  h5read_close(r);
  return most;
}

static void read_last_frame(const char *path, double *x)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_frame(r, &err, h5read_num_frames(r) - 1, x, NULL, NULL, NULL), LOOM_OK, "%s",
               err.text);
  h5read_close(r);
}

/* share: of 2 pi sqrt(3) A/C, turned within a second. */
static double leave_plane(double share, const char *way)
{
  char twist[200];
  snprintf(twist, sizeof twist, "%s\nturn = %.17g\nturn_until = 1\n", way,
           share * 360 * sqrt(3.0) / 1.4);
  write_michell_ring(twist);
  LOOM_FINE("run", "ring.ini", "--quiet", "--overwrite", "-o", "ring.h5");
  return measure_way_out("ring.h5");
}

/* 48 segments buckle 1.4 % later than the smooth ring of the theory (test_yarn_frames.c). */
Test(michell, a_ring_leaves_its_plane_above_the_critical_twist)
{
  const double below = leave_plane(0.95, "cut = 0"), above = leave_plane(1.05, "cut = 0"),
               free_frame = leave_plane(1.05, "segments = 0");
  cr_log_info("below %g, above %g, frame not clamped %g of the radius", below, above, free_frame);
  cr_expect(below < 4 * wave, "at 0.95 of the critical twist: %g of the radius", below);
  cr_expect(above > 0.1, "at 1.05 of the critical twist: %g of the radius", above);
  cr_expect(free_frame < 4 * wave, "without a clamped frame: %g of the radius", free_frame);
}

/* ---- the same run in other ways ---- */

#define TURNS                                                                                  \
  "cut = 5\nturn = 900\nturn_from = 0.01\nturn_until = 0.07\n[twist.held]\nobject = ring\n"    \
  "segments = 30 11\n[twist.turned]\nobject = ring\nsegments = 47\nturn = -200\nturn_until = " \
  "0.04\n"

Test(michell, imposed_twist_is_the_same_with_more_threads_and_after_a_resume)
{
  write_michell_ring(TURNS);
  LOOM_FINE("run", "ring.ini", "--quiet", "-n", "150", "-o", "one.h5", "--set", "log.state=frames");
  LOOM_FINE("run", "ring.ini", "--quiet", "-n", "150", "-o", "three.h5", "--threads", "3", "--set",
            "log.state=frames");
  logs_same_bits("one.h5", "three.h5", LOGS_ANYWHERE);
  LOOM_FINE("run", "ring.ini", "--quiet", "-n", "100", "-o", "parts.h5", "--set",
            "log.state=frames");
  LOOM_FINE("run", "ring.ini", "--quiet", "-n", "150", "-o", "parts.h5", "--resume");
  logs_same_bits("one.h5", "parts.h5", 100);
  cr_expect(measure_way_out("one.h5") > 1.5 * wave, "the twist does not reach the ring");
}

/* A frame in the middle of the turns has the twist so far. */
Test(michell, imposed_twist_goes_on_from_a_frame)
{
  static double whole[3 * RING], part[3 * RING];
  double way = 0;
  write_michell_ring(TURNS);
  LOOM_FINE("run", "ring.ini", "--quiet", "-n", "200", "-o", "whole.h5", "--set",
            "log.state=frames", "--set", "log.frames_every=50");
  LOOM_FINE("run", "ring.ini", "--quiet", "-n", "150", "-o", "part.h5", "--set",
            "run.start_log=whole.h5", "--set", "run.start_frame=1", "--set", "log.frames_every=50");
  read_last_frame("whole.h5", whole);
  read_last_frame("part.h5", part);
  for (int k = 0; k < 3 * RING; ++k) way = fmax(way, fabs(whole[k] - part[k]));
  cr_expect_eq(way, 0.0, "%g m apart", way);
}
