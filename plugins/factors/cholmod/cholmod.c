/* cholmod.c - sparse Cholesky factors for the core (loom/factor.h), by the kit `chol`.
 *
 * Licence: this source is MIT, but CHOLMOD's supernodal part is GPL-2.0-or-later, and so is the
 * module as built.  CHOLMOD's simplicial part is LGPL, but distributed libraries hold both parts,
 * and the simplicial part works entry by entry where the supernodal part calls a BLAS.  As a module
 * of its own it does not affect the licence of loom. */
#include "loom/factor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_blocks.h"
#include "kit/chol_solve3.h"

typedef struct factor {
  loom_host host; /* first member: services for the kit, which calls cholmod_factor_fail() and
                     cholmod_factor_count() alone */
  char *why;      /* text of an error of the present call */
  chol c;
  int32_t n, block;
  chol_place *place; /* of blocks of 3 x 3, see kit/chol_blocks.h */
  int *source;       /* of scalars: entry k of the matrix is value source[k]; -1 - i: diagonal i */
  double *work;      /* of solves with three right-hand sides, then [n][3] */
} factor;

static loom_status cholmod_factor_fail(const loom_host *host, loom_status code, const char *file,
                                       int line, const char *func, const char *fmt, ...)
{
  const factor *const f = (const factor *)host;
  va_list ap;
  (void)file, (void)line, (void)func;
  va_start(ap, fmt);
  if (f->why != NULL) vsnprintf(f->why, LOOM_FACTOR_WHY, fmt, ap);
  va_end(ap);
  return code;
}

/* Work done while measuring is not charged. */
static void cholmod_factor_count(const loom_host *host, int counter, int64_t n)
{
  (void)host, (void)counter, (void)n;
}

static void free_factor_arrays(factor *f)
{
  free(f->place);
  free(f->source);
  free(f->work);
  f->place = NULL;
  f->source = NULL;
  f->work = NULL;
  f->n = 0;
}

static void close_factor(void *self)
{
  factor *const f = self;
  if (f == NULL) return;
  chol_close(&f->c);
  free_factor_arrays(f);
  free(f);
}

static loom_status open_factor(void **self, char *why)
{
  factor *const f = calloc(1, sizeof *f);
  *self = f;
  if (f == NULL) {
    snprintf(why, LOOM_FACTOR_WHY, "out of memory");
    return LOOM_E_NOMEM;
  }
  f->host.struct_size = sizeof f->host;
  f->host.fail = cholmod_factor_fail;
  f->host.count = cholmod_factor_count;
  f->why = why;
  const loom_status s =
      chol_open(&f->c, &f->host, CHOL_AMD, 0, "use [log] error_by = cg, or a smaller mesh");
  if (s == LOOM_OK) return LOOM_OK;
  close_factor(f);
  *self = NULL;
  return s;
}

/* ---- scalars: the lower triangle by rows is the upper one by columns ---- */

static loom_status analyse_scalars(factor *f, const loom_factor_matrix *A)
{
  LOOM_TRY(chol_matrix(&f->c, A->n, A->ptr[A->n] + A->n));
  int *const ptr = chol_ptr(&f->c), *const row = chol_row(&f->c), at = 0;
  f->source = malloc(((size_t)(A->ptr[A->n] + A->n) + 1) * sizeof *f->source);
  if (f->source == NULL)
    return cholmod_factor_fail(&f->host, LOOM_E_NOMEM, "", 0, "", "out of memory");
  for (int32_t i = 0; i < A->n; ++i) {
    ptr[i] = at;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
      f->source[at] = (int)k;
      row[at++] = A->col[k];
    }
    f->source[at] = -1 - i;
    row[at++] = i;
  }
  ptr[A->n] = at;
  LOOM_TRY(chol_analyse(&f->c));
  f->work = malloc((chol_solve3_work(f->c.L) + 3 * (size_t)A->n) * sizeof *f->work);
  return f->work != NULL ? LOOM_OK
                         : cholmod_factor_fail(&f->host, LOOM_E_NOMEM, "", 0, "", "out of memory");
}

/* ---- blocks of 3 x 3 ---- */

static loom_status analyse_blocks(factor *f, const loom_factor_matrix *A)
{
  double flops;
  const size_t blocks = (size_t)(A->ptr[A->n] + A->n);
  int *const order = malloc(((size_t)A->n + 1) * sizeof *order);
  chol_graph g = {.n = A->n, .ptr = malloc(((size_t)A->n + 1) * sizeof *g.ptr), .col = NULL};
  g.col = malloc((blocks + 1) * sizeof *g.col);
  f->place = malloc((blocks + 1) * sizeof *f->place);
  loom_status s = LOOM_OK;
  if (order == NULL || g.ptr == NULL || g.col == NULL || f->place == NULL) {
    s = cholmod_factor_fail(&f->host, LOOM_E_NOMEM, "", 0, "", "out of memory");
  } else {
    memcpy(g.ptr, A->ptr, ((size_t)A->n + 1) * sizeof *g.ptr);
    memcpy(g.col, A->col, (size_t)A->ptr[A->n] * sizeof *g.col);
    s = chol_order_blocks(&f->c, &g, order);
    if (s == LOOM_OK) s = chol_analyse_blocks(&f->c, &g, order, f->place, &flops);
  }
  free(order);
  free(g.ptr);
  free(g.col);
  return s;
}

static loom_status cholmod_factor_analyse(void *self, const loom_factor_matrix *A, char *why)
{
  factor *const f = self;
  f->why = why;
  free_factor_arrays(f);
  /* an ordering was given to the analysis of blocks: CHOLMOD is to choose one again */
  f->c.cm.method[0].ordering = CHOLMOD_AMD;
  const loom_status s = A->block == 3 ? analyse_blocks(f, A) : analyse_scalars(f, A);
  if (s != LOOM_OK) {
    free_factor_arrays(f);
    return s;
  }
  f->n = A->n;
  f->block = A->block;
  return LOOM_OK;
}

static loom_status cholmod_factor_factorise(void *self, const loom_factor_matrix *A, char *why)
{
  factor *const f = self;
  int pivot;
  f->why = why;
  if (f->n != A->n || f->block != A->block)
    return cholmod_factor_fail(&f->host, LOOM_E_STATE, "", 0, "", "another matrix was analysed");
  double *const val = chol_val(&f->c);
  if (f->block == 3) {
    for (int64_t k = 0; k < A->ptr[A->n]; ++k) chol_put(val, f->place[k], A->val + 9 * k);
    for (int32_t i = 0; i < A->n; ++i)
      chol_put_diagonal(val, f->place[A->ptr[A->n] + i], A->diag + 9 * (size_t)i);
  } else {
    for (int64_t k = 0; k < A->ptr[A->n] + A->n; ++k) {
      const int from = f->source[k];
      val[k] = from >= 0 ? A->val[from] : A->diag[-1 - from];
    }
  }
  return chol_factorise(&f->c, &pivot);
}

/* x [n][3] in the factor's order, where its solves take it. */
static double *in_order(factor *f, const double *x)
{
  const size_t n = (size_t)f->n;
  const int *const perm = chol_perm(&f->c);
  if (f->block == 3) {
    double *const y = chol_rhs(&f->c);
    for (size_t k = 0; k < 3 * n; ++k) y[k] = x[perm[k]];
    return y;
  }
  double *const y = f->work + chol_solve3_work(f->c.L);
  for (size_t k = 0; k < n; ++k) memcpy(y + 3 * k, x + 3 * (size_t)perm[k], 3 * sizeof *y);
  return y;
}

static loom_status cholmod_factor_solve(void *self, double *x, char *why)
{
  factor *const f = self;
  const size_t n = (size_t)f->n;
  f->why = why;
  if (n == 0)
    return cholmod_factor_fail(&f->host, LOOM_E_STATE, "", 0, "", "no matrix was factorised");
  const int *const perm = chol_perm(&f->c);
  double *const y = in_order(f, x);
  if (f->block == 3) {
    LOOM_TRY(chol_solve(&f->c));
    for (size_t k = 0; k < 3 * n; ++k) x[perm[k]] = y[k];
    return LOOM_OK;
  }
  chol_solve3(f->c.L, y, f->work);
  for (size_t k = 0; k < n; ++k) memcpy(x + 3 * (size_t)perm[k], y + 3 * k, 3 * sizeof *y);
  return LOOM_OK;
}

/* |y|^2 of y [n][3] */
static double sum_row_squares(size_t n, const double *y)
{
  double s[3] = {0.0, 0.0, 0.0};
  for (size_t k = 0; k < n; ++k)
    for (size_t c = 0; c < 3; ++c) s[c] += y[3 * k + c] * y[3 * k + c];
  return s[0] + s[1] + s[2];
}

static loom_status cholmod_factor_norm2(void *self, const double *x, double *out, char *why)
{
  factor *const f = self;
  const size_t n = (size_t)f->n;
  f->why = why;
  if (n == 0)
    return cholmod_factor_fail(&f->host, LOOM_E_STATE, "", 0, "", "no matrix was factorised");
  double *const y = in_order(f, x);
  if (f->block == 3)
    LOOM_TRY(chol_forward(&f->c));
  else
    chol_forward3(f->c.L, y, f->work);
  *out = sum_row_squares(n, y);
  return LOOM_OK;
}

const loom_factor *loom_factor_query(uint32_t abi)
{
  static const loom_factor module = {.struct_size = sizeof module,
                                     .abi = LOOM_FACTOR_ABI,
                                     .name = "cholmod",
                                     .version = "1",
                                     .license = "GPL-2.0-or-later",
                                     .summary = "supernodal Cholesky factors by CHOLMOD",
                                     .open = open_factor,
                                     .close = close_factor,
                                     .analyse = cholmod_factor_analyse,
                                     .factorise = cholmod_factor_factorise,
                                     .solve = cholmod_factor_solve,
                                     .norm2 = cholmod_factor_norm2};
  return abi == LOOM_FACTOR_ABI ? &module : NULL;
}
