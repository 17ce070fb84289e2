/* dev_sim.c - the simulated device of a build with LOOM_CUDA=SIMULATED, see sim.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "mem/dev.h"

#ifdef LK_SIMULATED

#include <stdlib.h>

#include "core/seconds.h"
#include "mem/sim.h"

exec_traffic dev_traffic;

enum { POISON = 0xff /* NaN */, MOST_POISON = 1 << 17 }; /* each page in use takes time to close */
/* Pages of 2 MB, where the system has them, make that time short: opening and closing took two
 * thirds of the tests' time.  Returning part of such a page to the system splits it, so only larger
 * blocks are returned, and these have pages of their own. */
enum { LARGE_PAGE = 1 << 21 };
enum { BLOCKS_MAX = 1 << 16 };
/* An address is used again after so many later releases of blocks of its size: until then code that
 * keeps the pointer finds zeros.  Without any reuse, opening the region would take time for every
 * page that was ever in use. */
enum { RESTS = 16 };

typedef struct block {
  uint64_t at, size; /* bytes from SIM_BASE */
  uint64_t freed;    /* 0: in use; else the number of this release, from 1 */
} block;

typedef struct table { /* at the beginning of the region, in place of globals */
  uint64_t end;        /* all memory behind is untouched */
  uint64_t releases;
  int32_t num;
  block b[BLOCKS_MAX]; /* [num] in order of their addresses */
} table;

static loom_status fail_simulated(loom_err *err, const char *what)
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
  if (sim_order() < 0)
    return err_set(err, LOOM_E_CONFIG, "LOOM_SIM_ORDER=%s: backward, forward or scattered is known",
                   getenv("LOOM_SIM_ORDER"));
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  void *const all = (void *)(SIM_BASE - SIM_PAGE);         /* sim_state and the region */
  if (msync(all, SIM_PAGE, MS_ASYNC) == 0) return LOOM_OK; /* it is open */
  if (mmap(all, SIM_SIZE + SIM_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
    return fail_simulated(err, "opening");
  (void)madvise((void *)SIM_BASE, SIM_SIZE, MADV_HUGEPAGE);
  sim_shared()->open = 1;
  ((table *)SIM_BASE)->end = (sizeof(table) / SIM_PAGE + 2) * SIM_PAGE;
  return sim_leave();
}

static uint64_t round_up_bytes(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

/* A block of `size` bytes that has rested, or a new one; NULL if there is no room. */
static block *find_rested_block(table *t, uint64_t size)
{
  block *oldest = NULL;
  uint64_t resting = 0;
  for (int32_t i = 0; i < t->num; ++i) {
    block *const b = &t->b[i];
    if (b->freed == 0 || b->size != size) continue;
    ++resting;
    if (oldest == NULL || b->freed < oldest->freed) oldest = b;
  }
  if (resting > RESTS) return oldest;
  const uint64_t at = size < LARGE_PAGE ? t->end : round_up_bytes(t->end, LARGE_PAGE);
  if (t->num == BLOCKS_MAX || at + size + SIM_PAGE > SIM_SIZE) return oldest;
  block *const b = &t->b[t->num++];
  b->at = at;
  b->size = size;
  t->end = at + size + SIM_PAGE; /* a page between two blocks belongs to neither */
  return b;
}

/* A pool that keeps released blocks, as dev_cuda.c has: it grows only if more memory is in use than
 * ever before. */
static int64_t pool_used, pool_size;
static void take_from_pool(size_t size)
{
  pool_used += (int64_t)size;
  if (pool_used <= pool_size) return;
  pool_size = pool_used;
  ++dev_traffic.allocations;
}

loom_status dev_alloc(loom_err *err, size_t bytes, void **p)
{
  static int64_t allocations;
  const size_t size = round_up_bytes(bytes, bytes < LARGE_PAGE ? SIM_PAGE : LARGE_PAGE);
  *p = NULL;
  ++dev_traffic.given_out;
  if (sim_enter() != LOOM_OK) return fail_simulated(err, "allocating on");
  block *const b = find_rested_block((table *)SIM_BASE, size);
  if (b == NULL) {
    (void)sim_leave();
    return err_set(err, LOOM_E_NOMEM, "the simulated device has no addresses for %zu bytes", bytes);
  }
  b->freed = 0;
  take_from_pool(size);
  *p = (char *)SIM_BASE + b->at;
  memset(*p, POISON, bytes < MOST_POISON ? bytes : MOST_POISON);
  return sim_leave_at(&allocations);
}

static int by_address(const void *a, const void *b)
{
  const uint64_t p = ((const block *)a)->at, q = ((const block *)b)->at;
  return (p > q) - (p < q);
}

void dev_release(void *p)
{
  static int64_t releases;
  table *const t = (table *)SIM_BASE;
  if (p == NULL || sim_enter() != LOOM_OK) return;
  const block wanted = {.at = (uint64_t)p - SIM_BASE};
  block *const b = bsearch(&wanted, t->b, (size_t)t->num, sizeof wanted, by_address);
  if (b != NULL) {
    b->freed = ++t->releases;
    pool_used -= (int64_t)b->size;
    if (b->size >= LARGE_PAGE)
      (void)madvise(p, b->size, MADV_DONTNEED);
    else
      memset(p, 0, b->size);
  }
  (void)sim_leave_at(&releases);
}

loom_status dev_copy(loom_err *err, void *stream, void *dst, const void *src, size_t bytes,
                     int direction)
{
  static int64_t copies;
  if (sim_shared()->fault)
    return err_set(err, LOOM_E_DEVICE, "copying device memory: " SIM_FAULT_TEXT DEV_LATE);
  const uint64_t to = (uint64_t)dst - SIM_BASE, from = (uint64_t)src - SIM_BASE;
  (void)stream;
  dev_traffic.reads += direction == DEV_TO_HOST;
  dev_traffic.uploads += direction == DEV_TO_DEVICE;
  dev_traffic.copies += direction == DEV_WITHIN;
  if (direction == DEV_TO_HOST) dev_traffic.read_bytes += (int64_t)bytes;
  if (direction == DEV_TO_DEVICE) dev_traffic.upload_bytes += (int64_t)bytes;
  if ((to < SIM_SIZE) != (direction != DEV_TO_HOST) ||
      (from < SIM_SIZE) != (direction != DEV_TO_DEVICE))
    return err_set(err, LOOM_E_DEVICE, "copied between the wrong sides");
  if (sim_enter() != LOOM_OK) return fail_simulated(err, "copying on");
  memcpy(dst, src, bytes);
  return sim_leave_at(&copies);
}

loom_status dev_fill(loom_err *err, void *stream, void *p, int byte, size_t bytes)
{
  static int64_t fills;
  (void)stream;
  if (sim_shared()->fault)
    return err_set(err, LOOM_E_DEVICE, "filling device memory: " SIM_FAULT_TEXT DEV_LATE);
  if (sim_enter() != LOOM_OK) return fail_simulated(err, "filling on");
  memset(p, byte, bytes);
  return sim_leave_at(&fills);
}

static loom_status wait_simulated(loom_err *err)
{
  ++dev_traffic.waits;
  if (sim_shared()->fault)
    return err_set(err, LOOM_E_DEVICE, "waiting for the device: " SIM_FAULT_TEXT DEV_LATE);
  return LOOM_OK;
}

/* ---- time: a launch has ended when it returns ---- */

static double began, marks[EXEC_MARKS];

loom_status dev_time_begin(loom_err *err, void *stream)
{
  (void)err, (void)stream;
  began = seconds_now();
  return LOOM_OK;
}

loom_status dev_time_end(loom_err *err, void *stream, double *seconds)
{
  (void)stream;
  *seconds = seconds_now() - began;
  return wait_simulated(err);
}

loom_status dev_mark(loom_err *err, void *stream, int k)
{
  (void)err, (void)stream;
  marks[k] = seconds_now();
  return LOOM_OK;
}

loom_status dev_mark_wait(loom_err *err, int k)
{
  (void)k;
  return wait_simulated(err);
}

double dev_mark_seconds(int from, int to) { return marks[to] - marks[from]; }

uint64_t dev_range_begin(const char *name)
{
  (void)name;
  return 0;
}

void dev_range_end(uint64_t id) { (void)id; }

const char *dev_error_text(void) { return "the simulated device refused it"; }

#endif
