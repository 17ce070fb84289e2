/* clock.h - exclusive clocks of the phases of a step: wall time, and processor time of the whole
 * process, which does not count other processes.
 *
 * Sections nest: while an inner section runs, the outer one stands still, so the
 * phases add up to the total, and measuring is charged to CLOCK_MEASURE alone.
 */
#ifndef LOOM_CLOCK_H
#define LOOM_CLOCK_H

#include "log/h5log_schema.h"
#include "mem/mem.h"

/* The phases that a log has columns of (log/h5log_schema.h, which lies below), and OTHER: the run
 * itself.  X(with, NAME, name, wall doc, cpu doc), `with` is passed through to X. */
#define CLOCK_PHASES(X, with)                                H5LOG_PHASES(X, with) X(with, OTHER, other, NULL, NULL)
#define CLOCK_CONSTANT_(with, NAME, name, wall_doc, cpu_doc) CLOCK_##NAME,
enum { CLOCK_PHASES(CLOCK_CONSTANT_, ) CLOCK_NUM };

enum { CLOCK_DEPTH = 16 };

typedef struct phase_clock {
  double total[CLOCK_NUM]; /* s, of the present step */
  double cpu[CLOCK_NUM];   /* s, of the present step, processor time of all threads */
  double cpu_plugins;      /* s, of it, in callbacks of plugins, but for measuring and logging */
  int stack[CLOCK_DEPTH];
  int depth;
  int held;         /* depth of the section that takes all time until it is popped, 0: none */
  double since;     /* s, when the running section was (re)started */
  double cpu_since; /* s, processor time at `since` */
  double begin;     /* s, when the step began */
  /* On a device launches return at once, so that the host's clock does not see the work: every
   * switch leaves a mark in the stream, and clock_settle() replaces the sums above. */
  const loom_exec *exec;     /* NULL: everything runs on the CPU */
  double settled[CLOCK_NUM]; /* s, of the marks that were taken back */
  int num_marks;
  signed char marked[EXEC_MARKS]; /* section that ends with the mark */
  int64_t reads[CLOCK_NUM];       /* of the device, that the section waited for */
  int64_t reads_since;
} phase_clock;

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
/* Waits for the device and sets `total` to the time of each section there.  Once per step. */
loom_status clock_settle(phase_clock *c, loom_err *err);
const char *clock_section_name(int section); /* "predict" ..., "other"; "?": no section */

#endif
