/* Yarns that start nearer than their radii: [yarn.NAME] radius_time. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(yarn_radius, .init = proc_enter, .fini = proc_leave);

enum { POINTS = 13 };
#define RADIUS    1.25e-3               /* m */
#define SUM       (2 * RADIUS)          /* m */
#define APART     RADIUS                /* m, of the yarns at the start: half the sum */
#define SPACING   (0.06 / 12 / 10)      /* m, of the points of contact */
#define STIFFNESS 3.5                   /* N/m, of contact */
#define GROWTH    ((SUM - APART) / 0.2) /* m/s, of the sum of both radii */

/* One yarn is held, the other lies on it: the radii grow to a distance of two radii in 0.2 s. */
#define LIE                                                                                     \
  "[run]\nsteps = 1500\ndt = 2e-4\ngravity = 0 0 -9.81\n[exec]\nbackend = cpu\nthreads = 1\n"   \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 0\nmu_const = 0\n[detect]\nevery = step\n"       \
  "[log]\naudit = off\nframes_every = 25\ncheckpoint_every = 100\nstate = frames\n"             \
  "[collision.yarns]\nplugin = yarn_grid\n[contact.yarns]\nplugin = acl\n"                      \
  "[yarn.held]\npattern = obj\nfile = held.obj\npins = box -1 -1 -1 1 1 1\nradius_time = 0.2\n" \
  "[yarn.lies]\npattern = obj\nfile = lies.obj\ndamping = 100\nradius_time = 0.2\n"
#define WHOLE "--set", "yarn.held.radius_time=0", "--set", "yarn.lies.radius_time=0"

/* 6 cm along the x axis, at the height z. */
static void write_straight_yarn(const char *name, double z)
{
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  for (int i = 0; i < POINTS; ++i)
    fprintf(f, "v %.17g 0 %.17g\n", -0.03 + 0.06 * i / (POINTS - 1), z);
  fprintf(f, "l");
  for (int i = 0; i < POINTS; ++i) fprintf(f, " %d", i + 1);
  fprintf(f, "\n");
  fclose(f);
}

static void write_lying_yarns(void)
{
  write_straight_yarn("held.obj", 0.0);
  write_straight_yarn("lies.obj", APART);
  proc_write("lie.ini", LIE);
}

/* Least and largest height of the second yarn: in the last frame, and the largest of all. */
static void read_heights(const char *path, double *least, double *most, double *ever)
{
  loom_err err = {0};
  h5read *r = NULL;
  double x[9 * POINTS];
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_leq(h5read_num_verts(r), 3 * POINTS);
  *ever = -INFINITY;
  for (int64_t i = 0; i < h5read_num_frames(r); ++i) {
    cr_assert_eq(h5read_frame(r, &err, i, x, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
    *least = INFINITY, *most = -INFINITY;
    for (int v = POINTS; v < 2 * POINTS; ++v) {
      *least = fmin(*least, x[3 * v + 2]);
      *most = fmax(*most, x[3 * v + 2]);
    }
    *ever = fmax(*ever, *most);
  }
  h5read_close(r);
}

/* The weight of a point, w = lambda g SPACING, rests on the point below it, as others are out of
 * reach: with f = s/x + x/s - 2 and a small overlap d, w = 8 k SPACING^2 d / SUM^2.  At the ends
 * the weights of quadrature are halves, and d is twice that of the middle. */
static double overlap_at_rest(void) { return 5e-4 * 9.81 * SUM * SUM / (8 * STIFFNESS * SPACING); }

static void expect_growth(const char *model)
{
  char set[64];
  double least, most, ever;
  const double overlap = overlap_at_rest();
  snprintf(set, sizeof set, "contact.yarns.plugin=%s", model);
  proc_expect_errors(2, 2,
                     LOOM_TEXTS("interpenetrate",
                                "0.00125 m apart, below 0.75 of both radii 0.0025", "radius_time"),
                     LOOM_ARGS("run", "lie.ini", "--quiet", "-o", "no.h5", WHOLE, "--set", set));
  LOOM_FINE("run", "lie.ini", "--quiet", "--overwrite", "-o", "whole.h5", "--set", set);
  read_heights("whole.h5", &least, &most, &ever);
  printf("%s: %.4f to %.4f of both radii at rest, %.4f at most; overlap by theory %.4f\n", model,
         least / SUM, most / SUM, ever / SUM, overlap / SUM);
  cr_expect(least > SUM - 2.2 * overlap, "%s: %g m", model, least);
  cr_expect(most < SUM - 0.5 * overlap, "%s: %g m", model, most);
  /* a wall that moves throws what it meets at twice its speed; against gravity from there */
  cr_expect(ever < SUM + pow(2 * GROWTH, 2) / (2 * 9.81), "%s: %g m", model, ever);
}

Test(yarn_radius, near_yarns_are_parted_by_growth)
{
  write_lying_yarns();
  expect_growth("acl");
  expect_growth("yarn_penalty");
}

/* A yarn that was clear at the start, and rests, meets another by growth alone: the pair that asks
 * for a small share is a third yarn and the first. */
Test(yarn_radius, growth_reaches_yarns_that_were_clear)
{
  double least, most, ever;
  write_lying_yarns();
  write_straight_yarn("lies.obj", 0.8 * SUM);
  write_straight_yarn("near.obj", -APART);
  proc_write("clear.ini",
             LIE "[yarn.near]\npattern = obj\nfile = near.obj\npins = box -1 -1 -1 1 1 1\n"
                 "radius_time = 0.2\n");
  LOOM_FINE("run", "clear.ini", "--quiet", "-o", "clear.h5", "-n", "1100", "--set",
            "run.gravity=0 0 0");
  read_heights("clear.h5", &least, &most, &ever);
  printf("clear at first: %.5f to %.5f of both radii\n", least / SUM, most / SUM);
  cr_expect(least > 0.999 * SUM && ever < 1.01 * SUM, "%g to %g m", least, ever);
}

Test(yarn_radius, check_tells_how_far_it_grows)
{
  proc p;
  write_lying_yarns();
  proc_loom(&p, LOOM_ARGS("check", "lie.ini"));
  cr_expect(p.code == 0 && strstr(p.err, "grows from 0.000625 m, 0.5 of the whole, to 0.00125 m at "
                                         "0.2 s") != NULL,
            "%d: %s", p.code, p.err);
  write_straight_yarn("lies.obj", 1.01 * SUM);
  proc_loom(&p, LOOM_ARGS("check", "lie.ini"));
  cr_expect(p.code == 0 && strstr(p.err, "radius_time has no effect") != NULL, "%d: %s", p.code,
            p.err);
  /* one yarn alone grows, and has all the way to go */
  write_straight_yarn("lies.obj", 1.5 * RADIUS);
  proc_loom(&p, LOOM_ARGS("check", "lie.ini", "--set", "yarn.held.radius_time=0"));
  cr_expect(p.code == 0 && strstr(p.err, "grows from 0.000625 m, 0.5 of the whole") != NULL,
            "%d: %s", p.code, p.err);
  write_straight_yarn("lies.obj", 0.0);
  proc_expect_errors(2, 2, LOOM_TEXTS("interpenetrate", "0 m apart", "no radius is small enough"),
                     LOOM_ARGS("check", "lie.ini"));
}

/* Radii, sets and the schedule go on where they were, in the middle of the growth. */
Test(yarn_radius, runs_go_on_while_radii_grow)
{
  double at[3], from[3];
  write_lying_yarns();
  LOOM_FINE("run", "lie.ini", "--quiet", "-o", "whole.h5", "-n", "1100");
  LOOM_FINE("run", "lie.ini", "--quiet", "-o", "parts.h5", "-n", "450");
  LOOM_FINE("run", "lie.ini", "--quiet", "-o", "parts.h5", "-n", "1100", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 450);
  LOOM_FINE("run", "lie.ini", "--quiet", "-o", "grown.h5", "-n", "1050"); /* behind the growth */
  LOOM_FINE("run", "lie.ini", "--quiet", "-o", "grown.h5", "-n", "1100", "--resume");
  logs_same_bits("whole.h5", "grown.h5", 1050);
  LOOM_FINE("run", "lie.ini", "--quiet", "-o", "three.h5", "-n", "1100", "--threads", "3");
  logs_same_bits("whole.h5", "three.h5", LOGS_UNBROKEN);
  LOOM_FINE("run", "lie.ini", "--quiet", "-o", "later.h5", "-n", "600", "--set",
            "run.start_log=whole.h5", "--set", "run.start_frame=20");
  read_heights("whole.h5", at, at + 1, at + 2);
  read_heights("later.h5", from, from + 1, from + 2);
  cr_expect(at[0] == from[0] && at[1] == from[1], "%.17g and %.17g m", at[0], from[0]);
}
