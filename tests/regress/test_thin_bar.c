/* Exact shapes that pass between the vertices of cloth: before the run, in it and in its log. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"

/* Edges of 2.5 cm over a bar of 5 mm; the method keeps vertices apart from it. */
#define TOWEL                                                                                  \
  "[run]\nsteps = 16\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n[solver]\n"               \
  "plugin = cholmod_newton\n[stop]\ntol_rel = 1e-3\nmax_iters = 100\n[filter]\nwhen = every\n" \
  "[collision.self]\nplugin = patch_bvh\n[contact.all]\n"                                      \
  "plugin = ipc_barrier\npairs = all\n[cloth.towel]\nmodel = arap+isometric\npattern = "       \
  "regular\nshape = grid\nsize = 0.2 0.15\n"                                                   \
  "resolution = 9 7\ntransform = translate 0.007 0.004 0.04 rotate 0 0 1 5\ndensity = 0.18\n"  \
  "membrane = 420\nk_b = 2e-5\nthickness = 1.2 mm\n[body.bar]\nshape = capsule\n"              \
  "radius = 0.0025\nlength = 0.9\nrotation = 1 0 0 90\nfriction = 0.6\n[log]\naudit = every\n"

/* Vertices alone. */
#define BAR TOWEL "[collision.bodies]\nplugin = sdf\nelements = none\n"

TestSuite(thin_bar, .init = proc_enter, .fini = proc_leave);

static void assert_bar_text(const char *text, const char *part)
{
  cr_assert(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

static int64_t number_behind(const char *text, const char *words)
{
  int64_t n = -1;
  assert_bar_text(text, words);
  sscanf(strstr(text, words) + strlen(words), "%" SCNd64, &n);
  return n;
}

Test(thin_bar, is_told_before_the_run_counted_in_it_and_found_in_the_log)
{
  proc p;
  proc_write("bar.ini", BAR);
  proc_loom(&p, LOOM_ARGS("check", "bar.ini"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  assert_bar_text(p.err, "warning: [collision.bodies] elements = none: edges of cloth span the "
                         "curvature of [body.bar], ");
  proc_loom(&p, LOOM_ARGS("run", "bar.ini", "-o", "bar.h5"));
  cr_assert_eq(p.code, 3, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_bar_text(p.err, "edges and triangles inside bodies: edge ");
  assert_bar_text(p.err, " deep in body bar");
  assert_bar_text(p.err, "set [body.bar] mesh_size");
  assert_bar_text(p.out,
                  "looked at: edges with triangles, edges and triangles with 1 exact shape\n");
  const int64_t found = number_behind(p.out, "found by the audit: ");
  cr_expect(found > 0);
  cr_expect_eq(number_behind(p.out, "inside exact shapes: "), found);
  proc_loom(&p, LOOM_ARGS("verify", "bar.h5"));
  cr_assert_eq(p.code, 3, "%s%s", p.out, p.err);
  cr_expect_eq(number_behind(p.out, "  intersections "), found, "%s", p.out);
  cr_expect_eq(number_behind(p.out, "inside exact shapes: "), found);
  assert_bar_text(p.out, " deep in body bar\n");
  assert_bar_text(p.out, "no vertex inside an exact shape (1 of them)\n");
  proc_loom(&p, LOOM_ARGS("info", "bar.h5"));
  assert_bar_text(p.out, "of these are edges and triangles inside bodies of closed form\n");
}

/* The bar under a model that takes pairs of edges and triangles, and under one that does not. */
Test(thin_bar, a_model_without_elements_is_told_before_the_run)
{
  static const char *const bar =
      "[run]\nsteps = 1\n[solver]\nplugin = cholmod_pd\n[collision.bodies]\nplugin = sdf\n"
      "[contact.bodies]\nplugin = %s\npairs = obstacle\n[cloth.towel]\nmodel = "
      "arap+isometric\npattern = regular\nshape = grid\n"
      "size = 0.2 0.15\nresolution = 9 7\nthickness = 1.2 mm\n[body.bar]\nshape = capsule\n"
      "position = 0 0 -0.1\nradius = 0.0025\nlength = 0.9\nrotation = 1 0 0 90\n";
  proc p;
  char text[1024];
  snprintf(text, sizeof text, bar, "project");
  proc_write("project.ini", text);
  proc_loom(&p, LOOM_ARGS("check", "project.ini"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  assert_bar_text(p.err, "warning: [body.bar]: its thinnest part has a radius of 0.0025 m");
  assert_bar_text(p.err, "edges of the cloth are up to 0.0354 m long; 'project' sees vertices ");
  assert_bar_text(p.err, "set its mesh_size");
  snprintf(text, sizeof text, bar, "penalty");
  proc_write("penalty.ini", text);
  proc_loom(&p, LOOM_ARGS("check", "penalty.ini"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  cr_expect(strstr(p.err, "warning") == NULL, "%s", p.err);
}

/* Triangles in place of the exact shape: there is no warning, and no vertex enters. */
Test(thin_bar, with_a_mesh_it_holds_the_cloth)
{
  proc p;
  proc_write("mesh.ini", TOWEL);
  proc_loom(&p, LOOM_ARGS("run", "mesh.ini", "-n", "12", "-o", "mesh.h5", "--set",
                          "body.bar.mesh_size=0.01"));
  cr_assert_eq(p.code, 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
  cr_expect(strstr(p.err, "thinnest") == NULL, "%s", p.err);
  assert_bar_text(p.out, "looked at: edges with triangles\n");
}

/* 100 m/s, 1 m a step, past a ball of 5 cm: clear of it after both steps. */
Test(thin_bar, a_ball_that_is_passed_in_one_step_is_found_on_the_way)
{
  proc p;
  proc_write("fast.ini",
             "[run]\nsteps = 2\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = "
             "cpu\n[cloth.s]\nmodel = arap+isometric\npattern = regular\n"
             "size = 0.4 0.4\nresolution = 17 17\ntransform = translate 0 0 0.5\n"
             "velocity = 0 0 -100\n[body.ball]\nshape = sphere\nradius = 0.05\n[solver]\n"
             "plugin = cholmod_newton\n[contact.none]\nplugin = none\n");
  proc_loom(&p, LOOM_ARGS("run", "fast.ini", "-o", "fast.h5", "--set", "log.audit=every"));
  cr_assert_eq(p.code, 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
  proc_loom(&p, LOOM_ARGS("verify", "fast.h5"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  assert_bar_text(p.out, "no vertex, edge or triangle inside an exact shape (1 of them)\n");
  proc_loom(&p, LOOM_ARGS("verify", "fast.h5", "--trajectory"));
  cr_assert_eq(p.code, 3, "%s%s", p.out, p.err);
  assert_bar_text(p.out, "frame 0 to 1 (time 0 to 0.01 s):");
  assert_bar_text(p.out, " deep in body ball at time 0.00");
  const int64_t passes = number_behind(p.out, "between frames: ");
  proc_loom(&p, LOOM_ARGS("run", "fast.ini", "--overwrite", "-o", "fast.h5", "--set",
                          "log.audit=trajectory"));
  cr_assert_eq(p.code, 3, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_bar_text(p.err, "step 0: on their straight way ");
  assert_bar_text(p.err, " deep in body ball");
  cr_expect_eq(number_behind(p.out, "pass through each other within a step: "), passes);
}

/* A sheet of 2 cm edges against a ball of 5 cm, which holds between vertices at rest.  At 100 m/s a
 * vertex beside one that the ball stops goes on by 1 m in the step, and the sheet passes the ball
 * with vertices alone. */
Test(thin_bar, a_fast_sheet_does_not_pass_a_ball)
{
  static const char *const scene =
      "include = %s/configs/methods/barrier_bodies.ini\n[run]\nsteps = 1\ndt = 0.01\n[exec]\n"
      "backend = cpu\nthreads = 1\n[cloth.sheet]\nshape = grid\nsize = 0.2 0.2\n"
      "resolution = 11 11\npattern = alternate\nmodel = arap+isometric\ndensity = 0.2\n"
      "membrane = 200\nk_b = 1e-5\nthickness = 1 mm\ndamping = 2\n"
      "transform = translate 0.003 0.004 0\nvelocity = 0 0 -100\n[body.ball]\nshape = sphere\n"
      "radius = 0.05\nposition = 0 0 -0.5\n[stop]\nmax_iters = 20\n[log]\naudit = trajectory\n";
  char text[1024];
  proc p;
  snprintf(text, sizeof text, scene, getenv("LOOM_SOURCE_DIR"));
  proc_write("ball.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "ball.ini", "-o", "ball.h5"));
  cr_assert_eq(p.code, 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
  proc_loom(&p, LOOM_ARGS("run", "ball.ini", "-o", "ball.h5", "--overwrite", "--set",
                          "collision.bodies.elements=none"));
  cr_assert_eq(p.code, 3, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_bar_text(p.err, "elements = all");
}
