/* crash.h - the place of the program (plugin, callback, step), for the message when it crashes.
 *
 * A caller of a plugin notes the call here.  When the process is ended from inside, by a signal
 * or by exit(), the message names the plugin, the callback, the step and the iteration. */
#ifndef LOOM_CORE_CRASH_H
#define LOOM_CORE_CRASH_H

#include <stdint.h>

typedef struct crash_place {
  const char *plugin;   /* its name; its file while it is opened */
  const char *callback; /* "iterate"; NULL: the file is being opened */
  const char *section;  /* "contact.all", or NULL */
  const int64_t *step;  /* NULL: outside steps */
  const int32_t *iter;  /* NULL or < 0: outside iterations */
  const struct crash_place *outer;
} crash_place;

/* Notes the call of a plugin; the caller sets *p, which lives until crash_leave(p).  Places nest.
 * [step] */
void crash_enter(crash_place *p);
void crash_leave(const crash_place *p);
int crash_inside(void); /* 1: a plugin is being called */

/* For programs, once: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print the place before they end
 * the process with their usual status, and exit() inside a plugin ends with 1 and a message.
 * With AddressSanitizer the place follows the sanitizer's report. */
void crash_install(void);
/* For a child process, if its parent reports how it ended: signals print no message any more. */
void crash_remove(void);

#endif
