/* xpbd: with its multipliers it ends where Newton's method does, without them or without compliance
 * it does not; elements without a constraint form are refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(xpbd, .init = proc_enter, .fini = proc_leave);

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
  double e_ref, residual; /* m, after the last iteration of a step, the largest */
  int64_t contacts;
} outcome;

/* Every step from the state of the reference, by xpbd. */
static outcome by_xpbd(const char *set, const char *more)
{
  loom_err err = {0};
  h5read *r = NULL;
  outcome o = {0};
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "xpbd.h5", "--set",
            "run.replay=ref.h5", "--set", "solver.plugin=xpbd", "--set", "stop.tol_abs=0", "--set",
            set, "--set", more);
  cr_assert_eq(h5read_open(&err, "xpbd.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t n = h5read_num_iters(r);
  h5log_iter_row *const row = malloc((size_t)(n + 1) * sizeof *row);
  cr_assert(row != NULL);
  cr_assert_eq(h5read_iters(r, &err, 0, n, row), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < n; ++i) {
    o.contacts += row[i].active;
    if (i + 1 < n && row[i + 1].step == row[i].step) continue;
    o.e_ref = fmax(o.e_ref, row[i].e_ref);
    o.residual = fmax(o.residual, row[i].r_next_rms);
  }
  free(row);
  h5read_close(r);
  printf("xpbd, %s, %s: %.3g m from the reference, residual %.3g m, %lld contacts\n", set, more,
         o.e_ref, o.residual, (long long)o.contacts);
  return o;
}

Test(xpbd, ends_where_newtons_method_does)
{
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome few = by_xpbd("stop.max_iters=10", "run.seed=0"),
                many = by_xpbd("stop.max_iters=3000", "run.seed=0");
  cr_expect_gt(few.e_ref, 1e-4, "%g m", few.e_ref);
  cr_expect_lt(many.e_ref, 1e-7, "%g m", many.e_ref);
  cr_expect_lt(many.residual, 1e-3 * few.residual, "%g and %g m", many.residual, few.residual);
  /* the controls */
  const outcome hard = by_xpbd("stop.max_iters=3000", "solver.compliance=1e-6"),
                plain = by_xpbd("stop.max_iters=3000", "solver.multipliers=none");
  cr_expect_gt(hard.e_ref, 1e-4, "%g m", hard.e_ref);
  cr_expect_gt(plain.e_ref, 1e-4, "%g m", plain.e_ref);
}

Test(xpbd, in_contact)
{
  proc_write("scene.ini", TOUCH);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const outcome many = by_xpbd("stop.max_iters=3000", "run.seed=0"),
                few = by_xpbd("stop.max_iters=10", "run.seed=0");
  cr_expect_gt(many.contacts, 100, "nothing touches");
  cr_expect_lt(many.e_ref, 1e-6, "%g m", many.e_ref);
  cr_expect_gt(few.e_ref, 1e-5, "%g m", few.e_ref);
}

Test(xpbd, springs_and_what_has_no_constraint_form)
{
  proc_write("scene.ini", HANG);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5", "--set", "cloth.sheet.model=springs",
            "--set", "cloth.sheet.membrane=", "--set", "cloth.sheet.bending=");
  const outcome many = by_xpbd("stop.max_iters=3000", "cloth.sheet.model=springs");
  cr_expect_lt(many.e_ref, 1e-7, "%g m", many.e_ref);
  proc_expect_error(2, LOOM_TEXTS("xpbd", "element projection"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "no.h5", "--set",
                              "solver.plugin=xpbd", "--set", "cloth.sheet.model=stvk"));
}
