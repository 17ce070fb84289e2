/* fork_server.c - runs a program's main() many times, each time in a child of one process that has
 * its libraries and plugins loaded: the start of a process with sanitizers takes longer than most
 * inputs of a fuzzer.
 *
 *   fork_server [FILE...]    shared objects to load at the start
 *
 * The program is linked with its own main() under the name program_main.  Requests come on the
 * standard input, answers go to the standard output; both are plain structures of this machine
 * (tests/fuzz/files/server.py).  The child has the folder, the limits, the output and the arguments
 * of its request, and is a session of its own.
 */
#define _GNU_SOURCE /* wait4, prlimit's names */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int program_main(int argc, char **argv);

enum { TEXT_MAX = 1 << 24, ARGS_MAX = 4096, LOOK_MS = 50, DEPTH = 4, BROKEN = 125 };

typedef struct request { /* `bytes` of text follow: folder, output, arguments, each with a NUL
                            behind it */
  int64_t cpu_s;         /* RLIMIT_CPU, and two seconds more as its hard limit */
  int64_t file_bytes;    /* RLIMIT_FSIZE */
  int64_t memory_kb;     /* of resident memory; above it the child is killed */
  int64_t wall_s;        /* after it the child is killed */
  int64_t texts, bytes;
} request;

typedef struct answer {
  int64_t status;  /* of waitpid() */
  int64_t peak_kb; /* largest resident memory of the child or of one of its children */
  int64_t cpu_us;  /* processor time with its children */
} answer;

/* No stdio here: a child would inherit the buffers. */
static void abort_fork_server(const char *why)
{
  char text[512];
  const int n = snprintf(text, sizeof text, "fork_server: %s\n", why);
  if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0) _exit(BROKEN);
  _exit(BROKEN);
}

static int read_pipe_bytes(int fd, void *to, size_t bytes)
{
  size_t have = 0;
  while (have < bytes) {
    const ssize_t n = read(fd, (char *)to + have, bytes - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    have += (size_t)n;
  }
  return 1;
}

/* ---- the child ---- */

static void set_resource_limit(int resource, int64_t soft, int64_t hard)
{
  const struct rlimit r = {(rlim_t)soft, (rlim_t)hard};
  if (setrlimit((__rlimit_resource_t)resource, &r) != 0) abort_fork_server("a limit cannot be set");
}

/* The end of exit(), behind the handlers of the program.  Destructors of the libraries follow: with
 * sanitizers they poison the shadow of all globals, a third of the time of a small input. */
static void flush_and_exit(int code, void *unused)
{
  (void)unused;
  fflush(NULL);
  _exit(code);
}

static void run_child(const request *q, char *text, const sigset_t *mask)
{
  char *args[ARGS_MAX + 1], *folder = text, *output = folder + strlen(folder) + 1;
  int num = 0;
  args[num++] = (char[]){"loom"};
  for (char *s = output; num < q->texts - 1;) args[num++] = s += strlen(s) + 1;
  args[num] = NULL;
  if (chdir(folder) != 0) abort_fork_server("the folder cannot be entered");
  const int from = open("/dev/null", O_RDONLY),
            to = open(output, O_WRONLY | O_TRUNC | O_CREAT, 0600);
  if (from < 0 || to < 0 || dup2(from, 0) < 0 || dup2(to, 1) < 0 || dup2(to, 2) < 0)
    abort_fork_server("no output");
  close(from);
  close(to);
  (void)setsid();
  set_resource_limit(RLIMIT_CORE, 0, 0);
  set_resource_limit(RLIMIT_FSIZE, q->file_bytes, q->file_bytes);
  set_resource_limit(RLIMIT_CPU, q->cpu_s, q->cpu_s + 2);
  if (sigprocmask(SIG_SETMASK, mask, NULL) != 0)
    abort_fork_server("the mask of signals cannot be set");
  if (on_exit(flush_and_exit, NULL) != 0) abort_fork_server("no handler of exit()");
  exit(program_main(num, args));
}

/* ---- the parent ---- */

/* Resident memory, in kB, of the largest of a process and its children. */
static int64_t resident_kb(int pid, int depth)
{
  char path[96], line[4096];
  long total, pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  FILE *f = fopen(path, "r");
  if (f == NULL) return 0;
  if (fgets(line, sizeof line, f) == NULL || sscanf(line, "%ld %ld", &total, &pages) != 2)
    pages = 0;
  fclose(f);
  int64_t most = pages * (sysconf(_SC_PAGESIZE) >> 10);
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
  f = depth > 0 ? fopen(path, "r") : NULL;
  if (f == NULL) return most;
  for (int child; fscanf(f, "%d", &child) == 1;) {
    const int64_t its = resident_kb(child, depth - 1);
    if (its > most) most = its;
  }
  fclose(f);
  return most;
}

static double read_server_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static answer wait_child(const request *q, pid_t pid, const sigset_t *child_ends)
{
  const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
  const double until = read_server_clock() + (double)q->wall_s;
  int64_t peak = 0;
  for (;;) {
    struct rusage used;
    int status;
    const pid_t done = wait4(pid, &status, WNOHANG, &used);
    if (done < 0 && errno != EINTR) abort_fork_server("the child is lost");
    if (done == pid)
      return (answer){.status = status,
                      .peak_kb = used.ru_maxrss > peak ? used.ru_maxrss : peak,
                      .cpu_us = ((int64_t)used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
                                used.ru_utime.tv_usec + used.ru_stime.tv_usec};
    if (sigtimedwait(child_ends, NULL, &look) >= 0) continue;
    const int64_t kb = resident_kb((int)pid, DEPTH);
    if (kb > peak) peak = kb;
    if (kb > q->memory_kb || read_server_clock() > until) {
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL); /* it may not yet be a session of its own */
    }
  }
}

/* Whether the request's text is as many texts as it says. */
static int is_whole(const request *q, const char *text)
{
  int64_t ends = 0;
  for (int64_t i = 0; i < q->bytes; ++i) ends += text[i] == '\0';
  return ends == q->texts && q->bytes > 0 && text[q->bytes - 1] == '\0';
}

static void load_libraries(int num, char **files)
{
  for (int i = 0; i < num; ++i)
    if (dlopen(files[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) == NULL)
      abort_fork_server(dlerror());
}

int main(int argc, char **argv)
{
  static char text[TEXT_MAX];
  sigset_t child_ends, before;
  request q;
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100),
            out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
  if (in < 0 || out < 0) abort_fork_server("it is called by server.py");
  sigemptyset(&child_ends);
  sigaddset(&child_ends, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ends, &before);
  load_libraries(argc - 1, argv + 1);
  while (read_pipe_bytes(in, &q, sizeof q)) {
    if (q.bytes < 2 || q.bytes > TEXT_MAX || q.texts < 2 || q.texts > ARGS_MAX ||
        !read_pipe_bytes(in, text, (size_t)q.bytes) || !is_whole(&q, text))
      abort_fork_server("a request is not whole");
    const pid_t pid = fork();
    if (pid < 0) abort_fork_server("no process");
    if (pid == 0) {
      close(in);
      close(out);
      run_child(&q, text, &before);
    }
    const answer a = wait_child(&q, pid, &child_ends);
    if (write(out, &a, sizeof a) != sizeof a) abort_fork_server("the answer cannot be written");
  }
  return 0;
}
