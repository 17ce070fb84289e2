/* fx_textbook.c - a projective solver as a textbook has it, L x = b with b from host->pd_rhs(), and
 * a check of promises of the headers in every iteration: the gradient is valid, and L x - b is the
 * gradient without contact.  Dense, for the tiny scenes of tests. */
#include <math.h>
#include <stdlib.h>

#include "loom/plugin.h"

typedef struct textbook {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  loom_buf *rhs, *grad; /* real [n][3] */
  double *A;            /* [n][n], then its Cholesky factor */
  double *b;            /* [n][3] */
} textbook;

static loom_status fx_textbook_create(const loom_host *host, const loom_scene *sc,
                                      const loom_exec *e, const void *settings, void **self)
{
  const size_t n = (size_t)sc->num_verts;
  textbook *const t = calloc(1, sizeof *t);
  (void)settings;
  LOOM_CHECK(host, t != NULL, LOOM_E_NOMEM, "no memory");
  *self = t;
  t->host = host;
  t->sc = sc;
  t->e = e;
  t->A = calloc(n * n, sizeof *t->A);
  t->b = calloc(3 * n, sizeof *t->b);
  LOOM_CHECK(host, t->A != NULL && t->b != NULL, LOOM_E_NOMEM, "no memory");
  LOOM_TRY(host->buf_new(host, "rhs", LOOM_REAL, 3 * (int64_t)n, &t->rhs));
  return host->buf_new(host, "gradient", LOOM_REAL, 3 * (int64_t)n, &t->grad);
}

static void fx_textbook_destroy(void *self)
{
  textbook *const t = self;
  if (t == NULL) return;
  free(t->A);
  free(t->b);
  free(t);
}

static loom_status expand_dense_matrix(textbook *t, const loom_csr *L)
{
  const loom_host *const host = t->host;
  const int32_t n = t->sc->num_verts;
  void *ptr, *col, *val;
  LOOM_TRY(host->map(host, t->e, L->row_ptr, LOOM_READ, LOOM_AT_HOST, &ptr));
  LOOM_TRY(host->map(host, t->e, L->col, LOOM_READ, LOOM_AT_HOST, &col));
  LOOM_TRY(host->map(host, t->e, L->val, LOOM_READ, LOOM_AT_HOST, &val));
  for (int64_t k = 0; k < (int64_t)n * n; ++k) t->A[k] = 0.0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = ((int64_t *)ptr)[i]; k < ((int64_t *)ptr)[i + 1]; ++k)
      t->A[i * n + ((int32_t *)col)[k]] = (double)((loom_real *)val)[k];
  LOOM_TRY(host->unmap(host, L->val));
  LOOM_TRY(host->unmap(host, L->col));
  return host->unmap(host, L->row_ptr);
}

/* L x - rhs against the gradient without contact that the core computes; 1e-10 of the largest. */
static loom_status compare_core_gradient(const textbook *t, const loom_real *x,
                                         const loom_real *grad)
{
  const int64_t n = t->sc->num_verts;
  double most = 0.0, size = 0.0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t c = 0; c < 3; ++c) {
      double r = -t->b[3 * i + c];
      for (int64_t j = 0; j < n; ++j) r += t->A[i * n + j] * (double)x[3 * j + c];
      most = fmax(most, fabs(r - (double)grad[3 * i + c]));
      size = fmax(size, fabs(t->b[3 * i + c]));
    }
  LOOM_CHECK(t->host, most <= 1e-10 * size, LOOM_E_INTERNAL,
             "L x - rhs and the gradient without contact differ by %g N of %g N", most, size);
  return LOOM_OK;
}

/* A = C C' and b = A^-1 b, in place. */
static void solve_dense_cholesky(double *A, double *b, int64_t n)
{
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) {
      double s = A[i * n + j];
      for (int64_t k = 0; k < j; ++k) s -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = i == j ? sqrt(s) : s / A[j * n + j];
    }
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < i; ++k) b[3 * i + c] -= A[i * n + k] * b[3 * k + c];
      b[3 * i + c] /= A[i * n + i];
    }
    for (int64_t i = n; i-- > 0;) {
      for (int64_t k = i + 1; k < n; ++k) b[3 * i + c] -= A[k * n + i] * b[3 * k + c];
      b[3 * i + c] /= A[i * n + i];
    }
  }
}

static loom_status fx_textbook_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  textbook *const t = self;
  const loom_host *const host = t->host;
  const int64_t n = t->sc->num_verts;
  const loom_csr *L = NULL;
  loom_problem free = *s->problem;
  void *p, *x, *grad;
  (void)it;
  free.terms &= ~(uint32_t)LOOM_TERM_CONTACT;
  LOOM_CHECK(host, s->grad_iter == s->iter && s->grad_epoch == s->epoch, LOOM_E_INTERNAL,
             "iteration %d has the gradient of iteration %d, epoch %d that of %d", (int)s->iter,
             (int)s->grad_iter, (int)s->epoch, (int)s->grad_epoch);
  LOOM_TRY(host->pd_operator(host, s->problem, &L));
  LOOM_TRY(expand_dense_matrix(t, L));
  LOOM_TRY(host->pd_rhs(host, s->problem, s->x, t->rhs));
  LOOM_TRY(host->map(host, t->e, t->rhs, LOOM_READ, LOOM_AT_HOST, &p));
  for (int64_t i = 0; i < 3 * n; ++i) t->b[i] = (double)((const loom_real *)p)[i];
  LOOM_TRY(host->unmap(host, t->rhs));
  LOOM_TRY(host->eval(host, &free, s->x, LOOM_EVAL_GRADIENT, NULL, t->grad));
  LOOM_TRY(host->map(host, t->e, s->x, LOOM_READ, LOOM_AT_HOST, &x));
  LOOM_TRY(host->map(host, t->e, t->grad, LOOM_READ, LOOM_AT_HOST, &grad));
  LOOM_TRY(compare_core_gradient(t, x, grad));
  LOOM_TRY(host->unmap(host, t->grad));
  LOOM_TRY(host->unmap(host, s->x));
  solve_dense_cholesky(t->A, t->b, n);
  LOOM_TRY(host->map(host, t->e, s->trial, LOOM_WRITE, LOOM_AT_HOST, &p));
  for (int64_t i = 0; i < 3 * n; ++i) ((loom_real *)p)[i] = (loom_real)t->b[i];
  return host->unmap(host, s->trial);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT,
    .trial = LOOM_TRIAL_POINT,
    .create = fx_textbook_create,
    .destroy = fx_textbook_destroy,
    .iterate = fx_textbook_iterate,
};
static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
    .name = "fx_textbook",
    .version = "1",
    .summary = "fixture: projective dynamics by a dense factorisation of L x = b",
    .reference = "none",
    .license = "MIT",
};

LOOM_EXPORT_PLUGIN(&plugin)
