/* crash.h - where the program is, for the message that is its last one.
 *
 * Whoever calls into a plugin notes it here.  When the process is ended from inside, by a signal
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

/* A plugin is entered; *p is set by the caller and lives until crash_leave(p).  Places nest.
 * [step] */
void crash_enter(crash_place *p);
void crash_leave(const crash_place *p);
int crash_inside(void); /* a plugin is being called */

/* For programs, once: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT say where they came from before
 * they end the process as they would have, and exit() inside a plugin ends with 1 and a message.
 * With AddressSanitizer the place follows its own report. */
void crash_install(void);
/* In a child process whose parent reports how it ended: signals are silent again. */
void crash_remove(void);

#endif
