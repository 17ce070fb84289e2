/* sections.h - tic and toc of plugins. */
#ifndef LOOM_SECTIONS_H
#define LOOM_SECTIONS_H

#include "run/base/clock.h"
#include "run/run.h"

enum { RUN_MAX_SECTIONS = 64 };
typedef struct section_sum {
  double wall, cpu; /* s; cpu: of all threads of the process */
  int64_t calls;
} section_sum;
typedef struct timed_section {
  char name[96];         /* "solver/factor" */
  section_sum run, step; /* summed over the run, over the present step */
} timed_section;
typedef struct run_sections {
  timed_section all[RUN_MAX_SECTIONS];
  int num;
  struct {
    int section;
    double wall, cpu; /* s, when it began */
    uint64_t range;   /* on the timelines of CUDA's tools */
  } open[CLOCK_DEPTH];
  int num_open;
} run_sections;

void sections_begin_step(run *r);
void section_begin(run *r, const char *owner, const char *name);
void section_end(run *r, const char *name);

#endif
