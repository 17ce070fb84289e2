/* work.c - see work.h. */
#include <string.h>

#include "run/run_state.h"

void work_reset(run *r) { r->work = (run_work){.measuring = r->work.measuring}; }

void work_charge(run *r, int counter, int64_t n)
{
  if (r->work.measuring) return;
#pragma omp atomic
  r->work.counters[counter] += n;
}

void work_read(const run *r, int64_t out[LOOM_NUM_COUNTERS])
{
  memcpy(out, r->work.counters, sizeof r->work.counters);
  out[LOOM_C_LAUNCH] = r->work.kernels.launches;
  out[LOOM_C_BYTES] += r->work.kernels.bytes;
}
