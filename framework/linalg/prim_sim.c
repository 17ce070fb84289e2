/* prim_sim.c - scan and sort on the simulated device, by the functions of the CPU. */
#include "core/err.h"
#include "linalg/prim.h"

#ifdef LK_SIMULATED

#include "mem/sim.h"

loom_status prim_scan_cuda(const loom_exec *q, const int64_t *in, int64_t *out, int64_t n,
                           void *work, size_t *bytes)
{
  *bytes = 1;
  if (work == NULL) return LOOM_OK;
  LOOM_TRY(sim_launch(q, "scan", NULL, 0));
  prim_scan_cpu(1, in, out, n);
  return sim_leave();
}

loom_status prim_sort_cuda(const loom_exec *q, uint64_t *key, int32_t *perm, int64_t n, void *work,
                           size_t *bytes)
{
  *bytes = (size_t)prim_sort_cpu_bytes(1, n);
  if (work == NULL) return LOOM_OK;
  LOOM_TRY(sim_launch(q, "sort", NULL, 0));
  prim_sort_cpu(1, key, perm, n, work);
  return sim_leave();
}

#endif
