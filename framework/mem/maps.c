/* maps.c - several maps that are taken and given back together. */
#include "mem/mem.h"

void *buf_maps_add(buf_maps *q, loom_buf *b, int access)
{
  void *p = NULL;
  if (b == NULL || q->status != LOOM_OK) return NULL;
  if (q->num == BUF_MAPS_MAX) {
    q->status = err_set(mem_err(q->m), LOOM_E_INTERNAL, "more than %d maps at once", BUF_MAPS_MAX);
    return NULL;
  }
  q->status = buf_map(q->m, q->e, b, access, LOOM_AT_EXEC, &p);
  if (q->status == LOOM_OK) q->bufs[q->num++] = b;
  return p;
}

loom_status buf_maps_run(buf_maps *q, const lk_entry *k, const void *args, int64_t n,
                         loom_real *result)
{
  if (q->status == LOOM_OK) q->status = exec_run(mem_err(q->m), q->e, k, args, n, result);
  return q->status;
}

loom_status buf_maps_end(buf_maps *q)
{
  loom_err kept = *mem_err(q->m);
  const int failed = q->status != LOOM_OK;
  while (q->num > 0) {
    const loom_status s = buf_unmap(q->m, q->bufs[--q->num]);
    if (q->status == LOOM_OK) q->status = s;
  }
  if (failed) *mem_err(q->m) = kept; /* the first message tells the cause */
  return q->status;
}

loom_status buf_maps_launch(buf_maps *q, const lk_entry *k, const void *args, int64_t n,
                            loom_real *result)
{
  (void)buf_maps_run(q, k, args, n, result);
  return buf_maps_end(q);
}
