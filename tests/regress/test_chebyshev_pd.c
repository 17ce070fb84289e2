/* chebyshev_pd: another program for the same method gives the same iterates; the extrapolation
 * saves iterations; it ends where Newton's method does, in contact too; a Jacobi step that is too
 * long is told, and diverges. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(chebyshev_pd, .init = proc_enter, .fini = proc_leave);

#define SHEET                                                                                      \
  DRAPE_EXEC                                                                                       \
  "[log]\naudit = off\nframes_every = 1\n[solver]\nplugin = chebyshev_pd\n[cloth.sheet]\nmodel = " \
  "arap+isometric\npattern = regular\n"                                                            \
  "shape = grid\nsize = 0.6 0.6\nresolution = 21 21\ndensity = 0.2\n"                              \
  "membrane = 100\nk_b = 1e-5\npins = bottom_left bottom_right\n[run]\n"                           \
  "steps = 2\ndt = 0.01\n[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 5000\n"

static int64_t count_chebyshev_iterations(const char *set)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_iter_row last;
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "run.h5", "--set", set);
  cr_assert_eq(h5read_open(&err, "run.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t rows = h5read_num_iters(r);
  cr_assert_eq(h5read_iters(r, &err, rows - 1, 1, &last), LOOM_OK, "%s", err.text);
  h5read_close(r);
  cr_expect_lt(last.r_next_rms, 1.0001e-7, "%s", set);
  return rows - 2; /* a row of each step is of its start */
}

/* ndb_pd without its subspace, one damped Jacobi sweep per iteration, is the same method. */
Test(chebyshev_pd, the_same_iterates_by_another_program)
{
  proc_write("scene.ini", SHEET);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "one.h5", "--set", "stop.max_iters=40", "--set",
            "solver.gamma=0.7", "--set", "solver.delay=5", "--set", "solver.rho=0.97");
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "two.h5", "--set", "stop.max_iters=40", "--set",
            "solver.plugin=ndb_pd", "--set", "solver.subspace=none", "--set",
            "solver.smoother=jacobi", "--set", "solver.sweeps=1", "--set", "solver.theta=0.7",
            "--set", "solver.warm=0", "--set", "solver.momentum=chebyshev", "--set",
            "solver.momentum_rho=0.97");
  LOOM_FINE("compare", "one.h5", "two.h5", "--tol", "1e-12");
  /* the control */
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "one.h5", "--set",
            "stop.max_iters=40", "--set", "solver.gamma=0.7", "--set", "solver.rho=0");
  cr_expect_gt(logs_distance("one.h5", "two.h5"), 1e-6);
}

Test(chebyshev_pd, the_extrapolation_saves_iterations)
{
  proc_write("scene.ini", SHEET);
  const int64_t with = count_chebyshev_iterations("solver.rho=0.99"),
                without = count_chebyshev_iterations("solver.rho=0");
  printf("chebyshev_pd: %lld iterations, %lld without extrapolation\n", (long long)with,
         (long long)without);
  cr_expect(3 * with < without, "%lld and %lld", (long long)with, (long long)without);
}

Test(chebyshev_pd, ends_where_newtons_method_does)
{
  proc_write("scene.ini", SHEET);
  (void)count_chebyshev_iterations("solver.rho=0.99");
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "newton.h5", "--set",
            "solver.plugin=cholmod_newton");
  LOOM_FINE("compare", "run.h5", "newton.h5", "--tol", "1e-5");
}

/* A sheet on a ball: each step from the state of the reference; `e_ref` is the distance from it. */
#define TOUCH                                                                              \
  DRAPE_EXEC                                                                               \
  "[log]\naudit = off\nframes_every = 1\n[stop]\ntol_abs = 1e-10\ntol_rel = 0\n"           \
  "max_iters = 200\n[solver]\nplugin = cholmod_newton\n[cloth.sheet]\nmodel = "            \
  "arap+isometric\npattern = regular\nshape = grid\n"                                      \
  "size = 0.3 0.3\nresolution = 11 11\ndensity = 0.2\nmembrane = 100\nk_b = 1e-4\n"        \
  "transform = translate 0.02 0.01 0.13\n[run]\nsteps = 12\ndt = 0.01\n[body.ball]\n"      \
  "shape = sphere\nradius = 0.06\nposition = 0 0 0.06\nfriction = 0\n[collision.bodies]\n" \
  "plugin = sdf\n[contact.bodies]\nplugin = penalty\npairs = obstacle\nstiffness = 1e8\n"

static double distance_in_contact(const char *iters)
{
  loom_err err = {0};
  h5read *r = NULL;
  double far = 0.0;
  int64_t touching = 0;
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "run.h5", "--set",
            "run.replay=ref.h5", "--set", "solver.plugin=chebyshev_pd", "--set", "solver.rho=0.97",
            "--set", "stop.tol_abs=0", "--set", iters);
  cr_assert_eq(h5read_open(&err, "run.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t n = h5read_num_iters(r);
  h5log_iter_row *const row = malloc((size_t)(n + 1) * sizeof *row);
  cr_assert(row != NULL);
  cr_assert_eq(h5read_iters(r, &err, 0, n, row), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < n; ++i) {
    touching += row[i].active;
    if (i + 1 == n || row[i + 1].step != row[i].step) far = fmax(far, row[i].e_ref);
  }
  cr_expect_gt(touching, 100, "nothing touches");
  free(row);
  h5read_close(r);
  printf("chebyshev_pd, %s: %.3g m from the reference in contact\n", iters, far);
  return far;
}

Test(chebyshev_pd, in_contact)
{
  proc_write("scene.ini", TOUCH);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  cr_expect_lt(distance_in_contact("stop.max_iters=3000"), 1e-6);
  cr_expect_gt(distance_in_contact("stop.max_iters=10"), 1e-5);
}

Test(chebyshev_pd, a_step_that_is_too_long_is_told)
{
  proc_write("scene.ini", SHEET);
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "scene.ini", "-o", "run.h5", "--set", "solver.gamma=1.9", "--set",
                          "stop.max_iters=50"));
  cr_expect(strstr(p.err, "Jacobi steps diverge on this mesh: gamma = 1.9") != NULL, "%s", p.err);
  /* the control */
  proc_loom(&p, LOOM_ARGS("run", "scene.ini", "--overwrite", "-o", "run.h5", "--set",
                          "stop.max_iters=5"));
  cr_expect(strstr(p.err, "diverge") == NULL, "%s", p.err);
}
