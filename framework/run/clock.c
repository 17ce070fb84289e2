/* clock.c - exclusive phase clocks. */
#include "run/clock.h"

#include <string.h>
#include <time.h>

double clock_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clock_reset(phase_clock *c)
{
  memset(c, 0, sizeof *c);
  c->begin = c->since = clock_now();
  c->stack[0] = CLOCK_OTHER;
  c->depth = 1;
}

/* Charge the time since the last switch to the running section. */
static void charge(phase_clock *c)
{
  const double now = clock_now();
  c->total[c->stack[c->depth - 1]] += now - c->since;
  c->since = now;
}

void clock_push(phase_clock *c, int section)
{
  charge(c);
  if (c->depth < CLOCK_DEPTH) c->stack[c->depth++] = section;
}

void clock_pop(phase_clock *c)
{
  charge(c);
  if (c->depth > 1) --c->depth;
}

double clock_net(phase_clock *c)
{
  charge(c);
  return clock_now() - c->begin - c->total[CLOCK_MEASURE] - c->total[CLOCK_LOG];
}

const char *clock_section_name(int section)
{
  static const char *const names[CLOCK_NUM] = {"PREDICT", "DETECT",  "ITERATE", "CONTACT",
                                               "FILTER",  "MEASURE", "LOG",     "SCHEDULER"};
  return section >= 0 && section < CLOCK_NUM ? names[section] : "?";
}
