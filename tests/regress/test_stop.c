/* Signals: a run that was stopped says so, ends with 5, and goes on to the bits of a whole one. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "regress/drape.h"
#include "support/device.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(stop, .init = proc_enter, .fini = proc_leave);

static void sleep_ten_ms(void)
{
  const struct timespec t = {0, 10 * 1000 * 1000};
  nanosleep(&t, NULL);
}

/* Processor time of a process in ticks of the clock; -1: it has ended. */
static long ticks_of(pid_t pid)
{
  char path[64];
  unsigned long user = 0, system = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  FILE *const f = fopen(path, "r");
  if (f == NULL) return -1;
  /* utime and stime, fields 14 and 15 of proc(5); "loom" has no blank */
  const int n =
      fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  fclose(f);
  return n == 2 ? (long)(user + system) : -1;
}

/* The log is there before the first step begins: waits until the process has computed for half a
 * second more. */
static void wait_for_first_step(pid_t pid)
{
  while (!proc_exists("run.h5")) sleep_ten_ms();
  const long begin = ticks_of(pid), enough = sysconf(_SC_CLK_TCK) / 2;
  cr_assert_geq(begin, 0);
  for (long now = begin; now - begin < enough; now = ticks_of(pid)) {
    cr_assert_geq(now, 0, "the run has ended");
    sleep_ten_ms();
  }
}

/* How it ended: exit code, or -SIGNAL. */
static int wait_for_end(pid_t pid)
{
  int status = 0;
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void read_file_text(const char *name, char all[PROC_TEXT])
{
  FILE *const f = fopen(name, "r");
  cr_assert(f != NULL);
  all[fread(all, 1, PROC_TEXT - 1, f)] = '\0';
  fclose(f);
}

static int has_file_text(const char *name, const char *text)
{
  char all[PROC_TEXT];
  read_file_text(name, all);
  const int found = strstr(all, text) != NULL;
  if (!found) cr_log_error("'%s' is not in:\n%s", text, all);
  return found;
}

static void check_signal_stop(int sig, const char *line)
{
  enum { STEPS = 4000 };
  proc p;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  const pid_t pid =
      proc_start(LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "4000", "-o", "run.h5"));
  while (!proc_exists("run.check.h5")) sleep_ten_ms();
  cr_assert_eq(kill(pid, sig), 0);
  cr_assert_eq(wait_for_end(pid), 5);
  const int64_t done = log_is_whole("run.h5", "stopped");
  cr_assert(done > 0 && done < STEPS, "%lld steps", (long long)done);
  char text[128];
  snprintf(text, sizeof text, "loom: stopped by %s after %lld of 4000 steps; --resume continues\n",
           line, (long long)done);
  cr_expect(has_file_text("start.err", text));
  /* one step more than the stopped run has */
  snprintf(text, sizeof text, "%lld", (long long)done + 1);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", text, "-o", "run.h5", "--resume");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", text, "-o", "whole.h5");
  logs_same_bits("whole.h5", "run.h5", LOGS_ANYWHERE);
  proc_loom(&p, LOOM_ARGS("info", "run.h5"));
  cr_expect_eq(p.code, 0);
}

Test(stop, interrupt) { check_signal_stop(SIGINT, "SIGINT"); }
Test(stop, terminate) { check_signal_stop(SIGTERM, "SIGTERM"); }
Test(stop, hangup) { check_signal_stop(SIGHUP, "SIGHUP"); }

/* A signal during the last step finds no step left to stop: see simulate_steps() in run/step/run.c.
 * One step of a hundred million iterations holds the process long enough to send two signals.
 * cholmod_pd, because it has no line search that ends in the rounding of a sum of energies. */
Test(stop, a_second_signal_ends_at_once)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  const pid_t pid = proc_start(
      LOOM_ARGS("run", "drape.ini", "-n", "3", "-o", "run.h5", "--set", "stop.max_iters=100000000",
                "--set", "stop.tol_abs=0", "--set", "stop.tol_rel=0", "--set",
                "log.residual_every=100000000", "--set", "exec.backend=cpu"));
  wait_for_first_step(pid);
  cr_assert_eq(kill(pid, SIGTERM), 0);
  for (int i = 0; i < 20; ++i) sleep_ten_ms();
  cr_assert_eq(waitpid(pid, NULL, WNOHANG), 0, "the first signal ended the step");
  cr_expect(has_file_text("start.err", "loom: SIGTERM: the run ends after the present step; a "
                                       "second signal ends it at once\n"));
  cr_assert_eq(kill(pid, SIGINT), 0);
  cr_assert_eq(wait_for_end(pid), -SIGINT);
  log_is_whole("run.h5", NULL);
}

Test(stop, a_replay_has_nothing_to_continue_from)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "ref.h5");
  const pid_t pid = proc_start(LOOM_ARGS("run", "drape.ini", "-o", "run.h5", "--set",
                                         "run.replay=ref.h5", "--set", "stop.max_iters=2000",
                                         "--set", "stop.tol_abs=0", "--set", "stop.tol_rel=0"));
  char said[PROC_TEXT] = "";
  while (strstr(said, "step 1/") == NULL) {
    sleep_ten_ms();
    if (proc_exists("start.err")) read_file_text("start.err", said);
  }
  cr_assert_eq(kill(pid, SIGTERM), 0);
  cr_assert_eq(wait_for_end(pid), 5);
  cr_expect(has_file_text("start.err", "a replay has no checkpoints: run it again from its start"));
}

/* nohup: an ignored signal stays ignored. */
Test(stop, hangup_stays_ignored_under_nohup)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  signal(SIGHUP, SIG_IGN);
  const pid_t pid = proc_start(LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "run.h5"));
  while (!proc_exists("run.h5")) sleep_ten_ms();
  cr_assert_eq(kill(pid, SIGHUP), 0);
  cr_assert_eq(wait_for_end(pid), 0);
  cr_assert_eq(log_is_whole("run.h5", "finished"), 25);
}

/* The limit counts from the start of the command, and every command gets at least one step done. */
Test(stop, max_time)
{
  proc p;
  char text[128];
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "100000", "-o", "run.h5",
                          "--max-time", "0.5 s"));
  cr_assert_eq(p.code, 6, "%d: %s", p.code, p.err);
  const int64_t done = log_is_whole("run.h5", "stopped");
  cr_assert(done > 0 && done < 100000, "%lld steps", (long long)done);
  snprintf(text, sizeof text,
           "stopped by --max-time after %lld of 100000 steps; --resume continues", (long long)done);
  cr_expect(strstr(p.err, text) != NULL, "'%s' is not in:\n%s", text, p.err);
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "100000", "-o", "run.h5",
                          "--resume=auto", "--max-time", "1e-9"));
  cr_expect_eq(p.code, 6);
  cr_expect_eq(log_is_whole("run.h5", "stopped"), done + 1);
  snprintf(text, sizeof text, "%lld", (long long)done + 2);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", text, "-o", "run.h5", "--resume=auto");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", text, "-o", "whole.h5");
  logs_same_bits("whole.h5", "run.h5", LOGS_ANYWHERE);
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "long.h5", "--max-time", "10 min");
  cr_expect_eq(log_is_whole("long.h5", "finished"), 25);
}

Test(stop, max_time_is_a_time)
{
  proc p;
  static const char *const wrong[] = {"0", "-1", "soon", "3 m", ""};
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    proc_loom(&p, LOOM_ARGS("run", "drape.ini", "--max-time", wrong[i]));
    cr_expect_eq(p.code, 2, "%s", wrong[i]);
    cr_expect(strstr(p.err, "--max-time") != NULL, "%s", p.err);
  }
}

Test(stop, help_tells_the_exit_codes)
{
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "--help"));
  cr_assert_eq(p.code, 0);
  const char *const texts[] = {"exit codes:",
                               "  0  ",
                               "  1  ",
                               "  2  ",
                               "  3  ",
                               "  4  ",
                               "  5  stopped by a signal",
                               "  6  stopped by --max-time"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    cr_expect(strstr(p.out, texts[i]) != NULL, "'%s' is not in:\n%s", texts[i], p.out);
}

/* A finished run that is continued has no times and no memory to tell. */
Test(stop, resume_of_a_finished_run)
{
  proc p;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-o", "run.h5");
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-o", "run.h5", "--resume"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect_str_eq(p.out, "run.h5: holds 25 steps already, 25 are asked for; no step was left to "
                          "do\n");
  cr_assert_eq(log_is_whole("run.h5", "finished"), 25);
}

/* The command that `loom info` shows makes the same log when it is pasted. */
Test(stop, command_can_be_pasted)
{
  proc p;
  char command[1024], expected[256], *at, *end = NULL;
  proc_write("it's a drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  LOOM_FINE("run", "it's a drape.ini", "--quiet", "-n", "2", "-o", "run 1.h5", "--set",
            "cloth.sheet.resolution=11 11", "--set", "run.gravity=0 0 -9");
  proc_loom(&p, LOOM_ARGS("info", "run 1.h5"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  at = strstr(p.out, "loom run ");
  cr_assert(at != NULL && (end = strchr(at, '\n')) != NULL, "%s", p.out);
  *end = '\0';
  snprintf(expected, sizeof expected,
           "loom run %s'it'\\''s a drape.ini' --quiet -n 2 -o 'run 1.h5' --set "
           "'cloth.sheet.resolution=11 11' --set 'run.gravity=0 0 -9'",
           test_on_cuda() ? "--set " ON_CUDA " " : "");
  cr_expect_str_eq(at, expected);
  cr_assert_eq(rename("run 1.h5", "first.h5"), 0);
  snprintf(command, sizeof command, "\"$LOOM_BIN\" %s", at + strlen("loom "));
  cr_assert_eq(system(command), 0, "%s", command);
  logs_same_bits("first.h5", "run 1.h5", LOGS_UNBROKEN);
}
