/* The first command of the README, `./loom run configs/drape.ini`, and the README's claims on it:
 * every step converges, the audit of every step and `verify` find no intersection, folds touch each
 * other, and the README's swap of the solver comes to the same drape.
 *
 * By day the first 12 steps, until the sheet lies on the head of the post.  With
 * LOOM_FIRST_JOB=all, as by `./loom test nightly`, the run to its end; then also without contact of
 * the cloth with itself, where the audit must find the folds that cross. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(first_job, .init = proc_enter, .fini = proc_leave);

enum { VERTS = 2025, STEPS = 60, DAY = 12 };

static int is_whole_job(void)
{
  const char *const mode = getenv("LOOM_FIRST_JOB");
  return mode != NULL && strcmp(mode, "all") == 0;
}

static int run_drape(proc *p, const char *log, const char *set)
{
  char config[512], steps[16];
  const char *const source = getenv("LOOM_SOURCE_DIR");
  cr_assert(source != NULL);
  snprintf(config, sizeof config, "%s/configs/drape.ini", source);
  snprintf(steps, sizeof steps, "%d", is_whole_job() ? STEPS : DAY);
  proc_loom(p, LOOM_ARGS("run", config, "--threads", "1", "-n", steps, "-o", log, "--set", set));
  return p->code;
}

/* Returns the processor time of all steps, s, and the steps in which cloth was near cloth. */
static double sum_step_times(const char *path, int *near_itself)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_step_row s;
  double cpu = 0.0;
  *near_itself = 0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  const int64_t steps = h5read_num_steps(r);
  cr_assert_eq(steps, is_whole_job() ? STEPS : DAY);
  cr_assert_eq(h5read_num_frames(r), steps + 1, "a frame of every step");
  for (int64_t i = 0; i < steps; ++i) {
    cr_assert_eq(h5read_steps(r, &err, i, 1, &s), LOOM_OK, "%s", err.text);
    cr_expect(s.reason == H5LOG_converged_abs || s.reason == H5LOG_converged_rel,
              "%s: step %lld ended with %s", path, (long long)i, h5log_reason_name((int)s.reason));
    cr_expect_eq(s.intersections, 0, "%s: step %lld: %lld intersections", path, (long long)i,
                 (long long)s.intersections);
    *near_itself += s.pairs_vt > 0;
    cpu += s.t_cpu + s.t_cpu_measure + s.t_cpu_log;
  }
  h5read_close(r);
  return cpu;
}

/* The largest fall of a vertex from its start to any frame, m. */
static double largest_fall(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  static double x[2][3 * VERTS]; /* m */
  double fall = 0.0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_num_verts(r), VERTS);
  for (int64_t t = 0; t < h5read_num_frames(r); ++t) {
    double *const y = x[t > 0];
    cr_assert_eq(h5read_frame(r, &err, t, y, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
    for (int64_t i = 0; t > 0 && i < VERTS; ++i) fall = fmax(fall, x[0][3 * i + 2] - y[3 * i + 2]);
  }
  h5read_close(r);
  return fall;
}

Test(first_job, steps_converge_without_intersections_and_the_swap_agrees)
{
  proc p;
  int near_itself = 0, near_newton = 0;
  cr_assert_eq(run_drape(&p, "drape.h5", "run.seed=0"), 0, "%s%s", p.out, p.err);
  cr_expect(strstr(p.out, "steps converged") != NULL, "%s", p.out);
  const double cpu = sum_step_times("drape.h5", &near_itself);
  LOOM_FINE("verify", "drape.h5");
  cr_assert_eq(run_drape(&p, "newton.h5", "solver.plugin=cholmod_newton"), 0, "%s%s", p.out, p.err);
  const double newton = sum_step_times("newton.h5", &near_newton);
  const double apart = logs_distance("drape.h5", "newton.h5"), fall = largest_fall("drape.h5");
  printf(
      "first job: %.1f s of processor time, cloth near cloth in %d steps; cholmod_newton %.1f s, "
      "%.3g m apart, %.2g %% of the largest fall of %.3g m\n",
      cpu, near_itself, newton, apart, 100.0 * apart / fall, fall);
  cr_expect_gt(fall, is_whole_job() ? 0.4 : 0.1, "%g m", fall);
  cr_expect_lt(apart, 0.01 * fall, "%g m", apart);
  if (is_whole_job()) cr_expect_gt(near_itself, 20, "folds meet in %d steps", near_itself);
}

Test(first_job, without_contact_of_cloth_with_itself_folds_cross)
{
  proc p;
  char config[1200];
  const char *const source = getenv("LOOM_SOURCE_DIR");
  if (!is_whole_job()) cr_skip_test("the whole run: LOOM_FIRST_JOB=all");
  cr_assert(source != NULL);
  snprintf(config, sizeof config,
           "include = %s/configs/scenes/drape_post.ini\n[run]\nsteps = %d\ndt = 0.02\n"
           "[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n"
           "[contact.all]\nplugin = ipc_barrier\npairs = obstacle\nd_hat = 2 mm\n"
           "[log]\nframes_every = 1\n",
           source, STEPS);
  proc_write("bodies.ini", config);
  proc_loom(&p, LOOM_ARGS("run", "bodies.ini", "--threads", "1", "--set", "log.audit=every", "-o",
                          "drape.h5"));
  cr_expect_eq(p.code, 3, "%s%s", p.out, p.err);
  proc_loom(&p, LOOM_ARGS("verify", "drape.h5"));
  cr_expect_eq(p.code, 3, "%s%s", p.out, p.err);
}
