/* dev_sim.c - the simulated device of a build with LOOM_CUDA=SIMULATED, see sim.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "mem/dev.h"

#ifdef LK_SIMULATED

#include "mem/sim.h"

enum { POISON = 0xff /* NaN */, MOST_POISON = 1 << 20 };

typedef struct block { /* in the page before the memory that is handed out; the first one, at
                        * SIM_BASE, belongs to nobody and has the size of all */
  size_t size;
} block;

static loom_status fail(loom_err *err, const char *what)
{
  return err_set(err, LOOM_E_DEVICE, "%s the simulated device failed", what);
}

int dev_count(char *why, size_t len)
{
  if (len > 0) why[0] = '\0';
  return 1;
}

void dev_name(int device, char *name, size_t len)
{
  (void)device;
  snprintf(name, len, "simulated device, %d GiB of addresses", (int)(SIM_SIZE >> 30));
}

loom_status dev_open(loom_err *err, int device, void **stream)
{
  (void)device;
  *stream = NULL;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (msync((void *)SIM_BASE, SIM_PAGE, MS_ASYNC) == 0) return LOOM_OK; /* it is open */
  if (mmap((void *)SIM_BASE, SIM_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
    return fail(err, "opening");
  ((block *)SIM_BASE)->size = SIM_PAGE;
  return sim_leave();
}

loom_status dev_alloc(loom_err *err, size_t bytes, void **p)
{
  const size_t size = (bytes + SIM_PAGE - 1) / SIM_PAGE * SIM_PAGE;
  block *const all = (block *)SIM_BASE;
  *p = NULL;
  if (sim_enter() != LOOM_OK) return fail(err, "allocating on");
  if (all->size + size + SIM_PAGE > SIM_SIZE) {
    (void)sim_leave();
    return err_set(err, LOOM_E_NOMEM, "the simulated device has no addresses for %zu bytes", bytes);
  }
  block *const b = (block *)(SIM_BASE + all->size);
  b->size = size;
  all->size += size + SIM_PAGE;
  *p = (char *)b + SIM_PAGE;
  memset(*p, POISON, bytes < MOST_POISON ? bytes : MOST_POISON);
  return sim_leave();
}

/* Addresses are not used again: whoever keeps one finds zeros. */
void dev_release(void *p)
{
  if (p == NULL || sim_enter() != LOOM_OK) return;
  (void)madvise(p, ((block *)((char *)p - SIM_PAGE))->size, MADV_DONTNEED);
  (void)sim_leave();
}

loom_status dev_copy(loom_err *err, void *stream, void *dst, const void *src, size_t bytes,
                     int direction)
{
  const uint64_t to = (uint64_t)dst - SIM_BASE, from = (uint64_t)src - SIM_BASE;
  (void)stream;
  if ((to < SIM_SIZE) != (direction != DEV_TO_HOST) ||
      (from < SIM_SIZE) != (direction != DEV_TO_DEVICE))
    return err_set(err, LOOM_E_DEVICE, "copied between the wrong sides");
  if (sim_enter() != LOOM_OK) return fail(err, "copying on");
  memcpy(dst, src, bytes);
  return sim_leave();
}

loom_status dev_fill(loom_err *err, void *stream, void *p, int byte, size_t bytes)
{
  (void)stream;
  if (sim_enter() != LOOM_OK) return fail(err, "filling on");
  memset(p, byte, bytes);
  return sim_leave();
}

loom_status dev_sync(loom_err *err, void *stream)
{
  (void)err, (void)stream;
  return LOOM_OK;
}

const char *dev_error_text(void) { return "the simulated device refused it"; }

#endif
