/* union.c - a matrix pattern extended by contact places, row by row in parallel. */
#include "linalg/sparsity.h"

enum { WORK_SLOT = 1, COL_BITS = 32 };

typedef struct host_union {
  const int64_t *base_ptr;
  const int32_t *base_col;
  const uint64_t *key;
  const int64_t *key_ptr; /* [n+1], keys of each row */
  int64_t *row_ptr;
  int32_t *col, *map;
} host_union;

static void row_keys(const uint64_t *key, int64_t num, int32_t n, int64_t *key_ptr)
{
  int64_t k = 0;
  for (int32_t i = 0; i < n; ++i) {
    key_ptr[i] = k;
    while (k < num && key[k] >> COL_BITS == (uint64_t)i) ++k;
  }
  key_ptr[n] = k;
}

/* Merge the columns of row i; write == 0: only count them. */
static int64_t merge_row(const host_union *u, int32_t i, int write)
{
  int64_t b = u->base_ptr[i], k = u->key_ptr[i], num = 0;
  const int64_t b_end = u->base_ptr[i + 1], k_end = u->key_ptr[i + 1];
  while (b < b_end || k < k_end) {
    const int32_t from_key = k < k_end ? (int32_t)(u->key[k] & UINT32_MAX) : INT32_MAX;
    const int32_t from_base = b < b_end ? u->base_col[b] : INT32_MAX;
    const int32_t c = from_base <= from_key ? from_base : from_key;
    if (write) {
      const int64_t at = u->row_ptr[i] + num;
      u->col[at] = c;
      if (from_base == c) u->map[b] = (int32_t)at;
    }
    b += from_base == c;
    while (k < k_end && (int32_t)(u->key[k] & UINT32_MAX) == c) ++k;
    ++num;
  }
  return num;
}

static loom_status fill_union_row_ptr(mem *m, const asm_union *u, const host_union *h)
{
  const int32_t n = u->num_rows;
#pragma omp parallel for schedule(static) num_threads(u->threads)
  for (int32_t i = 0; i < n; ++i) h->row_ptr[i + 1] = merge_row(h, i, 0);
  h->row_ptr[0] = 0;
  for (int32_t i = 0; i < n; ++i) h->row_ptr[i + 1] += h->row_ptr[i];
  if (h->row_ptr[n] <= INT32_MAX) return LOOM_OK;
  return err_set(mem_err(m), LOOM_E_ARG,
                 "the matrix with contact would have %lld nonzero blocks; "
                 "at most %d",
                 (long long)h->row_ptr[n], INT32_MAX);
}

static loom_status merge_mapped(mem *m, const asm_union *u, host_union *h)
{
  const int32_t n = u->num_rows;
  buf_maps q = {.m = m};
  h->row_ptr = buf_maps_add(&q, u->row_ptr, LOOM_WRITE);
  h->map = buf_maps_add(&q, u->map, LOOM_WRITE);
  if (q.status == LOOM_OK) q.status = fill_union_row_ptr(m, u, h);
  if (q.status == LOOM_OK) q.status = buf_reset(m, u->col, h->row_ptr[n]);
  h->col = q.status == LOOM_OK ? buf_maps_add(&q, u->col, LOOM_WRITE) : NULL;
  if (q.status == LOOM_OK) {
#pragma omp parallel for schedule(static) num_threads(u->threads)
    for (int32_t i = 0; i < n; ++i) (void)merge_row(h, i, 1);
  }
  return buf_maps_end(&q);
}

loom_status asm_sparsity_union(mem *m, const asm_union *u)
{
  host_union h = {0};
  buf_maps q = {.m = m};
  loom_buf *work = NULL;
  LOOM_TRY(buf_reset(m, u->row_ptr, (int64_t)u->num_rows + 1));
  LOOM_TRY(buf_reset(m, u->map, buf_count(u->base_col)));
  LOOM_TRY(mem_work(m, WORK_SLOT, ((int64_t)u->num_rows + 1) * (int64_t)sizeof(int64_t), &work));
  h.base_ptr = buf_maps_add(&q, u->base_ptr, LOOM_READ);
  h.base_col = buf_maps_add(&q, u->base_col, LOOM_READ);
  h.key = buf_maps_add(&q, u->key, LOOM_READ);
  int64_t *key_ptr = buf_maps_add(&q, work, LOOM_WRITE);
  h.key_ptr = key_ptr;
  if (q.status == LOOM_OK) {
    row_keys(h.key, buf_count(u->key), u->num_rows, key_ptr);
    q.status = merge_mapped(m, u, &h);
  }
  return buf_maps_end(&q);
}
