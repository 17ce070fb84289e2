/* aa_pd: without a window it is cholmod_pd, with one it needs a fraction of the iterations; its
 * energy falls because of the safeguard. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(aa_pd, .init = proc_enter, .fini = proc_leave);

#define SHEET                                                                                     \
  DRAPE_EXEC                                                                                      \
  "[log]\naudit = off\n[solver]\nplugin = aa_pd\n[cloth.sheet]\nmodel = arap+isometric\npattern " \
  "= regular\nshape = grid\n"                                                                     \
  "size = 0.6 0.6\nresolution = 21 21\ndensity = 0.2\nmembrane = 1000\n"
/* A stiff sheet: the plain iteration, which has the matrix of stretched elements, is slow. */
#define STIFF                                                            \
  SHEET "k_b = 1e-2\npins = left\n[run]\nsteps = 3\ndt = 0.01\n[stop]\n" \
        "tol_abs = 1e-8\ntol_rel = 0\nmax_iters = 3000\n"
/* One that falls far in a step: combinations go wrong. */
#define SOFT                                                              \
  SHEET "k_b = 1e-3\npins = bottom_left bottom_right\n[run]\nsteps = 3\n" \
        "dt = 0.05\n[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 200\n"

typedef struct log_of {
  h5log_iter_row *row;
  int64_t rows, iters, rises; /* rises: iterations after which the energy is higher */
} log_of;

static log_of read_aa_log(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  log_of l = {0};
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  l.rows = h5read_num_iters(r);
  l.row = malloc((size_t)(l.rows + 1) * sizeof *l.row);
  cr_assert(l.row != NULL);
  cr_assert_eq(h5read_iters(r, &err, 0, l.rows, l.row), LOOM_OK, "%s", err.text);
  h5read_close(r);
  for (int64_t i = 0; i < l.rows; ++i) {
    if (l.row[i].k < 0) continue;
    ++l.iters;
    /* rounding of sums over 441 vertices */
    l.rises += l.row[i].e_total > l.row[i - 1].e_total + 1e-13 * fabs(l.row[i - 1].e_total);
  }
  return l;
}

static int64_t count_aa_iterations(const char *set)
{
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "run.h5", "--set", set);
  const log_of l = read_aa_log("run.h5");
  cr_expect_lt(l.row[l.rows - 1].r_next_rms, 1.0001e-8, "%s", set);
  free(l.row);
  return l.iters;
}

Test(aa_pd, without_a_window_it_is_cholmod_pd)
{
  proc_write("drape.ini", DRAPE "frames_every = 1\n[solver]\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "pd.h5", "--set", "solver.plugin=cholmod_pd");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "aa.h5", "--set", "solver.plugin=aa_pd", "--set",
            "solver.window=0");
  LOOM_FINE("compare", "pd.h5", "aa.h5", "--tol", "0");
  /* the control: with one it is not */
  LOOM_FINE("run", "drape.ini", "--quiet", "--overwrite", "-o", "aa.h5", "--set",
            "solver.plugin=aa_pd", "--set", "solver.window=3");
  cr_expect_gt(logs_distance("pd.h5", "aa.h5"), 0.0);
}

Test(aa_pd, a_fraction_of_the_iterations_to_the_same_residual)
{
  proc_write("scene.ini", STIFF);
  const int64_t plain = count_aa_iterations("solver.window=0"),
                five = count_aa_iterations("solver.window=5");
  printf("aa_pd: %lld iterations without a window, %lld with one of 5\n", (long long)plain,
         (long long)five);
  cr_expect(3 * five < plain, "%lld and %lld", (long long)five, (long long)plain);
}

Test(aa_pd, the_energy_falls_because_of_the_safeguard)
{
  proc_write("scene.ini", SOFT);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "safe.h5");
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "bare.h5", "--set", "solver.safeguard=no");
  const log_of safe = read_aa_log("safe.h5"), bare = read_aa_log("bare.h5");
  cr_expect_eq(safe.rises, 0, "%lld of %lld", (long long)safe.rises, (long long)safe.iters);
  cr_expect_gt(bare.rises, 0, "no rise in %lld iterations", (long long)bare.iters);
  free(safe.row);
  free(bare.row);
}
