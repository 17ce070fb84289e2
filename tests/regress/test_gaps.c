/* Gaps that contact keeps: told in the summary of a run, and never below [filter] min_gap. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(gaps, .init = proc_enter, .fini = proc_leave);

#define HEAD(steps)                                                                     \
  "[run]\nsteps = " steps "\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n[solver]\n" \
  "plugin = cholmod_newton\n[collision.all]\nplugin = patch_bvh\n"
#define SHEET                                                                                     \
  "[collision.bodies]\nplugin = sdf\n[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize " \
  "= 0.1\nresolution = 5\ntransform = "                                                           \
  "translate 0 0 0.0015\nthickness = 2 mm\n"                                                      \
  "damping = 20\n[body.floor]\nshape = plane\n"

static int compare_gaps(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

/* A sheet of 2 mm rests on a plane: the median of its heights, less 1 mm, in three digits. */
Test(gaps, the_summary_tells_what_a_model_keeps)
{
  static const struct {
    const char *contact;
    double least, most; /* m, by the model's own law */
  } all[] = {{"[contact.c]\nplugin = ipc_barrier\n", 1e-5, 1e-3},
             {"[contact.c]\nplugin = penalty\noffset = 0.5 mm\n", 4e-4, 5e-4}};
  for (int k = 0; k < 2; ++k) {
    char text[1024];
    proc p;
    sim s;
    double said = NAN, time, x[75], z[25];
    snprintf(text, sizeof text, "%s%s%s", HEAD("40"), SHEET, all[k].contact);
    proc_write("rest.ini", text);
    proc_loom(&p, LOOM_ARGS("run", "rest.ini", "-o", "rest.h5", "--overwrite"));
    cr_assert_eq(p.code, 0, "%s", p.err);
    const char *const line = strstr(p.out, "  contact.c (");
    cr_assert(line != NULL && strstr(line, ") keeps gaps of ") != NULL, "%s", p.out);
    sscanf(strstr(line, " keeps gaps of "), " keeps gaps of %lf m", &said);
    sim_run(&s, text, NULL, 0);
    sim_frame(&s, s.frames - 1, x, NULL, &time);
    for (int i = 0; i < 25; ++i) z[i] = x[3 * i + 2] - 1e-3;
    qsort(z, 25, sizeof *z, compare_gaps);
    const double gap = z[12];
    cr_expect(fabs(said - gap) < 6e-3 * gap, "%s: %g m, not %g m", all[k].contact, said, gap);
    cr_expect(gap > all[k].least && gap < all[k].most, "%s: %g m", all[k].contact, gap);
    sim_free(&s);
  }
}

/* Ten micrometres of barrier have to stop cloth that falls 5 mm. */
Test(gaps, no_step_falls_below_min_gap)
{
  sim s;
  double least = INFINITY;
  sim_run(&s,
          HEAD("12") "[stop]\ntol_rel = 1e-3\nmax_iters = 60\n[contact.c]\nplugin = ipc_barrier\n"
                     "d_hat = 1e-5\n[cloth.strip]\nmodel = arap+isometric\npattern = regular\nsize "
                     "= 0.3 0.06\nresolution = 16 4\n"
                     "transform = translate 0.03 0 0.0545\nthickness = 1 mm\ndensity = 0.2\n"
                     "membrane = 300\nk_b = 2e-5\nvelocity = 0 0 -0.5\n[body.bar]\n"
                     "shape = capsule\nradius = 0.05\nlength = 0.4\nrotation = 1 0 0 90\n"
                     "mesh_size = 0.03\nsdf_resolution = 0\n",
          NULL, 0);
  h5log_step_row *const row = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k)
    if (row[k].contacts > 0) least = fmin(least, row[k].min_gap);
  printf("least gap %.9g m\n", least);
  cr_expect_eq(s.steps, 12);
  cr_expect(least > 1e-8 * (1 - 1e-4) && least < 1e-5, "%g m", least);
  free(row);
  sim_free(&s);
}

/* A step bound that keeps 0.05 d_hat stops a pair before its gap is a hundredth of d_hat.  The
 * barrier grows all the same: every step reaches its tolerance.  Without loom_step.min_gap in its
 * rule five of the 14 steps end at 100 iterations. */
Test(gaps, a_chosen_stiffness_grows_above_min_gap)
{
  sim s;
  int64_t contacts = 0;
  sim_run(
      &s,
      HEAD("14") "[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 100\n[filter]\nwhen = every\n"
                 "min_gap = 5e-5\n[contact.c]\nplugin = ipc_barrier\n[cloth.sheet]\nmodel = "
                 "arap+isometric\npattern = regular\nsize = 0.8\n"
                 "resolution = 7\ntransform = rotate 0 0 1 10 translate 0.01 0.005 0.36\n"
                 "density = 0.2\nmembrane = 300\nk_b = 1e-4\nthickness = 2 mm\n[body.pot]\n"
                 "shape = revolve\nprofile = 0 0 | 0.12 0 | 0.2 0.13 | 0.09 0.25 | 0.03 0.26 | "
                 "0.03 0.3 | 0 0.31\nmesh_size = 0.03\nsdf_resolution = 0\nfriction = 0.3\n",
      NULL, 0);
  h5log_step_row *const row = sim_steps(&s);
  for (int64_t i = 0; i < s.steps; ++i) {
    cr_expect_eq(row[i].reason, H5LOG_converged_abs, "step %lld: %s", (long long)i,
                 h5log_reason_name(row[i].reason));
    contacts += row[i].contacts;
    if (row[i].contacts > 0) cr_expect_gt(row[i].min_gap, 5e-5);
  }
  cr_expect_gt(contacts, 0, "the sheet has touched no body");
  free(row);
  sim_free(&s);
}
