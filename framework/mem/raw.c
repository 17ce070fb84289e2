/* raw.c - memory of one side of a buffer: taken, filled, copied and released. */
#include <stdlib.h>
#include <string.h>

#include "mem/internal.h"

enum { ALIGNMENT = 64 };
static const char *const side_names[NUM_SIDES] = {"host", "device"};

int mem_injected_failure(mem *m) { return m->fail_after > 0 && --m->fail_after == 0; }

loom_status buf_raw_alloc(mem *m, int side, size_t bytes, void **p)
{
  const size_t size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  *p = NULL;
  if (!mem_injected_failure(m)) {
    if (side == SIDE_DEVICE) return dev_alloc(&m->err, size > 0 ? size : ALIGNMENT, p);
    *p = aligned_alloc(ALIGNMENT, size > 0 ? size : ALIGNMENT);
    if (*p != NULL) return LOOM_OK;
  }
  err_set(&m->err, LOOM_E_NOMEM, "no %s memory for %zu bytes; use a smaller scene or free memory",
          side_names[side], size);
  return LOOM_E_NOMEM;
}

void buf_raw_free(int side, void *p)
{
  if (side == SIDE_DEVICE)
    dev_release(p);
  else
    free(p);
}

loom_status buf_raw_fill(loom_buf *b, int side, void *p, int byte, size_t bytes)
{
  if (bytes == 0) return LOOM_OK;
  if (side == SIDE_DEVICE) return dev_fill(&b->m->err, b->stream, p, byte, bytes);
  memset(p, byte, bytes);
  return LOOM_OK;
}

loom_status buf_raw_copy(loom_buf *b, int to, void *dst, int from, const void *src, size_t bytes)
{
  if (bytes == 0) return LOOM_OK;
  if (to == SIDE_HOST && from == SIDE_HOST) {
    if (src == NULL) return LOOM_E_INTERNAL; /* current contents always have memory */
    memcpy(dst, src, bytes);
    return LOOM_OK;
  }
  const int direction = to == from ? DEV_WITHIN : to == SIDE_HOST ? DEV_TO_HOST : DEV_TO_DEVICE;
  return dev_copy(&b->m->err, b->stream, dst, src, bytes, direction);
}
