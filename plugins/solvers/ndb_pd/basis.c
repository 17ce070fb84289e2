/* basis.c - the subspace: modes or splines, the reduced matrix without contact. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis.kern.h"
#include "ndb.h"

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

static loom_status compress(ndb *s, const ndb_matrix *A, free_rows *f)
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
  LOOM_CHECK(s->h, ok, LOOM_E_NOMEM, "no memory for the matrix of %d vertices", s->n);
  return LOOM_OK;
}

static int32_t padded(int32_t cols) { return (cols + NDB_GROUP - 1) / NDB_GROUP * NDB_GROUP; }

/* Host values of U [n][ld] and buffers of the sums; the kernels read whole groups. */
static loom_status store(ndb *s, const double *U)
{
  const loom_host *const h = s->h;
  const int64_t chunks = (s->n + NDB_ROWS - 1) / NDB_ROWS, all = (int64_t)s->n * s->ld;
  const struct {
    int64_t count;
    loom_buf *b;
  } sizes[] = {{all, s->U},
               {3 * chunks * s->ld, s->part},
               {3 * (int64_t)s->ld, s->g},
               {3 * (int64_t)s->ld, s->q},
               {(int64_t)s->cols * s->cols, s->inv1},
               {(int64_t)s->cols * s->cols, s->inv2}};
  void *p;
  for (size_t k = 0; k < LOOM_COUNT(sizes); ++k)
    if (h->buf_count(h, sizes[k].b) != sizes[k].count)
      LOOM_TRY(h->buf_resize(h, sizes[k].b, sizes[k].count));
  LOOM_TRY(h->map(h, s->e, s->U, LOOM_WRITE, LOOM_AT_HOST, &p));
  loom_real *const to = p;
  for (int64_t k = 0; k < all; ++k) to[k] = (loom_real)U[k];
  LOOM_TRY(h->unmap(h, s->U));
  const size_t square = (size_t)s->cols * (size_t)s->cols;
  free(s->S);
  free(s->work);
  s->S = calloc(square, sizeof *s->S);
  s->work = malloc(4 * square * sizeof *s->work);
  LOOM_CHECK(h, s->S != NULL && s->work != NULL, LOOM_E_NOMEM,
             "no memory for the reduced matrix of %d modes", s->cols);
  s->extra = s->work + 3 * square;
  return LOOM_OK;
}

/* ---- modes ------------------------------------------------------------------------------ */

static void say_how(const ndb *s, const eig_pairs *p, int32_t wanted)
{
  const loom_host *const h = s->h;
  if (p->stale)
    h->log(h, LOOM_LOG_WARN,
           "the file of eigenvectors in '%s' is damaged or of another system; they "
           "were computed again",
           s->set.cache);
  if (p->unsaved)
    h->log(h, LOOM_LOG_WARN, "eigenvectors could not be written to '%s'", s->set.cache);
  if (!p->converged)
    h->log(h, LOOM_LOG_WARN,
           "ARPACK found %d of %d eigenvectors in %lld restarts; the subspace has "
           "%d modes. Raise eigen_restarts, or ask for fewer with r1",
           p->count, wanted, (long long)s->set.eigen_restarts, p->count);
}

/* first eigenvalue of D^-1 H left out by r of the modes in p */
static double next_mu(const ndb *s, const free_rows *f, const eig_pairs *p, int32_t r)
{
  double most = 0.0;
  if (p->count == 0) return s->mu_lo;
  const double mu = p->mu[r < p->count ? r : p->count - 1];
  if (s->set.modes == MODES_GENERALISED) return mu;
  /* u'Hu >= mu u'u >= mu u'Du / max D for what is orthogonal to the modes */
  for (int32_t k = 0; k < f->n; ++k) most = fmax(most, f->diag[k]);
  return fmax(s->mu_lo, mu / most);
}

static loom_status use_modes(ndb *s, const free_rows *f, const eig_pairs *p, int32_t wanted)
{
  /* one more than r1 was computed, for the spectrum behind it */
  s->cols = p->converged ? wanted - 1 : p->count;
  s->ld = padded(s->cols);
  s->r1 = s->cols;
  s->r2 = s->set.r2 < s->cols ? (int32_t)s->set.r2 : s->cols;
  s->mu1 = next_mu(s, f, p, s->r1);
  s->mu2 = next_mu(s, f, p, s->r2);
  if (s->cols == 0) return LOOM_OK;
  double *U = calloc((size_t)s->n * (size_t)s->ld, sizeof *U);
  LOOM_CHECK(s->h, U != NULL, LOOM_E_NOMEM, "no memory for %d modes", s->cols);
  for (int32_t m = 0; m < s->cols; ++m)
    for (int32_t k = 0; k < f->n; ++k)
      U[(size_t)f->vertex[k] * (size_t)s->ld + (size_t)m] =
          p->vec[(size_t)m * (size_t)p->n + (size_t)k];
  const loom_status st = store(s, U);
  free(U);
  LOOM_TRY(st);
  for (int32_t m = 0; m < s->cols; ++m) s->S[m * s->cols + m] = p->mu[m];
  return LOOM_OK;
}

static loom_status make_modes(ndb *s)
{
  const loom_host *const h = s->h;
  plug_maps m;
  ndb_matrix A;
  free_rows f;
  eig_pairs p;
  LOOM_TRY(ndb_matrix_open(s, &m, &A));
  loom_status st = compress(s, &A, &f);
  if (st == LOOM_OK) {
    const int64_t wanted = s->set.r1 + 1 < f.n ? s->set.r1 + 1 : f.n - 1;
    const eig_system sys = {f.n, f.ptr, f.col, f.val,
                            s->set.modes == MODES_GENERALISED ? f.diag : NULL};
    const eig_request r = {(int32_t)wanted, (int32_t)s->set.eigen_restarts, s->set.eigen_tolerance,
                           s->set.cache};
    if (wanted < 2) { /* nothing to make a subspace of */
      s->cols = 0;
    } else {
      h->tic(h, "eigenvectors");
      st = eig_smallest(h, &sys, &r, &p);
      h->toc(h, "eigenvectors");
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

/* ---- splines ---------------------------------------------------------------------------- */

/* S = U' H U, rows of U have few entries */
static void galerkin(ndb *s, const ndb_matrix *A, const double *U, double *row)
{
  const size_t ld = (size_t)s->ld;
  for (int32_t i = 0; i < s->n; ++i) {
    const double *const own = U + (size_t)i * ld;
    memset(row, 0, ld * sizeof *row);
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
      const double v = (double)A->val[k], *const u = U + (size_t)A->col[k] * ld;
      for (int32_t m = 0; m < s->cols; ++m) row[m] += v * u[m];
    }
    for (int32_t p = 0; p < s->cols; ++p) {
      if (own[p] == 0.0) continue;
      double *const to = s->S + (size_t)p * (size_t)s->cols;
      for (int32_t q = 0; q < s->cols; ++q) to[q] += own[p] * row[q];
    }
  }
}

static loom_status make_splines(ndb *s)
{
  plug_maps m;
  ndb_matrix A;
  double *U = NULL;
  LOOM_TRY(ndb_bspline(s, &U, &s->cols, &s->ld));
  loom_status st = s->cols > 0 ? store(s, U) : LOOM_OK;
  double *row = malloc(((size_t)s->ld + 1) * sizeof *row);
  if (st == LOOM_OK && row == NULL)
    st = LOOM_FAIL(s->h, LOOM_E_NOMEM, "no memory for %d splines", s->cols);
  if (st == LOOM_OK && s->cols > 0) {
    st = ndb_matrix_open(s, &m, &A);
    if (st == LOOM_OK) {
      galerkin(s, &A, U, row);
      st = plug_unbind(&m);
    }
  }
  free(row);
  free(U);
  s->r1 = s->r2 = s->cols;
  /* splines of spacing k leave out what varies within k cells: (pi/k)^2 of the top, roughly */
  s->mu1 = s->mu2 = fmax(s->mu_lo, s->mu_hi / (4.0 * s->set.spacing * s->set.spacing));
  return st;
}

loom_status ndb_basis_make(ndb *s)
{
  s->cols = s->ld = s->r1 = s->r2 = 0;
  s->mu1 = s->mu2 = s->mu_lo;
  if (s->set.subspace == SUBSPACE_NONE) return LOOM_OK;
  if (s->U == NULL) {
    const struct {
      const char *name;
      loom_buf **b;
    } all[] = {{"basis", &s->U},     {"partial sums", &s->part},  {"reduced rhs", &s->g},
               {"reduced u", &s->q}, {"inverse, free", &s->inv1}, {"inverse, contact", &s->inv2}};
    for (size_t k = 0; k < LOOM_COUNT(all); ++k)
      LOOM_TRY(s->h->buf_new(s->h, all[k].name, LOOM_REAL, 0, all[k].b));
  }
  LOOM_TRY(s->set.subspace == SUBSPACE_EIGEN ? make_modes(s) : make_splines(s));
  if (s->cols == 0) {
    s->h->log(s->h, LOOM_LOG_WARN, "there is no mode, it goes on without a subspace");
    return LOOM_OK;
  }
  return ndb_invert(s, s->r1, NULL, s->inv1);
}

void ndb_basis_free(ndb *s)
{
  free(s->S);
  free(s->work);
}
