/* kill -9 at any moment: the log opens, finished steps are whole, and going on ends with
 * the bits of a run that was not killed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/seconds.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(kill, .init = proc_enter, .fini = proc_leave);

enum { KILLS = 20, STEPS = 25 };

/* Pseudo-random numbers in [0, 1): xorshift64*, Vigna 2016. */
static double sample_kill_time(uint64_t *s)
{
  *s ^= *s >> 12;
  *s ^= *s << 25;
  *s ^= *s >> 27;
  return (double)((*s * 2685821657736338717u) >> 11) * 0x1p-53;
}

static void sleep_for(double seconds)
{
  const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&t, NULL);
}

Test(kill, at_20_moments)
{
  const char *const fresh[] = {"run", "drape.ini", "--quiet", "--overwrite", "-o", "run.h5", NULL};
  const char *const resume[] = {"run", "drape.ini", "--quiet", "-o", "run.h5", "--resume", NULL};
  uint64_t seed = 20u;
  int killed = 0, resumed = 0, after_steps = 0, tried = 0;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  const double begin = seconds_now();
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "whole.h5");
  const double whole = seconds_now() - begin; /* s, start of the process included */
  cr_assert_eq(log_is_whole("whole.h5", "finished"), STEPS);

  /* On a busy machine most moments are before the first step or behind the last: more are tried. */
  for (int i = 0; killed < KILLS || after_steps < 3 || resumed < 2; ++i, ++tried) {
    cr_assert(i < 8 * KILLS, "%d of %d runs killed, %d in the midst of the steps, %d continued",
              killed, i, after_steps, resumed);
    /* Runs that are continued are killed again; every third replaces the log, and with it
     * its checkpoints. */
    const int again = i % 3 != 0 && proc_exists("run.check.h5");
    const pid_t pid = proc_start(again ? resume : fresh);
    sleep_for(0.9 * sample_kill_time(&seed) * whole);
    killed += proc_kill(pid);
    if (!proc_exists("run.h5")) continue; /* killed before the log came into being */
    const int64_t steps = log_is_whole("run.h5", NULL);
    after_steps += steps > 0 && steps < STEPS;
    if (i % 3 != 2) continue;
    const int can_resume = proc_exists("run.check.h5");
    proc p;
    proc_loom(&p, can_resume ? resume : fresh);
    cr_assert_eq(p.code, 0, "kill %d after %lld steps: exit code %d: %s", i, (long long)steps,
                 p.code, p.err);
    cr_assert_eq(log_is_whole("run.h5", "finished"), STEPS);
    logs_same_bits("whole.h5", "run.h5", LOGS_ANYWHERE);
    resumed += can_resume;
  }
  printf("kill: %d of %d runs killed, %d in the midst of the steps, %d continued to the end\n",
         killed, tried, after_steps, resumed);
}
