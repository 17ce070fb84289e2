/* pd_matrix.c - building and filling the matrix of the global step; see pd_matrix.h. */
#include "pd_matrix.h"

#include <stdlib.h>

typedef struct rows { /* couplings bucketed by row, columns ascending and unique in a row */
  int64_t *ptr;       /* [n + 1] */
  int32_t *col;       /* [ptr[n]] */
} rows;

static void free_rows(rows *r)
{
  free(r->ptr);
  free(r->col);
}

static int ascending(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* counting sort by row, then each (short) row is sorted and freed of repetitions */
static int bucket(const pd_coupling *c, int64_t m, int32_t n, rows *out)
{
  int64_t *ptr = calloc((size_t)n + 2, sizeof *ptr);
  int32_t *col = malloc((size_t)(m > 0 ? m : 1) * sizeof *col);
  *out = (rows){ptr, col};
  if (ptr == NULL || col == NULL) return 0;
  for (int64_t k = 0; k < m; ++k) ++ptr[c[k].row + 2];
  for (int32_t i = 0; i < n; ++i) ptr[i + 2] += ptr[i + 1];
  for (int64_t k = 0; k < m; ++k) col[ptr[c[k].row + 1]++] = c[k].col;
  int64_t to = 0;
  for (int32_t i = 0; i < n; ++i) {
    const int64_t lo = ptr[i], hi = ptr[i + 1];
    qsort(col + lo, (size_t)(hi - lo), sizeof *col, ascending);
    ptr[i] = to;
    for (int64_t k = lo; k < hi; ++k)
      if (k == lo || col[k] != col[k - 1]) col[to++] = col[k];
  }
  ptr[n] = to;
  return 1;
}

typedef struct csr_view { /* host views of L and of the fixed flags */
  const int64_t *ptr;
  const int32_t *col;
  const uint8_t *fixed;
} csr_view;

/* Row i of the united pattern: L's and the extra columns before the diagonal, merged, then
 * the diagonal.  out NULL: only count. */
static int merge_row(const csr_view *L, const rows *x, int32_t i, int *out)
{
  int64_t a = L->ptr[i], b = x->ptr[i];
  const int64_t a_end = L->ptr[i + 1], b_end = x->ptr[i + 1];
  int m = 0;
  for (;;) {
    int32_t j = i;
    while (a < a_end && (L->col[a] >= i || L->fixed[i] || L->fixed[L->col[a]])) ++a;
    if (a < a_end) j = L->col[a];
    if (b < b_end && x->col[b] < j) j = x->col[b];
    if (out != NULL) out[m] = j;
    ++m;
    if (j == i) return m;
    a += a < a_end && L->col[a] == j;
    b += b < b_end && x->col[b] == j;
  }
}

static loom_status fill_pattern(chol *c, const csr_view *L, const rows *x, int32_t n)
{
  int64_t nnz = 0;
  for (int32_t i = 0; i < n; ++i) nnz += merge_row(L, x, i, NULL);
  LOOM_TRY(chol_matrix(c, n, nnz));
  int *p = chol_ptr(c), m = 0;
  for (int32_t i = 0; i < n; ++i) {
    p[i] = m;
    m += merge_row(L, x, i, chol_row(c) + m);
  }
  p[n] = m;
  return LOOM_OK;
}

loom_status pd_matrix_pattern(chol *c, const loom_exec *e, const loom_scene *sc, const loom_csr *L,
                              const pd_coupling *extra, int64_t num_extra)
{
  const loom_host *h = c->h;
  rows x;
  if (!bucket(extra, num_extra, L->num_rows, &x)) {
    free_rows(&x);
    return LOOM_FAIL(h, LOOM_E_NOMEM, "no memory for %lld contact couplings", (long long)num_extra);
  }
  csr_view view;
  void *ptr = NULL, *col = NULL, *fixed = NULL;
  loom_status st = h->map(h, e, L->row_ptr, LOOM_READ, LOOM_AT_HOST, &ptr);
  if (st == LOOM_OK) st = h->map(h, e, L->col, LOOM_READ, LOOM_AT_HOST, &col);
  if (st == LOOM_OK) st = h->map(h, e, sc->fixed, LOOM_READ, LOOM_AT_HOST, &fixed);
  view = (csr_view){ptr, col, fixed};
  if (st == LOOM_OK) st = fill_pattern(c, &view, &x, L->num_rows);
  free_rows(&x);
  LOOM_TRY(st);
  LOOM_TRY(h->unmap(h, sc->fixed));
  LOOM_TRY(h->unmap(h, L->col));
  LOOM_TRY(h->unmap(h, L->row_ptr));
  return chol_analyse(c);
}

/* index of (row, col), row > col, -1 if the pattern lacks it */
static int64_t slot(const chol *c, int32_t row, int32_t col)
{
  const int *p = chol_ptr(c), *i = chol_row(c);
  int lo = p[row], hi = p[row + 1] - 1;
  while (lo <= hi) {
    const int mid = lo + (hi - lo) / 2;
    if (i[mid] == col) return mid;
    if (i[mid] < col)
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  return -1;
}

int pd_matrix_covers(const chol *c, const pd_contact *k)
{
  for (int64_t m = 0; m < k->num_off; ++m)
    if (slot(c, k->off[m].row, k->off[m].col) < 0) return 0;
  return 1;
}

loom_status pd_matrix_values(chol *c, const loom_exec *e, const loom_csr *L, const pd_contact *k)
{
  const loom_host *h = c->h;
  const int *p = chol_ptr(c), *row = chol_row(c);
  double *val = chol_val(c);
  void *ptr_, *col_, *val_;
  LOOM_TRY(h->map(h, e, L->row_ptr, LOOM_READ, LOOM_AT_HOST, &ptr_));
  LOOM_TRY(h->map(h, e, L->col, LOOM_READ, LOOM_AT_HOST, &col_));
  LOOM_TRY(h->map(h, e, L->val, LOOM_READ, LOOM_AT_HOST, &val_));
  const int64_t *lp = ptr_;
  const int32_t *lc = col_;
  const loom_real *lv = val_;
  /* both rows ascend: walk them together; entries of contact alone start at zero */
  for (int32_t i = 0; i < L->num_rows; ++i) {
    int64_t a = lp[i];
    for (int m = p[i]; m < p[i + 1]; ++m) {
      while (a < lp[i + 1] && lc[a] < row[m]) ++a;
      val[m] = a < lp[i + 1] && lc[a] == row[m] ? (double)lv[a] : 0.0;
    }
    if (k->any) val[p[i + 1] - 1] += k->diag[i];
  }
  for (int64_t m = 0; m < k->num_off; ++m)
    val[slot(c, k->off[m].row, k->off[m].col)] += k->off[m].val;
  LOOM_TRY(h->unmap(h, L->val));
  LOOM_TRY(h->unmap(h, L->col));
  return h->unmap(h, L->row_ptr);
}
