/* sections.h - tic and toc of plugins. */
#ifndef LOOM_SECTIONS_H
#define LOOM_SECTIONS_H

#include "run/clock.h"
#include "run/run.h"

enum { RUN_MAX_SECTIONS = 64 };
typedef struct timed_section {
  char name[96];  /* "solver/factor" */
  double seconds; /* summed over the run */
  int64_t calls;
} timed_section;
typedef struct run_sections {
  timed_section all[RUN_MAX_SECTIONS];
  int num;
  struct {
    int section;
    double begin; /* s */
  } open[CLOCK_DEPTH];
  int num_open;
} run_sections;

void section_begin(run *r, const char *owner, const char *name);
void section_end(run *r, const char *name);

#endif
