/* loom/plug.h - what every plugin would write for itself: lists of maps, a kernel's launch with
 * its message.  Nothing here is part of the binary interface.
 *
 *   const plug_map m[] = {{s->grad, LOOM_READ}, {s->trial, LOOM_WRITE}};
 *   void *p[2];
 *   LOOM_TRY(plug_map_all(h, e, 2, m, p));
 *   const my_args args = {p[0], p[1]};
 *   LOOM_TRY(plug_run(h, e, &my_kernel, &args, n, NULL));
 *   return plug_unmap_all(h, 2, m);
 */
#ifndef LOOM_PLUG_H
#define LOOM_PLUG_H

#include "host.h"
#include "kernel.h"

typedef struct plug_map {
  loom_buf *b; /* NULL: its pointer is NULL */
  int access;  /* LOOM_READ, LOOM_WRITE, LOOM_RDWR */
} plug_map;

/* Map n buffers where the instance runs; after an error the core releases what is mapped. */
static inline loom_status plug_map_all(const loom_host *h, const loom_exec *e, int n,
                                       const plug_map *s, void **p)
{
  for (int i = 0; i < n; ++i) {
    p[i] = NULL;
    if (s[i].b != NULL) LOOM_TRY(h->map(h, e, s[i].b, s[i].access, LOOM_AT_EXEC, &p[i]));
  }
  return LOOM_OK;
}

static inline loom_status plug_unmap_all(const loom_host *h, int n, const plug_map *s)
{
  for (int i = n - 1; i >= 0; --i)
    if (s[i].b != NULL) LOOM_TRY(h->unmap(h, s[i].b));
  return LOOM_OK;
}

/* lk_run() that says which kernel failed; of CUDA's own failures the core adds what CUDA said. */
static inline loom_status plug_run(const loom_host *h, const loom_exec *e, const lk_entry *k,
                                   const void *args, int64_t n, lk_real *result)
{
  const loom_status s = lk_run(k, e, args, n, result);
  LOOM_CHECK(h, s == LOOM_OK, s, "kernel %s failed on %lld elements", k->name, (long long)n);
  return LOOM_OK;
}

/* Copy a small buffer of reals to the host; waits for the device. */
static inline loom_status plug_fetch(const loom_host *h, const loom_exec *e, loom_buf *b, int n,
                                     double *out)
{
  void *p;
  LOOM_TRY(h->map(h, e, b, LOOM_READ, LOOM_AT_HOST, &p));
  for (int i = 0; i < n; ++i) out[i] = (double)((const loom_real *)p)[i];
  return h->unmap(h, b);
}

#endif
