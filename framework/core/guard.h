/* guard.h - runs a library that reads foreign files in a child process: if the library crashes,
 * hangs or takes too much memory, the caller gets an error, and its own memory is unchanged. */
#ifndef LOOM_CORE_GUARD_H
#define LOOM_CORE_GUARD_H

#include <stdio.h>

#include "core/err.h"

typedef struct guard_limits {
  int cpu_s, wall_s; /* s, of processor and of wall time */
  int64_t memory;    /* bytes on top of the memory of the caller */
  int64_t stack;     /* bytes, for recursion over nested contents */
  int64_t answer;    /* bytes, largest answer */
} guard_limits;

/* Calls body(arg, out) in a child process; its output to `out` comes back in *answer [*len], which
 * the caller frees.  The child is not trusted: the caller checks every number of the answer.
 * LOOM_E_IO, with the reason why the child ended, unless body returns 0.  LOOM_NO_GUARD in the
 * environment calls it directly, for debuggers.  `who` is the subject of the messages. */
loom_status guard_call(loom_err *err, const guard_limits *limits, const char *who,
                       int (*body)(void *arg, FILE *out), void *arg, char **answer, size_t *len);

#endif
