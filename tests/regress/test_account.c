/* Records in a log of the processes that wrote it: commands, jobs, ends, memory, and processor time
 * that other work on the machine does not change. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/device.h"
#include "support/proc.h"

TestSuite(account, .init = proc_enter, .fini = proc_leave);

static h5read *open_account_log(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  return r;
}

Test(account, every_process_is_named)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  setenv("SLURM_JOB_ID", "4711", 1);
  setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "5", "-o", "run.h5");
  unsetenv("SLURM_ARRAY_TASK_ID");
  unsetenv("SLURM_JOB_ID");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "7", "-o", "run.h5", "--resume");
  setenv("PBS_JOBID", "12.head", 1);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "9", "-o", "run.h5", "--resume", "--set",
            "log.compression= 0");
  unsetenv("PBS_JOBID");
  h5read *const r = open_account_log("run.h5");
  /* settings that the tests add when they run on a device */
  const char *const device = test_on_cuda() ? "--set " ON_CUDA " " : "";
  char want[512];
  (void)snprintf(want, sizeof want,
                 "loom run %sdrape.ini --quiet -n 5 -o run.h5\n"
                 "loom run %sdrape.ini --quiet -n 7 -o run.h5 --resume\n"
                 "loom run %sdrape.ini --quiet -n 9 -o run.h5 --resume --set 'log.compression= 0'",
                 device, device, device);
  cr_expect_str_eq(h5read_attr(r, "commands"), want);
  cr_expect_str_eq(h5read_attr(r, "jobs"),
                   "SLURM_JOB_ID=4711 SLURM_ARRAY_TASK_ID=3\n\nPBS_JOBID=12.head");
  cr_expect_str_eq(h5read_attr(r, "exit_reason"), "finished");
  cr_expect_eq(strlen(h5read_attr(r, "end_time")), strlen("2026-01-01T00:00:00Z"));
  cr_expect_geq(strcmp(h5read_attr(r, "end_time"), h5read_attr(r, "created")), 0);
  cr_expect_str_eq(h5read_attr(r, "num_dof"), "1323"); /* 3 x 21 x 21, no vertex is pinned */
  cr_expect_gt(strtoll(h5read_attr(r, "rss_peak"), NULL, 10), 1 << 20);
  h5read_close(r);
}

static void sleep_milliseconds(long ms)
{
  const struct timespec t = {0, ms * 1000 * 1000};
  nanosleep(&t, NULL);
}

Test(account, ends_have_a_reason)
{
  proc p;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  const pid_t pid =
      proc_start(LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "4000", "-o", "run.h5"));
  while (!proc_exists("run.check.h5")) sleep_milliseconds(10);
  cr_assert_eq(kill(pid, SIGTERM), 0);
  cr_assert_eq(waitpid(pid, NULL, 0), pid);
  h5read *r = open_account_log("run.h5");
  cr_expect_str_eq(h5read_attr(r, "exit_reason"), "stopped: SIGTERM");
  h5read_close(r);
  const pid_t second = proc_start(
      LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "4000", "-o", "run.h5", "--resume"));
  sleep_milliseconds(300);
  proc_kill(second);
  proc_loom(&p, LOOM_ARGS("info", "run.h5")); /* repairs it */
  r = open_account_log("run.h5");
  cr_expect_str_neq(h5read_attr(r, "exit_reason"), "running");
  cr_expect_str_neq(h5read_attr(r, "exit_reason"), "finished");
  cr_expect_str_neq(h5read_attr(r, "exit_reason"), "stopped: SIGTERM");
  h5read_close(r);
}

typedef struct times {
  double cpu, plugins, beside, open; /* s: t_cpu, t_cpu_plugins, measuring and logging, before */
  double wall;                       /* s, of the same steps */
  double process;                    /* s, the system's count for the process */
} times;

static double rusage_seconds(const struct rusage *u)
{
  return (double)u->ru_utime.tv_sec + 1e-6 * (double)u->ru_utime.tv_usec +
         (double)u->ru_stime.tv_sec + 1e-6 * (double)u->ru_stime.tv_usec;
}

/* A run with many iterations in each step. */
static times timed_run(const char *threads)
{
  enum { STEPS = 12 };
  loom_err err = {0};
  struct rusage before, after;
  int status = 0;
  times t = {0};
  cr_assert_eq(getrusage(RUSAGE_CHILDREN, &before), 0); /* of children that were waited for */
  const pid_t pid =
      proc_start(LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "12", "-o", "run.h5", "--overwrite",
                           "--threads", threads, "--set", "stop.tol_abs=0", "--set",
                           "stop.tol_rel=0", "--set", "stop.max_iters=200"));
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert_eq(getrusage(RUSAGE_CHILDREN, &after), 0);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  h5log_step_row rows[STEPS];
  h5read *const r = open_account_log("run.h5");
  cr_assert_eq(h5read_steps(r, &err, 0, STEPS, rows), LOOM_OK, "%s", err.text);
  t.open = strtod(h5read_attr(r, "t_cpu_open"), NULL);
  h5read_close(r);
  for (int i = 0; i < STEPS; ++i) {
    const h5log_step_row *const s = &rows[i];
    const double parts = s->t_cpu_detect + s->t_cpu_solve + s->t_cpu_contact + s->t_cpu_filter;
    cr_expect_leq(parts, s->t_cpu + 1e-6, "step %d: its phases are parts of it", i);
    cr_expect(s->t_cpu_plugins > 0.0 && s->t_cpu_plugins <= s->t_cpu);
    cr_expect(s->rss > 0 && s->rss <= s->rss_peak);
    t.cpu += s->t_cpu;
    t.plugins += s->t_cpu_plugins;
    t.beside += s->t_cpu_measure + s->t_cpu_log;
    t.wall += s->t_total;
  }
  t.process = rusage_seconds(&after) - rusage_seconds(&before);
  return t;
}

/* All that the process used is in the log, but for leaving it: the system's count is an
 * independent measure of the same. */
Test(account, processor_time_is_that_of_the_process)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  static const char *const threads[] = {"1", "2"};
  for (int i = 0; i < 2; ++i) {
    const times t = timed_run(threads[i]);
    const double logged = t.open + t.cpu + t.beside;
    cr_expect_leq(logged, t.process + 0.02, "%s threads: %g s logged, %g s used", threads[i],
                  logged, t.process);
    cr_expect_geq(logged, 0.8 * t.process, "%s threads: %g s logged, %g s used", threads[i], logged,
                  t.process);
    cr_expect_gt(t.cpu, 0.1 * logged);
  }
}

/* Other processes take the processors: wall time grows, and is the control; processor time of the
 * steps stays the system's count for this process alone. */
Test(account, processor_time_leaves_others_out)
{
  enum { MOST = 64 };
  pid_t others[MOST];
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const int num = cores > 0 && 3 * cores < MOST ? (int)(3 * cores) : MOST;
  for (int i = 0; i < num; ++i) {
    others[i] = fork();
    cr_assert_geq(others[i], 0);
    if (others[i] == 0) {
      alarm(60); /* if the test does not end it */
      for (;;) {}
    }
  }
  const times t = timed_run("1");
  for (int i = 0; i < num; ++i) {
    kill(others[i], SIGKILL);
    waitpid(others[i], NULL, 0);
  }
  const double logged = t.open + t.cpu + t.beside;
  cr_expect_leq(logged, t.process + 0.02, "%g s logged, %g s used", logged, t.process);
  cr_expect_gt(t.wall, 1.5 * (t.cpu + t.beside), "wall %g s, processor %g s: the others were idle",
               t.wall, t.cpu + t.beside);
}
