/* reduced.c - the reduced matrix S = P' H P: its factor, or its inverse, and products. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_solve3.h"
#include "pd_bfgs.h"

static const lk_entry k_product = LK_ENTRY_MOVES(sparse_basis_product, 69, 16);
static const lk_entry k_inverse = LK_ENTRY_MOVES(subspace_invert, 234, 0);
static const lk_entry k_turned = LK_ENTRY_MOVES(subspace_invert_turned, 234, 0);

/* Splines that share the few vertices of a corner may depend on each other; so much of each
 * diagonal entry is added to it.  It changes the preconditioner alone. */
static const double regular_share = 1e-8;
enum { MOST_INVERTED = 12000 }; /* columns: the inverse takes 1.2 GB then */

static int is_reduced_inverted(const pd_bfgs *s)
{
  return s->set.reduced == REDUCED_INVERSE ||
         (s->set.reduced == REDUCED_AUTO && s->e->backend == LOOM_CUDA);
}

loom_status pd_bfgs_reduced_new(pd_bfgs *s)
{
  const plug_buf all[] = {{"S, rows", LOOM_I64, 1, &s->sptr},
                          {"S, columns", LOOM_I32, 0, &s->scol},
                          {"S, values", LOOM_REAL, 0, &s->sval},
                          {"S, inverse", LOOM_REAL, 0, &s->inverse},
                          {"P' B P x", LOOM_REAL, 0, &s->reduced}};
  LOOM_TRY(plug_bufs_new(s->host, all, LOOM_COUNT(all)));
  return chol_open(&s->factor, s->host, CHOL_AMD, 1, "raise spacing");
}

void pd_bfgs_reduced_free(pd_bfgs *s)
{
  chol_close(&s->factor);
  free(s->y);
  free(s->work);
}

/* ---- the factor ---- */

/* Upper triangle by columns. */
static loom_status fill_reduced_triangle(chol *c, const sparse_reduced *S)
{
  int64_t nnz = 0, m = 0;
  for (int32_t i = 0; i < S->n; ++i)
    for (int64_t k = S->ptr[i]; k < S->ptr[i + 1]; ++k) nnz += S->col[k] <= i;
  LOOM_TRY(chol_matrix(c, S->n, nnz));
  for (int32_t i = 0; i < S->n; ++i) {
    chol_ptr(c)[i] = (int)m;
    for (int64_t k = S->ptr[i]; k < S->ptr[i + 1] && S->col[k] <= i; ++k, ++m) {
      chol_row(c)[m] = S->col[k];
      chol_val(c)[m] = S->col[k] == i ? S->val[k] * (1.0 + regular_share) : S->val[k];
    }
  }
  chol_ptr(c)[S->n] = (int)m;
  return LOOM_OK;
}

static loom_status factorise_reduced(pd_bfgs *s, const sparse_reduced *S)
{
  int pivot;
  LOOM_TRY(fill_reduced_triangle(&s->factor, S));
  LOOM_TRY(chol_analyse(&s->factor));
  const loom_status st = chol_factorise(&s->factor, &pivot);
  LOOM_CHECK(s->host, st != LOOM_REJECTED, LOOM_E_NUMERIC,
             "the reduced matrix of %d splines is not positive definite at row %d: raise spacing",
             S->n, pivot);
  LOOM_TRY(st);
  s->host->count(s->host, LOOM_C_FACTORISE, 1);
  free(s->y);
  free(s->work);
  s->y = malloc(3 * ((size_t)S->n + 1) * sizeof *s->y);
  s->work = malloc((chol_solve3_work(s->factor.L) + 1) * sizeof *s->work);
  LOOM_CHECK(s->host, s->y != NULL && s->work != NULL, LOOM_E_NOMEM,
             "no memory for solves with %d splines", S->n);
  return LOOM_OK;
}

static void solve_reduced_columns(pd_bfgs *s, const loom_real *x, loom_real *z)
{
  const int *const perm = chol_perm(&s->factor);
  for (int32_t k = 0; k < s->basis.cols; ++k)
    for (int c = 0; c < 3; ++c) s->y[3 * k + c] = (double)x[3 * (int64_t)perm[k] + c];
  chol_count_solve(&s->factor, 3);
  chol_solve3(s->factor.L, s->y, s->work);
  for (int32_t k = 0; k < s->basis.cols; ++k)
    for (int c = 0; c < 3; ++c) z[3 * (int64_t)perm[k] + c] = (loom_real)s->y[3 * k + c];
}

/* ---- the inverse: three of its columns at a time; on a device it lies transposed ---- */

static int is_inverse_transposed(const pd_bfgs *s) { return s->e->backend != LOOM_CPU; }

static loom_status invert_reduced(pd_bfgs *s)
{
  const int32_t m = s->basis.cols;
  LOOM_CHECK(s->host, m <= MOST_INVERTED, LOOM_E_CONFIG,
             "reduced = inverse is meant for at most %d splines, and spacing = %g makes %d; raise "
             "spacing or use reduced = factor",
             MOST_INVERTED, s->set.spacing, m);
  LOOM_TRY(s->host->buf_resize(s->host, s->inverse, (int64_t)m * m));
  loom_real *const e = calloc(3 * (size_t)m + 1, sizeof *e);
  plug_maps maps = plug_maps_on(s->host, s->e);
  loom_real *const out = plug_write_host(&maps, s->inverse);
  loom_status st = maps.status;
  if (e == NULL) {
    (void)LOOM_FAIL(s->host, LOOM_E_NOMEM, "no memory for the inverse of %d splines", m);
    st = LOOM_E_NOMEM;
  }
  for (int32_t k = 0; k < m && st == LOOM_OK; k += 3) {
    memset(e, 0, 3 * (size_t)m * sizeof *e);
    for (int c = 0; c < 3 && k + c < m; ++c) e[3 * (int64_t)(k + c) + c] = 1;
    solve_reduced_columns(s, e, e);
    for (int c = 0; c < 3 && k + c < m; ++c) /* symmetric: its columns are its rows */
      for (int32_t j = 0; j < m; ++j)
        out[is_inverse_transposed(s) ? (int64_t)j * m + k + c : (int64_t)(k + c) * m + j] =
            e[3 * (int64_t)j + c];
  }
  free(e);
  LOOM_TRY(st);
  return plug_unbind(&maps);
}

/* ---- both ---- */

static loom_status keep_products(pd_bfgs *s, const sparse_reduced *S)
{
  LOOM_TRY(s->host->buf_resize(s->host, s->sptr, (int64_t)S->n + 1));
  LOOM_TRY(s->host->buf_resize(s->host, s->scol, S->ptr[S->n]));
  LOOM_TRY(s->host->buf_resize(s->host, s->sval, S->ptr[S->n]));
  plug_maps m = plug_maps_on(s->host, s->e);
  int64_t *const ptr = plug_write_host(&m, s->sptr);
  int32_t *const col = plug_write_host(&m, s->scol);
  loom_real *const val = plug_write_host(&m, s->sval);
  LOOM_TRY(m.status);
  memcpy(ptr, S->ptr, ((size_t)S->n + 1) * sizeof *ptr);
  memcpy(col, S->col, (size_t)S->ptr[S->n] * sizeof *col);
  for (int64_t k = 0; k < S->ptr[S->n]; ++k) val[k] = (loom_real)S->val[k];
  return plug_unbind(&m);
}

static loom_status reduce_global_matrix(pd_bfgs *s, const loom_csr *H, sparse_reduced *S)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const subspace_csr A = {.n = s->n,
                          .ptr = plug_read_host(&m, H->row_ptr),
                          .col = plug_read_host(&m, H->col),
                          .val = plug_read_host(&m, H->val)};
  LOOM_TRY(m.status);
  LOOM_TRY(sparse_basis_reduce(s->host, &A, &s->rows, S));
  return plug_unbind(&m);
}

loom_status pd_bfgs_reduced_make(pd_bfgs *s, const loom_csr *H)
{
  sparse_reduced S;
  LOOM_TRY(reduce_global_matrix(s, H, &S));
  loom_status st = keep_products(s, &S);
  if (st == LOOM_OK) st = factorise_reduced(s, &S);
  if (st == LOOM_OK && is_reduced_inverted(s)) st = invert_reduced(s);
  sparse_reduced_free(&S);
  return st;
}

loom_status pd_bfgs_reduced_multiply(void *self, loom_buf *x, loom_buf *y)
{
  pd_bfgs *const s = self;
  plug_maps m = plug_maps_on(s->host, s->e);
  const sparse_basis_args a = {.ptr = plug_read(&m, s->sptr),
                               .col = plug_read(&m, s->scol),
                               .val = plug_read(&m, s->sval),
                               .x = plug_read(&m, x),
                               .y = plug_write(&m, y)};
  LOOM_TRY(plug_launch(&m, &k_product, &a, s->basis.cols, NULL));
  if (s->A.B == NULL) return LOOM_OK;
  LOOM_TRY(sparse_basis_prolong(&s->basis, x, s->full, 0));
  LOOM_TRY(pd_bfgs_contact_product(s, s->full, s->v));
  LOOM_TRY(sparse_basis_restrict(&s->basis, s->v, s->reduced));
  return s->host->axpby(s->host, s->e, 1.0, s->reduced, 1.0, y);
}

static loom_status solve_inverse(pd_bfgs *s, loom_buf *x, loom_buf *z)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const subspace_args a = {.inv = plug_read(&m, s->inverse),
                           .g = plug_bind(&m, x, LOOM_RDWR, LOOM_AT_EXEC),
                           .q = plug_write(&m, z),
                           .cols = s->basis.cols};
  return plug_launch(&m, is_inverse_transposed(s) ? &k_turned : &k_inverse, &a, s->basis.cols,
                     NULL);
}

loom_status pd_bfgs_reduced_solve(void *self, loom_buf *x, loom_buf *z)
{
  pd_bfgs *const s = self;
  s->host->count(s->host, LOOM_C_TRISOLVE, 3);
  if (is_reduced_inverted(s)) return solve_inverse(s, x, z);
  plug_maps m = plug_maps_on(s->host, s->e);
  const loom_real *const from = plug_read_host(&m, x);
  loom_real *const to = plug_write_host(&m, z);
  LOOM_TRY(m.status);
  solve_reduced_columns(s, from, to);
  return plug_unbind(&m);
}
