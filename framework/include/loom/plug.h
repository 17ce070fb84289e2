/* loom/plug.h - helpers for every plugin: they bind the arguments of a kernel to buffers by name,
 * and launch it with a message.  This header is not part of the binary interface.
 *
 *   plug_maps m = plug_maps_on(h, e);
 *   const my_args args = {.grad = plug_read(&m, s->grad), .dir = plug_write(&m, s->trial)};
 *   return plug_launch(&m, &my_kernel, &args, n, NULL);
 *
 * A plug_maps keeps its first error: the calls after it neither map nor launch, and the last
 * returns it.  Functions that return loom_status record the message.
 */
#ifndef LOOM_PLUG_H
#define LOOM_PLUG_H

#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "kernel.h"

/* For create(): *self is a zeroed instance of `size` bytes, which destroy() frees, also if create()
 * fails later.  plug_free() is a destroy() for an instance without other memory of its own. */
static inline loom_status plug_new(const loom_host *host, size_t size, void **self)
{
  *self = calloc(1, size);
  if (*self != NULL) return LOOM_OK;
  (void)LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for the instance");
  return LOOM_E_NOMEM;
}
static inline void plug_free(void *self) { free(self); }

enum { PLUG_MAPS_MAX = 32 };
typedef struct plug_maps {
  const loom_host *host;
  const loom_exec *e; /* where the instance runs */
  loom_status status; /* first error so far, or LOOM_OK */
  int num;
  loom_buf *bufs[PLUG_MAPS_MAX]; /* [num] mapped, in this order */
} plug_maps;

static inline plug_maps plug_maps_on(const loom_host *host, const loom_exec *e)
{
  plug_maps m;
  m.host = host;
  m.e = e;
  m.status = LOOM_OK;
  m.num = 0;
  return m;
}

/* Maps b until plug_unbind() and returns its items, NULL on error.  access: LOOM_READ, LOOM_WRITE
 * or LOOM_RDWR; place: LOOM_AT_EXEC or LOOM_AT_HOST.  b = NULL is an error. */
static inline void *plug_add(plug_maps *m, loom_buf *b, int access, int place)
{
  void *p = NULL;
  if (m->status != LOOM_OK) return NULL;
  if (m->num == PLUG_MAPS_MAX) {
    m->status = LOOM_FAIL(m->host, LOOM_E_INTERNAL, "more than %d maps at once", PLUG_MAPS_MAX);
    return NULL;
  }
  m->status = m->host->map(m->host, m->e, b, access, place, &p);
  if (m->status == LOOM_OK) m->bufs[m->num++] = b;
  return p;
}

/* As plug_add() for an optional buffer: b = NULL gives NULL without an error. */
static inline void *plug_bind(plug_maps *m, loom_buf *b, int access, int place)
{
  return b != NULL ? plug_add(m, b, access, place) : NULL;
}

/* Maps for a kernel that runs where the instance does: for reading, for overwriting every item, for
 * changing some items.  b = NULL gives NULL. */
static inline const void *plug_read(plug_maps *m, loom_buf *b)
{
  return plug_bind(m, b, LOOM_READ, LOOM_AT_EXEC);
}
static inline void *plug_write(plug_maps *m, loom_buf *b)
{
  return plug_bind(m, b, LOOM_WRITE, LOOM_AT_EXEC);
}
static inline void *plug_rdwr(plug_maps *m, loom_buf *b)
{
  return plug_bind(m, b, LOOM_RDWR, LOOM_AT_EXEC);
}

/* Maps for a loop on the host, which has to test m->status first.  b = NULL is an error. */
static inline const void *plug_read_host(plug_maps *m, loom_buf *b)
{
  return plug_add(m, b, LOOM_READ, LOOM_AT_HOST);
}
static inline void *plug_write_host(plug_maps *m, loom_buf *b)
{
  return plug_add(m, b, LOOM_WRITE, LOOM_AT_HOST);
}
static inline void *plug_rdwr_host(plug_maps *m, loom_buf *b)
{
  return plug_add(m, b, LOOM_RDWR, LOOM_AT_HOST);
}

/* Unmaps all in reverse order; returns the first error.  The core ends the maps that are left. */
static inline loom_status plug_unbind(plug_maps *m)
{
  while (m->num > 0 && m->status == LOOM_OK) m->status = m->host->unmap(m->host, m->bufs[--m->num]);
  m->num = 0;
  return m->status;
}

/* lk_run() with a message that names the kernel; for CUDA errors the core adds CUDA's text. */
static inline loom_status plug_run(const loom_host *host, const loom_exec *e, const lk_entry *k,
                                   const void *args, int64_t n, lk_real *result)
{
  const loom_status s = lk_run(k, e, args, n, result);
  LOOM_CHECK(host, s == LOOM_OK, s, "kernel %s failed on %lld elements", k->name, (long long)n);
  return LOOM_OK;
}

/* plug_run() unless a map failed.  The maps stay, for several launches with the same arguments. */
static inline loom_status plug_run_on(plug_maps *m, const lk_entry *k, const void *args, int64_t n,
                                      lk_real *result)
{
  if (m->status != LOOM_OK) return m->status;
  m->status = plug_run(m->host, m->e, k, args, n, result);
  return m->status;
}

/* One launch with all maps of m, then plug_unbind(). */
static inline loom_status plug_launch(plug_maps *m, const lk_entry *k, const void *args, int64_t n,
                                      lk_real *result)
{
  (void)plug_run_on(m, k, args, n, result);
  return plug_unbind(m);
}

/* Table of new buffers; they belong to the instance, and the core frees them after destroy(). */
typedef struct plug_buf {
  const char *name;
  int type; /* LOOM_REAL ... */
  int64_t count;
  loom_buf **out;
} plug_buf;
static inline loom_status plug_bufs_new(const loom_host *host, const plug_buf *all, size_t num)
{
  for (size_t i = 0; i < num; ++i)
    LOOM_TRY(host->buf_new(host, all[i].name, all[i].type, all[i].count, all[i].out));
  return LOOM_OK;
}

/* Bytes of one item of a buffer of `type`, LOOM_REAL ... LOOM_U64. */
static inline size_t plug_item_size(int type)
{
  switch (type) {
  case LOOM_REAL:
    return sizeof(loom_real);
  case LOOM_I32:
    return sizeof(int32_t);
  case LOOM_U8:
    return 1;
  default:
    return sizeof(int64_t);
  }
}

/* Resizes b, of `type`, to `count` items and copies `from`, [count] on the host, into it. */
static inline loom_status plug_put(const loom_host *host, const loom_exec *e, loom_buf *b, int type,
                                   const void *from, int64_t count)
{
  void *p;
  LOOM_TRY(host->buf_resize(host, b, count));
  LOOM_TRY(host->map(host, e, b, LOOM_WRITE, LOOM_AT_HOST, &p));
  if (count > 0) memcpy(p, from, (size_t)count * plug_item_size(type));
  return host->unmap(host, b);
}

/* Makes a new buffer with a copy of `from`, [count]; from = NULL: all zero. */
static inline loom_status plug_put_new(const loom_host *host, const loom_exec *e, const char *name,
                                       int type, const void *from, int64_t count, loom_buf **out)
{
  LOOM_TRY(host->buf_new(host, name, type, count, out));
  return from != NULL ? plug_put(host, e, *out, type, from, count) : LOOM_OK;
}

/* Copies the first n items of a buffer of reals to out, [n] on the host; waits for the device. */
static inline loom_status plug_fetch(const loom_host *host, const loom_exec *e, loom_buf *b, int n,
                                     double *out)
{
  void *p;
  LOOM_TRY(host->map(host, e, b, LOOM_READ, LOOM_AT_HOST, &p));
  for (int i = 0; i < n; ++i) out[i] = (double)((const loom_real *)p)[i];
  return host->unmap(host, b);
}

/* plug_launch() of a reduction whose result goes to `result`, real [1], and on to *out, on the
 * host; waits for the device. */
static inline loom_status plug_reduce(plug_maps *m, const lk_entry *k, const void *args, int64_t n,
                                      loom_buf *result, double *out)
{
  LOOM_TRY(plug_launch(m, k, args, n, (lk_real *)plug_rdwr(m, result)));
  return plug_fetch(m->host, m->e, result, 1, out);
}

/* ---- reductions that do not wait for the device: host->fetch_later() ---- */

enum { PLUG_LATER_MAX = 16 };
typedef struct plug_later_number {
  double v, scale, *to;
  int waits; /* 1: v has not arrived yet */
} plug_later_number;
typedef struct plug_later { /* member of an instance; zeros are a valid start */
  plug_later_number all[PLUG_LATER_MAX];
} plug_later;

static inline void plug_later_take(void *user)
{
  plug_later_number *const n = (plug_later_number *)user;
  n->waits = 0;
  *n->to += n->scale * n->v;
}

/* As plug_reduce(), but without waiting: when the core has read the value (see fetch_later()),
 * scale times the value is added to *to, which must live until then.  For the numbers that eval()
 * and metrics() return. */
static inline loom_status plug_reduce_later(plug_maps *m, const lk_entry *k, const void *args,
                                            int64_t n, loom_buf *result, plug_later *later,
                                            double scale, double *to)
{
  plug_later_number now, *p = &now;
  LOOM_TRY(plug_launch(m, k, args, n, (lk_real *)plug_rdwr(m, result)));
  for (int i = 0; i < PLUG_LATER_MAX && p == &now; ++i)
    if (!later->all[i].waits) p = &later->all[i];
  p->scale = scale;
  p->to = to;
  p->waits = 1;
  if (p != &now) return m->host->fetch_later(m->host, m->e, result, 1, &p->v, plug_later_take, p);
  LOOM_TRY(plug_fetch(m->host, m->e, result, 1, &p->v)); /* all places are taken */
  plug_later_take(p);
  return LOOM_OK;
}

#endif
