/* child.c - a check runs in a process of its own, which may crash or hang; its last output line or
 * its end by a signal gives the verdict. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include "contract/contract.h"
#include "core/crash.h"
#include "core/seconds.h"

enum { EXIT_PASSED = 66, EXIT_FAILED = 1, EXIT_SKIPPED = 77 }; /* 0 is how a plugin's exit() ends */
enum { KEPT = 16384 }; /* bytes of a child's output that are looked at, the last ones */
static const char mark[] = "contract: ";

void ct_fail(const char *file, int line, const char *fmt, ...)
{
  const char *const base = strrchr(file, '/');
  va_list ap;
  fflush(NULL);
  fputs(mark, stderr);
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fprintf(stderr, " (%s:%d)\n", base != NULL ? base + 1 : file, line);
  _Exit(EXIT_FAILED);
}

void ct_skip(const char *fmt, ...)
{
  va_list ap;
  fflush(NULL);
  fputs(mark, stderr);
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fputc('\n', stderr);
  _Exit(EXIT_SKIPPED);
}

/* Runs in the child, which ends without the handlers of exit(): they belong to the parent. */
static _Noreturn void run_body(void (*body)(const void *arg), const void *arg, int out)
{
  const struct rlimit none = {0, 0};
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* the check ends with its parent */
  setrlimit(RLIMIT_CORE, &none);
  crash_install(); /* a signal says which callback was running */
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  close(out);
  body(arg);
  fflush(NULL);
#if defined(__SANITIZE_ADDRESS__)
  __lsan_do_leak_check();
#endif
  _Exit(EXIT_PASSED);
}

/* All that the child writes until it ends, the last KEPT bytes of it; 0 if the time was up. */
static int read_child_output(int in, double until, char *text)
{
  size_t used = 0;
  for (;;) {
    struct pollfd p = {.fd = in, .events = POLLIN};
    const double left = until - seconds_now();
    const int n = left > 0.0 ? poll(&p, 1, left < 1e6 ? (int)(1e3 * left) + 1 : 1000000000) : 0;
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (used == KEPT) { /* keep the second half */
      memmove(text, text + KEPT / 2, KEPT / 2);
      used = KEPT / 2;
    }
    const ssize_t got = read(in, text + used, KEPT - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      text[used] = '\0';
      return 1;
    }
    used += (size_t)got;
  }
  text[used] = '\0';
  return 0;
}

/* The last line that begins with `begin` ("": that is not empty), without its end; or NULL. */
static char *last_line(char *text, const char *begin)
{
  for (char *end = text + strlen(text); end > text;) {
    *end = '\0';
    char *const nl = strrchr(text, '\n'), *const line = nl != NULL ? nl + 1 : text;
    if (line[0] != '\0' && strncmp(line, begin, strlen(begin)) == 0) return line;
    end = nl != NULL ? nl : text;
  }
  return NULL;
}

static void set_child_verdict(int status, int in_time, int seconds, char *text, ct_verdict *v)
{
  char copy[KEPT + 1];
  memcpy(copy, text, strlen(text) + 1);
  const char *const said = last_line(copy, mark);
  const char *const reason = said != NULL ? said + strlen(mark) : last_line(text, "");
  v->result = CT_FAILED;
  if (!in_time) {
    snprintf(v->text, sizeof v->text, "not done after %d s", seconds);
  } else if (WIFSIGNALED(status) && reason != NULL && strncmp(reason, "loom: signal ", 13) == 0) {
    snprintf(v->text, sizeof v->text, "%.1100s", reason + strlen("loom: "));
  } else if (WIFSIGNALED(status)) {
    snprintf(v->text, sizeof v->text, "signal %d (%s)%s%.900s", WTERMSIG(status),
             strsignal(WTERMSIG(status)), reason != NULL ? "; it said last: " : "",
             reason != NULL ? reason : "");
  } else if (WEXITSTATUS(status) == EXIT_PASSED) {
    v->result = CT_PASSED;
  } else if (WEXITSTATUS(status) == EXIT_SKIPPED && said != NULL) {
    v->result = CT_SKIPPED;
    snprintf(v->text, sizeof v->text, "%.1100s", reason);
  } else if (said != NULL) {
    snprintf(v->text, sizeof v->text, "%.1100s", reason);
  } else {
    snprintf(v->text, sizeof v->text, "it left the process with exit code %d%s%.900s",
             WEXITSTATUS(status), reason != NULL ? "; it said last: " : "",
             reason != NULL ? reason : "");
  }
}

void ct_run_child(void (*body)(const void *arg), const void *arg, int seconds, ct_verdict *out)
{
  int ends[2], status = 0;
  char text[KEPT + 1];
  *out = (ct_verdict){.result = CT_FAILED};
  fflush(NULL); /* not to be written by both */
  if (pipe(ends) != 0) {
    snprintf(out->text, sizeof out->text, "no pipe for its output: %s", strerror(errno));
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_body(body, arg, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    snprintf(out->text, sizeof out->text, "no process for it: %s", strerror(errno));
    close(ends[0]);
    return;
  }
  const int in_time = read_child_output(ends[0], seconds_now() + seconds, text);
  if (!in_time) {
    kill(child, SIGKILL);
    kill(-child, SIGKILL); /* processes that the check has started */
  }
  close(ends[0]);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  set_child_verdict(status, in_time, seconds, text, out);
}

typedef struct job {
  const ct_check *check;
  const ct_plugin *plugin;
} job;

static void run_job(const void *arg)
{
  const job *const j = arg;
  j->check->run(j->plugin);
}

void ct_run_check(const ct_check *c, const ct_plugin *p, int seconds, ct_verdict *out)
{
  const job j = {c, p};
  if (c->kind >= 0 && c->kind != p->kind) {
    *out = (ct_verdict){.result = CT_SKIPPED};
    snprintf(out->text, sizeof out->text, "it is for %s plugins", registry_kind_name(c->kind));
    return;
  }
  ct_run_child(run_job, &j, seconds, out);
}
