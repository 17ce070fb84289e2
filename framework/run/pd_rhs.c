/* pd_rhs.c - the right-hand side that belongs to the projective operator.
 *
 * The operator has unit rows and columns where a vertex is fixed, so the part L_fc x_c that fixed
 * vertices c have in the rows of free ones f stands on this side:
 *   free rows   rhs = M y / h^2 + sum w A'p - L_fc x_c        fixed rows   rhs = x_c
 * and L x - rhs is the gradient without contact on free rows and zero on fixed ones. */
#include "run/run_state.h"

/* The entries that the operator's unit columns take away, as rows of their own.  Masses are on the
 * diagonal, so they are the same for every time step. */
static loom_status take_couplings(run *r, const loom_csr *L, loom_csr *C)
{
  const int32_t n = L->num_rows;
  loom_buf *const from[] = {L->row_ptr, L->col, L->val, r->scene->pub.fixed};
  void *p[4], *q[3];
  for (int i = 0; i < 4; ++i)
    LOOM_TRY(buf_map(r->m, NULL, from[i], LOOM_READ, LOOM_AT_HOST, &p[i]));
  const int64_t *const ptr = p[0];
  const int32_t *const col = p[1];
  const loom_real *const val = p[2];
  const uint8_t *const fixed = p[3];
  int64_t nnz = 0;
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) nnz += !fixed[i] && fixed[col[k]];
  C->num_rows = n;
  C->nnz = nnz;
  LOOM_TRY(buf_new(r->m, "core", "first couplings", LOOM_I64, (int64_t)n + 1, &C->row_ptr));
  LOOM_TRY(buf_new(r->m, "core", "coupled pins", LOOM_I32, nnz, &C->col));
  LOOM_TRY(buf_new(r->m, "core", "couplings", LOOM_REAL, nnz, &C->val));
  loom_buf *const to[] = {C->row_ptr, C->col, C->val};
  for (int i = 0; i < 3; ++i) LOOM_TRY(buf_map(r->m, NULL, to[i], LOOM_WRITE, LOOM_AT_HOST, &q[i]));
  int64_t at = 0;
  for (int32_t i = 0; i < n; ++i) {
    ((int64_t *)q[0])[i] = at;
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      if (fixed[i] || !fixed[col[k]]) continue;
      ((int32_t *)q[1])[at] = col[k];
      ((loom_real *)q[2])[at++] = val[k];
    }
  }
  ((int64_t *)q[0])[n] = at;
  for (int i = 0; i < 3; ++i) LOOM_TRY(buf_unmap(r->m, to[i]));
  for (int i = 0; i < 4; ++i) LOOM_TRY(buf_unmap(r->m, from[i]));
  return LOOM_OK;
}

/* Made when first asked for: of an operator without unit rows, which is then given back. */
static loom_status couplings_new(run *r)
{
  asm_csr *A = NULL;
  LOOM_TRY(asm_csr_new(r->err, r->m, &r->exec, &r->scene->pub, &A));
  loom_status s = asm_csr_begin(A);
  if (s == LOOM_OK) s = elastic_pd_operator(r->problem.el, A);
  if (s == LOOM_OK) s = take_couplings(r, asm_csr_matrix(A), &r->problem.couplings);
  asm_csr_free(A);
  if (s != LOOM_OK) return s;
  return buf_new(r->m, "core", "pull of pins", LOOM_REAL, 3 * (int64_t)r->scene->pub.num_verts,
                 &r->problem.pull);
}

void pd_rhs_free(run *r)
{
  buf_free(r->m, r->problem.couplings.row_ptr);
  buf_free(r->m, r->problem.couplings.col);
  buf_free(r->m, r->problem.couplings.val);
  buf_free(r->m, r->problem.pull);
}

loom_status problem_pd_rhs(run *r, loom_buf *x, loom_buf *rhs)
{
  LOOM_TRY(problem_mass_times_y(r, rhs));
  LOOM_TRY(elastic_pd_rhs(r->problem.el, x, rhs));
  if (r->problem.pull == NULL) LOOM_TRY(couplings_new(r));
  if (r->problem.couplings.nnz > 0) {
    /* col names fixed vertices alone, so the free rows of x are not read */
    LOOM_TRY(la_spmv_csr3(r->m, &r->exec, &r->problem.couplings, x, r->problem.pull));
    LOOM_TRY(la_axpby(r->m, &r->exec, -1.0, r->problem.pull, 1.0, rhs));
  }
  return problem_copy_fixed(r, rhs, x);
}
