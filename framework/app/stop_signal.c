/* stop_signal.c - the handler of SIGINT, SIGTERM and SIGHUP. */
#include "app/stop_signal.h"

#include <signal.h>
#include <unistd.h>

#include "app/commands.h"

/* A signal handler can reach only globals. */
static volatile sig_atomic_t asked = 0, deferred = 0;

/* One write(), so that no line of another thread comes between.  A handler may not call printf().
 */
static void say_at_once(const char *before, int sig, const char *after)
{
  char line[160] = "";
  const char *const parts[] = {"loom: ", before, stop_signal_name(sig), after};
  size_t used = 0;
  for (int k = 0; k < 4; ++k)
    for (const char *c = parts[k]; *c != '\0' && used < sizeof line; ++c) line[used++] = *c;
  if (write(STDERR_FILENO, line, used) < 0) return; /* the output is not read */
}

static void end_now(int sig)
{
  say_at_once("stopped by ", sig, " before the first step\n");
  _exit(EXIT_STOPPED);
}

static void handle_stop_signal(int sig)
{
  if (!deferred) end_now(sig);
  if (asked != 0) { /* blocked while this handler runs: it acts as soon as we return */
    signal(sig, SIG_DFL);
    raise(sig);
  }
  asked = sig;
  say_at_once("", sig, ": the run ends after the present step; a second signal ends it at once\n");
}

void stop_signal_catch(void)
{
  const struct sigaction act = {.sa_handler = handle_stop_signal};
  struct sigaction before;
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &act, NULL);
}

void stop_signal_defer(void) { deferred = 1; }

int stop_signal_asked(void) { return asked; }

const char *stop_signal_name(int sig)
{
  return sig == SIGINT    ? "SIGINT"
         : sig == SIGTERM ? "SIGTERM"
         : sig == SIGHUP  ? "SIGHUP"
                          : "a signal";
}
