/* linalg.h - vectors, primitives and sparse matrices of the core, CPU and CUDA.
 *
 * All functions work on buffers, run on `e`, and are deterministic: the same bits
 * for any number of threads on one backend.
 */
#ifndef LOOM_LINALG_H
#define LOOM_LINALG_H

#include "mem/mem.h"

/* The result slot used by functions that return a value to the host. */
enum { LA_OWN_SLOT = LOOM_NUM_RESULTS - 1 };

/* ---- vectors ---- */
loom_status la_dot(mem *m, const loom_exec *e, loom_buf *a, loom_buf *b, double *out);
/* the same, left in e->result[slot] without waiting */
loom_status la_dot_slot(mem *m, const loom_exec *e, loom_buf *a, loom_buf *b, int slot);
/* y = a x + b y; with b = 0 the old y has no effect, even where it is NaN */
loom_status la_axpby(mem *m, const loom_exec *e, double a, loom_buf *x, double b, loom_buf *y);
/* z = a x + b y */
loom_status la_waxpby(mem *m, const loom_exec *e, double a, loom_buf *x, double b, loom_buf *y,
                      loom_buf *z);
loom_status la_fill(mem *m, const loom_exec *e, loom_buf *x, double value); /* LOOM_REAL */
/* largest Euclidean row length of x [n][3]; NaN if any entry is NaN */
loom_status la_norm_max3(mem *m, const loom_exec *e, loom_buf *x, double *out);
loom_status la_norm_max3_slot(mem *m, const loom_exec *e, loom_buf *x, int slot);

/* ---- primitives ---- */
/* out[i] = sum of in[0..i), i64; out has count(in) + 1 items, the last one is also *total (NULL:
 * not wanted) */
loom_status la_scan_i64(mem *m, const loom_exec *e, loom_buf *in, loom_buf *out, int64_t *total);
/* stable ascending sort of key (u64) in place; perm (i32) receives the old indices */
loom_status la_sort_u64(mem *m, const loom_exec *e, loom_buf *key, loom_buf *perm);
/* out[i] = first[second[i]] (i32): the permutation that applies `first`, then `second` */
loom_status la_compose(mem *m, const loom_exec *e, loom_buf *first, loom_buf *second,
                       loom_buf *out);
/* for ascending keys: index of the equal old key or -1 (i32 [n_new]) */
loom_status la_match_keys(mem *m, const loom_exec *e, loom_buf *old_key, int64_t n_old,
                          loom_buf *new_key, int64_t n_new, loom_buf *old_index);

/* ---- matrices ---- */
loom_status la_spmv_bsr3(mem *m, const loom_exec *e, const loom_bsr3 *A, loom_buf *x, loom_buf *y);
/* y [n][3] = L x, the scalar matrix applied to the three columns */
loom_status la_spmv_csr3(mem *m, const loom_exec *e, const loom_csr *L, loom_buf *x, loom_buf *y);

#endif
