/* No more room for the log: an error in one line, and the finished steps stay.
 *
 * A limit on the size of files (RLIMIT_FSIZE, its signal ignored) stands for a full disk: the
 * same calls fail, with EFBIG in place of ENOSPC. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(disk_full, .init = proc_enter, .fini = proc_leave);

static int64_t stat_file_size(const char *name)
{
  struct stat st;
  cr_assert_eq(stat(name, &st), 0, "%s", name);
  return (int64_t)st.st_size;
}

static int count_text_lines(const char *text)
{
  int n = 0;
  for (; *text != '\0'; ++text) n += *text == '\n';
  return n;
}

Test(disk_full, finished_steps_stay)
{
  enum { STEP = 256 << 10 }; /* bytes */
  proc p;
  int in_the_midst = 0;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "1", "-o", "one.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "whole.h5");
  for (int64_t limit = stat_file_size("one.h5") + STEP;; limit += STEP) {
    proc_loom_limited(&p, limit,
                      LOOM_ARGS("run", "drape.ini", "--quiet", "--overwrite", "-o", "run.h5"));
    if (p.code == 0) break; /* the writer keeps some 2 MiB free: far above the size of the log */
    cr_assert_eq(p.code, 1, "limit %lld: exit code %d: %s", (long long)limit, p.code, p.err);
    const char *const error = strstr(p.err, "loom: run.h5: "); /* behind how the steps ended */
    cr_assert(error != NULL && strstr(error, "limit") != NULL, "%s", p.err);
    /* only where there is something to continue from */
    cr_expect(strstr(p.err, proc_exists("run.check.h5") ? "continue with --resume"
                                                        : "there is no checkpoint") != NULL,
              "no remedy, or the wrong one, in: %s", p.err);
    cr_expect_eq(count_text_lines(error), 1, "not one line:\n%s", p.err);
    if (!proc_exists("run.h5")) continue; /* no room for the scene */
    const int64_t steps = log_is_whole("run.h5", NULL);
    printf("disk_full: limit %lld bytes: %lld steps\n", (long long)limit, (long long)steps);
    in_the_midst += steps > 0 && steps < 25;
    /* with room again the run goes on to the same end */
    if (!proc_exists("run.check.h5")) continue;
    LOOM_FINE("run", "drape.ini", "--quiet", "-o", "run.h5", "--resume");
    logs_same_bits("whole.h5", "run.h5", LOGS_ANYWHERE);
  }
  cr_assert(in_the_midst >= 1);
  logs_same_bits("whole.h5", "run.h5", LOGS_UNBROKEN);
}

Test(disk_full, not_even_room_to_begin)
{
  proc p;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = gd\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "run.h5");
  proc_loom_limited(&p, 20000,
                    LOOM_ARGS("run", "drape.ini", "--quiet", "--overwrite", "-o", "run.h5"));
  cr_assert_eq(p.code, 1, "exit code %d: %s", p.code, p.err);
  cr_expect(strstr(p.err, "run.h5") != NULL, "%s", p.err);
  cr_expect_eq(count_text_lines(p.err), 1, "not one line:\n%s", p.err);
  /* the log that was to be replaced is still there, no unfinished file beside it */
  cr_expect_eq(log_is_whole("run.h5", "finished"), 6);
  cr_expect(proc_exists("run.check.h5"));
  cr_expect(!proc_exists("run.h5.part"));
}
