/* state.c - see state.h. */
#include "kit/state.h"

#include <string.h>

#include "loom/plug.h"

loom_status state_has(const loom_host *host, const loom_buf *b, const char *name, int64_t n)
{
  const int64_t there = host->buf_count(host, b);
  LOOM_CHECK(host, there == n, LOOM_E_IO,
             "the checkpoint has %lld values of %s, %lld are wanted; it was written by another "
             "version or for another scene: start the run again",
             (long long)there, name, (long long)n);
  return LOOM_OK;
}

loom_status state_save(const loom_host *host, const char *name, int type, int64_t n, const void *p)
{
  loom_buf *b = NULL;
  LOOM_TRY(plug_put_new(host, NULL, name, type, p, n, &b));
  LOOM_TRY(host->state_io(host, 0, name, b));
  host->buf_free(host, b);
  return LOOM_OK;
}

loom_status state_open(const loom_host *host, const char *name, int type, int64_t n, loom_buf **b,
                       const void **p)
{
  void *from = NULL;
  LOOM_TRY(host->buf_new(host, name, type, 0, b));
  LOOM_TRY(host->state_io(host, 1, name, *b));
  LOOM_TRY(state_has(host, *b, name, n));
  LOOM_TRY(host->map(host, NULL, *b, LOOM_READ, LOOM_AT_HOST, &from));
  *p = from;
  return LOOM_OK;
}

loom_status state_close(const loom_host *host, loom_buf *b)
{
  LOOM_TRY(host->unmap(host, b));
  host->buf_free(host, b);
  return LOOM_OK;
}

loom_status state_items(const loom_host *host, int restore, const char *name, int type, int64_t n,
                        void *p)
{
  const void *from;
  loom_buf *b = NULL;
  if (!restore) return state_save(host, name, type, n, p);
  LOOM_TRY(state_open(host, name, type, n, &b, &from));
  memcpy(p, from, (size_t)n * plug_item_size(type));
  return state_close(host, b);
}
