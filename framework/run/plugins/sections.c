/* sections.c - tic and toc: where plugins say their time goes, for /sections of the log and the
 * run's summary. */
#include <stdio.h>
#include <string.h>

#include "core/seconds.h"
#include "run/run_state.h"

void sections_begin_step(run *r)
{
  for (int i = 0; i < r->sections.num; ++i) r->sections.all[i].step = (section_sum){0};
}

void section_begin(run *r, const char *owner, const char *name)
{
  char full[sizeof r->sections.all[0].name];
  int i = 0;
  if (!clock_charges_method(&r->clock)) return; /* work done while measuring is not charged */
  snprintf(full, sizeof full, "%s/%s", owner, name);
  while (i < r->sections.num && strcmp(r->sections.all[i].name, full) != 0) ++i;
  if (i == RUN_MAX_SECTIONS || r->sections.num_open == CLOCK_DEPTH) return;
  if (i == r->sections.num) {
    memcpy(r->sections.all[i].name, full, sizeof full);
    r->sections.num++;
  }
  r->sections.open[r->sections.num_open].section = i;
  r->sections.open[r->sections.num_open].wall = seconds_now();
  r->sections.open[r->sections.num_open].cpu = clock_cpu_now();
  r->sections.open[r->sections.num_open].range = exec_range_begin(&r->exec, full);
  r->sections.num_open++;
}

static void add_section_time(section_sum *sum, double wall, double cpu)
{
  sum->wall += wall;
  sum->cpu += cpu;
  sum->calls++;
}

void section_end(run *r, const char *name)
{
  /* an error may have left inner sections open: close down to the one that is named */
  for (int i = r->sections.num_open - 1; i >= 0; --i) {
    timed_section *const s = &r->sections.all[r->sections.open[i].section];
    const char *const slash = strrchr(s->name, '/');
    if (slash == NULL || strcmp(slash + 1, name) != 0) continue;
    const double wall = seconds_now() - r->sections.open[i].wall;
    const double cpu = clock_cpu_now() - r->sections.open[i].cpu;
    add_section_time(&s->run, wall, cpu);
    add_section_time(&s->step, wall, cpu);
    for (int k = r->sections.num_open - 1; k >= i; --k)
      exec_range_end(&r->exec, r->sections.open[k].range);
    r->sections.num_open = i;
    return;
  }
}
