/* vbd: sweeps over single vertices end where Newton's method does; the energy falls in each. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(vbd, .init = proc_enter, .fini = proc_leave);

#define REFERENCE                                                                \
  "[log]\naudit = off\nframes_every = 1\n[stop]\ntol_abs = 1e-10\ntol_rel = 0\n" \
  "max_iters = 200\n[solver]\nplugin = cholmod_newton\n" DRAPE_EXEC
#define SHEET                                                                        \
  "[cloth.sheet]\nshape = grid\nsize = 0.3 0.3\nresolution = 11 11\ndensity = 0.2\n" \
  "membrane = 100\nbending = 1e-4\n"
#define HANG REFERENCE SHEET "pins = bottom_left bottom_right\n[run]\nsteps = 8\ndt = 0.01\n"
#define TOUCH                                                                                  \
  REFERENCE SHEET                                                                              \
      "transform = translate 0.02 0.01 0.13\n[run]\nsteps = 12\ndt = 0.01\n[body.ball]\n"      \
      "shape = sphere\nradius = 0.06\nposition = 0 0 0.06\nfriction = 0\n[collision.bodies]\n" \
      "plugin = sdf\n[contact.bodies]\nplugin = penalty\npairs = obstacle\n"

typedef struct outcome {
  double e_ref;         /* m, after the last iteration of a step, the largest */
  int64_t iters, rises; /* rises: iterations after which the energy is higher */
  int64_t contacts;
} outcome;

/* Every step from the state of the reference, by vbd. */
static outcome by_vbd(const char *set, const char *more)
{
  loom_err err = {0};
  h5read *r = NULL;
  outcome o = {0};
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "vbd.h5", "--set",
            "run.replay=ref.h5", "--set", "solver.plugin=vbd", "--set", "stop.tol_abs=0", "--set",
            set, "--set", more);
  cr_assert_eq(h5read_open(&err, "vbd.h5", &r), LOOM_OK, "%s", err.text);
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
  }
  free(row);
  h5read_close(r);
  printf("vbd, %s, %s: %.3g m from the reference, %lld rises in %lld iterations, %lld contacts\n",
         set, more, o.e_ref, (long long)o.rises, (long long)o.iters, (long long)o.contacts);
  return o;
}

Test(vbd, sweeps_end_where_newtons_method_does)
{
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome many = by_vbd("stop.max_iters=3000", "solver.rho=0"),
                few = by_vbd("stop.max_iters=3", "solver.rho=0");
  cr_expect_lt(many.e_ref, 1e-7, "%g m", many.e_ref);
  cr_expect_gt(few.e_ref, 1e-4, "%g m", few.e_ref);
  cr_expect_eq(many.rises, 0, "%lld of %lld", (long long)many.rises, (long long)many.iters);
}

/* Acceleration gets further in as many iterations; its energy does not only fall. */
Test(vbd, acceleration)
{
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome plain = by_vbd("stop.max_iters=100", "solver.rho=0"),
                fast = by_vbd("stop.max_iters=100", "solver.rho=0.9");
  cr_expect_lt(3 * fast.e_ref, plain.e_ref);
  cr_expect_eq(plain.rises, 0);
  cr_expect_gt(fast.rises, 0);
}

/* A term that the sweeps would leave out is refused. */
Test(vbd, damping_by_stiffness_is_refused)
{
  proc_write("scene.ini", HANG);
  proc_expect_error(1, LOOM_TEXTS("vbd", "stiffness_damping"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "no.h5", "--set",
                              "solver.plugin=vbd", "--set", "cloth.sheet.stiffness_damping=1e-3"));
}

Test(vbd, in_contact)
{
  proc_write("scene.ini", TOUCH);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome many = by_vbd("stop.max_iters=3000", "solver.rho=0"),
                few = by_vbd("stop.max_iters=3", "solver.rho=0");
  cr_expect_gt(many.contacts, 100, "nothing touches");
  cr_expect_lt(many.e_ref, 1e-6, "%g m", many.e_ref);
  cr_expect_gt(few.e_ref, 1e-5, "%g m", few.e_ref);
}

/* The paper's guess knows the velocity of the step before: it must be in the checkpoint. */
Test(vbd, its_guess_goes_on_after_a_restart)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = vbd\nguess = adaptive\nrho = 0.5\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}
