/* guard.c - see guard.h. */
#define _GNU_SOURCE /* open_memstream with prctl and getppid */
#include "core/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/crash.h"
#include "core/seconds.h"

enum { BLOCK = 1 << 16, EXIT_DONE = 0, EXIT_FAILED = 1 };

/* ---- the child ---- */

/* Bytes of writable memory of this process, which RLIMIT_DATA counts: the sixth number of statm,
 * in pages (proc(5)). */
static int64_t data_now(void)
{
  long long pages = 0;
  FILE *const f = fopen("/proc/self/statm", "re");
  if (f == NULL) return 0;
  if (fscanf(f, "%*s %*s %*s %*s %*s %lld", &pages) != 1) pages = 0;
  fclose(f);
  return pages * sysconf(_SC_PAGESIZE);
}

/* Sets the soft limit to `most`, or to the hard limit where that is lower. */
static void set_soft_limit(int resource, int64_t most)
{
  struct rlimit r;
  if (getrlimit((__rlimit_resource_t)resource, &r) != 0) return;
  r.rlim_cur = r.rlim_max == RLIM_INFINITY || (rlim_t)most < r.rlim_max ? (rlim_t)most : r.rlim_max;
  (void)setrlimit((__rlimit_resource_t)resource, &r);
}

static void confine_child(const guard_limits *l)
{
  static const int plain[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE};
  crash_remove();
  for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i) (void)signal(plain[i], SIG_DFL);
  (void)signal(SIGXFSZ, SIG_IGN); /* writing fails instead */
  set_soft_limit(RLIMIT_CORE, 0);
  set_soft_limit(RLIMIT_CPU, l->cpu_s);
  set_soft_limit(RLIMIT_STACK, l->stack);
  set_soft_limit(RLIMIT_DATA, data_now() + l->memory);
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer prints a report of its own */
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  set_soft_limit(RLIMIT_FSIZE, 0);
  if (nowhere >= 0) (void)dup2(nowhere, STDERR_FILENO);
#endif
}

static _Noreturn void run_guarded_child(const guard_limits *l, int (*body)(void *arg, FILE *out),
                                        void *arg, int to, pid_t parent)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILED);
  confine_child(l);
  FILE *const out = fdopen(to, "wb");
  int bad = out == NULL || body(arg, out) != 0;
  if (out != NULL) bad |= fclose(out) != 0;
  _exit(bad ? EXIT_FAILED : EXIT_DONE);
}

/* ---- the parent ---- */

typedef struct talk {
  const guard_limits *limits;
  char *text;
  size_t len, room;
  int late, too_much, no_memory;
} talk;

static int reserve_output(talk *t)
{
  if (t->room - t->len >= BLOCK) return 1;
  char *const more = realloc(t->text, 2 * t->room + 2 * (size_t)BLOCK);
  if (more == NULL) return 0;
  t->text = more;
  t->room = 2 * t->room + 2 * (size_t)BLOCK;
  return 1;
}

/* Reads all output of the child until it ends or passes a limit. */
static void read_guarded_output(int from, talk *t)
{
  const double until = seconds_now() + t->limits->wall_s;
  for (;;) {
    struct pollfd p = {.fd = from, .events = POLLIN};
    const double left = until - seconds_now();
    const int n = left > 0 ? poll(&p, 1, left < 1e6 ? (int)(1e3 * left) + 1 : 1000000000) : 0;
    if (n < 0 && errno == EINTR) continue;
    t->late = n <= 0;
    t->no_memory = !reserve_output(t);
    t->too_much = (int64_t)t->len > t->limits->answer;
    if (t->late || t->no_memory || t->too_much) return;
    const ssize_t got = read(from, t->text + t->len, BLOCK);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    t->len += (size_t)got;
  }
}

static loom_status check_child_result(loom_err *err, const char *who, const talk *t, int status)
{
  const guard_limits *const l = t->limits;
  if (t->no_memory) return err_set(err, LOOM_E_NOMEM, "out of memory for the output of %s", who);
  if (t->late)
    return err_set(err, LOOM_E_IO, "%s was not done after %d s; give it a smaller file", who,
                   l->wall_s);
  if (t->too_much)
    return err_set(err, LOOM_E_IO, "%s gives more than %" PRId64 " MB; give it a smaller file", who,
                   l->answer >> 20);
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE) return LOOM_OK;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return err_set(err, LOOM_E_IO,
                   "%s took more than %d s of processor time; give it a smaller file", who,
                   l->cpu_s);
  if (WIFSIGNALED(status))
    return err_set(err, LOOM_E_IO,
                   "%s crashed (signal %d, %s): the file is damaged, or nested too deep for its "
                   "stack of %" PRId64 " MB; export it again",
                   who, WTERMSIG(status), strsignal(WTERMSIG(status)), l->stack >> 20);
  return err_set(err, LOOM_E_IO, "%s ended with exit code %d: the file is damaged; export it again",
                 who, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static loom_status call_here(loom_err *err, const char *who, int (*body)(void *arg, FILE *out),
                             void *arg, char **answer, size_t *len)
{
  FILE *const out = open_memstream(answer, len);
  if (out == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  const int bad = body(arg, out);
  if (fclose(out) != 0 || bad) {
    free(*answer);
    *answer = NULL;
    return err_set(err, LOOM_E_IO, "%s failed", who);
  }
  return LOOM_OK;
}

loom_status guard_call(loom_err *err, const guard_limits *limits, const char *who,
                       int (*body)(void *arg, FILE *out), void *arg, char **answer, size_t *len)
{
  int ends[2], status = 0;
  talk t = {.limits = limits};
  *answer = NULL;
  *len = 0;
  if (getenv("LOOM_NO_GUARD") != NULL) return call_here(err, who, body, arg, answer, len);
  fflush(NULL); /* or both processes would write the buffered output */
  if (pipe2(ends, O_CLOEXEC) != 0)
    return err_set(err, LOOM_E_IO, "no pipe for %s: %s", who, strerror(errno));
  const pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    close(ends[0]);
    run_guarded_child(limits, body, arg, ends[1], parent);
  }
  const int code = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return err_set(err, LOOM_E_IO, "no process for %s: %s; raise ulimit -u or -v", who,
                   strerror(code));
  }
  read_guarded_output(ends[0], &t);
  close(ends[0]);
  if (t.late || t.no_memory || t.too_much) kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  const loom_status s = check_child_result(err, who, &t, status);
  if (s != LOOM_OK) {
    free(t.text);
    return s;
  }
  *answer = t.text;
  *len = t.len;
  return LOOM_OK;
}
