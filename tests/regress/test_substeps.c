/* -n counts [run] steps, whole time steps: with substeps each is several steps of the log. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(substeps, .init = proc_enter, .fini = proc_leave);

#define SHEET                                                                           \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.3 " \
  "0.3\nresolution = 4 4\npins = corners\n[solver]"                                     \
  "\nplugin = gd\n[stop]\nmax_iters = 3\n[log]\nfile = run.h5\naudit = off\n"

static void expect_last_step(int64_t steps, double time)
{
  loom_err err = {0};
  h5read *log = NULL;
  h5log_step_row last;
  cr_assert_eq(h5read_open(&err, "run.h5", &log), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_num_steps(log), steps);
  cr_assert_eq(h5read_steps(log, &err, steps - 1, 1, &last), LOOM_OK, "%s", err.text);
  cr_expect_float_eq(last.time, time, 1e-12);
  h5read_close(log);
}

static void expect_said(const char *text, const char *said)
{
  cr_expect(strstr(text, said) != NULL, "no '%s' in:\n%s", said, text);
}

Test(substeps, n_counts_steps_of_the_configuration)
{
  proc p;
  proc_write("sub.ini", "[run]\nsteps = 50\ndt = 0.01\nsubsteps = 4\n" SHEET);
  proc_loom(&p, LOOM_ARGS("run", "sub.ini", "-n", "2"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  expect_last_step(8, 0.02);
  expect_said(p.out, "8 of 8 steps, 0.02 s simulated");
  expect_said(p.out, "each of [run] steps, or of -n, is 4 of these steps: its substeps");
  proc_loom(&p, LOOM_ARGS("run", "sub.ini", "-n", "3", "--resume")); /* with the two that it has */
  cr_assert_eq(p.code, 0, "%s", p.err);
  expect_last_step(12, 0.03);
  proc_loom(&p, LOOM_ARGS("check", "sub.ini", "-n", "2"));
  expect_said(p.out, "8 of 0.0025 s: [run] steps or -n, times 4 substeps");
  proc_loom(&p, LOOM_ARGS("run", "--help"));
  expect_said(p.out, "-n STEPS replaces [run] steps");
}

Test(substeps, without_parts_a_step_is_one_step)
{
  proc p;
  proc_write("one.ini", "[run]\nsteps = 50\ndt = 0.01\n" SHEET);
  proc_loom(&p, LOOM_ARGS("run", "one.ini", "-n", "2"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  expect_last_step(2, 0.02);
  cr_expect(strstr(p.out, "substeps") == NULL, "%s", p.out);
}
