/* run_limited.c - runs one test, which may use so much processor time and has to use some of it.
 *
 *   run_limited NAME LIMIT IDLE COMMAND [ARGUMENT...]
 *
 * The test and all its descendants together are ended when they have used LIMIT seconds of
 * processor time ("over its N processor seconds"), or when none of them has used any for IDLE
 * seconds ("hanging").  How fast the machine is that minute, and how many others it serves, changes
 * neither.  The exit code is the test's, 128 + S where signal S ended it, and 124 where a limit
 * did.  A line on each test goes to the file LOOM_TEST_RECORD, if the variable is set: verdict,
 * name, processor seconds, seconds, detail, divided by tabs.
 *
 * Descendants of dead parents become children of this process (PR_SET_CHILD_SUBREAPER), so
 * that neither a daemon nor a process in a session of its own escapes.  Not seen: time of children
 * with a parent that ignores SIGCHLD, once they have ended, as the kernel does not add it to the
 * parent's. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  SKIPPED = 77,
  ENDED = 124,
  NO_COMMAND = 127,
  SIGNALLED = 128,
  DETAIL = 160,
  LEFT_MS = 1000,
  ENDING_MS = 10000
};

typedef struct proc {
  pid_t pid, parent;
  char state;  /* as in proc(5) */
  double used; /* s of processor, with the children it has waited for */
  int ours;    /* a descendant of this process */
  char name[32];
} proc;

typedef struct proc_list {
  proc *at;
  int n, room;
} proc_list;

typedef struct run {
  const char *name;
  double limit, idle; /* s */
  pid_t test;
  int status;   /* as waitpid gives it, once `over` */
  int over;     /* the test itself has ended */
  double began; /* s, monotonic */
} run;

static double read_monotonic_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_ms(int ms)
{
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&t, NULL);
}

/* ---- processes that are there ---- */

static int read_proc(const char *pid, proc *p)
{
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  const char *const open_at = strchr(text, '(');
  char *const close_at = strrchr(text, ')'); /* a name may hold anything */
  if (open_at == NULL || close_at == NULL) return 0;
  unsigned long user = 0, system = 0;
  long child_user = 0, child_system = 0;
  if (sscanf(close_at + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &p->state,
             &p->parent, &user, &system, &child_user, &child_system) != 6)
    return 0;
  *close_at = '\0';
  snprintf(p->name, sizeof p->name, "%s", open_at + 1);
  p->pid = (pid_t)atoi(pid);
  p->used = ((double)(user + system) + (double)(child_user + child_system)) /
            (double)sysconf(_SC_CLK_TCK);
  p->ours = 0;
  return 1;
}

/* All processes; `ours` marks the descendants of this one. */
static void scan_processes(proc_list *l)
{
  l->n = 0;
  DIR *const d = opendir("/proc");
  for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    if (!isdigit((unsigned char)e->d_name[0])) continue;
    if (l->n == l->room) {
      const int room = l->room > 0 ? 2 * l->room : 256;
      proc *const more = realloc(l->at, (size_t)room * sizeof *more);
      if (more == NULL) break;
      l->at = more;
      l->room = room;
    }
    l->n += read_proc(e->d_name, &l->at[l->n]);
  }
  if (d != NULL) closedir(d);
  const pid_t self = getpid();
  for (int found = 1; found;) {
    found = 0;
    for (int i = 0; i < l->n; ++i) {
      int ours = l->at[i].parent == self;
      for (int j = 0; j < l->n && !ours; ++j)
        ours = l->at[j].ours && l->at[j].pid == l->at[i].parent;
      found |= ours && !l->at[i].ours;
      l->at[i].ours |= ours;
    }
  }
}

static double timeval_seconds(struct timeval t)
{
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* s of processor of all descendants that there have been; exact when none is left. */
static double sum_descendant_time(const proc_list *l)
{
  struct rusage gone;
  getrusage(RUSAGE_CHILDREN, &gone);
  double sum = timeval_seconds(gone.ru_utime) + timeval_seconds(gone.ru_stime);
  for (int i = 0; i < l->n; ++i) sum += l->at[i].ours ? l->at[i].used : 0;
  return sum;
}

/* ---- ends ---- */

/* Takes notice of children that have ended.  0: this process has no child any more. */
static int reap_children(run *r)
{
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != r->test) continue;
    r->status = status;
    r->over = 1;
  }
  return pid == 0;
}

/* Kills until none is left: each round meets processes that the round before has missed, as they
 * may fork. */
static void end_all(run *r, proc_list *l)
{
  for (int ms = 0; reap_children(r) && ms < ENDING_MS; ms += 10) {
    scan_processes(l);
    for (int i = 0; i < l->n; ++i)
      if (l->at[i].ours) kill(l->at[i].pid, SIGKILL);
    pause_ms(10);
  }
  l->n = 0;
}

static void print_command(const proc *p)
{
  char path[64], text[200];
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)p->pid);
  FILE *const f = fopen(path, "r");
  const size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f != NULL) fclose(f);
  for (size_t i = 0; i < n; ++i) text[i] = isprint((unsigned char)text[i]) ? text[i] : ' ';
  text[n] = '\0';
  printf("  %d %c %s\n", (int)p->pid, p->state, n > 0 ? text : p->name);
}

static void print_all(const proc_list *l)
{
  for (int i = 0; i < l->n; ++i)
    if (l->at[i].ours) print_command(&l->at[i]);
  fflush(stdout);
}

/* The test has ended: processes that it left behind get a moment to end, too. */
static void end_left(run *r, proc_list *l)
{
  for (int ms = 0; reap_children(r); ms += 20) {
    if (ms >= LEFT_MS) {
      scan_processes(l);
      printf("%s: left these processes, which are ended:\n", r->name);
      print_all(l);
      break;
    }
    pause_ms(20);
  }
  end_all(r, l);
}

/* ---- the report ---- */

__attribute__((format(printf, 3, 4))) static void report(const run *r, const char *verdict,
                                                         const char *form, ...)
{
  char detail[DETAIL], line[512];
  const proc_list none = {0};
  const double cpu = sum_descendant_time(&none), wall = read_monotonic_clock() - r->began;
  va_list args;
  va_start(args, form);
  vsnprintf(detail, sizeof detail, form, args);
  va_end(args);
  printf("%s: %s%s%s; %.2f processor seconds in %.1f s\n", r->name, verdict,
         detail[0] != '\0' ? ": " : "", detail, cpu, wall);
  fflush(stdout);
  const char *const record = getenv("LOOM_TEST_RECORD");
  if (record == NULL) return;
  const int n =
      snprintf(line, sizeof line, "%s\t%s\t%.2f\t%.1f\t%s\n", verdict, r->name, cpu, wall, detail);
  const int fd = open(record, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0 || n >= (int)sizeof line ||
      write(fd, line, (size_t)n) != n) /* one write: a line stays whole */
    printf("%s: cannot write into %s: %s\n", r->name, record, strerror(errno));
  if (fd >= 0) close(fd);
}

static int report_end(const run *r)
{
  if (WIFSIGNALED(r->status)) {
    const int signal = WTERMSIG(r->status);
    report(r, "failed", "ended by signal %d (%s)", signal, strsignal(signal));
    return SIGNALLED + signal;
  }
  const int code = WEXITSTATUS(r->status);
  if (code == 0 || code == SKIPPED)
    report(r, code == 0 ? "passed" : "skipped", "%s", "");
  else
    report(r, "failed", "exit code %d", code);
  return code;
}

/* ---- the run ---- */

/* The signals that this process waits for instead of being interrupted. */
static void fill_awaited_signals(sigset_t *s)
{
  sigemptyset(s);
  sigaddset(s, SIGCHLD);
  sigaddset(s, SIGINT);
  sigaddset(s, SIGTERM);
  sigaddset(s, SIGHUP);
}

static pid_t start_test(char **command, const sigset_t *before)
{
  const pid_t self = getpid();
  fflush(NULL);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* where this process is killed, which cannot kill then */
  if (getppid() != self) _exit(SIGNALLED + SIGKILL);
  sigprocmask(SIG_SETMASK, before, NULL);
  unsetenv("LOOM_TEST_RECORD"); /* of this test, not of tests that it may run */
  execvp(command[0], command);
  fprintf(stderr, "run_limited: cannot run %s: %s\n", command[0], strerror(errno));
  _exit(NO_COMMAND);
}

static int is_running(const proc_list *l) /* or would be, were a processor free */
{
  for (int i = 0; i < l->n; ++i)
    if (l->at[i].ours && l->at[i].state == 'R') return 1;
  return 0;
}

/* An interrupt is passed on, by ending everything, and then obeyed. */
static void obey_signal(run *r, proc_list *l, int signal)
{
  end_all(r, l);
  report(r, "interrupted", "signal %d", signal);
  struct sigaction plain = {.sa_handler = SIG_DFL};
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigaction(signal, &plain, NULL);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
}

/* Until the test has ended, by itself or by a limit.  Time that passed without a look, as this
 * process was stopped or the machine asleep, counts as two looks. */
static int watch_test(run *r, proc_list *l, const sigset_t *signals)
{
  const double least = r->limit < r->idle ? r->limit : r->idle;
  const double period = least < 8 ? least / 8 : 1; /* s between two looks */
  const struct timespec wait = {(time_t)period, (long)(1e9 * (period - (double)(time_t)period))};
  double most = 0, idle = 0, before = read_monotonic_clock();
  for (;;) {
    const int signal = sigtimedwait(signals, NULL, &wait);
    if (signal > 0 && signal != SIGCHLD) obey_signal(r, l, signal);
    reap_children(r);
    if (r->over) break;
    const double time = read_monotonic_clock(), passed = time - before;
    if (passed < period) continue; /* a child has ended: no look for each of thousands */
    scan_processes(l);
    const double sum = sum_descendant_time(l);
    idle = sum > most || is_running(l) ? 0 : idle + (passed < 2 * period ? passed : 2 * period);
    most = sum > most ? sum : most;
    before = time;
    if (most < r->limit && idle < r->idle) continue;
    if (most >= r->limit)
      printf("%s: over its %g processor seconds; these are ended:\n", r->name, r->limit);
    else
      printf("%s: hanging: no processor time for %g s; these are ended:\n", r->name, r->idle);
    print_all(l);
    end_all(r, l);
    if (most >= r->limit)
      report(r, "timeout", "over its %g processor seconds", r->limit);
    else
      report(r, "timeout", "hanging: no processor time for %g s", r->idle);
    return ENDED;
  }
  end_left(r, l);
  return report_end(r);
}

static int parse_positive(const char *text, double *value)
{
  char *end = NULL;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value > 0;
}

int main(int argc, char **argv)
{
  run r = {.began = read_monotonic_clock()};
  if (argc < 5 || !parse_positive(argv[2], &r.limit) || !parse_positive(argv[3], &r.idle)) {
    fputs("usage: run_limited NAME LIMIT IDLE COMMAND [ARGUMENT...]      processor seconds, "
          "seconds\n",
          stderr);
    return 2;
  }
  r.name = argv[1];
  sigset_t signals, before;
  fill_awaited_signals(&signals);
  signal(SIGCHLD, SIG_DFL); /* ignored, as it may be inherited, no child's end would be told */
  sigprocmask(SIG_BLOCK, &signals, &before);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    perror("run_limited: PR_SET_CHILD_SUBREAPER");
    return NO_COMMAND;
  }
  r.test = start_test(argv + 4, &before);
  if (r.test < 0) {
    perror("run_limited: fork");
    return NO_COMMAND;
  }
  proc_list l = {0};
  const int code = watch_test(&r, &l, &signals);
  free(l.at);
  return code;
}
