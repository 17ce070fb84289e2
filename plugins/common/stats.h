/* stats.h - lines of numbers of every step into a file, for plugins whose numbers fit no column. */
#ifndef STATS_H
#define STATS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loom/host.h"

/* Cuts the file off behind the lines of steps before `step`; lines begin with their step. */
static inline int stats_keep(FILE *f, int64_t step)
{
  char line[1024];
  long end = 0;
  while (fgets(line, sizeof line, f) != NULL && strchr(line, '\n') != NULL) {
    char *after;
    const long long of = strtoll(line, &after, 10);
    if (after == line || of >= step) break;
    end = ftell(f);
  }
  return end >= 0 && fseek(f, end, SEEK_SET) == 0 && ftruncate(fileno(f), end) == 0;
}

/* Opens `path` when the first step begins: what only looks at a configuration must not touch it.
 * NULL or "": no file.  A run that begins with a later step continues another one, whose lines
 * before that step stay.  Every line is written at once, so that a run that is killed has them. */
static inline loom_status stats_open(const loom_host *h, const char *path, int64_t step, FILE **f)
{
  if (*f != NULL || path == NULL || path[0] == '\0') return LOOM_OK;
  if (step > 0) *f = fopen(path, "r+");
  const int kept = *f == NULL || stats_keep(*f, step);
  if (*f == NULL) *f = fopen(path, "w");
  LOOM_CHECK(h, *f != NULL && kept && setvbuf(*f, NULL, _IOLBF, BUFSIZ) == 0, LOOM_E_IO,
             "cannot write %s; name a file in a folder that exists", path);
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
