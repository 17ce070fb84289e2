/* stop_signal.c - the handler of SIGINT, SIGTERM and SIGHUP. */
#include "app/stop_signal.h"

#include <signal.h>
#include <stddef.h>

/* A signal can reach nothing but a global. */
static volatile sig_atomic_t asked = 0;

static void on_signal(int sig)
{
  if (asked != 0) { /* blocked while this handler runs: it acts as soon as we return */
    signal(sig, SIG_DFL);
    raise(sig);
  }
  asked = sig;
}

void stop_signal_catch(void)
{
  const struct sigaction act = {.sa_handler = on_signal};
  struct sigaction before;
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &act, NULL);
}

int stop_signal_asked(void) { return asked; }

const char *stop_signal_name(int sig)
{
  return sig == SIGINT    ? "SIGINT"
         : sig == SIGTERM ? "SIGTERM"
         : sig == SIGHUP  ? "SIGHUP"
                          : "a signal";
}
