/* prim.h - scan and sort on plain arrays, one implementation per backend. */
#ifndef LOOM_LINALG_PRIM_H
#define LOOM_LINALG_PRIM_H

#include "loom/kernel.h"

LOOM_C_BEGIN

/* out[i] = sum of in[0..i), n + 1 values */
void prim_scan_cpu(int threads, const int64_t *in, int64_t *out, int64_t n);

/* Stable ascending sort of key [n] in place; perm [n] receives the old indices.  The
 * result does not depend on `threads`.  work: prim_sort_cpu_bytes(). */
int64_t prim_sort_cpu_bytes(int threads, int64_t n);
void prim_sort_cpu(int threads, uint64_t *key, int32_t *perm, int64_t n, void *work);

/* The same on q's device.  work NULL: only sets *bytes to the bytes needed. */
loom_status prim_scan_cuda(const loom_exec *q, const int64_t *in, int64_t *out, int64_t n,
                           void *work, size_t *bytes);
loom_status prim_sort_cuda(const loom_exec *q, uint64_t *key, int32_t *perm, int64_t n, void *work,
                           size_t *bytes);

LOOM_C_END

#endif
