/* Stiffness-proportional damping (stiffness_damping): a mode of a membrane decays as implicit Euler
 * of a damped oscillator does, every solver ends at the same point, motion of the whole is not
 * braked, and where there is no stiffness the key is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/logdiff.h"
#include "support/proc.h"
#include "support/sim.h"

TestSuite(damping, .init = proc_enter, .fini = proc_leave);

/* A strip that is held at one end falls into its weight. */
#define STRIP(beta, more)                                                                \
  "[run]\nsteps = 40\ndt = 0.005\ngravity = 9.81 0 0\n[exec]\nbackend = cpu\n"           \
  "[stop]\ntol_abs = 1e-10\ntol_rel = 0\nmax_iters = 4000\n[log]\naudit = off\n"         \
  "[cloth.strip]\nmodel = arap+isometric\npattern = regular\nshape = strip\nsize = 0.4 " \
  "0.05\nresolution = 9 2\ndensity = 0.5\n"                                              \
  "membrane = 200\nk_b = 1e-6\npins = left\nstiffness_damping = " beta "\n" more

/* Its length at the end. */
static double measure_membrane_length(const char *text)
{
  double end = -1e9;
  sim s;
  sim_run(&s, text, NULL, 0);
  for (int64_t i = 0; i < s.n; ++i) end = fmax(end, s.x[3 * i]);
  sim_free(&s);
  return end;
}

#define NEWTON "[solver]\nplugin = cholmod_newton\nhessian = clamp\n"

/* Each solver finds the minimum of one and the same problem, D included. */
Test(damping, solvers_agree)
{
  static const char *const others[] = {
      "[solver]\nplugin = pcg_newton\nhessian = clamp\n",
      "[solver]\nplugin = cama_pcg\ntolerance = 1e-8\n",
      "[solver]\nplugin = cholmod_pd\n",
      "[solver]\nplugin = ndb_pd\n",
      "[solver]\nplugin = pd_bfgs\n",
  };
  const double want = measure_membrane_length(STRIP("0.01", NEWTON)),
               free = measure_membrane_length(STRIP("0", NEWTON));
  cr_assert_gt(fabs(want - free), 2e-5, "damping makes no difference: %g and %g m", want, free);
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    char text[2048];
    snprintf(text, sizeof text, STRIP("0.01", "%s"), others[i]);
    const double got = measure_membrane_length(text);
    cr_expect_lt(fabs(got - want), 2e-7, "%s: %.9g m, not %.9g", others[i], got, want);
  }
}

/* ---- one degree of freedom ---- */

/* A triangle of springs, two corners pinned, the third pushed straight away from them.  Both of its
 * springs have the slope 2:1, so that its stiffness along x is 2 k 4/5, and for small ways implicit
 * Euler is   m (v' - v) = -h K (x + h v' + beta v'). */
#define ONE                                                                                        \
  "[run]\nsteps = 50\ndt = 0.002\ngravity = 0 0 0\n[exec]\nbackend = cpu\n"                        \
  "[stop]\ntol_abs = 1e-15\ntol_rel = 0\nmax_iters = 20\n[log]\naudit = off\n"                     \
  "[cloth.one]\nshape = obj\nfile = %s/one.obj\ndensity = 100\nmodel = springs\nk_spring = 1000\n" \
  "pins = 0 1\nvelocity = 1e-5 0 0\nstiffness_damping = %g\n" NEWTON

static double measure_corner_displacement(double beta)
{
  char text[2048], here[1024];
  sim s;
  cr_assert(getcwd(here, sizeof here) != NULL);
  snprintf(text, sizeof text, ONE, here, beta);
  proc_write("one.obj", "v 0 0.05 0\nv 0 -0.05 0\nv 0.1 0 0\nf 1 2 3\n");
  sim_run(&s, text, NULL, 0);
  const double x = s.x[6] - s.rest[6];
  sim_free(&s);
  return x;
}

static double by_hand(double beta)
{
  const double h = 0.002, K = 2.0 * 1000.0 * 0.8, m = 100.0 * 0.005 / 3.0;
  double x = 0.0, v = 1e-5;
  for (int i = 0; i < 50; ++i) {
    v = (v - h * K * x / m) / (1.0 + h * (h + beta) * K / m);
    x += h * v;
  }
  return x;
}

Test(damping, one_mode_decays_as_derived)
{
  for (int i = 0; i < 3; ++i) {
    const double beta = 0.004 * i, got = measure_corner_displacement(beta), want = by_hand(beta);
    cr_expect_lt(fabs(got - want), 1e-3 * 1e-8, "beta %g: %g m, not %g", beta, got, want);
  }
  cr_assert_gt(fabs(by_hand(0.004) - by_hand(0.0)), 1e-8, "damping has no effect");
}

/* ---- motion that is not damped ---- */

/* Thrown cloth falls as without; so the force has no sum, and a motion as a whole has none. */
Test(damping, a_fall_is_not_braked)
{
#define FALL(beta)                                                                          \
  "[run]\nsteps = 20\ndt = 0.01\n[exec]\nbackend = cpu\n[log]\naudit = off\n"               \
  "[stop]\ntol_abs = 1e-13\ntol_rel = 0\n[cloth.sheet]\nmodel = arap+isometric\npattern = " \
  "regular\nsize = 0.3 0.3\nresolution = 5\n"                                               \
  "velocity = 1 0 0\nstiffness_damping = " beta "\n" NEWTON
  sim with, without;
  sim_run(&with, FALL("1"), NULL, 0);
  sim_run(&without, FALL("0"), NULL, 0);
  for (int64_t i = 0; i < 3 * with.n; ++i)
    cr_assert_lt(fabs(with.x[i] - without.x[i]), 1e-11, "%g and %g", with.x[i], without.x[i]);
  sim_free(&with);
  sim_free(&without);
}

/* ---- columns of the log ---- */

/* A sheet that is held at an edge swings onto a ball without friction: contact changes from
 * iteration to iteration while x stands, and the energy that damping dissipates stays in the
 * energies. */
Test(damping, is_told_beside_contact_that_changes)
{
#define SWING                                                                               \
  "[run]\nsteps = 30\ndt = 0.01\n[exec]\nbackend = cpu\n[log]\naudit = off\n"               \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.4 0.4\nresolution = " \
  "7\nmembrane = 100\npins = left\n"                                                        \
  "stiffness_damping = 0.01\n[body.ball]\nshape = sphere\nradius = 0.1\nfriction = 0\n"     \
  "position = 0 0 -0.13\n[collision.bodies]\nplugin = sdf\n[contact.all]\nplugin = "        \
  "penalty\n" NEWTON
  int64_t touching = 0;
  sim s;
  sim_run(&s, SWING, NULL, 0);
  h5log_iter_row *const row = sim_iters(&s);
  for (int64_t i = 0; i < s.iters; ++i) {
    const h5log_iter_row *const r = &row[i];
    if (r->k < 0) continue;
    cr_expect_gt(r->e_dissip, 1e-9, "step %lld, row %lld: %g J", (long long)r->step,
                 (long long)r->k, r->e_dissip);
    const double sum = r->e_inertia + r->e_elastic + r->e_contact + r->e_dissip;
    cr_expect_lt(fabs(r->e_total - sum), 1e-12 * fabs(sum), "%g and %g J", r->e_total, sum);
    touching += r->active > 0;
  }
  cr_assert_gt(touching, 20, "%lld rows with contact", (long long)touching);
  free(row);
  sim_free(&s);
}

Test(damping, is_refused_without_stiffness)
{
  char config[512];
  proc p;
  snprintf(config, sizeof config, "%s/configs/yarn_swatch.ini", getenv("LOOM_SOURCE_DIR"));
  proc_loom(&p, LOOM_ARGS("check", config, "--set", "yarn.swatch.stiffness_damping=0.1"));
  cr_assert_eq(p.code, 2, "%d: %s", p.code, p.err);
  cr_expect(strstr(p.err, "stiffness_damping") != NULL && strstr(p.err, "yarn_bend") != NULL, "%s",
            p.err);
}

/* What a solver refuses in its first iteration is refused by `check`, too, in the same words: of
 * lists of elements the core has no damping. */
Test(damping, check_refuses_what_the_first_iteration_refuses)
{
  static const char *const solvers[] = {
      "vbd",   "xpbd",   "cholmod_newton", "pcg_newton", "cholmod_pd", "chebyshev_pd",
      "aa_pd", "ndb_pd", "pd_bfgs",        "cama_pcg",   "gd"};
  char solver[64];
  int refused = 0;
  proc_write("sheet.ini", "[run]\nsteps = 1\n[log]\naudit = off\n[stop]\nmax_iters = 3\n"
                          "[cloth.sheet]\nmodel = arap+isometric\nsize = 0.2 0.2\nresolution = 4\n"
                          "pins = left\nstiffness_damping = 1e-3\n[solver]\nplugin = gd\n");
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    proc checked, ran;
    snprintf(solver, sizeof solver, "solver.plugin=%s", solvers[k]);
    proc_loom(&checked, LOOM_ARGS("check", "sheet.ini", "--set", solver));
    proc_loom(&ran, LOOM_ARGS("run", "sheet.ini", "--quiet", "--overwrite", "-o", "run.h5", "--set",
                              solver));
    cr_expect_eq(checked.code, ran.code, "%s: check ends with %d, run with %d: %s", solvers[k],
                 checked.code, ran.code, ran.err);
    if (ran.code == 0) continue;
    ++refused;
    cr_expect(strstr(checked.err, "has no stiffness_damping") != NULL, "%s", checked.err);
  }
  cr_expect_eq(refused, 2, "%d solvers", refused);
}

/* ---- restart ---- */

Test(damping, continues_after_a_restart)
{
  proc_write("strip.ini", STRIP("0.01", NEWTON));
  LOOM_FINE("run", "strip.ini", "--quiet", "-n", "12", "--set", "log.frames_every=1", "-o",
            "whole.h5");
  LOOM_FINE("run", "strip.ini", "--quiet", "-n", "7", "--set", "log.frames_every=1", "-o",
            "parts.h5");
  LOOM_FINE("run", "strip.ini", "--quiet", "-n", "12", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 7);
}
