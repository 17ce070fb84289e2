/* guard.h - a library that reads foreign files runs in a child process: if it crashes, hangs or
 * takes too much, the caller gets an error, and its own memory is as it was. */
#ifndef LOOM_CORE_GUARD_H
#define LOOM_CORE_GUARD_H

#include <stdio.h>

#include "core/err.h"

typedef struct guard_limits {
  int cpu_s, wall_s; /* s, of processor and of wall time */
  int64_t memory;    /* bytes on top of what the process has */
  int64_t stack;     /* bytes, for recursion over nested contents */
  int64_t answer;    /* bytes, at most so many are handed over */
} guard_limits;

/* Calls body(arg, out) in a child process; what it writes to `out` comes back in *answer [*len],
 * to be freed.  The child is not trusted: the caller checks every number of the answer.
 * LOOM_E_IO, with what ended the child, unless body returns 0.  LOOM_NO_GUARD in the environment
 * calls it directly, for debuggers.  Messages begin with `who`, the noun of a sentence. */
loom_status guard_call(loom_err *err, const guard_limits *limits, const char *who,
                       int (*body)(void *arg, FILE *out), void *arg, char **answer, size_t *len);

#endif
