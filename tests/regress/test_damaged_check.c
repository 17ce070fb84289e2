/* test_damaged_check.c - a checkpoint that was damaged is noticed: the run goes on from the one
 * before it, to the same bits. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check_damage.h"
#include "support/logdiff.h"
#include "support/proc.h"

enum { DAMAGES = 32 }; /* of each scene, every night; a few by day */

TestSuite(damaged_check, .init = proc_enter_memory, .fini = proc_leave);

/* Whole: 10 steps.  Parts: 9 steps, with checkpoints after the 8th and the 9th. */
static const char *create_damage_runs(int which)
{
  const char *const what = cd_scene(which, "d");
  LOOM_FINE("run", "d.ini", "--quiet", "-n", "10", "-o", "whole.h5");
  LOOM_FINE("run", "d.ini", "--quiet", "-n", "9", "-o", "parts.h5");
  cd_copy("parts.h5", "a.h5");
  cd_copy("parts.check.h5", "a.check");
  cd_copy("parts.check.prev.h5", "a.prev");
  return what;
}

static void put_back(void)
{
  cd_copy("a.h5", "parts.h5");
  cd_copy("a.check", "parts.check.h5");
  cd_copy("a.prev", "parts.check.prev.h5");
}

static void goes_on_from_the_one_before(int which)
{
  const char *const scene = create_damage_runs(which);
  const uint32_t num = getenv("LOOM_ALL_DAMAGES") != NULL ? DAMAGES : CD_KINDS;
  for (uint32_t i = 0; i < num; ++i) {
    proc p;
    put_back();
    const char *const what = cd_damage("parts.check.h5", (uint32_t)which * DAMAGES + i);
    proc_loom(&p, LOOM_ARGS("run", "d.ini", "--quiet", "-n", "10", "-o", "parts.h5", "--resume"));
    cr_assert_eq(p.code, 0, "%s: %s: exit code %d\n%s", scene, what, p.code, p.err);
    cr_assert(strstr(p.err, "parts.check.h5") != NULL && strstr(p.err, "of step 7") != NULL,
              "%s: %s: there was no message\n%s", scene, what, p.err);
    logs_same_bits("whole.h5", "parts.h5", LOGS_ANYWHERE);
  }
}

Test(damaged_check, cholmod_pd_and_ndb) { goes_on_from_the_one_before(0); }
Test(damaged_check, ndb_pd_and_ndb) { goes_on_from_the_one_before(1); }
Test(damaged_check, cholmod_newton_and_ipc_barrier) { goes_on_from_the_one_before(2); }
Test(damaged_check, pcg_newton_and_dbb) { goes_on_from_the_one_before(3); }
Test(damaged_check, yarn_explicit_and_acl) { goes_on_from_the_one_before(4); }

/* Without another one the run is refused, and the log stays as it is. */
Test(damaged_check, without_another_it_is_refused)
{
  create_damage_runs(0);
  for (uint32_t i = 0; i < CD_KINDS; ++i) {
    put_back();
    cr_assert_eq(unlink("parts.check.prev.h5"), 0);
    cd_damage("parts.check.h5", i);
    proc_expect_error(
        1, LOOM_TEXTS("parts.check.h5: ", "start the run again"),
        LOOM_ARGS("run", "d.ini", "--quiet", "-n", "10", "-o", "parts.h5", "--resume"));
    cr_assert_eq(log_is_whole("parts.h5", "finished"), 9);
    put_back();
    cd_damage("parts.check.h5", i + 20);
    cd_damage("parts.check.prev.h5", i + 40);
    proc_expect_error(
        1, LOOM_TEXTS("parts.check.h5: ", "parts.check.prev.h5", "start the run again"),
        LOOM_ARGS("run", "d.ini", "--quiet", "-n", "10", "-o", "parts.h5", "--resume"));
  }
}
