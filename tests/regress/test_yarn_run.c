/* A knitted swatch under adaptive contact linearization: continued, with any number of threads,
 * and refused where its settings make no sense. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(yarn_run, .init = proc_enter, .fini = proc_leave);

/* Lengths shrink by a tenth in 100 steps, so that contact comes up. */
#define SWATCH                                                                                   \
  "[run]\nsteps = 300\ndt = 6.1728395e-5\n[exec]\nbackend = cpu\nthreads = 2\n"                  \
  "[detect]\nevery = step\n[log]\ncheckpoint_every = 50\naudit = off\n"                          \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 4500\nmu_const = 0\nshrink = 0.9\nshrink_time = " \
  "6e-3\n"                                                                                       \
  "[collision.grid]\nplugin = yarn_grid\n"                                                       \
  "[yarn.swatch]\npattern = stockinette\nrows = 4\nloops = 5\n"
#define ACL "[contact.yarns]\nplugin = acl\nstiction = 0.05\nstiction_break = 1e-10\n"

/* Sets, models, springs, entries and bins must all be in the checkpoint. */
Test(yarn_run, resume)
{
  proc_write("swatch.ini", SWATCH ACL);
  LOOM_FINE("run", "swatch.ini", "--quiet", "-n", "300", "-o", "whole.h5");
  LOOM_FINE("run", "swatch.ini", "--quiet", "-n", "170", "-o", "parts.h5");
  LOOM_FINE("run", "swatch.ini", "--quiet", "-n", "300", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 170);
}

Test(yarn_run, threads)
{
  proc_write("swatch.ini", SWATCH ACL);
  LOOM_FINE("run", "swatch.ini", "--quiet", "--threads", "1", "-o", "one.h5");
  LOOM_FINE("run", "swatch.ini", "--quiet", "--threads", "2", "-o", "two.h5");
  LOOM_FINE("run", "swatch.ini", "--quiet", "--threads", "4", "-o", "four.h5");
  logs_same_bits("one.h5", "two.h5", LOGS_UNBROKEN);
  logs_same_bits("one.h5", "four.h5", LOGS_UNBROKEN);
}

Test(yarn_run, negative_tolerance_is_refused)
{
  proc_write("swatch.ini", SWATCH ACL "tolerance = -0.1\n");
  proc_expect_error(2, LOOM_TEXTS("swatch.ini", "tolerance", "-0.1"),
                    LOOM_ARGS("run", "swatch.ini", "--quiet", "-o", "run.h5"));
}
