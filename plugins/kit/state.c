/* state.c - see state.h. */
#include "kit/state.h"

#include <string.h>

static size_t bytes_of(int type, int64_t n)
{
  static const size_t size[] = {[LOOM_REAL] = sizeof(loom_real),
                                [LOOM_I32] = sizeof(int32_t),
                                [LOOM_I64] = sizeof(int64_t),
                                [LOOM_U8] = 1,
                                [LOOM_U64] = sizeof(uint64_t)};
  return (size_t)n * size[type];
}

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
  void *to;
  LOOM_TRY(h->buf_new(h, name, type, n, &b));
  LOOM_TRY(h->map(h, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &to));
  if (n > 0) memcpy(to, p, bytes_of(type, n));
  LOOM_TRY(h->unmap(h, b));
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
  memcpy(p, from, bytes_of(type, n));
  return state_close(h, b);
}
