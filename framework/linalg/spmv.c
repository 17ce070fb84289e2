/* spmv.c - sparse matrix times vector on buffers. */
#include "linalg/linalg.h"
#include "linalg/spmv.kern.h"

static const lk_entry k_bsr3 = LK_ENTRY_MOVES(spmv_bsr3, 3, 4),
                      k_csr3 = LK_ENTRY_MOVES(spmv_csr3, 3, 4);

static loom_status check_spmv_vector(mem *m, const loom_buf *x, int32_t rows)
{
  if (buf_type(x) == LOOM_REAL && buf_count(x) == 3 * (int64_t)rows) return LOOM_OK;
  return err_set(mem_err(m), LOOM_E_ARG, "spmv: buffer '%s' is not real [%d][3]", buf_name(x),
                 rows);
}

/* entry: bytes moved for each entry of the matrix */
static loom_status run_spmv(mem *m, const loom_exec *e, const lk_entry *k, int32_t rows,
                            uint32_t entry, loom_buf *row_ptr, loom_buf *col, loom_buf *val,
                            loom_buf *x, loom_buf *y)
{
  spmv_args args = {0};
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_spmv_vector(m, x, rows));
  LOOM_TRY(check_spmv_vector(m, y, rows));
  args.row_ptr = buf_maps_add(&q, row_ptr, LOOM_READ);
  args.col = buf_maps_add(&q, col, LOOM_READ);
  args.val = buf_maps_add(&q, val, LOOM_READ);
  args.x = buf_maps_add(&q, x, LOOM_READ);
  args.y = buf_maps_add(&q, y, LOOM_WRITE);
  lk_moved(e, buf_count(col), entry);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(m), e, k, &args, rows, NULL);
  return buf_maps_end(&q);
}

loom_status la_spmv_bsr3(mem *m, const loom_exec *e, const loom_bsr3 *A, loom_buf *x, loom_buf *y)
{
  return run_spmv(m, e, &k_bsr3, A->num_rows, LK_MOVES(12, 1), A->row_ptr, A->col, A->val, x, y);
}

loom_status la_spmv_csr3(mem *m, const loom_exec *e, const loom_csr *L, loom_buf *x, loom_buf *y)
{
  return run_spmv(m, e, &k_csr3, L->num_rows, LK_MOVES(4, 1), L->row_ptr, L->col, L->val, x, y);
}
