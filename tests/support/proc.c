/* proc.c - run $LOOM_BIN in a temporary folder, catch its output, kill it. */
#include "support/proc.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/device.h"

enum { MAX_ARGS = 32 };

void proc_enter(void)
{
  char dir[] = "/tmp/loom_test_XXXXXX";
  cr_assert(mkdtemp(dir) != NULL);
  cr_assert_eq(chdir(dir), 0);
}

void proc_enter_memory(void)
{
  char dir[] = "/dev/shm/loom_test_XXXXXX";
  if (mkdtemp(dir) == NULL)
    proc_enter();
  else
    cr_assert_eq(chdir(dir), 0);
}

/* One level deep is all the tests make. */
static void remove_all(const char *dir)
{
  char path[2 * PROC_NAME + 256];
  DIR *const d = opendir(dir);
  if (d == NULL) return;
  for (const struct dirent *e; (e = readdir(d)) != NULL;) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    if (unlink(path) != 0) {
      chmod(path, 0700);
      remove_all(path);
      rmdir(path);
    }
  }
  closedir(d);
}

void proc_leave(void)
{
  char dir[PROC_NAME];
  cr_assert(getcwd(dir, sizeof dir) != NULL && strstr(dir, "/loom_test_") != NULL);
  remove_all(dir);
  cr_assert_eq(chdir("/"), 0);
  cr_assert_eq(rmdir(dir), 0);
}

void proc_write(const char *name, const char *text)
{
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL, "%s", name);
  cr_assert(fputs(text, f) >= 0);
  cr_assert_eq(fclose(f), 0);
}

int proc_exists(const char *name) { return access(name, F_OK) == 0; }

static void read_output_file(const char *name, char text[PROC_TEXT])
{
  FILE *const f = fopen(name, "r");
  cr_assert(f != NULL);
  text[fread(text, 1, PROC_TEXT - 1, f)] = '\0';
  fclose(f);
  unlink(name);
}

static void redirect_to_file(int to, const char *name)
{
  const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || dup2(fd, to) < 0) _exit(126);
  close(fd);
}

static void limit_to(int what, int64_t most)
{
  const struct rlimit limit = {(rlim_t)most, (rlim_t)most};
  if (most > 0 && setrlimit(what, &limit) != 0) _exit(126);
}

static pid_t spawn_loom(const char *const *args, int64_t max_file, int64_t memory, const char *out,
                        const char *err)
{
  const char *const bin = getenv("LOOM_BIN");
  char *argv[MAX_ARGS + 4];
  int n = 0;
  cr_assert(bin != NULL, "LOOM_BIN names no binary");
  argv[n++] = (char *)bin;
  for (int i = 0; args[i] != NULL; ++i) {
    cr_assert_lt(i, MAX_ARGS, "more than %d arguments", MAX_ARGS);
    argv[n++] = (char *)args[i];
    if (i > 0 || !test_on_cuda() || strcmp(args[0], "run") != 0) continue;
    argv[n++] = (char *)"--set"; /* before the test's own settings */
    argv[n++] = (char *)ON_CUDA;
  }
  argv[n] = NULL;
  fflush(NULL);
  const pid_t pid = fork();
  cr_assert(pid >= 0);
  if (pid != 0) return pid;
  redirect_to_file(STDOUT_FILENO, out);
  redirect_to_file(STDERR_FILENO, err);
  signal(SIGPIPE, SIG_DFL);
  if (max_file > 0) signal(SIGXFSZ, SIG_IGN);
  limit_to(RLIMIT_FSIZE, max_file);
  limit_to(RLIMIT_AS, memory);
  limit_to(RLIMIT_CPU, memory > 0 ? 10 : 0);
  execv(bin, argv);
  _exit(127);
}

static void run_limited(proc *p, int64_t max_file, int64_t memory, const char *const *args)
{
  int status = 0;
  const pid_t pid = spawn_loom(args, max_file, memory, "proc.out", "proc.err");
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  p->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  read_output_file("proc.out", p->out);
  read_output_file("proc.err", p->err);
}

void proc_loom_limited(proc *p, int64_t max_file, const char *const *args)
{
  run_limited(p, max_file, 0, args);
}

void proc_loom_small(proc *p, int64_t bytes, const char *const *args)
{
  run_limited(p, 0, bytes, args);
}

void proc_loom(proc *p, const char *const *args) { proc_loom_limited(p, 0, args); }

pid_t proc_start(const char *const *args)
{
  return spawn_loom(args, 0, 0, "/dev/null", "start.err");
}

int proc_kill(pid_t pid)
{
  int status = 0;
  cr_assert_eq(kill(pid, SIGKILL), 0); /* not yet waited for: the pid is still ours */
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  if (WIFSIGNALED(status)) {
    cr_assert_eq(WTERMSIG(status), SIGKILL, "signal %d", WTERMSIG(status));
    return 1;
  }
  char err[PROC_TEXT];
  read_output_file("start.err", err);
  cr_assert_eq(WEXITSTATUS(status), 0, "exit code %d: %s", WEXITSTATUS(status), err);
  return 0;
}

/* "loom: step 3/25 ...", while an error in a step begins "loom: step 3: " */
static int is_progress(const char *line)
{
  static const char head[] = "loom: step ";
  const size_t n = sizeof head - 1;
  return strncmp(line, head, n) == 0 && line[n + strspn(line + n, "0123456789")] == '/';
}

/* "loom: warning: 8 of 13 steps did not converge; ...": how well the steps were solved that a run
 * has finished, which it tells beside an error that ended it. */
static int is_of_steps(const char *line)
{
  static const char head[] = "loom: warning: ";
  const char *const end = line + strcspn(line, "\n");
  const char *const words[] = {strstr(line, " did not converge"), strstr(line, "momentum defect ")};
  if (strncmp(line, head, sizeof head - 1) != 0) return 0;
  return (words[0] != NULL && words[0] < end) || (words[1] != NULL && words[1] < end);
}

/* Notes and progress are not errors, usage lines follow one. */
int proc_error_lines(const char *text)
{
  int lines = 0;
  while (*text != '\0') {
    const size_t n = strcspn(text, "\n");
    const int ours = strncmp(text, "loom: ", 6) == 0 && strncmp(text, "loom: note: ", 12) != 0 &&
                     !is_progress(text) && !is_of_steps(text);
    lines += ours;
    if (!ours && strncmp(text, "usage:", 6) == 0) return lines;
    if (!ours && strncmp(text, "loom: ", 6) != 0) return -1;
    text += n + (text[n] == '\n');
  }
  return lines;
}

void proc_expect_errors(int code, int lines, const char *const *texts, const char *const *args)
{
  proc p;
  proc_loom(&p, args);
  cr_expect_eq(p.code, code, "exit code %d instead of %d:\n%s", p.code, code, p.err);
  cr_expect_eq(proc_error_lines(p.err), lines, "not %d lines of error:\n%s", lines, p.err);
  for (int i = 0; texts[i] != NULL; ++i)
    cr_expect(strstr(p.err, texts[i]) != NULL, "'%s' is missing in:\n%s", texts[i], p.err);
}

void proc_expect_error(int code, const char *const *texts, const char *const *args)
{
  proc_expect_errors(code, 1, texts, args);
}
