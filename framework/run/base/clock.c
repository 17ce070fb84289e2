/* clock.c - exclusive phase clocks. */
#include "run/base/clock.h"

#include <string.h>
#include <time.h>

#include "core/seconds.h"

double clock_cpu_now(void)
{
  struct timespec t;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return 0.0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A failed mark is told by the next wait for the device. */
static void mark_device_section(phase_clock *c, int section)
{
  loom_err ignored = {0};
  if (c->exec == NULL) return;
  if (c->num_marks == EXEC_MARKS) (void)clock_settle(c, &ignored);
  c->marked[c->num_marks] = (signed char)section;
  (void)exec_mark(&ignored, c->exec, c->num_marks++);
}

void clock_reset(phase_clock *c)
{
  const loom_exec *const exec = c->exec;
  memset(c, 0, sizeof *c);
  c->exec = exec;
  c->reads_since = exec_traffic_now()->reads;
  mark_device_section(c, CLOCK_OTHER);
  c->begin = c->since = seconds_now();
  c->cpu_since = clock_cpu_now();
  c->stack[0] = CLOCK_OTHER;
  c->depth = 1;
}

/* Charge the time since the last switch to the running section. */
static void charge_section(phase_clock *c)
{
  const double now = seconds_now(), cpu = clock_cpu_now();
  const int64_t reads = exec_traffic_now()->reads;
  const int section = c->stack[c->held > 0 ? c->held - 1 : c->depth - 1];
  c->total[section] += now - c->since;
  c->cpu[section] += cpu - c->cpu_since;
  c->reads[section] += reads - c->reads_since;
  c->since = now;
  c->cpu_since = cpu;
  c->reads_since = reads;
  mark_device_section(c, section);
}

void clock_push(phase_clock *c, int section)
{
  charge_section(c);
  if (c->depth < CLOCK_DEPTH) c->stack[c->depth++] = section;
}

void clock_pop(phase_clock *c)
{
  charge_section(c);
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
  charge_section(c);
  return seconds_now() - c->begin - c->total[CLOCK_MEASURE] - c->total[CLOCK_LOG];
}

double clock_cpu_net(phase_clock *c)
{
  double sum = 0.0;
  charge_section(c);
  for (int i = 0; i < CLOCK_NUM; ++i)
    if (i != CLOCK_MEASURE && i != CLOCK_LOG) sum += c->cpu[i];
  return sum;
}

loom_status clock_settle(phase_clock *c, loom_err *err)
{
  double seconds[EXEC_MARKS];
  if (c->exec == NULL || c->num_marks == 0) return LOOM_OK;
  LOOM_TRY(exec_marks_read(err, c->exec, c->num_marks, seconds));
  for (int k = 1; k < c->num_marks; ++k) c->settled[c->marked[k]] += seconds[k];
  memcpy(c->total, c->settled, sizeof c->total);
  c->num_marks = 0;
  mark_device_section(c, CLOCK_OTHER); /* from which the next section is counted */
  return LOOM_OK;
}

const char *clock_section_name(int section)
{
#define NAME_(with, NAME, name, wall_doc, cpu_doc) #name,
  static const char *const names[CLOCK_NUM] = {CLOCK_PHASES(NAME_, )};
  return section >= 0 && section < CLOCK_NUM ? names[section] : "?";
}
