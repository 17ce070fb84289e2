/* sym3.c - see sym3.h. */
#include "linalg/sym3.h"

#include <stdlib.h>
#include <string.h>

void sym3_free(sym3 *A)
{
  free(A->ptr);
  free(A->col);
  free(A->val);
  free(A->diag);
  *A = (sym3){0};
}

/* Makes room for n rows with `blocks` blocks; the contents may be lost. */
static loom_status reserve_sym3_blocks(loom_err *err, sym3 *A, int32_t n, int block, int64_t blocks)
{
  if (A->ptr == NULL || n > A->rows || blocks > A->room || block > A->widest) {
    sym3_free(A);
    const size_t rows = (size_t)n + 1, room = (size_t)(blocks + blocks / 8) + 1;
    A->ptr = calloc(rows, sizeof *A->ptr);
    A->col = calloc(room, sizeof *A->col);
    A->val = calloc(room * (size_t)(block * block), sizeof *A->val);
    A->diag = calloc(rows * (size_t)(block * block), sizeof *A->diag);
    if (A->ptr == NULL || A->col == NULL || A->val == NULL || A->diag == NULL) {
      sym3_free(A);
      return err_set(err, LOOM_E_NOMEM, "out of memory for a matrix of %d rows, %lld blocks", n,
                     (long long)blocks);
    }
    A->rows = n;
    A->room = (int64_t)room - 1;
    A->widest = block;
  }
  A->n = n;
  A->block = block;
  return LOOM_OK;
}

loom_status sym3_take(loom_err *err, sym3 *A, int32_t n, int block, const int64_t *ptr,
                      const int32_t *col, const loom_real *val)
{
  const int size = block * block;
  int64_t below = 0, at = 0;
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = ptr[i]; k < ptr[i + 1] && col[k] < i; ++k) ++below;
  LOOM_TRY(reserve_sym3_blocks(err, A, n, block, below));
  memset(A->diag, 0, (size_t)n * (size_t)size * sizeof *A->diag);
  for (int32_t i = 0; i < n; ++i) {
    A->ptr[i] = at;
    for (int64_t k = ptr[i]; k < ptr[i + 1] && col[k] <= i; ++k) {
      double *const to =
          col[k] < i ? A->val + (int64_t)size * at : A->diag + (size_t)size * (size_t)i;
      for (int c = 0; c < size; ++c) to[c] = (double)val[size * k + c];
      if (col[k] < i) A->col[at++] = col[k];
    }
  }
  A->ptr[n] = at;
  return LOOM_OK;
}

static int multiple_of_unit(const double *v)
{
  return v[1] == 0.0 && v[2] == 0.0 && v[3] == 0.0 && v[5] == 0.0 && v[6] == 0.0 && v[7] == 0.0 &&
         v[0] == v[4] && v[0] == v[8];
}

void sym3_simplify(sym3 *A)
{
  const int64_t blocks = A->ptr[A->n];
  if (A->block == 1) return;
  for (int64_t k = 0; k < blocks; ++k)
    if (!multiple_of_unit(A->val + 9 * k)) return;
  for (int64_t i = 0; i < A->n; ++i)
    if (!multiple_of_unit(A->diag + 9 * i)) return;
  for (int64_t k = 0; k < blocks; ++k) A->val[k] = A->val[9 * k];
  for (int64_t i = 0; i < A->n; ++i) A->diag[i] = A->diag[9 * i];
  A->block = 1;
}

/* Block number `at` of `to`, += block number `from` of A. */
static void add_sym3_block(double *to, int block, int64_t at, const double *values, int from_block,
                           int64_t from)
{
  const int size = block * block, from_size = from_block * from_block;
  if (block == from_block)
    for (int c = 0; c < size; ++c) to[size * at + c] += values[from_size * from + c];
  else
    for (int c = 0; c < 9; c += 4) to[9 * at + c] += values[from];
}

loom_status sym3_sum(loom_err *err, const sym3 *A, const sym3 *B, sym3 *S)
{
  const int32_t n = A->n;
  const int block = A->block > B->block ? A->block : B->block;
  const size_t size = (size_t)block * (size_t)block, most = (size_t)(A->ptr[n] + B->ptr[n]);
  int64_t at = 0;
  LOOM_TRY(reserve_sym3_blocks(err, S, n, block, (int64_t)most));
  memset(S->val, 0, most * size * sizeof *S->val);
  memset(S->diag, 0, (size_t)n * size * sizeof *S->diag);
  for (int32_t i = 0; i < n; ++i) {
    int64_t a = A->ptr[i], b = B->ptr[i];
    S->ptr[i] = at;
    while (a < A->ptr[i + 1] || b < B->ptr[i + 1]) {
      const int32_t ca = a < A->ptr[i + 1] ? A->col[a] : n, cb = b < B->ptr[i + 1] ? B->col[b] : n;
      S->col[at] = ca < cb ? ca : cb;
      if (ca <= cb) add_sym3_block(S->val, block, at, A->val, A->block, a++);
      if (cb <= ca) add_sym3_block(S->val, block, at, B->val, B->block, b++);
      ++at;
    }
    add_sym3_block(S->diag, block, i, A->diag, A->block, i);
    add_sym3_block(S->diag, block, i, B->diag, B->block, i);
  }
  S->ptr[n] = at;
  return LOOM_OK;
}

int sym3_same_pattern(const sym3 *A, const sym3 *B)
{
  return A->ptr != NULL && B->ptr != NULL && A->n == B->n && A->block == B->block &&
         A->ptr[A->n] == B->ptr[B->n] &&
         memcmp(A->ptr, B->ptr, ((size_t)A->n + 1) * sizeof *A->ptr) == 0 &&
         memcmp(A->col, B->col, (size_t)A->ptr[A->n] * sizeof *A->col) == 0;
}

static void multiply_scalars(const sym3 *A, const double *x, double *y)
{
  for (int32_t i = 0; i < A->n; ++i) {
    const double *const xi = x + 3 * (size_t)i;
    double *const yi = y + 3 * (size_t)i, s[3] = {0};
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
      const size_t j = 3 * (size_t)A->col[k];
      const double v = A->val[k];
      for (int c = 0; c < 3; ++c) {
        s[c] += v * x[j + (size_t)c];
        y[j + (size_t)c] += v * xi[c];
      }
    }
    for (int c = 0; c < 3; ++c) yi[c] += s[c] + A->diag[i] * xi[c];
  }
}

void sym3_multiply_add(const sym3 *A, const double *x, double *y)
{
  if (A->block == 1) {
    multiply_scalars(A, x, y);
    return;
  }
  for (int32_t i = 0; i < A->n; ++i) {
    const double *const xi = x + 3 * (size_t)i;
    double *const yi = y + 3 * (size_t)i, s[3] = {0};
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
      const size_t j = 3 * (size_t)A->col[k];
      const double *const v = A->val + 9 * k;
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d) {
          s[c] += v[3 * c + d] * x[j + (size_t)d];
          y[j + (size_t)d] += v[3 * c + d] * xi[c];
        }
    }
    const double *const v = A->diag + 9 * (size_t)i;
    for (int c = 0; c < 3; ++c)
      yi[c] += s[c] + v[3 * c] * xi[0] + v[3 * c + 1] * xi[1] + v[3 * c + 2] * xi[2];
  }
}

loom_factor_matrix sym3_view(const sym3 *A)
{
  return (loom_factor_matrix){.struct_size = sizeof(loom_factor_matrix),
                              .n = A->n,
                              .block = A->block,
                              .ptr = A->ptr,
                              .col = A->col,
                              .val = A->val,
                              .diag = A->diag};
}
