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

double clock_cpu_now(void)
{
  struct timespec t;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return 0.0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clock_reset(phase_clock *c)
{
  memset(c, 0, sizeof *c);
  c->begin = c->since = clock_now();
  c->cpu_since = clock_cpu_now();
  c->stack[0] = CLOCK_OTHER;
  c->depth = 1;
}

/* Charge the time since the last switch to the running section. */
static void charge(phase_clock *c)
{
  const double now = clock_now(), cpu = clock_cpu_now();
  const int section = c->stack[c->held > 0 ? c->held - 1 : c->depth - 1];
  c->total[section] += now - c->since;
  c->cpu[section] += cpu - c->cpu_since;
  c->since = now;
  c->cpu_since = cpu;
}

void clock_push(phase_clock *c, int section)
{
  charge(c);
  if (c->depth < CLOCK_DEPTH) c->stack[c->depth++] = section;
}

void clock_pop(phase_clock *c)
{
  charge(c);
  if (c->held == c->depth) c->held = 0;
  if (c->depth > 1) --c->depth;
}

void clock_hold(phase_clock *c, int section)
{
  clock_push(c, section);
  if (c->held == 0) c->held = c->depth;
}

int clock_charges_method(const phase_clock *c)
{
  const int section = c->stack[c->held > 0 ? c->held - 1 : c->depth - 1];
  return section != CLOCK_MEASURE && section != CLOCK_LOG;
}

double clock_net(phase_clock *c)
{
  charge(c);
  return clock_now() - c->begin - c->total[CLOCK_MEASURE] - c->total[CLOCK_LOG];
}

double clock_cpu_net(phase_clock *c)
{
  double sum = 0.0;
  charge(c);
  for (int i = 0; i < CLOCK_NUM; ++i)
    if (i != CLOCK_MEASURE && i != CLOCK_LOG) sum += c->cpu[i];
  return sum;
}

const char *clock_section_name(int section)
{
  static const char *const names[CLOCK_NUM] = {"PREDICT", "DETECT",  "ITERATE", "CONTACT",
                                               "FILTER",  "MEASURE", "LOG",     "SCHEDULER"};
  return section >= 0 && section < CLOCK_NUM ? names[section] : "?";
}
