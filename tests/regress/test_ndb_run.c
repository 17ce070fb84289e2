/* ndb_pd through the real binary: every kind of setting continues to the same bits and gives the
 * same bits for any number of threads; it ends where cholmod_pd ends; bad settings, a damaged
 * file of eigenvectors, ARPACK that gives up, sheets without pins. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/day.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(ndb_run, .init = proc_enter, .fini = proc_leave);

#define NDB "[solver]\nplugin = ndb_pd\n"

/* One line of settings for every part of the solver. */
static const char *const kinds[] = {
    "",
    "cache =\nreuse = plain\nupdate = table\nreduced = inverse\nmodes = ordinary\n",
    "reuse = presmooth\ncycle = 3\nfused = true\nmomentum = chebyshev\nbase = rest\n",
    "smoother = chebyshev\nprecision = mixed\nupdate = full\nmomentum = none\n",
    "smoother = pcg\nsweeps = 8\n",
    "smoother = jacobi\nsubspace = bspline\nspacing = 5\n",
    "subspace = none\nrank = 3\nprecision = mixed\nfused = true\n",
    "subspace = none\nsmoother = chebyshev\nwarm = 0\nmomentum = none\n", /* Wang 2015 */
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void write_kind(int k)
{
  char text[4096];
  snprintf(text, sizeof text, "%s" NDB "%s", DRAPE, kinds[k]);
  proc_write("drape.ini", text);
}

static void remove_logs(void)
{
  remove("whole.h5");
  remove("parts.h5");
  remove("whole.check.h5");
  remove("parts.check.h5");
}

Test(ndb_run, resumes_to_the_same_bits)
{
  for (int k = 0; k < KINDS; ++k) {
    write_kind(k);
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "14", "-o", "whole.h5");
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "parts.h5");
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "14", "-o", "parts.h5", "--resume");
    logs_same_bits("whole.h5", "parts.h5", 8);
    remove_logs();
  }
}

/* With the non-distance barrier: ages and forces of contacts, delta of residual forwarding, and the
 * eigenvectors, which come from the file or are computed again. */
Test(ndb_run, resumes_with_ages_and_forwarding)
{
  static const char *const modes[] = {"off", "paper", "corrected", "iterate"};
  for (size_t k = 0; k < sizeof modes / sizeof modes[0]; ++k) {
    char text[4096];
    snprintf(text, sizeof text,
             "[run]\nsteps = 25\ndt = 0.01\nforwarding = %s\n" DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES
                 DRAPE_STOP DRAPE_LOG NDB "cache = modes\nr1 = 40\n"
             "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = patch_bvh\n"
             "[contact.all]\nplugin = ndb\n",
             modes[k]);
    proc_write("drape.ini", text);
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "14", "-o", "whole.h5");
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "parts.h5");
    if (k % 2 == 0) cr_assert_eq(system("rm -r modes"), 0);
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "14", "-o", "parts.h5", "--resume");
    logs_same_bits("whole.h5", "parts.h5", 8);
    remove_logs();
  }
}

Test(ndb_run, same_bits_for_any_number_of_threads)
{
  for (int k = 0; k < KINDS; ++k) {
    write_kind(k);
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "one.h5", "--threads", "1");
    cr_assert_eq(log_is_whole("one.h5", "finished"), 12);
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "many.h5", "--threads", "4");
    logs_same_bits("one.h5", "many.h5", LOGS_UNBROKEN);
    remove("one.h5");
    remove("many.h5");
  }
}

/* Both minimise the same energies, see test_swap.c. */
Test(ndb_run, ends_where_the_exact_solve_ends)
{
  test_of_the_night();
  proc_write("drape.ini", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES
             "[stop]\ntol_abs = 1e-8\ntol_rel = 0\nmax_iters = 3000\n" DRAPE_PLUGINS DRAPE_LOG
             "[solver]\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "pd.h5", "--set", "solver.plugin=cholmod_pd",
            "--set", "cloth.sheet.k_b=1e-3");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "ndb.h5", "--set", "solver.plugin=ndb_pd", "--set",
            "cloth.sheet.k_b=1e-3");
  const double d = logs_distance("pd.h5", "ndb.h5");
  printf("ndb_run: largest distance to cholmod_pd %.3g m in 25 steps\n", d);
  cr_assert(d < 3e-5, "%g m", d); /* 8e-6 measured */
}

static void expect_refusal_of_ndb(const char *setting, const char *const *texts)
{
  proc_expect_error(2, texts,
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "bad.h5", "--set", setting));
  cr_expect(!proc_exists("bad.h5"));
}

Test(ndb_run, bad_settings)
{
  proc_write("drape.ini", DRAPE NDB);
  expect_refusal_of_ndb("solver.r2=101",
                        LOOM_TEXTS("r2 = 101", "r1 = 100", "lower r2 or raise r1"));
  expect_refusal_of_ndb("solver.theta=2.5", LOOM_TEXTS("[solver] theta: 2.5", "<= 2"));
  expect_refusal_of_ndb("solver.theta=-0.1", LOOM_TEXTS("[solver] theta: -0.1", ">= 0"));
  expect_refusal_of_ndb("solver.update=table",
                        LOOM_TEXTS("update = table", "reuse = masked", "syrk"));
  expect_refusal_of_ndb("solver.sweeps=-1", LOOM_TEXTS("[solver] sweeps: -1", ">= 0"));
  expect_refusal_of_ndb("solver.smother=pcg", LOOM_TEXTS("did you mean 'smoother'"));
  proc_write("drape.ini", DRAPE NDB "subspace = none\n");
  expect_refusal_of_ndb("solver.sweeps=0", LOOM_TEXTS("sweeps = 0", "sweeps = 1"));
  proc_write("drape.ini", DRAPE NDB "subspace = bspline\n");
  /* the first step finds this out */
  proc_expect_error(2, LOOM_TEXTS("spacing = 4", "2000", "raise spacing"),
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "bad.h5", "--set",
                              "cloth.sheet.resolution=200 200"));
}

static void expect_run_message(const proc *p, const char *text)
{
  cr_assert_eq(p->code, 0, "exit code %d:\n%s", p->code, p->err);
  cr_expect(strstr(p->err, text) != NULL || strstr(p->out, text) != NULL, "'%s' is not in:\n%s%s",
            text, p->out, p->err);
}

/* A warning stands in the log as it stood in the terminal, in the step that made it. */
static void expect_logged(const char *path, const char *text, int64_t step)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_message_row row;
  int found = 0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  const int64_t rows = h5read_num_rows(r, "messages");
  for (int64_t i = 0; i < rows; ++i) {
    cr_assert_eq(h5read_messages(r, &err, i, 1, &row), LOOM_OK, "%s", err.text);
    found += row.step == step && row.level == LOOM_LOG_WARN && strstr(row.text, text) != NULL;
  }
  h5read_close(r);
  cr_expect_eq(found, 1, "%s: '%s' stands %d times among %d messages", path, text, found,
               (int)rows);
}

Test(ndb_run, arpack_that_gives_up_leaves_a_smaller_subspace)
{
  proc p;
  proc_write("drape.ini", DRAPE NDB "eigen_restarts = 1\neigen_tolerance = 0\nr1 = 60\n");
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "6", "-o", "run.h5", "--set",
                          "cloth.sheet.resolution=31 31"));
  expect_run_message(&p, "ARPACK found");
  expect_logged("run.h5", "ARPACK found", 0);
  cr_assert_eq(log_is_whole("run.h5", "finished"), 6);
  proc_loom(&p, LOOM_ARGS("info", "run.h5"));
  expect_run_message(&p, "ARPACK found");
  /* the log holds how many modes there were */
  loom_err err = {0};
  h5read *r = NULL;
  double modes[64] = {0}, most = 0.0;
  cr_assert_eq(h5read_open(&err, "run.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t rows = h5read_num_rows(r, "iters_extra");
  cr_assert(rows > 0 && rows <= 64);
  cr_assert_eq(h5read_column(r, &err, "iters_extra", "modes", 'R', 0, rows, modes), LOOM_OK, "%s",
               err.text);
  h5read_close(r);
  for (int64_t k = 0; k < rows; ++k) most = fmax(most, modes[k]); /* NaN before the first */
  cr_expect(most > 0 && most < 60, "%g modes", most);
}

Test(ndb_run, a_damaged_file_of_eigenvectors_is_replaced)
{
  proc p;
  char line[256];
  proc_write("drape.ini", DRAPE NDB "cache = modes\n");
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "3", "-o", "a.h5", "--set",
                          "cloth.sheet.resolution=31 31"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "eigenvectors") == NULL, "%s", p.err);
  FILE *list = popen("ls modes/*.eig", "r");
  cr_assert(list != NULL && fgets(line, sizeof line, list) != NULL);
  pclose(list);
  line[strcspn(line, "\n")] = '\0';
  FILE *f = fopen(line, "r+b");
  cr_assert(f != NULL);
  cr_assert_eq(fseek(f, 3000, SEEK_SET), 0);
  fputs("nonsense", f);
  fclose(f);
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "3", "-o", "b.h5", "--set",
                          "cloth.sheet.resolution=31 31"));
  expect_run_message(&p, "damaged or of another system");
  expect_logged("b.h5", "damaged or of another system", 0);
  logs_same_bits("a.h5", "b.h5", LOGS_UNBROKEN);
  /* now it is right again */
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "3", "-o", "c.h5", "--set",
                          "cloth.sheet.resolution=31 31"));
  cr_expect(strstr(p.err, "eigenvectors") == NULL, "%s", p.err);
  logs_same_bits("a.h5", "c.h5", 0); /* the work of making them counts in step 0 */
}

/* Eigenvectors of another system under this name: the hash tells. */
Test(ndb_run, a_stale_file_of_eigenvectors_is_replaced)
{
  proc p;
  proc_write("drape.ini", DRAPE NDB "cache = modes\nr1 = 40\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "3", "-o", "a.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "3", "-o", "other.h5", "--set",
            "solver.cache=others", "--set", "cloth.sheet.density=0.3");
  cr_assert_eq(system("mv others/*.eig modes/$(basename modes/*.eig)"), 0);
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "3", "-o", "b.h5"));
  expect_run_message(&p, "damaged or of another system");
  expect_logged("b.h5", "damaged or of another system", 0);
  logs_same_bits("a.h5", "b.h5", LOGS_UNBROKEN);
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "3", "-o", "c.h5"));
  cr_expect(p.code == 0 && strstr(p.err, "eigenvectors") == NULL, "%s", p.err);
  logs_same_bits("a.h5", "c.h5", 0);
}

/* Two equal sheets without pins: rigid modes come in pairs, and no matrix is singular. */
Test(ndb_run, free_sheets)
{
  proc_write("drape.ini", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET
             "[cloth.other]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.6 "
             "0.6\nresolution = 21 21\n"
             "transform = translate 0.02 0.01 0.44\ndensity = 0.2\nmembrane = 1000\n"
             "k_b = 1e-4\nthickness = 2 mm\ndamping = 0.5\n" DRAPE_STOP DRAPE_LOG NDB);
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "ndb.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "pd.h5", "--set", "solver.plugin=cholmod_pd",
            "--set", "solver.momentum=none");
  cr_assert_eq(log_is_whole("ndb.h5", "finished"), 25);
  /* free fall, to the tolerance of the steps */
  cr_expect_lt(logs_distance("ndb.h5", "pd.h5"), 1e-4);
}
