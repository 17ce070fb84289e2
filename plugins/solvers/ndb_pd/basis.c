/* basis.c - the subspace: modes or splines, the reduced matrix without contact. */
#include <math.h>
#include <stdlib.h>

#include "ndb_pd.h"

typedef struct free_rows { /* H of the free vertices alone */
  int32_t n;
  int32_t *vertex; /* [n] */
  int64_t *ptr;
  int32_t *col;
  double *val, *diag;
} free_rows;

static void free_rows_close(free_rows *f)
{
  free(f->vertex);
  free(f->ptr);
  free(f->col);
  free(f->val);
  free(f->diag);
}

static loom_status extract_free_rows(ndb_pd *s, const ndb_pd_matrix *A, free_rows *f)
{
  const size_t n = (size_t)s->n + 1, nnz = (size_t)A->ptr[s->n] + 1;
  int32_t *at = malloc(n * sizeof *at);
  *f = (free_rows){0,
                   malloc(n * sizeof(int32_t)),
                   malloc(n * sizeof(int64_t)),
                   malloc(nnz * sizeof(int32_t)),
                   malloc(nnz * sizeof(double)),
                   malloc(n * sizeof(double))};
  const int ok = at != NULL && f->vertex != NULL && f->ptr != NULL && f->col != NULL &&
                 f->val != NULL && f->diag != NULL;
  if (ok) {
    int64_t m = 0;
    for (int32_t i = 0; i < s->n; ++i) {
      at[i] = f->n;
      if (A->fixed[i]) continue;
      f->vertex[f->n++] = i;
    }
    for (int32_t k = 0; k < f->n; ++k) {
      const int32_t i = f->vertex[k];
      f->ptr[k] = m;
      f->diag[k] = (double)A->diag[i];
      for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e, ++m) {
        f->col[m] = at[A->col[e]];
        f->val[m] = (double)A->val[e];
      }
    }
    f->ptr[f->n] = m;
  }
  free(at);
  LOOM_CHECK(s->host, ok, LOOM_E_NOMEM, "no memory for the matrix of %d vertices", s->n);
  return LOOM_OK;
}

/* The basis U, and room for its reduced matrices. */
static loom_status store_subspace(ndb_pd *s, int32_t cols, const double *U)
{
  const loom_host *const host = s->host;
  const int64_t square = (int64_t)cols * cols;
  LOOM_TRY(subspace_set(&s->space, cols, U));
  LOOM_TRY(host->buf_resize(host, s->inv1, square));
  LOOM_TRY(host->buf_resize(host, s->inv2, square));
  free(s->S);
  free(s->work);
  s->S = calloc((size_t)square, sizeof *s->S);
  s->work = malloc(4 * (size_t)square * sizeof *s->work);
  LOOM_CHECK(host, s->S != NULL && s->work != NULL, LOOM_E_NOMEM,
             "no memory for the reduced matrix of %d modes", cols);
  s->extra = s->work + 3 * square;
  return LOOM_OK;
}

/* ---- modes ---- */

static void say_how(const ndb_pd *s, const eig_pairs *p, int32_t wanted)
{
  const loom_host *const host = s->host;
  if (p->stale)
    host->log(host, LOOM_LOG_WARN,
              "the file of eigenvectors in '%s' is damaged or of another system; they "
              "were computed again",
              s->set.cache);
  if (p->unsaved)
    host->log(host, LOOM_LOG_WARN, "eigenvectors could not be written to '%s'", s->set.cache);
  if (!p->converged)
    host->log(host, LOOM_LOG_WARN,
              "ARPACK found %d of %d eigenvectors in %lld restarts; the subspace has "
              "%d modes. Raise eigen_restarts, or ask for fewer with r1",
              p->count, wanted, (long long)s->set.eigen_restarts, p->count);
}

/* first eigenvalue of D^-1 H left out by r of the modes in p */
static double next_mu(const ndb_pd *s, const free_rows *f, const eig_pairs *p, int32_t r)
{
  double most = 0.0;
  if (p->count == 0) return s->mu_lo;
  const double mu = p->mu[r < p->count ? r : p->count - 1];
  if (s->set.modes == MODES_GENERALISED) return mu;
  /* u'Hu >= mu u'u >= mu u'Du / max D for u orthogonal to the modes */
  for (int32_t k = 0; k < f->n; ++k) most = fmax(most, f->diag[k]);
  return fmax(s->mu_lo, mu / most);
}

static loom_status use_modes(ndb_pd *s, const free_rows *f, const eig_pairs *p, int32_t wanted)
{
  /* one more than r1 was computed, for the spectrum behind it */
  const int32_t cols = p->converged ? wanted - 1 : p->count;
  const size_t ld = (size_t)subspace_ld(cols);
  s->r1 = cols;
  s->r2 = s->set.r2 < cols ? (int32_t)s->set.r2 : cols;
  s->mu1 = next_mu(s, f, p, s->r1);
  s->mu2 = next_mu(s, f, p, s->r2);
  if (cols == 0) return LOOM_OK;
  double *U = calloc((size_t)s->n * ld, sizeof *U);
  LOOM_CHECK(s->host, U != NULL, LOOM_E_NOMEM, "no memory for %d modes", cols);
  for (int32_t m = 0; m < cols; ++m)
    for (int32_t k = 0; k < f->n; ++k)
      U[(size_t)f->vertex[k] * ld + (size_t)m] = p->vec[(size_t)m * (size_t)p->n + (size_t)k];
  const loom_status st = store_subspace(s, cols, U);
  free(U);
  LOOM_TRY(st);
  for (int32_t m = 0; m < cols; ++m) s->S[m * cols + m] = p->mu[m];
  return LOOM_OK;
}

static loom_status make_modes(ndb_pd *s)
{
  const loom_host *const host = s->host;
  plug_maps m;
  ndb_pd_matrix A;
  free_rows f;
  eig_pairs p;
  LOOM_TRY(ndb_pd_matrix_open(s, &m, &A));
  loom_status st = extract_free_rows(s, &A, &f);
  if (st == LOOM_OK) {
    const int64_t wanted = s->set.r1 + 1 < f.n ? s->set.r1 + 1 : f.n - 1;
    const eig_system sys = {f.n, f.ptr, f.col, f.val,
                            s->set.modes == MODES_GENERALISED ? f.diag : NULL};
    const eig_request r = {(int32_t)wanted, (int32_t)s->set.eigen_restarts, s->set.eigen_tolerance,
                           s->set.cache};
    if (wanted >= 2) { /* fewer modes make no subspace */
      host->tic(host, "eigenvectors");
      st = eig_smallest(host, &sys, &r, &p);
      host->toc(host, "eigenvectors");
      if (st == LOOM_OK) {
        say_how(s, &p, r.count);
        st = use_modes(s, &f, &p, r.count);
        eig_free(&p);
      }
    }
  }
  free_rows_close(&f);
  LOOM_TRY(st);
  return plug_unbind(&m);
}

/* ---- splines ---- */

static loom_status use_splines(ndb_pd *s, int32_t cols, const double *U)
{
  plug_maps m;
  ndb_pd_matrix A;
  if (cols == 0) return LOOM_OK;
  LOOM_TRY(store_subspace(s, cols, U));
  LOOM_TRY(ndb_pd_matrix_open(s, &m, &A));
  const subspace_csr H = {.n = s->n, .ptr = A.ptr, .col = A.col, .val = A.val};
  LOOM_TRY(subspace_reduce(s->host, &H, U, cols, s->S));
  return plug_unbind(&m);
}

static loom_status make_splines(ndb_pd *s)
{
  double *U = NULL;
  int32_t cols = 0;
  LOOM_TRY(ndb_pd_bspline(s, &U, &cols));
  const loom_status st = use_splines(s, cols, U);
  free(U);
  s->r1 = s->r2 = cols;
  /* splines of spacing k miss modes that vary within k cells: roughly (pi/k)^2 of the largest mu */
  s->mu1 = s->mu2 = fmax(s->mu_lo, s->mu_hi / (4.0 * s->set.spacing * s->set.spacing));
  return st;
}

loom_status ndb_pd_basis_make(ndb_pd *s)
{
  const loom_host *const host = s->host;
  s->space.cols = s->space.ld = s->r1 = s->r2 = 0;
  s->mu1 = s->mu2 = s->mu_lo;
  if (s->set.subspace == SUBSPACE_NONE) return LOOM_OK;
  if (s->space.U == NULL) {
    LOOM_TRY(subspace_new(&s->space, host, s->e, s->n));
    LOOM_TRY(host->buf_new(host, "inverse, free", LOOM_REAL, 0, &s->inv1));
    LOOM_TRY(host->buf_new(host, "inverse, contact", LOOM_REAL, 0, &s->inv2));
  }
  LOOM_TRY(s->set.subspace == SUBSPACE_EIGEN ? make_modes(s) : make_splines(s));
  if (s->space.cols == 0) {
    host->log(host, LOOM_LOG_WARN, "there is no mode, it goes on without a subspace");
    return LOOM_OK;
  }
  return ndb_pd_invert(s, s->r1, NULL, s->inv1);
}

loom_status ndb_pd_correct(const ndb_pd *s, const ndb_pd_view *v, const ndb_pd_plan *p,
                           const lk_real *r, lk_real *u, int add)
{
  subspace_args a = v->space;
  a.cols = p->cols;
  a.scale = p->masked ? v->mask : NULL;
  a.r = r;
  a.u = u;
  a.add = add;
  return subspace_correct(&s->space, &a);
}

void ndb_pd_basis_free(ndb_pd *s)
{
  free(s->S);
  free(s->work);
}
