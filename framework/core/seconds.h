/* seconds.h - a clock for durations, independent of changes of the time of day. */
#ifndef LOOM_SECONDS_H
#define LOOM_SECONDS_H

#include <time.h>

/* s, since an arbitrary start. */
static inline double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
