/* test_forged_check.c - a checkpoint with a right seal and with values that cannot be meant:
 * refused with a message or taken as numbers, and never a crash.  The sanitizers run this, too. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check_damage.h"
#include "support/proc.h"

enum { NAMES = 64 };

TestSuite(forged_check, .init = proc_enter_memory, .fini = proc_leave);

/* Reals of the core that may be any finite number are not worth a run for each value. */
static int needs_forged_run(const char *name, int form, int k)
{
  if (strcmp(name, "core/config") == 0) return (form + k) % 41 == 0;
  /* indices that lead far away, in some and in all items: every time, in every sample */
  if (strcmp(name, "collision.grid/yarn entries") == 0 && form >= 45 && form < 54) return 1;
  if (strstr(name, "snapshot") != NULL && strstr(name, "snapshot 3") == NULL) return 0;
  return (form + k) % (getenv("LOOM_ALL_DAMAGES") != NULL ? 4 : 41) == 0;
}

static void check_forged_runs(int which)
{
  char names[NAMES][128];
  const char *const scene = cd_scene(which, "d");
  int runs = 0, refused = 0;
  LOOM_FINE("run", "d.ini", "--quiet", "-n", "8", "-o", "parts.h5");
  cd_copy("parts.h5", "a.h5");
  cd_copy("parts.check.h5", "a.check");
  const int num = cd_names("a.check", names, NAMES);
  for (int k = 0; k < num; ++k)
    for (int form = 0; form < CD_FORMS; ++form) {
      proc p;
      if (!needs_forged_run(names[k], form, k)) continue;
      cd_copy("a.check", "parts.check.h5");
      const char *const what = cd_forge("parts.check.h5", names[k], form);
      cd_copy("a.h5", "parts.h5");
      unlink("parts.check.prev.h5");
      proc_loom(&p, LOOM_ARGS("run", "d.ini", "--quiet", "-n", "9", "-o", "parts.h5", "--resume"));
      cr_expect(p.code >= 0 && p.code <= 3, "%s: %s: exit code %d\n%.2000s", scene, what, p.code,
                p.err);
      cr_expect(p.code == 0 || strstr(p.err, "loom: ") != NULL, "%s: %s: no message", scene, what);
      cr_expect(strstr(p.err, "ERROR: ") == NULL && strstr(p.err, "runtime error") == NULL,
                "%s: %s\n%.3000s", scene, what, p.err);
      if (getenv("LOOM_SHOW_FORGED") != NULL)
        fprintf(stderr, "%s -> %d %.300s\n", what, p.code, p.err);
      ++runs;
      refused += p.code != 0;
    }
  cr_assert(runs > 10 && refused > runs / 8, "%s: %d of %d refused", scene, refused, runs);
}

Test(forged_check, cholmod_pd_and_ndb) { check_forged_runs(0); }
Test(forged_check, ndb_pd_and_ndb) { check_forged_runs(1); }
Test(forged_check, cholmod_newton_and_ipc_barrier) { check_forged_runs(2); }
Test(forged_check, pcg_newton_and_dbb) { check_forged_runs(3); }
Test(forged_check, yarn_explicit_and_acl) { check_forged_runs(4); }
Test(forged_check, gd_and_project_with_balls) { check_forged_runs(5); }
