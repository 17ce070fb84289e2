/* A knitted swatch under adaptive contact linearization: continued, with any number of threads,
 * and refused where its settings make no sense. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Lines of a file without their processor times, the last `times` columns. */
static int numbers_of(const char *path, int times, char (*out)[128], int most)
{
  char line[512];
  int n = 0;
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s", path);
  while (fgets(line, sizeof line, f) != NULL) {
    cr_assert(n < most && strchr(line, '\n') != NULL, "%s, line %d", path, n);
    for (int k = 0; k < times; ++k) *strrchr(line, ' ') = '\0';
    snprintf(out[n++], sizeof *out, "%.127s", line);
  }
  fclose(f);
  return n;
}

/* A continued run adds to its statistics, behind the lines of the steps before; those of steps
 * that it takes once more are written anew. */
Test(yarn_run, statistics_are_continued)
{
  static const struct {
    const char *key, *whole, *parts;
    int times;
  } files[] = {{"collision.grid.stats", "whole.grid", "parts.grid", 1},
               {"contact.yarns.stats", "whole.acl", "parts.acl", 5}};
  static char a[256][128], b[256][128];
  char set[2][2][64];
  for (int k = 0; k < 2; ++k) {
    snprintf(set[k][0], sizeof set[k][0], "%s=%s", files[k].key, files[k].whole);
    snprintf(set[k][1], sizeof set[k][1], "%s=%s", files[k].key, files[k].parts);
  }
  proc_write("swatch.ini", SWATCH ACL);
  LOOM_FINE("run", "swatch.ini", "--quiet", "-n", "200", "-o", "whole.h5", "--set", set[0][0],
            "--set", set[1][0]);
  LOOM_FINE("run", "swatch.ini", "--quiet", "-n", "130", "-o", "parts.h5", "--set", set[0][1],
            "--set", set[1][1]);
  LOOM_FINE("run", "swatch.ini", "--quiet", "-n", "200", "-o", "parts.h5", "--resume", "99",
            "--set", set[0][1], "--set", set[1][1]);
  for (int k = 0; k < 2; ++k) {
    const int n = numbers_of(files[k].whole, files[k].times, a, 256);
    cr_assert_eq(n, 200);
    cr_assert_eq(numbers_of(files[k].parts, files[k].times, b, 256), n, "%s", files[k].key);
    for (int i = 0; i < n; ++i) cr_assert_str_eq(a[i], b[i], "%s, line %d", files[k].key, i);
  }
}

Test(yarn_run, negative_tolerance_is_refused)
{
  proc_write("swatch.ini", SWATCH ACL "tolerance = -0.1\n");
  proc_expect_error(2, LOOM_TEXTS("swatch.ini", "tolerance", "-0.1"),
                    LOOM_ARGS("run", "swatch.ini", "--quiet", "-o", "run.h5"));
}

/* A configuration names the file, and may be somebody else's. */
Test(yarn_run, statistics_replace_nothing_else)
{
  static const char *const keys[] = {"contact.yarns.stats=thesis.txt",
                                     "collision.grid.stats=thesis.txt"};
  char now[64] = "";
  proc_write("swatch.ini", SWATCH ACL);
  proc_write("thesis.txt", "2026: a text\n");
  for (size_t i = 0; i < 2; ++i)
    proc_expect_error(
        1, LOOM_TEXTS("thesis.txt exists and holds no statistics", "name another"),
        LOOM_ARGS("run", "swatch.ini", "-n", "1", "--quiet", "-o", "run.h5", "--set", keys[i]));
  FILE *const f = fopen("thesis.txt", "r");
  cr_assert(f != NULL && fgets(now, sizeof now, f) != NULL);
  fclose(f);
  cr_expect_str_eq(now, "2026: a text\n");
  cr_assert_eq(mkfifo("pipe", 0600), 0);
  proc_expect_error(1, LOOM_TEXTS("pipe is no regular file"),
                    LOOM_ARGS("run", "swatch.ini", "-n", "1", "--quiet", "-o", "run.h5", "--set",
                              "contact.yarns.stats=pipe"));
  LOOM_FINE("run", "swatch.ini", "-n", "20", "--quiet", "-o", "a.h5", "--set",
            "contact.yarns.stats=lines.txt");
  LOOM_FINE("run", "swatch.ini", "-n", "10", "--quiet", "-o", "b.h5", "--set",
            "contact.yarns.stats=lines.txt");
  char line[12][128];
  cr_expect_eq(numbers_of("lines.txt", 5, line, 12), 10);
}
