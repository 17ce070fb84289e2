/* A flag that sticks through a stretched sheet at the start and flies out of it upwards: it parts,
 * and when it falls back the sheet catches it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/day.h"
#include "support/proc.h"
#include "support/sim.h"

TestSuite(starts, .init = proc_enter, .fini = proc_leave);

static const char scene[] =
    "[run]\nsteps = 140\ndt = 0.002\nup_axis = z\nstart = %s\n[exec]\nbackend = cpu\n"
    "[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 60\n[log]\ncheckpoint_every = 1\naudit = "
    "every\n"
    "[solver]\nplugin = %s\n"
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.2\nresolution = 9\npins = "
    "left right top bottom\ndensity = 0.2\n"
    "membrane = 500\nthickness = 2e-4\n"
    "[cloth.flag]\nmodel = arap+isometric\npattern = regular\nsize = 0.04\nresolution = 4\ndensity "
    "= 0.2\nmembrane = 200\n"
    "transform = rotate 1 0 0 90 translate 0.003 0.002 0.017\nvelocity = 0 0 %g\n"
    "thickness = 2e-4\n"
    "[collision.self]\nplugin = brute\n[contact.self]\nplugin = %s\n";

static void run_flag(sim *s, const char *start, const char *solver, const char *contact, double up)
{
  char text[2048];
  snprintf(text, sizeof text, scene, start, solver, up, contact);
  sim_run(s, text, NULL, 0);
}

/* Lowest vertex of the flag, behind the 81 of the sheet, m. */
static double lowest_flag_height(sim *s, int64_t frame)
{
  double least = INFINITY, time, *const x = malloc(3 * (size_t)s->n * sizeof *x);
  sim_frame(s, frame, x, NULL, &time);
  for (int64_t v = 81; v < s->n; ++v) least = fmin(least, x[3 * v + 2]);
  free(x);
  return least;
}

static void expect_flag_parted(const char *solver, const char *contact)
{
  sim s;
  run_flag(&s, "exclude", solver, contact, 0.5);
  h5log_step_row *const row = sim_steps(&s);
  int64_t parted = 0, found = 0;
  double top = 0;
  while (parted < s.steps && row[parted].start_intersections > 0) ++parted;
  for (int64_t k = 0; k < s.steps; ++k) found += row[k].intersections;
  for (int64_t k = 0; k < s.frames; ++k) top = fmax(top, lowest_flag_height(&s, k));
  printf("%s with %s: parted after %lld steps, up to %.3f m, at the end at %.4f m\n", solver,
         contact, (long long)parted, top, lowest_flag_height(&s, s.frames - 1));
  cr_assert(parted > 1 && parted < 20, "%lld steps", (long long)parted);
  cr_assert_eq(row[s.steps - 1].start_intersections, 0);
  cr_assert_eq(found, 0, "%lld new intersections", (long long)found);
  cr_assert(top > 0.008);
  cr_assert(lowest_flag_height(&s, 0) < -2e-3); /* it did stick through */
  cr_assert(lowest_flag_height(&s, s.frames - 1) > -0.01 &&
                lowest_flag_height(&s, s.frames - 1) < 0.02,
            "the sheet does not hold it: %g m", lowest_flag_height(&s, s.frames - 1));
  free(row);
  sim_free(&s);
}

Test(starts, what_has_parted_is_caught) { expect_flag_parted("cholmod_newton", "ipc_barrier"); }
Test(starts, what_has_parted_is_caught_by_ndb) { expect_flag_parted("ndb_pd", "ndb"); }

/* The control: a pair that never parts is counted to the end, and is not new. */
Test(starts, what_stays_is_counted_apart)
{
  char text[2048];
  snprintf(text, sizeof text, scene, "exclude", "cholmod_newton", 0.0, "ipc_barrier");
  proc_write("stays.ini", text);
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "stays.ini", "-n", "4", "-o", "stays.h5"));
  cr_assert(
      strstr(p.err, "intersections at the start, left out of contact until they have parted") !=
              NULL ||
          strstr(p.out, "intersections at the start, left out of contact") != NULL,
      "%s%s", p.out, p.err);
  proc_loom(&p, LOOM_ARGS("verify", "stays.h5"));
  cr_assert(strstr(p.out, "  intersections 0,") != NULL, "%s", p.out);
  cr_assert(strstr(p.out, "of pairs that intersected at the start: ") != NULL, "%s", p.out);
  cr_assert_eq(p.code, 0);
  proc_loom(&p, LOOM_ARGS("info", "stays.h5"));
  cr_assert(strstr(p.out, "intersections of the start are still there") != NULL, "%s", p.out);
  /* refused by default, with the intersections */
  snprintf(text, sizeof text, scene, "refuse", "cholmod_newton", 0.0, "ipc_barrier");
  proc_write("stays.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "stays.ini", "--quiet"));
  cr_assert_eq(p.code, 2);
  cr_assert(strstr(p.err, "intersects triangle") != NULL &&
                strstr(p.err, "start = untangle or exclude") != NULL,
            "%s", p.err);
}

/* In the middle of parting: the pairs left out are in the checkpoint. */
Test(starts, a_run_resumes_while_some_are_left)
{
  char text[2048];
  snprintf(text, sizeof text, scene, "exclude", "cholmod_newton", 0.3, "ipc_barrier");
  proc_write("flag.ini", text);
  LOOM_FINE("run", "flag.ini", "--quiet", "-n", "30", "-o", "whole.h5");
  static const char *const steps[][2] = {
      {"2", "--resume=1"}, {"4", "--resume=3"}, {"20", "--resume=19"}};
  for (int k = 0; k < 3; ++k) {
    LOOM_FINE("run", "flag.ini", "--quiet", "-n", steps[k][0], "-o", "parts.h5", "--overwrite");
    LOOM_FINE("run", "flag.ini", "--quiet", "-n", "30", "-o", "parts.h5", steps[k][1]);
    LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  }
}

/* ---- start = untangle ---- */

static const char tangled[] =
    "[run]\nsteps = 12\ndt = 0.005\nup_axis = z\nstart = %s\n[exec]\nbackend = cpu\n"
    "[stop]\ntol_abs = 1e-6\ntol_rel = 0\nmax_iters = 100\n[log]\naudit = every\n"
    "[solver]\nplugin = %s\n[filter]\nwhen = every\n"
    "[cloth.low]\nmodel = arap+isometric\npattern = regular\nsize = 0.2\nresolution = 21\npins = "
    "corners\ndensity = 0.2\nmembrane = 200\n"
    "thickness = 5e-4\n"
    "[cloth.high]\nmodel = arap+isometric\nshape = obj\nfile = %s/high.obj\npositions = "
    "%s/pushed.obj\n"
    "rest = file\ndensity = 0.2\nmembrane = 200\nthickness = 5e-4\n"
    "[body.ball]\nshape = sphere\nradius = 0.05\nmesh_size = 0.02\nsdf_resolution = 0\n"
    "position = 0 0 -0.0507\n"
    "[collision.self]\nplugin = patch_bvh\n[contact.self]\nplugin = %s\n";

/* A sheet 3 mm over the other, and the same with a quarter of its vertices pushed 5 mm down. */
static void write_sheets(void)
{
  for (int pushed = 0; pushed < 2; ++pushed) {
    static char text[60000];
    size_t at = 0;
    for (int k = 0; k < 441; ++k)
      at += (size_t)snprintf(text + at, sizeof text - at, "v %g %g %g\n", 0.01 * (k % 21) - 0.0969,
                             0.01 * (double)(k / 21) - 0.0983,
                             3e-3 - (pushed && k * 7 % 29 < 7 ? 5e-3 : 0));
    for (int k = 0; k < 400; ++k) {
      const int a = k % 20 + k / 20 * 21 + 1;
      at += (size_t)snprintf(text + at, sizeof text - at, "f %d %d %d\nf %d %d %d\n", a, a + 1,
                             a + 22, a, a + 22, a + 21);
    }
    proc_write(pushed ? "pushed.obj" : "high.obj", text);
  }
}

Test(starts, tangles_are_parted_before_the_first_step)
{
  test_of_the_night();
  static const char *const methods[][2] = {{"cholmod_newton", "ipc_barrier"}, {"ndb_pd", "ndb"}};
  char text[2048], dir[512];
  proc p;
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  write_sheets();
  for (int k = 0; k < 2; ++k) {
    sim s;
    snprintf(text, sizeof text, tangled, "untangle", methods[k][0], dir, dir, methods[k][1]);
    sim_run(&s, text, NULL, 0);
    h5log_step_row *const row = sim_steps(&s);
    for (int64_t j = 0; j < s.steps; ++j) cr_assert_eq(row[j].intersections, 0);
    free(row);
    sim_free(&s);
  }
  proc_write("tangled.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "tangled.ini", "-n", "1", "-o", "t.h5"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_assert(strstr(p.err, "0 after ") != NULL && strstr(p.err, "(start = untangle)") != NULL, "%s",
            p.err);
  /* the control: as it is, it is refused */
  proc_loom(&p, LOOM_ARGS("run", "tangled.ini", "--set", "run.start=refuse", "-o", "r.h5"));
  cr_assert_eq(p.code, 2);
  cr_assert(strstr(p.err, "intersects triangle") != NULL, "%s", p.err);
}

/* ---- cloth that starts nearer than its thickness ---- */

static const char stacked[] =
    "[run]\nsteps = 20\ndt = 0.002\nup_axis = z\nstart = %s\n[exec]\nbackend = cpu\n"
    "[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 60\n[log]\naudit = every\n"
    "[solver]\nplugin = cholmod_newton\n"
    "[cloth.low]\nmodel = arap+isometric\npattern = regular\nsize = 0.2\nresolution = 9\npins = "
    "corners\ndensity = 0.2\nmembrane = 500\n"
    "thickness = 5e-4\n"
    "[cloth.high]\nmodel = arap+isometric\npattern = regular\nsize = 0.1\nresolution = 6\ndensity "
    "= 0.2\nmembrane = 200\n"
    "transform = translate 0.003 0.002 1e-4\nvelocity = 0 0 0.3\nthickness = 5e-4\n"
    "[collision.self]\nplugin = patch_bvh\n[contact.self]\nplugin = ipc_barrier\n";

Test(starts, what_is_too_near_is_left_out_too)
{
  char text[2048];
  sim s;
  proc p;
  snprintf(text, sizeof text, stacked, "exclude");
  sim_run(&s, text, NULL, 0);
  h5log_step_row *const row = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k)
    cr_assert_eq(row[k].intersections + row[k].start_intersections, 0);
  cr_assert(lowest_flag_height(&s, s.frames - 1) > 1e-3, "%g m",
            lowest_flag_height(&s, s.frames - 1));
  free(row);
  sim_free(&s);
  snprintf(text, sizeof text, stacked, "refuse"); /* the control */
  proc_write("near.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "near.ini", "--quiet", "--set", "cloth.high.velocity=0 0 0"));
  cr_assert_eq(p.code, 1);
  cr_assert(strstr(p.err, "starts with an overlap") != NULL, "%s", p.err);
  proc_loom(&p, LOOM_ARGS("run", "near.ini", "--set", "run.start=exclude", "-o", "near.h5"));
  cr_assert(strstr(p.err, "nearer than their thickness") != NULL, "%s", p.err);
}
