/* The solver is swapped, the drape stays: at tight tolerance projective dynamics and Newton
 * follow the same motion within 0.1 mm, on the generated grid and on a user's own OBJ, and
 * Newton with a factorisation or with conjugate gradients within 0.1 um.  Newton in one or the
 * other order of elimination is the same within 1 nm.
 *
 * Both minimise the same energies, so they differ in the share of each step that they leave
 * unsolved (tol_abs = 1e-8 m) and how contact amplifies it over 25 steps.  With the bending
 * below (1e-3 N m) the two stay within about 1e-6 m of each other. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(swap, .init = proc_enter, .fini = proc_leave);

#define PHYSICS "density = 0.2\nmembrane = 1000\nk_b = 1e-3\nthickness = 2 mm\ndamping = 0.5\n"
#define TIGHT   "[stop]\ntol_abs = 1e-8\ntol_rel = 0\nmax_iters = 3000\n"
#define REST    DRAPE_RUN DRAPE_EXEC DRAPE_BODIES TIGHT DRAPE_PLUGINS DRAPE_LOG "[solver]\n"

/* Steps that ended otherwise than by tol_abs would make the comparison empty: max_iters is a
 * fine end for the exit code. */
static void check_swap_converged(const char *path, int64_t steps, int least)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_step_row s;
  int contacts = 0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_num_steps(r), steps);
  for (int64_t i = 0; i < steps; ++i) {
    cr_assert_eq(h5read_steps(r, &err, i, 1, &s), LOOM_OK, "%s", err.text);
    cr_assert_eq(s.reason, H5LOG_converged_abs, "%s: step %lld ended with %s after %lld iterations",
                 path, (long long)i, h5log_reason_name((int)s.reason), (long long)s.iters);
    contacts += s.contacts > 0;
  }
  cr_assert(contacts > least, "in contact in %d steps only", contacts);
  h5read_close(r);
}

static void same_drape(const char *what)
{
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "newton.h5", "--set",
            "solver.plugin=cholmod_newton");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "pd.h5", "--set", "solver.plugin=cholmod_pd",
            "--set", "solver.momentum=nesterov");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "pcg.h5", "--set", "solver.plugin=pcg_newton");
  check_swap_converged("newton.h5", 25, 10);
  check_swap_converged("pd.h5", 25, 10);
  check_swap_converged("pcg.h5", 25, 10);
  const double e = logs_distance("newton.h5", "pcg.h5");
  printf("swap, %s: Newton with conjugate gradients %.3g m from Newton with a factor\n", what, e);
  cr_assert(e < 1e-7, "%g m", e);
  const double d = logs_distance("newton.h5", "pd.h5");
  printf("swap, %s: largest distance %.3g m in 25 steps\n", what, d);
  cr_assert(d < 1e-4, "%g m", d);
  LOOM_FINE("compare", "newton.h5", "pd.h5", "--tol", "1e-4");
}

Test(swap, generated_grid)
{
  proc_write("drape.ini", REST "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = "
                               "grid\nsize = 0.6 0.6\nresolution = 21 21\n"
                               "transform = translate 0.02 0.01 0.24\n" PHYSICS);
  same_drape("generated grid");
}

/* Two sheets on the ball: contact between them comes and goes, and the pattern of the matrix with
 * it.  Newton ends far below the tolerance, so the orders differ by rounding and its growth over
 * 12 steps of contact. */
Test(swap, orders_of_elimination)
{
  proc_write("drape.ini",
             "[run]\nsteps = 12\ndt = 0.01\n" DRAPE_EXEC DRAPE_BODIES
             "[stop]\ntol_abs = 1e-10\ntol_rel = 0\nmax_iters = 100\n"
             "[cloth.below]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.4 "
             "0.4\nresolution = 15 15\n"
             "transform = translate 0.02 0.01 0.225\n" PHYSICS
             "[cloth.above]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.4 "
             "0.4\nresolution = 13 13\n"
             "transform = rotate 0 0 1 30 translate 0.02 0.01 0.229\n" PHYSICS
             "[detect]\nevery = iteration\n"
             "[collision.bodies]\nplugin = sdf\n[collision.cloth]\nplugin = patch_bvh\n"
             "[contact.bodies]\nplugin = penalty\npairs = obstacle\ncollision = bodies\n"
             "[contact.cloth]\nplugin = penalty\npairs = self\ncollision = cloth\n" DRAPE_LOG
             "[solver]\nplugin = cholmod_newton\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "metis.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "amd.h5", "--set", "solver.ordering=amd");
  check_swap_converged("metis.h5", 12, 6);
  check_swap_converged("amd.h5", 12, 6);
  const double d = logs_distance("metis.h5", "amd.h5");
  printf("swap, orders: largest distance %.3g m in 12 steps\n", d);
  cr_assert_gt(d, 0.0, "the same bits: was it the same order?");
  cr_assert_lt(d, 1e-9);
}

/* A grid with inner vertices moved by up to a quarter of a cell and with alternating
 * diagonals: no part of it comes from our generator. */
Test(swap, own_obj)
{
  enum { N = 21 };
  FILE *const f = fopen("sheet.obj", "w");
  cr_assert(f != NULL);
  uint32_t seed = 1u;
  for (int i = 0; i < N * N; ++i) {
    double p[2];
    for (int c = 0; c < 2; ++c) {
      const int at = c == 0 ? i % N : i / N;
      seed = seed * 1664525u + 1013904223u; /* Numerical Recipes' generator */
      const double jitter = 0.5 * ((double)(seed >> 8) * 0x1p-24 - 0.5);
      p[c] = 0.6 * ((at + (at > 0 && at < N - 1 ? jitter : 0.0)) / (N - 1) - 0.5);
    }
    fprintf(f, "v %.9g %.9g 0\n", p[0], p[1]);
  }
  for (int i = 0; i < (N - 1) * (N - 1); ++i) {
    const int a = i % (N - 1) + N * (i / (N - 1)) + 1, b = a + 1, c = a + N, d = c + 1;
    if ((i + i / (N - 1)) % 2)
      fprintf(f, "f %d %d %d\nf %d %d %d\n", a, b, d, a, d, c);
    else
      fprintf(f, "f %d %d %d\nf %d %d %d\n", a, b, c, b, d, c);
  }
  cr_assert_eq(fclose(f), 0);
  proc_write("drape.ini",
             REST "[cloth.sheet]\nmodel = arap+isometric\nshape = obj\nfile = sheet.obj\n"
                  "transform = translate 0.02 0.01 0.24\n" PHYSICS);
  same_drape("own OBJ");
}
