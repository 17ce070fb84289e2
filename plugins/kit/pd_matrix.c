/* pd_matrix.c - building and filling the matrix of the global step; see pd_matrix.h. */
#include "kit/pd_matrix.h"

#include <stdlib.h>

#include "kit/sort_i32.h"
#include "loom/plug.h"

typedef struct rows { /* couplings of every vertex, columns ascending and unique in a row */
  int64_t *ptr;       /* [n + 1] */
  int32_t *col;       /* [ptr[n]] */
} rows;

static void free_rows(rows *r)
{
  free(r->ptr);
  free(r->col);
}

/* counting sort by row, (i, j) also as (j, i); then each (short) row is sorted and freed of
 * repetitions */
static int bucket_couplings(const pd_coupling *c, int64_t m, int32_t n, rows *out)
{
  int64_t *ptr = calloc((size_t)n + 2, sizeof *ptr);
  int32_t *col = malloc((size_t)(m > 0 ? 2 * m : 1) * sizeof *col);
  *out = (rows){ptr, col};
  if (ptr == NULL || col == NULL) return 0;
  for (int64_t k = 0; k < m; ++k) {
    ++ptr[c[k].row + 2];
    ++ptr[c[k].col + 2];
  }
  for (int32_t i = 0; i < n; ++i) ptr[i + 2] += ptr[i + 1];
  for (int64_t k = 0; k < m; ++k) {
    col[ptr[c[k].row + 1]++] = c[k].col;
    col[ptr[c[k].col + 1]++] = c[k].row;
  }
  int64_t to = 0;
  for (int32_t i = 0; i < n; ++i) {
    const int64_t lo = ptr[i], hi = ptr[i + 1];
    sort_i32(col + lo, hi - lo);
    ptr[i] = to;
    for (int64_t k = lo; k < hi; ++k)
      if (k == lo || col[k] != col[k - 1]) col[to++] = col[k];
  }
  ptr[n] = to;
  return 1;
}

/* ---- rows of the united pattern ---- */
typedef struct source { /* host views of L and of the fixed flags, and the couplings */
  const int64_t *ptr;
  const int32_t *col;
  const loom_real *val;
  const uint8_t *fixed;
  rows x;
  int32_t n;
} source;

typedef struct entry {
  int32_t row, col;
  int64_t a, b; /* next ones in L and in the couplings */
  int64_t at;   /* this one in L, -1: of couplings alone */
} entry;

static entry first_entry(const source *s, int32_t row)
{
  return (entry){.row = row, .a = s->ptr[row], .b = s->x.ptr[row]};
}

/* The entries of a row in ascending order; 0 after the last. */
static int next_row_entry(const source *s, entry *e)
{
  const int32_t i = e->row;
  const int64_t a_end = s->ptr[i + 1], b_end = s->x.ptr[i + 1];
  while (e->a < a_end && s->col[e->a] != i && (s->fixed[i] || s->fixed[s->col[e->a]])) ++e->a;
  const int32_t ca = e->a < a_end ? s->col[e->a] : s->n;
  const int32_t cb = e->b < b_end ? s->x.col[e->b] : s->n;
  e->col = ca < cb ? ca : cb;
  e->at = ca <= cb ? e->a : -1;
  e->a += ca == e->col;
  e->b += cb == e->col;
  return e->col < s->n;
}

/* Upper triangle by columns, in the order of the vertices, for CHOLMOD to analyse. */
static loom_status fill_global_pattern(chol *c, const source *s)
{
  int64_t nnz = 0;
  for (int32_t i = 0; i < s->n; ++i)
    for (entry e = first_entry(s, i); next_row_entry(s, &e);) nnz += e.col <= i;
  LOOM_TRY(chol_matrix(c, s->n, nnz));
  int *p = chol_ptr(c), m = 0;
  for (int32_t i = 0; i < s->n; ++i) {
    p[i] = m;
    for (entry e = first_entry(s, i); next_row_entry(s, &e);)
      if (e.col <= i) chol_row(c)[m++] = e.col;
  }
  p[s->n] = m;
  return LOOM_OK;
}

/* Lower triangle by columns in the factor's order: the diagonal, then the other rows. */
static void fill_factor_matrix(const pd_matrix *A, chol *c, const source *s)
{
  int *p = chol_ptr(c), *row = chol_row(c), m = 0;
  const int *perm = chol_perm(c);
  double *val = chol_val(c);
  for (int32_t k = 0; k < s->n; ++k) {
    p[k] = m;
    row[m++] = k;
    for (entry e = first_entry(s, perm[k]); next_row_entry(s, &e);) {
      const double v = e.at >= 0 ? (double)s->val[e.at] : 0.0;
      const int32_t to = A->place[e.col];
      if (to == k) A->diag[k] = v;
      if (to <= k) continue;
      row[m] = to;
      val[m++] = v;
    }
  }
  p[s->n] = m;
}

static loom_status build_global_matrix(pd_matrix *A, chol *c, const source *s)
{
  const loom_host *host = c->host;
  const size_t n = (size_t)s->n + 1;
  LOOM_TRY(fill_global_pattern(c, s));
  const int64_t nnz = chol_ptr(c)[s->n];
  LOOM_TRY(chol_analyse(c));
  LOOM_TRY(chol_matrix_permuted(c, nnz));
  A->diag = malloc(n * sizeof *A->diag);
  A->place = malloc(n * sizeof *A->place);
  LOOM_CHECK(host, A->diag != NULL && A->place != NULL, LOOM_E_NOMEM,
             "no memory for the matrix of %d vertices", s->n);
  const int *perm = chol_perm(c);
  for (int32_t k = 0; k < s->n; ++k) A->place[perm[k]] = k;
  fill_factor_matrix(A, c, s);
  if (s->x.ptr[s->n] == 0) { /* only couplings are looked up */
    free(A->place);
    A->place = NULL;
  }
  return LOOM_OK;
}

loom_status pd_matrix_pattern(pd_matrix *A, chol *c, const loom_exec *e, const loom_scene *sc,
                              const loom_csr *L, const pd_coupling *extra, int64_t num_extra)
{
  const loom_host *host = c->host;
  plug_maps m = plug_maps_on(host, e);
  source s = {.n = L->num_rows};
  pd_matrix_free(A);
  if (!bucket_couplings(extra, num_extra, L->num_rows, &s.x)) {
    free_rows(&s.x);
    return LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for %lld contact couplings",
                     (long long)num_extra);
  }
  s.ptr = plug_read_host(&m, L->row_ptr);
  s.col = plug_read_host(&m, L->col);
  s.val = plug_read_host(&m, L->val);
  s.fixed = plug_read_host(&m, sc->fixed);
  const loom_status st = m.status == LOOM_OK ? build_global_matrix(A, c, &s) : m.status;
  free_rows(&s.x);
  LOOM_TRY(st);
  return plug_unbind(&m);
}

void pd_matrix_free(pd_matrix *A)
{
  free(A->diag);
  free(A->place);
  free(A->change);
  *A = (pd_matrix){0};
}

/* index of the entry that couples vertices i and j, -1 if the pattern lacks it */
static int64_t find_coupling_slot(const pd_matrix *A, const chol *c, int32_t i, int32_t j)
{
  if (A->place == NULL) return -1;
  const int *p = chol_ptr(c), *row = chol_row(c);
  const int32_t a = A->place[i], b = A->place[j], col = a < b ? a : b, want = a < b ? b : a;
  for (int m = p[col]; m < p[col + 1]; ++m)
    if (row[m] == want) return m;
  return -1;
}

int pd_matrix_covers(const pd_matrix *A, const chol *c, const pd_contact *k)
{
  for (int64_t m = 0; m < k->num_off; ++m)
    if (find_coupling_slot(A, c, k->off[m].row, k->off[m].col) < 0) return 0;
  return 1;
}

loom_status pd_matrix_values(pd_matrix *A, chol *c, const pd_contact *k)
{
  const int *p = chol_ptr(c), *perm = chol_perm(c);
  double *val = chol_val(c);
  while (A->num_change > 0) { /* backwards: an entry may have changed several times */
    --A->num_change;
    val[A->change[A->num_change].at] = A->change[A->num_change].was;
  }
  for (size_t i = 0; i < c->A->nrow; ++i)
    val[p[i]] = k->any ? A->diag[i] + k->diag[perm[i]] : A->diag[i];
  if (k->num_off > A->cap_change) {
    free(A->change);
    A->cap_change = k->num_off;
    A->change = malloc((size_t)A->cap_change * sizeof *A->change);
    if (A->change == NULL) A->cap_change = 0;
    LOOM_CHECK(c->host, A->change != NULL, LOOM_E_NOMEM, "no memory for %lld contact couplings",
               (long long)k->num_off);
  }
  for (int64_t m = 0; m < k->num_off; ++m) {
    const int32_t at = (int32_t)find_coupling_slot(A, c, k->off[m].row, k->off[m].col);
    A->change[A->num_change++] = (pd_change){at, val[at]};
    val[at] += k->off[m].val;
  }
  return LOOM_OK;
}
