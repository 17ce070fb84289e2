/* A run has as many threads as requested, and threads that wait for work sleep. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "regress/drape.h"
#include "support/proc.h"

TestSuite(one_thread, .init = proc_enter, .fini = proc_leave);

/* From here on this process and its children can make no thread: the system says EAGAIN.
 * (clone3 keeps its flags where a filter cannot look; without it libc takes clone.)  0: the system
 * has no filters. */
static int forbid_threads(void)
{
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog filter = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

#define SKIP_UNLESS(what) \
  if (!(what)) cr_skip_test("this system has no filter of system calls (seccomp)")

/* Large enough for every loop to be shared out among threads, were there more than one. */
#define SHEET                                                                            \
  "[run]\nsteps = 2\n[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = " \
  "grid\nresolution = 71 71\n"                                                           \
  "pins = top_left top_right\n[stop]\nmax_iters = 3\n[log]\naudit = end\n"

static void runs_alone(const char *config, const char *solver, const char *set)
{
  char plugin[64];
  snprintf(plugin, sizeof plugin, "solver.plugin=%s", solver);
  unsetenv("OPENBLAS_NUM_THREADS");
  unsetenv("OMP_NUM_THREADS");
  proc_write("scene.ini", config);
  SKIP_UNLESS(forbid_threads());
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "alone.h5", "--threads", "1", "--set", plugin,
            "--set", set);
}

static void sheet_alone(const char *solver)
{
  runs_alone(SHEET "[solver]\n", solver, "exec.backend=cpu");
}

Test(one_thread, gd) { sheet_alone("gd"); }
Test(one_thread, cholmod_pd) { sheet_alone("cholmod_pd"); }
Test(one_thread, cholmod_newton) { sheet_alone("cholmod_newton"); }
Test(one_thread, pcg_newton) { sheet_alone("pcg_newton"); }
Test(one_thread, pd_bfgs) { sheet_alone("pd_bfgs"); }
Test(one_thread, ndb_pd) { sheet_alone("ndb_pd"); }
Test(one_thread, any_blas)
{
  runs_alone(SHEET "[solver]\n", "cholmod_pd", "exec.deterministic=no");
}
Test(one_thread, yarn_explicit)
{
  runs_alone("[run]\nsteps = 2\ndt = 1e-4\n[yarn.knit]\nrows = 20\nloops = 20\n[solver]\n",
             "yarn_explicit", "exec.backend=cpu");
}
Test(one_thread, contact_and_a_distance_grid)
{
  runs_alone(DRAPE "[solver]\n[body.ball2]\nshape = sphere\nradius = 0.05\nmesh_size = 0.02\n"
                   "position = 1 0 0\n",
             "cholmod_pd", "exec.backend=cpu");
}

/* The filter above works. */
Test(one_thread, two_are_noticed)
{
  proc p;
  proc_write("scene.ini", SHEET "[solver]\nplugin = gd\n");
  SKIP_UNLESS(forbid_threads());
  proc_loom(&p, LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "two.h5", "--threads", "2"));
  cr_assert_neq(p.code, 0);
}

Test(one_thread, the_environment_is_asked)
{
  proc p;
  proc_write("scene.ini", SHEET "[solver]\nplugin = gd\n[exec]\nbackend = cpu\n");
  setenv("OMP_NUM_THREADS", "3", 1);
  proc_loom(&p, LOOM_ARGS("check", "scene.ini"));
  cr_assert(strstr(p.out, "cpu, 3 threads") != NULL, "%s%s", p.out, p.err);
  proc_loom(&p, LOOM_ARGS("check", "scene.ini", "--set", "exec.threads=2"));
  cr_assert(strstr(p.out, "cpu, 2 threads") != NULL, "%s%s", p.out, p.err);
}

/* The stacks of so many threads do not fit into the memory that may be addressed. */
Test(one_thread, more_than_the_system_gives)
{
  const struct rlimit few = {(rlim_t)3 << 30, (rlim_t)3 << 30};
  proc_write("scene.ini", SHEET "[solver]\nplugin = gd\n[exec]\nbackend = cpu\n");
  cr_assert_eq(setrlimit(RLIMIT_AS, &few), 0);
  proc_expect_error(1, LOOM_TEXTS("[exec] threads", "of 3000 threads", "--threads", "ulimit -v"),
                    LOOM_ARGS("run", "scene.ini", "-o", "many.h5", "--threads", "3000"));
}

/* The settings that libgomp itself reports: it spins for microseconds, not for milliseconds. */
Test(one_thread, the_binary_waits_briefly)
{
  proc p;
  unsetenv("OMP_WAIT_POLICY");
  unsetenv("GOMP_SPINCOUNT");
  setenv("OMP_DISPLAY_ENV", "verbose", 1);
  proc_loom(&p, LOOM_ARGS("--version"));
  const char *last = NULL;
  for (const char *t = p.err; (t = strstr(t, "GOMP_SPINCOUNT = '")) != NULL; ++t) last = t;
  if (last == NULL) cr_skip_test("OpenMP's runtime is another than libgomp");
  cr_assert_eq(strncmp(last, "GOMP_SPINCOUNT = '1000'", 23), 0, "%.40s", last);
  setenv("OMP_WAIT_POLICY", "active", 1); /* the user's setting stands */
  proc_loom(&p, LOOM_ARGS("--version"));
  cr_assert(strstr(p.err, "GOMP_SPINCOUNT = '1000'") == NULL && strstr(p.err, "ACTIVE") != NULL,
            "%s", p.err);
}
