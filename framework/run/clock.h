/* clock.h - exclusive clocks of the phases of a step: wall time, and processor time of the whole
 * process, which does not count what others do on the machine.
 *
 * Sections nest: while an inner section runs, the outer one stands still, so the
 * phases add up to the total and measuring is never charged to anybody else.
 */
#ifndef LOOM_CLOCK_H
#define LOOM_CLOCK_H

#include <stdint.h>

enum {
  CLOCK_PREDICT = 0,
  CLOCK_DETECT,
  CLOCK_SOLVE,
  CLOCK_CONTACT,
  CLOCK_FILTER,
  CLOCK_MEASURE,
  CLOCK_LOG,
  CLOCK_OTHER, /* the run itself */
  CLOCK_NUM
};

enum { CLOCK_DEPTH = 16 };

typedef struct phase_clock {
  double total[CLOCK_NUM]; /* s, of the present step */
  double cpu[CLOCK_NUM];   /* s, likewise, processor time of all threads */
  double cpu_plugins;      /* s, of it, in callbacks of plugins, but for measuring and logging */
  int stack[CLOCK_DEPTH];
  int depth;
  int held;         /* depth of the section that takes all time until it is popped, 0: none */
  double since;     /* s, when the running section was (re)started */
  double cpu_since; /* s, likewise, processor time */
  double begin;     /* s, when the step began */
} phase_clock;

double clock_now(void);     /* s, monotonic */
double clock_cpu_now(void); /* s, of all threads of the process so far */
void clock_reset(phase_clock *c);
void clock_push(phase_clock *c, int section);
void clock_pop(phase_clock *c);
/* The same, but sections inside it are charged to it, too. */
void clock_hold(phase_clock *c, int section);
/* Whether the running section is the method's: neither MEASURE nor LOG. */
int clock_charges_method(const phase_clock *c);
/* Wall time since the step began without measuring and logging. */
double clock_net(phase_clock *c);
double clock_cpu_net(phase_clock *c); /* the same of processor time */
const char *clock_section_name(int section);

#endif
