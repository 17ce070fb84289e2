/* sweeps.h - solvers that sweep over vertices or elements against Newton's method: scenes and one
 * run. */
#ifndef TEST_SWEEPS_H
#define TEST_SWEEPS_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/proc.h"

#define REFERENCE                                                                \
  "[log]\naudit = off\nframes_every = 1\n[stop]\ntol_abs = 1e-10\ntol_rel = 0\n" \
  "max_iters = 200\n[solver]\nplugin = cholmod_newton\n" DRAPE_EXEC
#define SHEET                                                                           \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.3 " \
  "0.3\nresolution = 11 11\ndensity = 0.2\n"                                            \
  "membrane = 100\nk_b = 1e-4\n"
#define HANG REFERENCE SHEET "pins = bottom_left bottom_right\n[run]\nsteps = 8\ndt = 0.01\n"
#define TOUCH                                                                                  \
  REFERENCE SHEET                                                                              \
      "transform = translate 0.02 0.01 0.13\n[run]\nsteps = 12\ndt = 0.01\n[body.ball]\n"      \
      "shape = sphere\nradius = 0.06\nposition = 0 0 0.06\nfriction = 0\n[collision.bodies]\n" \
      "plugin = sdf\n[contact.bodies]\nplugin = penalty\npairs = obstacle\n"

typedef struct outcome {
  double e_ref, residual; /* m, after the last iteration of a step, the largest */
  int64_t iters, rises;   /* rises: iterations after which the energy is higher */
  int64_t contacts;
} outcome;

/* Every step from the state of the reference, by `solver`. */
static inline outcome sweep_scene(const char *solver, const char *set, const char *more)
{
  loom_err err = {0};
  h5read *r = NULL;
  outcome o = {0};
  char plugin[64];
  snprintf(plugin, sizeof plugin, "solver.plugin=%s", solver);
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "swept.h5", "--set",
            "run.replay=ref.h5", "--set", plugin, "--set", "stop.tol_abs=0", "--set", set, "--set",
            more);
  cr_assert_eq(h5read_open(&err, "swept.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t n = h5read_num_iters(r);
  h5log_iter_row *const row = malloc((size_t)(n + 1) * sizeof *row);
  cr_assert(row != NULL);
  cr_assert_eq(h5read_iters(r, &err, 0, n, row), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < n; ++i) {
    o.contacts += row[i].active;
    if (row[i].k >= 0) {
      ++o.iters;
      o.rises += row[i].e_total > row[i - 1].e_total + 1e-12 * fabs(row[i - 1].e_total);
    }
    if (i + 1 < n && row[i + 1].step == row[i].step) continue;
    o.e_ref = fmax(o.e_ref, row[i].e_ref);
    o.residual = fmax(o.residual, row[i].r_next_rms);
  }
  free(row);
  h5read_close(r);
  printf("%s, %s, %s: %.3g m from the reference, residual %.3g m, %lld rises in %lld iterations, "
         "%lld contacts\n",
         solver, set, more, o.e_ref, o.residual, (long long)o.rises, (long long)o.iters,
         (long long)o.contacts);
  return o;
}

#endif
