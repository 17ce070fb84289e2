/* clock.h - exclusive wall-time clocks of the phases of a step.
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
  int stack[CLOCK_DEPTH];
  int depth;
  double since; /* s, when the running section was (re)started */
  double begin; /* s, when the step began */
} phase_clock;

double clock_now(void); /* s, monotonic */
void clock_reset(phase_clock *c);
void clock_push(phase_clock *c, int section);
void clock_pop(phase_clock *c);
/* Wall time since the step began without measuring and logging. */
double clock_net(phase_clock *c);
const char *clock_section_name(int section);

#endif
