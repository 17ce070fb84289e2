/* chol.c - CHOLMOD behind a small interface; see chol.h. */
#include "kit/chol.h"

#include <limits.h>
#include <omp.h>

/* CHOLMOD has OpenMP loops of its own.  Many builds fix their number of threads at compile time
 * (Debian: 4) and ignore [exec] threads; the loops are so short that four threads take longer than
 * one.  With 0 active levels of parallelism a loop stays on its thread; the setting is that of the
 * calling thread alone. */
int chol_alone(void)
{
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
  return before;
}
void chol_together(int before) { omp_set_max_active_levels(before); }

/* Every failure of CHOLMOD ends here: it never prints (print = 0, no handler). */
loom_status chol_fail(chol *c, const char *doing)
{
  const long rows = c->A != NULL ? (long)c->A->nrow : 0;
  const long nnz = c->A != NULL ? (long)c->A->nzmax : 0;
  switch (c->cm.status) {
  case CHOLMOD_OUT_OF_MEMORY:
    return LOOM_FAIL(c->host, LOOM_E_NOMEM,
                     "CHOLMOD ran out of memory while %s (%ld rows, %ld entries); %s", doing, rows,
                     nnz, c->remedy);
  case CHOLMOD_TOO_LARGE:
    return LOOM_FAIL(c->host, LOOM_E_UNSUPPORTED,
                     "the factor of %ld rows needs more than 2^31 entries (while %s); %s", rows,
                     doing, c->remedy);
  case CHOLMOD_NOT_INSTALLED:
    return LOOM_FAIL(c->host, LOOM_E_CONFIG,
                     "this CHOLMOD was built without METIS; choose another ordering");
  default:
    return LOOM_FAIL(c->host, LOOM_E_INTERNAL, "CHOLMOD status %d while %s (%ld rows, %ld entries)",
                     c->cm.status, doing, rows, nnz);
  }
}

loom_status chol_open(chol *c, const loom_host *host, int ordering, int own_solve,
                      const char *remedy)
{
  *c = (chol){.host = host, .ordering = ordering, .own_solve = own_solve, .remedy = remedy};
  if (!cholmod_start(&c->cm)) return LOOM_FAIL(host, LOOM_E_NOMEM, "CHOLMOD could not be started");
  c->started = 1;
  c->cm.print = 0;
  c->cm.error_handler = NULL;
  c->cm.supernodal = CHOLMOD_SUPERNODAL;
  c->cm.quick_return_if_not_posdef = 1;
  c->cm.nmethods = 1;
  c->cm.method[0].ordering = ordering == CHOL_METIS ? CHOLMOD_METIS : CHOLMOD_AMD;
  c->cm.postorder = 1;
  c->cm.useGPU = 0;
  return LOOM_OK;
}

/* The values are kept for the next factor. */
static void drop_factor(chol *c)
{
  if (c->L != NULL && c->L->x == c->values) {
    c->L->x = NULL;
    c->L->xtype = CHOLMOD_PATTERN;
  }
  chol_numeric_forget(&c->numeric);
  cholmod_free_factor(&c->L, &c->cm);
  cholmod_free_dense(&c->Y, &c->cm);
  cholmod_free_dense(&c->E, &c->cm);
}

void chol_close(chol *c)
{
  if (!c->started) return;
  drop_factor(c);
  cholmod_free(c->values_cap, sizeof *c->values, c->values, &c->cm);
  chol_numeric_free(&c->numeric);
  cholmod_free_sparse(&c->A, &c->cm);
  cholmod_finish(&c->cm);
  c->started = 0;
}

loom_status chol_matrix(chol *c, int64_t rows, int64_t nnz)
{
  drop_factor(c);
  cholmod_free_sparse(&c->A, &c->cm);
  LOOM_CHECK(c->host, rows >= 0 && rows < INT_MAX && nnz >= 0 && nnz < INT_MAX, LOOM_E_UNSUPPORTED,
             "a matrix of %lld rows and %lld entries is beyond 32-bit indices; use a smaller mesh "
             "or a solver without factorisation",
             (long long)rows, (long long)nnz);
  c->A = cholmod_allocate_sparse((size_t)rows, (size_t)rows, (size_t)nnz, /* sorted */ 1,
                                 /* packed */ 1, /* upper */ 1, CHOLMOD_REAL, &c->cm);
  return c->A != NULL ? LOOM_OK : chol_fail(c, "storing the matrix");
}

loom_status chol_matrix_permuted(chol *c, int64_t nnz)
{
  const size_t rows = c->A->nrow;
  cholmod_free_sparse(&c->A, &c->cm);
  c->A = cholmod_allocate_sparse(rows, rows, (size_t)nnz, /* sorted */ 0, /* packed */ 1,
                                 /* lower */ -1, CHOLMOD_REAL, &c->cm);
  if (c->A == NULL) return chol_fail(c, "storing the matrix");
  /* cholmod_factorize_p then uses A itself, see "natural ordering" there */
  c->L->ordering = CHOLMOD_NATURAL;
  return LOOM_OK;
}

double chol_factor_bytes(const chol *c)
{
  const cholmod_factor *L = c->L;
  if (L == NULL) return 0.0;
  return (double)(L->xsize * sizeof(double)) +
         (double)((L->ssize + 3 * (L->nsuper + 1) + 2 * L->n) * sizeof(int));
}

void chol_count_solve(const chol *c, int columns)
{
  const int64_t vector = 4 * (int64_t)sizeof(double) * (int64_t)c->L->n;
  c->host->count(c->host, LOOM_C_BYTES, 2 * (int64_t)chol_factor_bytes(c) + columns * vector);
}

loom_status chol_workspace(chol *c)
{
  cholmod_free_work(&c->cm);
  if (c->own_solve) return LOOM_OK;
  const size_t rows = c->A->nrow, tall = c->L->maxesize;
  c->Y = cholmod_allocate_dense(rows, 1, rows, CHOLMOD_REAL, &c->cm);
  c->E = cholmod_allocate_dense(tall, 1, tall, CHOLMOD_REAL, &c->cm);
  return c->Y != NULL && c->E != NULL ? LOOM_OK : chol_fail(c, "making workspace");
}

loom_status chol_analyse(chol *c)
{
  drop_factor(c);
  const int levels = chol_alone();
  c->L = cholmod_analyze(c->A, &c->cm);
  chol_together(levels);
  if (c->L == NULL || c->cm.status < 0) return chol_fail(c, "analysing the matrix");
  return chol_workspace(c);
}

/* Contact changes the pattern in most iterations of Newton's method, and with it the length. */
static int reserve_values(chol *c)
{
  cholmod_factor *const L = c->L;
  if (L->xtype == CHOLMOD_REAL) return 1;
  if (c->values == NULL || L->xsize > c->values_cap) {
    c->values = cholmod_free(c->values_cap, sizeof *c->values, c->values, &c->cm);
    c->values_cap = L->xsize + L->xsize / 8;
    c->values = cholmod_malloc(c->values_cap, sizeof *c->values, &c->cm);
    if (c->values == NULL) return 0;
  }
  L->x = c->values;
  L->xtype = CHOLMOD_REAL;
  return 1;
}

/* A in the factor's order, lower triangle: A itself, or a copy that the caller frees. */
static cholmod_sparse *order_matrix(chol *c)
{
  if (c->A->stype < 0) return c->A;
  const int levels = chol_alone();
  cholmod_sparse *const S = cholmod_ptranspose(c->A, /* values */ 1, c->L->Perm, NULL, 0, &c->cm);
  chol_together(levels);
  cholmod_free_work(&c->cm);
  return S;
}

loom_status chol_factorise(chol *c, int *pivot)
{
  c->host->count(c->host, LOOM_C_BYTES, (int64_t)chol_factor_bytes(c) + 12 * (int64_t)c->A->nzmax);
  if (!reserve_values(c)) return chol_fail(c, "making the factor");
  cholmod_sparse *S = order_matrix(c);
  if (S == NULL) return chol_fail(c, "ordering the matrix");
  const int failed = chol_numeric_factorise(&c->numeric, S, c->L, omp_get_max_threads());
  if (S != c->A) cholmod_free_sparse(&S, &c->cm);
  if (failed == CHOL_NUMERIC_NO_MEMORY) c->cm.status = CHOLMOD_OUT_OF_MEMORY;
  if (failed == CHOL_NUMERIC_NO_POSTORDER) c->cm.status = CHOLMOD_INVALID;
  if (failed) return chol_fail(c, "factorising the matrix");
  if (c->L->minor < c->A->nrow) {
    *pivot = chol_perm(c)[c->L->minor];
    return LOOM_REJECTED;
  }
  *pivot = -1;
  return LOOM_OK;
}

loom_status chol_forward(chol *c)
{
  const int levels = chol_alone();
  const int fine = cholmod_super_lsolve(c->L, c->Y, c->E, &c->cm);
  chol_together(levels);
  return fine ? LOOM_OK : chol_fail(c, "solving");
}

loom_status chol_solve(chol *c)
{
  chol_count_solve(c, 1);
  const int levels = chol_alone();
  const int fine = cholmod_super_lsolve(c->L, c->Y, c->E, &c->cm) &&
                   cholmod_super_ltsolve(c->L, c->Y, c->E, &c->cm);
  chol_together(levels);
  return fine ? LOOM_OK : chol_fail(c, "solving");
}
