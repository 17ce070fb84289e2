/* Element tri_wang in runs: a strip that hangs by its own weight stretches as the measured table
 * says, and the stretch that a step begins with outlives a restart. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/h5read.h"
#include "support/logdiff.h"
#include "support/proc.h"
#include "support/sim.h"

static const double LENGTH = 0.6, DENSITY = 2.5, GRAVITY = 9.81;

/* gray-interlock at rest, and at a stretch of 1/6 along the first axis, N/m */
static const double rest_row[3] = {16.593832, -14.69599, 34.477123};
static const double far_row[3] = {46.364765, 53.694656, 261.013855};

/* Tension over the width, N/m, of fabric stretched by w, free to draw in at its sides. */
static double fabric_tension(double w, int measured)
{
  const double t = measured ? fmin(6.0 * (w - 1.0), 1.0) : 0.0, G = 0.5 * (w * w - 1.0);
  double k[3];
  for (int j = 0; j < 3; ++j) k[j] = 2.0 * fmax((1.0 - t) * rest_row[j] + t * far_row[j], 0.0);
  return w * G * (k[0] - k[1] * k[1] / k[2]);
}

/* Length of the strip: of each part the stretch that carries the part below it. */
static double hanging_length(int measured)
{
  enum { PARTS = 2000 };
  double sum = 0.0;
  for (int i = 0; i < PARTS; ++i) {
    const double load = DENSITY * GRAVITY * LENGTH * (i + 0.5) / PARTS;
    double lo = 1.0, hi = 3.0;
    for (int k = 0; k < 60; ++k) {
      const double w = 0.5 * (lo + hi);
      *(fabric_tension(w, measured) < load ? &lo : &hi) = w;
    }
    sum += lo * LENGTH / PARTS;
  }
  return sum;
}

#define STRIP(more)                                                            \
  "[run]\nsteps = 150\ndt = 0.02\ngravity = 9.81 0 0\n[exec]\nbackend = cpu\n" \
  "[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 100\n[log]\naudit = off\n" \
  "[cloth.strip]\npattern = regular\nshape = strip\nsize = 0.6 "               \
  "0.1\nresolution = 31 6\ndensity = 2.5\n"                                    \
  "damping = 4\npins = left\n" more                                            \
  "[solver]\nplugin = cholmod_newton\nhessian = clamp\n[filter]\nline_search = on\n"

static double strip_length(const char *more)
{
  char text[2048];
  double end = 0.0, start = 1e9;
  sim s;
  snprintf(text, sizeof text, STRIP("model = wang+shell\nk_e = 1e-6\n%s"), more);
  sim_run(&s, text, NULL, 0);
  for (int64_t i = 0; i < s.n; ++i) {
    end = fmax(end, s.x[3 * i]);
    start = fmin(start, s.x[3 * i]);
  }
  sim_free(&s);
  return end - start;
}

#define SAME_ROW(name) name " = 16.593832 -14.69599 34.477123 36.860302\n"

Test(fabric, hanging_strip_stretches_as_the_table_says)
{
  const double measured = strip_length("");
  const double constant = strip_length(SAME_ROW("stretch_rest") SAME_ROW("stretch_0") SAME_ROW(
      "stretch_22") SAME_ROW("stretch_45") SAME_ROW("stretch_67") SAME_ROW("stretch_90"));
  const double want = hanging_length(1), want_constant = hanging_length(0);
  printf("strip of %g m hangs %.4f m long, table says %.4f; with the row at rest alone %.4f and "
         "%.4f m\n",
         LENGTH, measured, want, constant, want_constant);
  cr_assert(fabs(measured - want) < 0.01 * (want - LENGTH));
  cr_assert(fabs(constant - want_constant) < 0.01 * (want_constant - LENGTH));
  cr_assert(constant - measured > 0.3 * (want - LENGTH), "the stretched rows have no effect");
}

/* Every solver that takes Hessians finds the same minimum: in a swing of 0.3 s ends agree. */
Test(fabric, solvers_agree)
{
#define SWING                                                                                     \
  "[run]\nsteps = 15\ndt = 0.02\ngravity = 9.81 0 -1\n[exec]\nbackend = cpu\n"                    \
  "[stop]\ntol_abs = 1e-9\ntol_rel = 0\nmax_iters = 3000\n[log]\naudit = off\n"                   \
  "[cloth.strip]\npattern = regular\nshape = strip\nsize = 0.3 0.05\nresolution = 13 3\ndensity " \
  "= 2.5\n"                                                                                       \
  "pins = left\nmodel = wang+wang_bend\n[solver]\n"
  static const char *const others[] = {"plugin = pcg_newton\nhessian = clamp\n",
                                       "plugin = cama_pcg\n", "plugin = vbd\n"};
  sim want, got;
  sim_run(&want, SWING "plugin = cholmod_newton\nhessian = clamp\n", NULL, 0);
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    char text[2048];
    double far = 0.0;
    snprintf(text, sizeof text, SWING "%s", others[i]);
    sim_run(&got, text, NULL, 0);
    for (int64_t k = 0; k < 3 * want.n; ++k) far = fmax(far, fabs(got.x[k] - want.x[k]));
    printf("%.20s: %g m\n", others[i], far);
    cr_expect_lt(far, 1e-6, "%s: %g m", others[i], far);
    sim_free(&got);
  }
  sim_free(&want);
}

Test(fabric, continues_after_a_restart, .init = proc_enter, .fini = proc_leave)
{
  proc_write("strip.ini", STRIP("transform = rotate 1 0 0 20\nmodel = wang+wang_bend\n"));
  LOOM_FINE("run", "strip.ini", "--quiet", "-n", "12", "--set", "log.frames_every=1", "-o",
            "whole.h5");
  LOOM_FINE("run", "strip.ini", "--quiet", "-n", "7", "--set", "log.frames_every=1", "-o",
            "parts.h5");
  LOOM_FINE("run", "strip.ini", "--quiet", "-n", "12", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 7);
}

static void every_step_converged(const char *path, const char *name)
{
  enum { MOST = 100 };
  loom_err err = {0};
  h5read *r;
  h5log_step_row rows[MOST];
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  const int64_t num = h5read_num_steps(r);
  cr_assert(num > 0 && num <= MOST);
  cr_assert_eq(h5read_steps(r, &err, 0, num, rows), LOOM_OK, "%s", err.text);
  h5read_close(r);
  for (int64_t i = 0; i < num; ++i)
    cr_expect(rows[i].r_final <= 1e-6, "%s: step %lld ends at %g m after %d iterations", name,
              (long long)i, rows[i].r_final, rows[i].iters);
}

/* Every measured fabric that ships: held by two corners it swings, and each step converges. */
Test(fabric, all_measured_fabrics_run, .init = proc_enter, .fini = proc_leave)
{
  static const char *const names[] = {"11oz-black-denim", "camel-ponte-roma",   "gray-interlock",
                                      "ivory-rib-knit",   "navy-sparkle-sweat", "pink-ribbon-brown",
                                      "royal-target",     "tango-red-jet-set",  "white-dots-on-blk",
                                      "white-swim-solid"};
  char materials[4096];
  const char *const source = getenv("LOOM_SOURCE_DIR");
  cr_assert(source != NULL);
  snprintf(materials, sizeof materials, "%s/configs/materials", source);
  cr_assert_eq(symlink(materials, "materials"), 0);
  for (int i = 0; i < 10; ++i) {
    char text[1024];
    snprintf(text, sizeof text,
             "[run]\nsteps = 25\ndt = 0.02\nup_axis = z\n[exec]\nbackend = cpu\n"
             "[stop]\ntol_abs = 1e-6\ntol_rel = 0\nmax_iters = 60\n[log]\naudit = off\n"
             "[cloth.sheet]\nsize = 0.5\nresolution = 13\npattern = alternate\n"
             "material = %s\npins = top_left top_right\n"
             "[solver]\nplugin = cholmod_newton\nhessian = clamp\n[filter]\nline_search = on\n",
             names[i]);
    proc_write("fabric.ini", text);
    LOOM_FINE("run", "fabric.ini", "--quiet", "--overwrite", "-o", "fabric.h5");
    every_step_converged("fabric.h5", names[i]);
  }
}

/* A table with a row left out is another fabric in part: file, line and the row that is missing. */
Test(fabric, a_table_in_part_is_refused, .init = proc_enter, .fini = proc_leave)
{
  proc p;
  proc_write("fabric.ini", STRIP("model = wang+shell\nk_e = 1e-6\n" SAME_ROW("stretch_0")));
  proc_loom(&p, LOOM_ARGS("check", "fabric.ini"));
  cr_expect_eq(p.code, 2, "%s", p.err);
  cr_expect(strstr(p.err, "fabric.ini:23: [cloth.strip] stretch_0: ") != NULL, "%s", p.err);
  cr_expect(strstr(p.err, "lacks the row stretch_90") != NULL, "%s", p.err);
  proc_write("fabric.ini",
             STRIP("model = wang+shell\nk_e = 1e-6\n" SAME_ROW("stretch_rest") SAME_ROW("stretch_0")
                       SAME_ROW("stretch_22") SAME_ROW("stretch_45")
                           SAME_ROW("stretch_67") "stretch_90 = 1 0 -1 1\n"));
  proc_loom(&p, LOOM_ARGS("check", "fabric.ini"));
  cr_expect_eq(p.code, 2, "%s", p.err);
  cr_expect(strstr(p.err, "[cloth.strip] stretch_90: k0 > 0 and k2 > 0 needed") != NULL, "%s",
            p.err);
}
