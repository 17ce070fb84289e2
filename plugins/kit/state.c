/* state.c - see state.h. */
#include "kit/state.h"

#include <string.h>

#include "loom/plug.h"

loom_status state_has(const loom_host *h, const loom_buf *b, const char *name, int64_t n)
{
  const int64_t there = h->buf_count(h, b);
  LOOM_CHECK(h, there == n, LOOM_E_IO,
             "the checkpoint has %lld values of %s, %lld are wanted; it was written by another "
             "version or for another scene: start the run again",
             (long long)there, name, (long long)n);
  return LOOM_OK;
}

loom_status state_save(const loom_host *h, const char *name, int type, int64_t n, const void *p)
{
  loom_buf *b = NULL;
  LOOM_TRY(plug_put_new(h, NULL, name, type, p, n, &b));
  LOOM_TRY(h->state_io(h, 0, name, b));
  h->buf_free(h, b);
  return LOOM_OK;
}

loom_status state_open(const loom_host *h, const char *name, int type, int64_t n, loom_buf **b,
                       const void **p)
{
  void *from = NULL;
  LOOM_TRY(h->buf_new(h, name, type, 0, b));
  LOOM_TRY(h->state_io(h, 1, name, *b));
  LOOM_TRY(state_has(h, *b, name, n));
  LOOM_TRY(h->map(h, NULL, *b, LOOM_READ, LOOM_AT_HOST, &from));
  *p = from;
  return LOOM_OK;
}

loom_status state_close(const loom_host *h, loom_buf *b)
{
  LOOM_TRY(h->unmap(h, b));
  h->buf_free(h, b);
  return LOOM_OK;
}

loom_status state_items(const loom_host *h, int restore, const char *name, int type, int64_t n,
                        void *p)
{
  const void *from;
  loom_buf *b = NULL;
  if (!restore) return state_save(h, name, type, n, p);
  LOOM_TRY(state_open(h, name, type, n, &b, &from));
  memcpy(p, from, (size_t)n * plug_item_size(type));
  return state_close(h, b);
}
