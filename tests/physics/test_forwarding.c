/* Residual forwarding: a free particle keeps its velocity, and a hanging sheet with steps that are
 * cut short, or have few iterations, stays nearer to the converged motion.  The formula as printed
 * injects energy when bounds cut again and again; this is shown, too. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

#define CUT                                                                    \
  "[exec]\nbackend = cpu\nthreads = 1\n[filter]\nwhen = end\nbound = global\n" \
  "[collision.cut]\nplugin = fx_cut\n[solver]\nplugin = cholmod_pd\n[log]\naudit = off\n"

/* One triangle in free flight: inertia only, one iteration solves it. */
static const char flight[] =
    CUT "[run]\nsteps = 8\ndt = 0.01\ngravity = 0 0 0\n[stop]\ntol_abs = "
        "1e-15\ntol_rel = 0\n"
        "max_iters = 4\n[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = "
        "grid\nsize = 0.1 0.1\nresolution = 2 2\n"
        "density = 0.2\nmembrane = 100\nk_b = 1e-6\nvelocity = 1 0.5 -0.25\n\n";

/* 20 x 20 vertices hang by two corners and swing down. */
static const char sheet[] = CUT "[run]\nsteps = 60\ndt = 0.01\n[stop]\ntol_abs = 1e-9\ntol_rel = "
                                "0\nmax_iters = 20\n"
                                "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = "
                                "grid\nsize = 1 1\nresolution = 20 20\ndensity = 0.2\n"
                                "membrane = 1000\nk_b = 1e-4\npins = 0 19\n\n";

/* guess = last: the way that is cut begins where the step begins. */
static void run_forwarding_scene(sim *s, const char *text, const char *guess, const char *a,
                                 const char *b, const char *c)
{
  char path[1024];
  snprintf(path, sizeof path, "exec.plugin_path=%s/cut", getenv("LOOM_FIXTURE_DIR"));
  const char *const sets[] = {path, guess, a, b, c, NULL};
  sim_run(s, text, sets, 0);
}

Test(forwarding, a_free_particle_keeps_its_velocity)
{
  static const char *const mode[] = {"run.forwarding=off", "run.forwarding=paper",
                                     "run.forwarding=corrected", "run.forwarding=iterate"};
  static const double v[3] = {1, 0.5, -0.25};
  for (int k = 0; k < 4; ++k) {
    sim s;
    double worst = 0.0;
    run_forwarding_scene(&s, flight, "run.guess=last", mode[k], "collision.cut.first=3",
                         "collision.cut.every=1000");
    for (int64_t i = 0; i < 3 * s.n; ++i) worst = fmax(worst, fabs(s.v[i] - v[i % 3]));
    printf("%s: velocity off by %.3g m/s\n", mode[k], worst);
    /* 0.9 of the way was lost at 1 m/s: without forwarding so is the velocity; 2 delta pays
     * delta/h = 0.9 m/s back twice */
    if (k == 0) cr_expect(fabs(worst - 0.9) < 1e-9, "%g", worst);
    if (k == 1) cr_expect(fabs(worst - 0.9) < 1e-9, "%g", worst);
    if (k >= 2) cr_expect(worst < 1e-10, "%g", worst);
    sim_free(&s);
  }
}

typedef struct score {
  double error;  /* mean distance to the converged run over its mean travel */
  double energy; /* mean kinetic energy over that of the converged run */
} score;

/* Frames t = 1 .. of two runs of the same scene with equal vertex masses. */
static score compare_sheet_runs(sim *a, sim *ref)
{
  const size_t bytes = sizeof(double) * 3 * (size_t)ref->n;
  double *const x = malloc(bytes), *const v = malloc(bytes), *const y = malloc(bytes),
                *const w = malloc(bytes), *const x0 = malloc(bytes);
  double off = 0.0, way = 0.0, e = 0.0, er = 0.0, time;
  sim_frame(ref, 0, x0, v, &time);
  for (int64_t t = 1; t < ref->frames; ++t) {
    sim_frame(a, t, x, v, &time);
    sim_frame(ref, t, y, w, &time);
    for (int64_t i = 0; i < ref->n; ++i) {
      double d2 = 0.0, w2 = 0.0;
      for (int64_t c = 3 * i; c < 3 * i + 3; ++c) {
        d2 += (x[c] - y[c]) * (x[c] - y[c]);
        w2 += (y[c] - x0[c]) * (y[c] - x0[c]);
        e += v[c] * v[c];
        er += w[c] * w[c];
      }
      off += sqrt(d2);
      way += sqrt(w2);
    }
  }
  free(x), free(v), free(y), free(w), free(x0);
  return (score){off / way, e / er};
}

static sim run_uncut_reference(void)
{
  sim s;
  run_forwarding_scene(&s, sheet, "run.guess=last", "stop.max_iters=400", "collision.cut.share=1",
                       "run.forwarding=off");
  return s;
}

/* Every fifth step is cut to a tenth. */
Test(forwarding, steps_that_are_cut)
{
  static const char *const mode[] = {"run.forwarding=off", "run.forwarding=paper",
                                     "run.forwarding=corrected", "run.forwarding=iterate"};
  sim ref = run_uncut_reference();
  score of[4];
  for (int k = 0; k < 4; ++k) {
    sim s;
    run_forwarding_scene(&s, sheet, "run.guess=last", mode[k], "run.forwarding_iters=5",
                         "collision.cut.share=0.1");
    of[k] = compare_sheet_runs(&s, &ref);
    printf("%s: error %.3g of the travel, kinetic energy %.3g of the converged run's\n", mode[k],
           of[k].error, of[k].energy);
    sim_free(&s);
  }
  for (int k = 2; k < 4; ++k) {
    cr_expect(of[k].error < 0.7 * of[0].error, "%s: %g of %g", mode[k], of[k].error, of[0].error);
    cr_expect(of[k].energy < 1.5, "%s: %g", mode[k], of[k].energy);
  }
  cr_expect(of[1].energy > 4.0, "2 delta, as printed: %g", of[1].energy);
  sim_free(&ref);
}

/* The trigger: of the steps above alone each fifth leaves something to the next one. */
Test(forwarding, after_short_steps_alone)
{
  static const char *const below[] = {"run.forwarding_below=0.05", "run.forwarding_below=0.5",
                                      "run.forwarding_below=1"};
  sim ref = run_uncut_reference(), off;
  score of[4];
  run_forwarding_scene(&off, sheet, "run.guess=last", "run.forwarding=off",
                       "collision.cut.share=0.1", "log.frames_every=1");
  of[3] = compare_sheet_runs(&off, &ref);
  sim_free(&off);
  for (int k = 0; k < 3; ++k) {
    sim s;
    run_forwarding_scene(&s, sheet, "run.guess=last", "run.forwarding=corrected", below[k],
                         "collision.cut.share=0.1");
    of[k] = compare_sheet_runs(&s, &ref);
    printf("%s: error %.6g of the travel, kinetic energy %.6g; off %.6g, %.6g\n", below[k],
           of[k].error, of[k].energy, of[3].error, of[3].energy);
    sim_free(&s);
  }
  cr_expect(of[0].error == of[3].error && of[0].energy == of[3].energy, "no step is that short");
  cr_expect(of[1].error < 0.7 * of[3].error, "%g of %g", of[1].error, of[3].error);
  cr_expect(fabs(of[1].error - of[2].error) > 1e-4, "long steps forward as well: %g, %g",
            of[1].error, of[2].error);
  sim_free(&ref);
}

/* Few iterations and no cut. */
Test(forwarding, steps_of_few_iterations)
{
  static const char *const mode[] = {"run.forwarding=off", "run.forwarding=paper",
                                     "run.forwarding=corrected"};
  sim ref = run_uncut_reference();
  score of[3];
  for (int k = 0; k < 3; ++k) {
    sim s;
    run_forwarding_scene(&s, sheet, "run.guess=inertial", mode[k], "stop.max_iters=2",
                         "collision.cut.share=1");
    of[k] = compare_sheet_runs(&s, &ref);
    printf("%s: error %.3g of the travel, kinetic energy %.3g\n", mode[k], of[k].error,
           of[k].energy);
    sim_free(&s);
  }
  for (int k = 1; k < 3; ++k)
    cr_expect(of[k].error < 0.75 * of[0].error, "%s: %g of %g", mode[k], of[k].error, of[0].error);
  sim_free(&ref);
}
