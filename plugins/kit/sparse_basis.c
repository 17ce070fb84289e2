/* sparse_basis.c - see sparse_basis.h. */
#include "kit/sparse_basis.h"

#include <stdlib.h>
#include <string.h>

#include "kit/sort_i32.h"

static const lk_entry k_product = LK_ENTRY_MOVES(sparse_basis_product, 69, 16);

/* ---- where the kernels run ---- */

loom_status sparse_basis_new(sparse_basis *b, const loom_host *host, const loom_exec *e)
{
  const plug_buf all[] = {{"basis, rows", LOOM_I64, 1, &b->ptr},
                          {"basis, columns of rows", LOOM_I32, 0, &b->col},
                          {"basis, values", LOOM_REAL, 0, &b->val},
                          {"basis, columns", LOOM_I64, 1, &b->tptr},
                          {"basis, rows of columns", LOOM_I32, 0, &b->tcol},
                          {"basis, values by column", LOOM_REAL, 0, &b->tval}};
  b->host = host;
  b->e = e;
  b->n = b->cols = 0;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

typedef struct view { /* on the host */
  int64_t *ptr, *tptr;
  int32_t *col, *tcol;
  loom_real *val, *tval;
} view;

static void fill_basis_view(const spline_rows *r, const view *v)
{
  memset(v->tptr, 0, ((size_t)r->cols + 1) * sizeof *v->tptr);
  for (int64_t k = 0; k < r->ptr[r->n]; ++k) {
    v->col[k] = r->col[k];
    v->val[k] = (loom_real)r->val[k];
    ++v->tptr[r->col[k] + 1];
  }
  for (int32_t k = 0; k < r->cols; ++k) v->tptr[k + 1] += v->tptr[k];
  for (int32_t i = 0; i < r->n; ++i) {
    v->ptr[i] = r->ptr[i];
    for (int64_t k = r->ptr[i]; k < r->ptr[i + 1]; ++k) {
      const int64_t to = v->tptr[r->col[k]]++;
      v->tcol[to] = i;
      v->tval[to] = (loom_real)r->val[k];
    }
  }
  v->ptr[r->n] = r->ptr[r->n];
  for (int32_t k = r->cols; k > 0; --k) v->tptr[k] = v->tptr[k - 1];
  v->tptr[0] = 0;
}

loom_status sparse_basis_set(sparse_basis *b, const spline_rows *r)
{
  const loom_host *const host = b->host;
  const int64_t entries = r->ptr[r->n];
  loom_buf *const numbers[] = {b->col, b->val, b->tcol, b->tval};
  b->n = r->n;
  b->cols = r->cols;
  LOOM_TRY(host->buf_resize(host, b->ptr, (int64_t)r->n + 1));
  LOOM_TRY(host->buf_resize(host, b->tptr, (int64_t)r->cols + 1));
  for (size_t i = 0; i < LOOM_COUNT(numbers); ++i)
    LOOM_TRY(host->buf_resize(host, numbers[i], entries));
  plug_maps m = plug_maps_on(host, b->e);
  const view v = {.ptr = plug_write_host(&m, b->ptr),
                  .tptr = plug_write_host(&m, b->tptr),
                  .col = plug_write_host(&m, b->col),
                  .tcol = plug_write_host(&m, b->tcol),
                  .val = plug_write_host(&m, b->val),
                  .tval = plug_write_host(&m, b->tval)};
  LOOM_TRY(m.status);
  fill_basis_view(r, &v);
  return plug_unbind(&m);
}

loom_status sparse_basis_restrict(const sparse_basis *b, loom_buf *r, loom_buf *g)
{
  plug_maps m = plug_maps_on(b->host, b->e);
  const sparse_basis_args a = {.ptr = plug_read(&m, b->tptr),
                               .col = plug_read(&m, b->tcol),
                               .val = plug_read(&m, b->tval),
                               .x = plug_read(&m, r),
                               .y = plug_write(&m, g)};
  return plug_launch(&m, &k_product, &a, b->cols, NULL);
}

loom_status sparse_basis_prolong(const sparse_basis *b, loom_buf *q, loom_buf *u, int add)
{
  plug_maps m = plug_maps_on(b->host, b->e);
  const sparse_basis_args a = {.ptr = plug_read(&m, b->ptr),
                               .col = plug_read(&m, b->col),
                               .val = plug_read(&m, b->val),
                               .x = plug_read(&m, q),
                               .y = add ? plug_rdwr(&m, u) : plug_write(&m, u),
                               .add = add};
  return plug_launch(&m, &k_product, &a, b->n, NULL);
}

/* ---- reduced matrices (F. Gustavson, Two Fast Algorithms for Sparse Matrices, ACM TOMS 4(3),
 * 1978, doi 10.1145/355791.355796) ---- */

typedef struct sums { /* one row that is being added up */
  double *value;      /* [cols] */
  int32_t *touched;   /* [cols], columns in it, num of them */
  uint8_t *in;        /* [cols] */
  int32_t num;
} sums;

static void add_row_sum(sums *s, int32_t k, double v)
{
  if (!s->in[k]) {
    s->in[k] = 1;
    s->touched[s->num++] = k;
    s->value[k] = 0.0;
  }
  s->value[k] += v;
}

/* Appends the row `s` to S; returns 0 without memory. */
static int append_reduced_row(sparse_reduced *S, int32_t row, int64_t *room, sums *s)
{
  int64_t end = S->ptr[row];
  if (end + s->num > *room) {
    *room = 2 * *room + s->num;
    int32_t *const col = realloc(S->col, (size_t)*room * sizeof *col);
    if (col != NULL) S->col = col;
    double *const val = realloc(S->val, (size_t)*room * sizeof *val);
    if (val != NULL) S->val = val;
    if (col == NULL || val == NULL) return 0;
  }
  sort_i32(s->touched, s->num);
  for (int32_t k = 0; k < s->num; ++k, ++end) {
    S->col[end] = s->touched[k];
    S->val[end] = s->value[s->touched[k]];
    s->in[s->touched[k]] = 0;
  }
  S->ptr[row + 1] = end;
  s->num = 0;
  return 1;
}

/* Rows of A X, where X has the columns `cols` of s; X by its rows. */
static int multiply_sparse_rows(int32_t rows, const int64_t *ptr, const int32_t *col,
                                const double *val, const int64_t *xptr, const int32_t *xcol,
                                const double *xval, sums *s, sparse_reduced *out)
{
  int64_t room = 1024;
  out->n = rows;
  out->ptr = calloc((size_t)rows + 1, sizeof *out->ptr);
  out->col = malloc((size_t)room * sizeof *out->col);
  out->val = malloc((size_t)room * sizeof *out->val);
  if (out->ptr == NULL || out->col == NULL || out->val == NULL) return 0;
  for (int32_t i = 0; i < rows; ++i) {
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k)
      for (int64_t m = xptr[col[k]]; m < xptr[col[k] + 1]; ++m)
        add_row_sum(s, xcol[m], val[k] * xval[m]);
    if (!append_reduced_row(out, i, &room, s)) return 0;
  }
  return 1;
}

static int transpose_basis(const spline_rows *P, int64_t *tptr, int32_t *tcol, double *tval)
{
  if (tptr == NULL || tcol == NULL || tval == NULL) return 0;
  for (int64_t k = 0; k < P->ptr[P->n]; ++k) ++tptr[P->col[k] + 2];
  for (int32_t k = 0; k < P->cols; ++k) tptr[k + 2] += tptr[k + 1];
  for (int32_t i = 0; i < P->n; ++i)
    for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) {
      const int64_t to = tptr[P->col[k] + 1]++;
      tcol[to] = i;
      tval[to] = P->val[k];
    }
  return 1;
}

loom_status sparse_basis_reduce(const loom_host *host, const subspace_csr *A, const spline_rows *P,
                                sparse_reduced *S)
{
  const size_t cols = (size_t)P->cols + 1, entries = (size_t)P->ptr[P->n] + 1;
  sums s = {.value = malloc(cols * sizeof(double)),
            .touched = malloc(cols * sizeof(int32_t)),
            .in = calloc(cols, 1)};
  sparse_reduced AP = {0};
  int64_t *const tptr = calloc(cols + 1, sizeof *tptr);
  int32_t *const tcol = malloc(entries * sizeof *tcol);
  double *const tval = malloc(entries * sizeof *tval);
  double *const val = malloc(((size_t)A->ptr[A->n] + 1) * sizeof *val);
  *S = (sparse_reduced){0};
  int fine = s.value != NULL && s.touched != NULL && s.in != NULL && val != NULL;
  for (int64_t k = 0; fine && k < A->ptr[A->n]; ++k) val[k] = (double)A->val[k];
  fine = fine && transpose_basis(P, tptr, tcol, tval) &&
         multiply_sparse_rows(A->n, A->ptr, A->col, val, P->ptr, P->col, P->val, &s, &AP) &&
         multiply_sparse_rows(P->cols, tptr, tcol, tval, AP.ptr, AP.col, AP.val, &s, S);
  sparse_reduced_free(&AP);
  free(s.value);
  free(s.touched);
  free(s.in);
  free(tptr);
  free(tcol);
  free(tval);
  free(val);
  if (!fine) sparse_reduced_free(S);
  LOOM_CHECK(host, fine, LOOM_E_NOMEM, "no memory for a reduced matrix of %d columns", P->cols);
  return LOOM_OK;
}

void sparse_reduced_free(sparse_reduced *S)
{
  free(S->ptr);
  free(S->col);
  free(S->val);
  *S = (sparse_reduced){0};
}
