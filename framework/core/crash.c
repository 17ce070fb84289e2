/* crash.c - the last message of a process that a plugin, or a defect of the core, ends.
 *
 * Everything that runs in a signal handler is async-signal-safe (signal-safety(7)): numbers are
 * formatted here, and write() is the only output. */
#define _DEFAULT_SOURCE /* sigaltstack, SIGSTKSZ */
#include "core/crash.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 1 << 16, TEXT_BYTES = 1024, EXIT_CODE = 1 };

/* A signal handler has no arguments of its own: it can reach only globals. */
static _Atomic(const crash_place *) now;
static pid_t owner; /* the process that installed the handlers; a child has another id */

static const struct {
  int number;
  const char *text;
} signals[] = {{SIGSEGV, "segmentation fault"},
               {SIGBUS, "bus error"},
               {SIGFPE, "arithmetic fault"},
               {SIGILL, "illegal instruction"},
               {SIGABRT, "abort"}};
enum { NUM_SIGNALS = sizeof signals / sizeof signals[0] };

void crash_enter(crash_place *p)
{
  p->outer = atomic_load_explicit(&now, memory_order_relaxed);
  atomic_store_explicit(&now, p, memory_order_release);
}

void crash_leave(const crash_place *p)
{
  atomic_store_explicit(&now, p->outer, memory_order_release);
}

int crash_inside(void) { return atomic_load_explicit(&now, memory_order_relaxed) != NULL; }

/* ---- text ---- */

typedef struct text {
  char s[TEXT_BYTES];
  size_t n;
} text;

static void append_crash_text(text *t, const char *s)
{
  for (; *s != '\0' && t->n < TEXT_BYTES; ++s) t->s[t->n++] = *s;
}

static void put_number(text *t, int64_t v)
{
  char digits[24];
  size_t n = sizeof digits - 1;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  digits[n] = '\0';
  do {
    digits[--n] = (char)('0' + u % 10);
    u /= 10;
  } while (u > 0);
  if (v < 0) append_crash_text(t, "-");
  append_crash_text(t, &digits[n]);
}

static void put_place(text *t, const crash_place *p)
{
  if (p == NULL) {
    append_crash_text(t, "in the core");
    return;
  }
  if (p->callback == NULL) {
    append_crash_text(t, "while ");
    append_crash_text(t, p->plugin);
    append_crash_text(t, " was opened");
    return;
  }
  append_crash_text(t, "in ");
  append_crash_text(t, p->plugin);
  append_crash_text(t, ".");
  append_crash_text(t, p->callback);
  append_crash_text(t, "()");
  if (p->section != NULL) {
    append_crash_text(t, " of [");
    append_crash_text(t, p->section);
    append_crash_text(t, "]");
  }
  if (p->step == NULL) return;
  append_crash_text(t, ", step ");
  put_number(t, *p->step);
  if (p->iter == NULL || *p->iter < 0) return;
  append_crash_text(t, ", iteration ");
  put_number(t, *p->iter);
}

static void write_crash_text(const text *t)
{
  size_t done = 0;
  while (done < t->n) {
    const ssize_t w = write(STDERR_FILENO, t->s + done, t->n - done);
    if (w <= 0) return; /* the output is closed: there is no other way to report */
    done += (size_t)w;
  }
}

/* ---- exit() ---- */

static void at_exit(void)
{
  const crash_place *const p = atomic_load(&now);
  text t = {.n = 0};
  if (p == NULL || getpid() != owner) return;
  fflush(NULL); /* _exit would lose buffered output */
  append_crash_text(&t, "loom: exit() was called ");
  put_place(&t, p);
  append_crash_text(&t, "; a plugin must not end the process: return an error (LOOM_FAIL)\n");
  write_crash_text(&t);
  _exit(EXIT_CODE);
}

/* ---- signals ---- */

static void handle_crash_signal(int number)
{
  static atomic_flag said = ATOMIC_FLAG_INIT;
  text t = {.n = 0};
  while (atomic_flag_test_and_set(&said)) (void)pause(); /* another thread ends the process */
  append_crash_text(&t, "loom: signal ");
  put_number(&t, number);
  append_crash_text(&t, " (");
  for (int i = 0; i < NUM_SIGNALS; ++i)
    if (signals[i].number == number) append_crash_text(&t, signals[i].text);
  append_crash_text(&t, ") ");
  put_place(&t, atomic_load(&now));
  append_crash_text(&t, "; run under gdb, or with LOOM_MEM_CHECK=1\n");
  write_crash_text(&t);
  (void)signal(number, SIG_DFL);
  (void)raise(number); /* it is blocked here and comes when this returns */
}

/* The handlers get a stack of their own, because the other one may have overflowed.  A signal that
 * has a handler already, for example a sanitizer's, keeps it. */
static void install_handlers(void)
{
  static char stack[STACK_BYTES];
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  stack_t present;
  struct sigaction act = {.sa_handler = handle_crash_signal}, before;
  act.sa_flags = SA_ONSTACK;
  (void)sigemptyset(&act.sa_mask);
  for (int i = 0; i < NUM_SIGNALS; ++i) (void)sigaddset(&act.sa_mask, signals[i].number);
  if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE) != 0)
    (void)sigaltstack(&own, NULL);
  for (int i = 0; i < NUM_SIGNALS; ++i)
    if (sigaction(signals[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      (void)sigaction(signals[i].number, &act, NULL);
}

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer's report is followed by the place. */
static void on_death(void)
{
  text t = {.n = 0};
  append_crash_text(&t, "loom: the process ended ");
  put_place(&t, atomic_load(&now));
  append_crash_text(&t, "\n");
  write_crash_text(&t);
}
#endif

void crash_install(void)
{
  owner = getpid();
  (void)atexit(at_exit);
  (void)at_quick_exit(at_exit);
  install_handlers();
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(on_death);
#endif
}

void crash_remove(void)
{
  struct sigaction present;
  for (int i = 0; i < NUM_SIGNALS; ++i)
    if (sigaction(signals[i].number, NULL, &present) == 0 &&
        present.sa_handler == handle_crash_signal)
      (void)signal(signals[i].number, SIG_DFL);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(NULL);
#endif
}
