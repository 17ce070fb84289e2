/* core/guard: a child process computes as it can, and its parent gets an answer or an error. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/guard.h"

static const guard_limits small = {
    .cpu_s = 1, .wall_s = 20, .memory = 64 << 20, .stack = 1 << 20, .answer = 4 << 20};

enum { SAY, SAY_MUCH, CRASH, SPIN, SLEEP, ALLOCATE, RECURSE, FAIL, LEAVE, WRITE };

static int recurse_on_stack(int n, const volatile char *above)
{
  volatile char here[256];
  here[0] = (char)(above[0] + 1);
  here[255] = here[0];
  return n > 0 ? recurse_on_stack(n - 1, here) + here[255] : 0;
}

static int run_guarded_act(void *arg, FILE *out)
{
  static const char block[4096] = "x";
  const volatile char top[1] = {0};
  switch (*(const int *)arg) {
  case SAY:
    return fputs("some words", out) < 0;
  case SAY_MUCH:
    for (int k = 0; k < 1500; ++k) fwrite(block, 1, sizeof block, out);
    return 0;
  case CRASH:
    return raise(SIGSEGV);
  case SPIN:
    for (volatile int k = 0;; k = !k) continue;
  case SLEEP:
    return (int)sleep(60);
  case ALLOCATE:
    for (int k = 0; k < 200; ++k) {
      void *const p = malloc(1 << 20);
      if (p == NULL) return fputs("none left", out) < 0;
      memset(p, k, 1 << 20);
    }
    return 0;
  case RECURSE:
    return recurse_on_stack(1 << 16, top) == 1; /* 16 MB */
  case LEAVE:
    exit(7);
  case WRITE: {
    FILE *const f = fopen("/dev/shm/loom_test_guard", "w");
    const int bad = f == NULL || fwrite(block, 1, sizeof block, f) == 0 || fclose(f) != 0;
    unlink("/dev/shm/loom_test_guard");
    return fputs(bad ? "refused" : "written", out) < 0;
  }
  default:
    return 1;
  }
}

static loom_status call_under_guard(int what, const guard_limits *l, loom_err *err, char **text,
                                    size_t *len)
{
  const loom_status s = guard_call(err, l, "the reader", run_guarded_act, &what, text, len);
  cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "%d leaves a process behind", what);
  cr_expect((s == LOOM_OK) == (*text != NULL) || *len == 0);
  return s;
}

static void expect_guard_failure(int what, const guard_limits *l, const char *want)
{
  loom_err err = {0};
  char *text;
  size_t len;
  cr_expect_eq(call_under_guard(what, l, &err, &text, &len), LOOM_E_IO, "%d", what);
  cr_expect(text == NULL && strncmp(err.text, "the reader ", 11) == 0, "%s", err.text);
  cr_expect(strstr(err.text, want) != NULL, "no '%s' in '%s'", want, err.text);
}

static void expect_guard_output(int what, const guard_limits *l, const char *want)
{
  loom_err err = {0};
  char *text;
  size_t len;
  cr_assert_eq(call_under_guard(what, l, &err, &text, &len), LOOM_OK, "%s", err.text);
  cr_expect(len == strlen(want) && memcmp(text, want, len) == 0, "'%.*s'", (int)len, text);
  free(text);
}

Test(guard, an_answer_comes_back)
{
  loom_err err = {0};
  char *text;
  size_t len;
  guard_limits l = small;
  expect_guard_output(SAY, &small, "some words");
  l.answer = 1500 * 4096;
  cr_assert_eq(call_under_guard(SAY_MUCH, &l, &err, &text, &len), LOOM_OK, "%s", err.text);
  cr_assert_eq(len, 1500 * 4096);
  cr_assert(text[0] == 'x' && text[1499 * 4096] == 'x' && text[1499 * 4096 + 1] == '\0');
  free(text);
  setenv("LOOM_NO_GUARD", "1", 1);
  expect_guard_output(SAY, &small, "some words");
}

#ifdef __SANITIZE_ADDRESS__ /* its own handler ends the process with a code */
#define SEGV     "exit code 1"
#define OVERFLOW SEGV
#else
#define SEGV     "crashed (signal 11"
#define OVERFLOW "nested too deep for its stack of 1 MB"
#endif

Test(guard, crashes_and_exits_are_errors)
{
  expect_guard_failure(CRASH, &small, SEGV);
  expect_guard_failure(FAIL, &small, "exit code 1");
  expect_guard_failure(LEAVE, &small, "exit code 7");
}

Test(guard, time_is_limited)
{
  guard_limits l = small;
  expect_guard_failure(SPIN, &small, "more than 1 s of processor time");
  l.wall_s = 1;
  expect_guard_failure(SLEEP, &l, "not done after 1 s");
}

Test(guard, memory_stack_and_answer_are_limited)
{
  guard_limits l = small;
  expect_guard_failure(SAY_MUCH, &small, "more than 4 MB");
#ifndef __SANITIZE_ADDRESS__
  expect_guard_output(ALLOCATE, &small, "none left");
#endif
  l.memory = 512 << 20;
  expect_guard_output(ALLOCATE, &l, "");
  expect_guard_failure(RECURSE, &small, OVERFLOW);
  l.stack = 64 << 20;
  expect_guard_output(RECURSE, &l, "");
}

#ifndef __SANITIZE_ADDRESS__
Test(guard, no_file_is_written) { expect_guard_output(WRITE, &small, "refused"); }
#endif
