/* proc.h - the real binary ($LOOM_BIN) in a process of its own; for regress tests. */
#ifndef TEST_PROC_H
#define TEST_PROC_H

#include <stdint.h>
#include <sys/types.h>

enum { PROC_TEXT = 32768, PROC_NAME = 192 };

typedef struct proc {
  int code;                            /* exit code; -SIGNAL if a signal ended it */
  char out[PROC_TEXT], err[PROC_TEXT]; /* stdout and stderr */
} proc;

/* A temporary folder, made the current one: names in configs and on command lines are
 * relative to it.  proc_leave removes it with all it holds. */
void proc_enter(void);
/* The same in memory where there is a folder in memory: for hundreds of runs, which wait for the
 * disk otherwise. */
void proc_enter_memory(void);
void proc_leave(void);

void proc_write(const char *name, const char *text);
int proc_exists(const char *name);

/* `loom ARGS...`, a NULL-terminated list. */
void proc_loom(proc *p, const char *const *args);
/* The same with files limited to `max_file` bytes: writing beyond is refused with EFBIG, as
 * a full disk refuses with ENOSPC. */
void proc_loom_limited(proc *p, int64_t max_file, const char *const *args);
/* The same with `bytes` of address space and ten seconds of processor time. */
void proc_loom_small(proc *p, int64_t bytes, const char *const *args);
/* Started and not waited for. */
pid_t proc_start(const char *const *args);
/* SIGKILL to a process of proc_start.  1: it was still running, 0: it had ended with 0. */
int proc_kill(pid_t pid);

/* Run and expect success; the test fails with stderr otherwise. */
#define LOOM_FINE(...)                                                                    \
  do {                                                                                    \
    proc fine_;                                                                           \
    proc_loom(&fine_, (const char *const[]){__VA_ARGS__, NULL});                          \
    cr_assert_eq(fine_.code, 0, "exit code %d:\n%s%s", fine_.code, fine_.out, fine_.err); \
  } while (0)

/* Lines of error in a command's output on stderr, before any usage; -1: a line that is none of
 * ours. Warnings of how the steps of a run ended are no errors. */
int proc_error_lines(const char *text);

/* Run and expect this exit code, this many lines of error (before any usage), and every given
 * text among them. */
void proc_expect_errors(int code, int lines, const char *const *texts, const char *const *args);
void proc_expect_error(int code, const char *const *texts, const char *const *args); /* one */
#define LOOM_TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define LOOM_ARGS(...)  ((const char *const[]){__VA_ARGS__, NULL})

#endif
