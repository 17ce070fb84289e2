/* sections.c - tic and toc: where plugins say their time goes, for the run's summary. */
#include <stdio.h>
#include <string.h>

#include "run/run_state.h"

void section_begin(run *r, const char *owner, const char *name)
{
  char full[sizeof r->section[0].name];
  int i = 0;
  snprintf(full, sizeof full, "%s/%s", owner, name);
  while (i < r->num_section && strcmp(r->section[i].name, full) != 0) ++i;
  if (i == RUN_MAX_SECTIONS || r->num_open == CLOCK_DEPTH) return;
  if (i == r->num_section) {
    memcpy(r->section[i].name, full, sizeof full);
    r->num_section++;
  }
  r->open_section[r->num_open].section = i;
  r->open_section[r->num_open].begin = clock_now();
  r->num_open++;
}

void section_end(run *r, const char *name)
{
  /* an error may have left inner sections open: close down to the one that is named */
  for (int i = r->num_open - 1; i >= 0; --i) {
    struct section *const s = &r->section[r->open_section[i].section];
    const char *const slash = strrchr(s->name, '/');
    if (slash == NULL || strcmp(slash + 1, name) != 0) continue;
    s->seconds += clock_now() - r->open_section[i].begin;
    s->calls++;
    r->num_open = i;
    return;
  }
}
