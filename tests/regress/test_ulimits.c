/* Under ulimit -v, -s and -n a run finishes or refuses with numbers; it neither hangs nor crashes.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/proc.h"

#define SHEET                                                                             \
  "[run]\nsteps = 2\n[exec]\nbackend = cpu\nthreads = 2\n[cloth.a]\nmodel = "             \
  "arap+isometric\npattern = regular\nsize = 0.2 0.2\n"                                   \
  "resolution = 6\ndensity = 0.2\nmembrane = 100\npins = corners\n[contact.none]\nplugin" \
  " = none\n[stop]\nmax_iters = 4\n"

static void create_limit_scenes(void)
{
  proc_enter();
  unsetenv("LOOM_TEST_DEVICE");
  proc_write("newton.ini", SHEET "[solver]\nplugin = cholmod_newton\n");
  proc_write("gd.ini", SHEET "[solver]\nplugin = gd\n");
}

TestSuite(ulimits, .init = create_limit_scenes, .fini = proc_leave);

#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses */
/* proc_loom_small() allows 10 s of processor time, and SIGXCPU ends a process that hangs. */
Test(ulimits, every_address_space_is_enough_or_refused)
{
  int refused = 0, fine = 0, blas = 0;
  proc p;
  for (int64_t mb = 100; mb <= 400; mb += 20) {
    proc_loom_small(&p, mb << 20,
                    LOOM_ARGS("run", "newton.ini", "--quiet", "--overwrite", "-o", "a.h5"));
    cr_expect(p.code == 0 || p.code == 1, "%d MB: exit code %d\n%s", (int)mb, p.code, p.err);
    cr_expect(p.code == 0 || strstr(p.err, "loom: ") != NULL, "%d MB: no word", (int)mb);
    fine += p.code == 0;
    refused += p.code == 1;
    blas += strstr(p.err, "calls OpenBLAS, which takes 134 MB for buffers of 1 thread") != NULL &&
            strstr(p.err, "ulimit -v leaves ") != NULL && strstr(p.err, "raise ulimit -v") != NULL;
  }
  cr_expect(fine > 0 && refused > 0 && blas > 0, "%d fine, %d refused, %d by OpenBLAS", fine,
            refused, blas);
  /* nor does a limit that is refused with a BLAS stop a solver that calls none */
  proc_loom_small(&p, INT64_C(200) << 20,
                  LOOM_ARGS("run", "gd.ini", "--quiet", "-n", "1", "-o", "b.h5"));
  cr_expect_eq(p.code, 0, "%s", p.err);
}

Test(ulimits, the_module_that_measures_errors_calls_it_too)
{
  proc p;
  proc_loom_small(&p, INT64_C(200) << 20,
                  LOOM_ARGS("run", "gd.ini", "--quiet", "-n", "1", "-o", "b.h5", "--set",
                            "log.error=newton", "--set", "log.error_by=factor"));
  cr_expect_eq(p.code, 1, "%d %s", p.code, p.err);
  cr_expect(strstr(p.err, "cholmod.so calls OpenBLAS") != NULL, "%s", p.err);
}
#endif

static int with_limit(const char *limit, const char *args)
{
  char command[512];
  snprintf(command, sizeof command, "exec 2>err.txt >out.txt; ulimit %s; exec \"$LOOM_BIN\" %s",
           limit, args);
  const int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

Test(ulimits, a_small_stack_is_raised_or_refused)
{
  char text[512];
  cr_expect_eq(with_limit("-s 64", "run gd.ini -o c.h5"), 1);
  FILE *const f = fopen("err.txt", "r");
  cr_assert(f != NULL);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  cr_expect_str_eq(text, "loom: the stack is limited to 64 kB, and loom needs 1024 kB; raise it: "
                         "ulimit -s 8192\n");
  cr_expect(!proc_exists("c.h5"));
  cr_expect_eq(with_limit("-S -s 64", "run gd.ini -o c.h5"), 0);
  cr_expect_eq(with_limit("-s 1024", "run gd.ini -o d.h5"), 0);
  cr_expect_eq(with_limit("-s 1024", "run newton.ini -o e.h5"), 0);
}

Test(ulimits, few_open_files_are_raised_or_refused)
{
  char text[512];
  cr_expect_eq(with_limit("-n 6", "run gd.ini -o c.h5"), 1);
  FILE *const f = fopen("err.txt", "r");
  cr_assert(f != NULL);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  cr_expect_str_eq(text,
                   "loom: 6 files may be open at a time, and loom needs 16; raise it: ulimit -n "
                   "1024\n");
  cr_expect(!proc_exists("c.h5"));
  cr_expect_eq(with_limit("-S -n 6", "run gd.ini -o c.h5"), 0);
  cr_expect_eq(with_limit("-n 16", "run newton.ini -o d.h5"), 0);
}
