/* stop_signal.c - the handler of SIGINT, SIGTERM and SIGHUP. */
#include "app/stop_signal.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "app/commands.h"

/* A signal handler can reach only globals. */
static volatile sig_atomic_t asked = 0, deferred = 0;

static void end_now(int sig)
{
  static const char before[] = "loom: stopped by ", after[] = " before the first step\n";
  const char *const name = stop_signal_name(sig);
  if (write(STDERR_FILENO, before, sizeof before - 1) >= 0 &&
      write(STDERR_FILENO, name, strlen(name)) >= 0 &&
      write(STDERR_FILENO, after, sizeof after - 1) >= 0)
    _exit(EXIT_STOPPED);
  _exit(EXIT_STOPPED); /* the output is not read */
}

static void handle_stop_signal(int sig)
{
  if (!deferred) end_now(sig);
  if (asked != 0) { /* blocked while this handler runs: it acts as soon as we return */
    signal(sig, SIG_DFL);
    raise(sig);
  }
  asked = sig;
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
