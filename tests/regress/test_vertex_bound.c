/* [filter] bound = vertex: sheets that fly into each other do not pass, also between frames, with
 * both shapes of the bound; without contact they do. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(vertex_bound, .init = proc_enter, .fini = proc_leave);

/* Two sheets cross each other's place at 10 m/s, 2 cm a step. */
#define CROSSING                                                                               \
  "[run]\nsteps = 16\ndt = 0.002\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 2\n"       \
  "[cloth.left]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 11 "  \
  "11\ndensity = 0.2\nmembrane = 100\n"                                                        \
  "k_b = 1e-5\nthickness = 1 mm\nvelocity = 0 0 5\ntransform = rotate 0 0 1 12 "               \
  "translate 0 0 -0.03\n"                                                                      \
  "[cloth.right]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 11 " \
  "11\ndensity = 0.2\nmembrane = 100\n"                                                        \
  "k_b = 1e-5\nthickness = 1 mm\nvelocity = 0 0 -5\ntransform = rotate 1 0 0 35 "              \
  "rotate 0 1 0 8 translate 0.02 0.01 0.07\n"                                                  \
  "[collision.mesh]\nplugin = patch_bvh\n[filter]\nbound = vertex\n[solver]\nplugin = "        \
  "pcg_newton\n[contact.all]\nplugin = ipc_barrier\n[stop]\nmax_iters = 20\n"

/* Frames of a run with the settings a and b; code 0: no pair passes. */
static void expect_passes(const char *a, const char *b, int code)
{
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "a.h5", "--overwrite", "--set", a,
                          "--set", b));
  cr_assert(p.code == 0 || p.code == 3, "%s, %s: %d\n%s", a, b, p.code, p.err);
  proc_loom(&p, LOOM_ARGS("verify", "a.h5", "--trajectory"));
  cr_expect_eq(p.code, code, "%s, %s: %d\n%s%s", a, b, p.code, p.out, p.err);
}

Test(vertex_bound, crossing_sheets_do_not_pass)
{
  proc_write("scene.ini", CROSSING);
  expect_passes("collision.mesh.plugin=patch_bvh", "collision.mesh.shape=ball", 0);
  expect_passes("collision.mesh.plugin=bvtt_front", "collision.mesh.shape=plane", 0);
  expect_passes("contact.all.plugin=none", "filter.bound=none", 3);
}

/* Two sheets of 25 vertices 1 mm apart fly side by side at 5 m/s, 5 cm a step. */
#define TOGETHER                                                                              \
  "[run]\nsteps = 4\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"        \
  "[cloth.left]\nmodel = arap+isometric\npattern = regular\nsize = 0.1 0.1\nresolution = 5 "  \
  "5\ndensity = 0.2\nmembrane = 100\n"                                                        \
  "thickness = 1 mm\nvelocity = 0 0 5\n"                                                      \
  "[cloth.right]\nmodel = arap+isometric\npattern = regular\nsize = 0.1 0.1\nresolution = 5 " \
  "5\ndensity = 0.2\nmembrane = 100\n"                                                        \
  "thickness = 1 mm\nvelocity = 0 0 5\ntransform = translate 0.003 0.002 0.002\n"             \
  "[collision.mesh]\nplugin = patch_bvh\n[filter]\nbound = vertex\n[solver]\nplugin = "       \
  "pcg_newton\n[contact.all]\nplugin = ipc_barrier\nd_hat = 5e-4\n[stop]\nmax_iters = 3\n"

Test(vertex_bound, sheets_that_fly_together_are_not_held_back)
{
  enum { NUM = 50 };
  double x0[3 * NUM], x1[3 * NUM], v[3 * NUM], time;
  loom_err err = {0};
  h5read *r = NULL;
  proc_write("scene.ini", TOGETHER);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "a.h5");
  cr_assert_eq(h5read_open(&err, "a.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t last = h5read_num_frames(r) - 1;
  cr_assert_eq(h5read_frame(r, &err, 0, x0, v, &time, NULL), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_frame(r, &err, last, x1, v, &time, NULL), LOOM_OK, "%s", err.text);
  for (int i = 0; i < NUM; ++i)
    cr_expect(fabs(x1[3 * i + 2] - x0[3 * i + 2] - 0.2) < 1e-6, "vertex %d: %g", i,
              x1[3 * i + 2] - x0[3 * i + 2]);
  h5read_close(r);
}
