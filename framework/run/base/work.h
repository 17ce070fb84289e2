/* work.h - work that is charged to the method in a step: counters and kernel launches. */
#ifndef LOOM_WORK_H
#define LOOM_WORK_H

#include "loom/host.h"
#include "run/run.h"

typedef struct kernel_work {
  int64_t launches, bytes;
} kernel_work;

typedef struct run_work {
  int64_t counters[LOOM_NUM_COUNTERS]; /* of this step, except of kernels */
  kernel_work kernels;                 /* of this step; kernels count there by themselves */
  int measuring;                       /* 1: the core measures, and work is not charged */
} run_work;

void work_reset(run *r); /* a step begins */
/* Charges work, LOOM_C_*, to the method, except while the core measures.  Services charge the
 * requests of plugins, and the core charges work that it does in their place.  From any thread. */
void work_charge(run *r, int counter, int64_t n);
void work_read(const run *r, int64_t out[LOOM_NUM_COUNTERS]);

#endif
