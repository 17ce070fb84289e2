/* stats.h - one line of numbers per step into a file, for plugins whose numbers fit no column. */
#ifndef STATS_H
#define STATS_H

#include <stdio.h>
#include <time.h>

#include "loom/host.h"

/* Opens `path`, empty, when the first step begins: what only looks at a configuration must not
 * touch it.  NULL or "": no file.  What a resumed run had written is lost. */
static inline loom_status stats_open(const loom_host *h, const char *path, FILE **f)
{
  if (*f != NULL || path == NULL || path[0] == '\0') return LOOM_OK;
  *f = fopen(path, "w");
  LOOM_CHECK(h, *f != NULL, LOOM_E_IO, "cannot write %s; name a file in a folder that exists",
             path);
  return LOOM_OK;
}

/* Processor time of all threads of the process so far, s: what others do on the machine does not
 * count, unlike on a clock. */
static inline double stats_cpu(void)
{
  struct timespec t;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return 0.0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
