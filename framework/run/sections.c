/* sections.c - tic and toc: where plugins say their time goes, for the run's summary. */
#include <stdio.h>
#include <string.h>

#include "run/run_state.h"

void section_begin(run *r, const char *owner, const char *name)
{
  char full[sizeof r->sections.all[0].name];
  int i = 0;
  snprintf(full, sizeof full, "%s/%s", owner, name);
  while (i < r->sections.num && strcmp(r->sections.all[i].name, full) != 0) ++i;
  if (i == RUN_MAX_SECTIONS || r->sections.num_open == CLOCK_DEPTH) return;
  if (i == r->sections.num) {
    memcpy(r->sections.all[i].name, full, sizeof full);
    r->sections.num++;
  }
  r->sections.open[r->sections.num_open].section = i;
  r->sections.open[r->sections.num_open].begin = clock_now();
  r->sections.num_open++;
}

void section_end(run *r, const char *name)
{
  /* an error may have left inner sections open: close down to the one that is named */
  for (int i = r->sections.num_open - 1; i >= 0; --i) {
    timed_section *const s = &r->sections.all[r->sections.open[i].section];
    const char *const slash = strrchr(s->name, '/');
    if (slash == NULL || strcmp(slash + 1, name) != 0) continue;
    s->seconds += clock_now() - r->sections.open[i].begin;
    s->calls++;
    r->sections.num_open = i;
    return;
  }
}
