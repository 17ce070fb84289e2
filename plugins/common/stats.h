/* stats.h - lines of numbers of every step into a file, for plugins whose numbers fit no column. */
#ifndef STATS_H
#define STATS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Nothing, or a first line that this header may have written: the step and further numbers. */
static inline int stats_ours(FILE *f)
{
  char line[1024];
  if (fgets(line, sizeof line, f) == NULL) return feof(f);
  const size_t n = strspn(line, "0123456789+-.e ");
  return line[0] >= '0' && line[0] <= '9' && line[n] == '\n' && fseek(f, 0, SEEK_SET) == 0;
}

/* Opens `path` when the first step begins: what only looks at a configuration must not touch it.
 * NULL or "": no file.  A run that begins with a later step continues another one, whose lines
 * before that step stay.  Every line is written at once, so that a run that is killed has them.
 * A configuration may come from anybody: only statistics are ever written over. */
static inline loom_status stats_open(const loom_host *h, const char *path, int64_t step, FILE **f)
{
  struct stat st;
  if (*f != NULL || path == NULL || path[0] == '\0') return LOOM_OK;
  const int fd = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
  const int why = errno;
  LOOM_CHECK(h, fd >= 0, LOOM_E_IO, "cannot write %s: %s; name a file in a folder that exists",
             path, strerror(why));
  const int regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  FILE *const open_file = regular ? fdopen(fd, "r+") : NULL;
  if (open_file == NULL) close(fd);
  LOOM_CHECK(h, regular, LOOM_E_IO, "%s is no regular file; name another one for statistics", path);
  LOOM_CHECK(h, open_file != NULL, LOOM_E_NOMEM, "no memory to open %s", path);
  *f = open_file; /* closed with the instance */
  LOOM_CHECK(h, stats_ours(*f), LOOM_E_IO,
             "%s exists and holds no statistics; remove it, or name another file", path);
  LOOM_CHECK(h, stats_keep(*f, step) && setvbuf(*f, NULL, _IOLBF, BUFSIZ) == 0, LOOM_E_IO,
             "cannot write %s", path);
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
