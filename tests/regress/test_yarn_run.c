/* A knitted swatch under adaptive contact linearization: continued, with any number of threads,
 * and refused where its settings make no sense. */
#include <criterion/criterion.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
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

/* Values of a column of a log. */
static double *read_yarn_column(const char *path, const char *table, const char *name, char kind,
                                int64_t *n)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  *n = h5read_num_rows(r, table);
  cr_assert_gt(*n, 0, "%s: /%s", path, table);
  double *const out = calloc((size_t)*n, sizeof *out);
  cr_assert_eq(h5read_column(r, &err, table, name, kind, 0, *n, out), LOOM_OK, "%s", err.text);
  h5read_close(r);
  return out;
}

/* The checkpoint's table of sets, for programs, is that of the last step's columns. */
Test(yarn_run, checkpoint_has_a_table_of_sets)
{
  enum { COLUMNS = 6, PAIRS = 4, UPDATES = 5 };
  int64_t n, pairs = 0;
  hsize_t size = 0;
  proc_write("swatch.ini", SWATCH ACL);
  LOOM_FINE("run", "swatch.ini", "--quiet", "-n", "20", "-o", "run.h5"); /* some sets are dead */
  double *const sets = read_yarn_column("run.h5", "steps_extra", "contact.yarns.sets", 'R', &n);
  double *const all = read_yarn_column("run.h5", "steps_extra", "contact.yarns.pairs", 'R', &n);
  const hid_t f = H5Fopen("run.check.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t d = H5Dopen2(f, "contact.yarns/acl table", H5P_DEFAULT), s = H5Dget_space(d);
  cr_assert_eq(H5Sget_simple_extent_dims(s, &size, NULL), 1);
  cr_assert_gt(sets[n - 1], 0.0);
  cr_assert_eq(size, COLUMNS * (hsize_t)sets[n - 1]);
  int64_t *const rows = malloc(size * sizeof *rows);
  cr_assert(H5Dread(d, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
  for (const int64_t *row = rows; row < rows + size; row += COLUMNS) {
    cr_expect(0 <= row[0] && row[0] <= row[1] && row[1] < row[3] && row[2] <= row[3]);
    cr_expect_gt(row[UPDATES], 0);
    pairs += row[PAIRS];
  }
  cr_expect_eq(pairs, (int64_t)all[n - 1]);
  H5Sclose(s);
  H5Dclose(d);
  H5Fclose(f);
  free(rows), free(sets), free(all);
}

/* Columns of every step, also of steps that are not measured; in a continued run the columns of
 * steps that it takes once more are written anew, and so are sections that ran in every step. */
Test(yarn_run, columns_of_steps_are_continued)
{
  static const char *const names[] = {"collision.grid.tracked", "collision.grid.examined",
                                      "collision.grid.found",   "contact.yarns.sets",
                                      "contact.yarns.built",    "contact.yarns.points"};
  int64_t n, m, seen = 0;
  proc_write("swatch.ini", SWATCH ACL);
  LOOM_FINE("run", "swatch.ini", "--quiet", "--set", "log.residual_every=50", "-n", "200", "-o",
            "whole.h5");
  LOOM_FINE("run", "swatch.ini", "--quiet", "--set", "log.residual_every=50", "-n", "130", "-o",
            "parts.h5");
  LOOM_FINE("run", "swatch.ini", "--quiet", "--set", "log.residual_every=50", "-n", "200", "-o",
            "parts.h5", "--resume", "99");
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    double *const a = read_yarn_column("whole.h5", "steps_extra", names[k], 'R', &n);
    double *const b = read_yarn_column("parts.h5", "steps_extra", names[k], 'R', &m);
    cr_assert(n == 200 && m == n, "%s: %lld and %lld rows", names[k], (long long)n, (long long)m);
    for (int64_t i = 0; i < n; ++i) {
      cr_assert(a[i] >= 0.0 && a[i] == b[i], "%s, step %lld: %g and %g", names[k], (long long)i,
                a[i], b[i]);
      seen += a[i] > 0.0;
    }
    free(a), free(b);
  }
  cr_expect_gt(seen, 400, "%lld of 1200 are not zero", (long long)seen);
  double *const a = read_yarn_column("whole.h5", "sections", "calls", 'I', &n);
  double *const b = read_yarn_column("parts.h5", "sections", "calls", 'I', &m);
  cr_expect_eq(n, m, "%lld and %lld rows of /sections", (long long)n, (long long)m);
  cr_expect_geq(n, 200 * 6); /* search of the grid and five phases of the models, at least */
  free(a), free(b);
  double *const wall = read_yarn_column("whole.h5", "sections", "t_wall", 'R', &n);
  double *const cpu = read_yarn_column("whole.h5", "sections", "t_cpu", 'R', &n);
  double sum[2] = {0.0, 0.0};
  for (int64_t i = 0; i < n; ++i) {
    cr_assert(wall[i] >= 0.0 && cpu[i] >= 0.0);
    sum[0] += wall[i], sum[1] += cpu[i];
  }
  cr_expect(sum[0] > 0.0 && sum[1] > 0.0, "%g s, %g s", sum[0], sum[1]);
  free(wall), free(cpu);
}

/* The replacements of former keys. */
Test(yarn_run, keys_that_are_gone)
{
  static const char *const keys[] = {"contact.yarns.stats=lines", "collision.grid.stats=lines"};
  proc_write("swatch.ini", SWATCH ACL);
  for (size_t i = 0; i < 2; ++i)
    proc_expect_error(
        2, LOOM_TEXTS("stats", "the key is no more", "/steps_extra", "/sections"),
        LOOM_ARGS("run", "swatch.ini", "-n", "1", "--quiet", "-o", "run.h5", "--set", keys[i]));
}

Test(yarn_run, negative_tolerance_is_refused)
{
  proc_write("swatch.ini", SWATCH ACL "tolerance = -0.1\n");
  proc_expect_error(2, LOOM_TEXTS("swatch.ini", "tolerance", "-0.1"),
                    LOOM_ARGS("run", "swatch.ini", "--quiet", "-o", "run.h5"));
}
