/* exec_cpu.c - memory of results on the CPU. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <stdlib.h>
#include <sys/mman.h>

#include "mem/internal.h"

enum { ALIGNMENT = 64 };

static size_t align_bytes(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

loom_status exec_cpu_open(loom_err *err, loom_exec *q)
{
  void *const scratch = mmap(NULL, EXEC_SCRATCH_LEN * sizeof(loom_real), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  q->scratch = scratch != MAP_FAILED ? scratch : NULL;
  q->result = aligned_alloc(ALIGNMENT, align_bytes(EXEC_RESULTS_LEN * sizeof(loom_real)));
  if (q->scratch != NULL && q->result != NULL) return LOOM_OK;
  exec_cpu_close(q);
  return err_set(err, LOOM_E_NOMEM, "no memory for the reduction workspace (%zu bytes)",
                 EXEC_SCRATCH_LEN * sizeof(loom_real));
}

void exec_cpu_close(loom_exec *q)
{
  if (q->scratch != NULL) munmap(q->scratch, EXEC_SCRATCH_LEN * sizeof(loom_real));
  free(q->result);
  q->scratch = NULL;
  q->result = NULL;
}
