/* eigen.c - smallest eigenpairs by shift-invert Lanczos; see eigen.h. */
#include "eigen.h"

#include <arpack/arpack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* LAPACK, by the Fortran convention: eigenvalues and vectors of a dense symmetric matrix. */
extern void dsyev_(const char *job, const char *half, const int *n, double *a, const int *lda,
                   double *w, double *work, const int *lwork, int *info);

enum { DENSE_BELOW = 500 }; /* rows: a dense solve of that size takes about a tenth of a second */
/* Pairs with a larger residual count as not found, even if the method reports convergence. */
static const double residual_most = 1e-7;

void eig_free(eig_pairs *p)
{
  free(p->mu);
  free(p->vec);
  p->mu = p->vec = NULL;
  p->n = p->count = p->source = p->converged = p->stale = p->unsaved = 0;
  p->solves = 0;
  p->residual = 0.0;
}

static double root_weight(const eig_system *s, int32_t i)
{
  return s->weight != NULL ? sqrt(s->weight[i]) : 1.0;
}

double eig_residual(const eig_system *s, const eig_pairs *p)
{
  double norm = 0.0, worst = 0.0;
  for (int32_t i = 0; i < s->n; ++i) {
    double sum = 0.0;
    for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; ++k)
      sum += fabs(s->val[k]) / root_weight(s, s->col[k]);
    norm = fmax(norm, sum / root_weight(s, i));
  }
  for (int32_t m = 0; m < p->count; ++m) {
    const double *u = p->vec + (size_t)m * (size_t)s->n;
    double r2 = 0.0, y2 = 0.0;
    for (int32_t i = 0; i < s->n; ++i) {
      const double w = root_weight(s, i);
      double q = -p->mu[m] * w * w * u[i];
      for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; ++k) q += s->val[k] * u[s->col[k]];
      r2 += q * q / (w * w);
      y2 += w * w * u[i] * u[i];
    }
    const double res = sqrt(r2 / y2) / norm;
    worst = res > worst || isnan(res) ? res : worst;
  }
  return worst;
}

static loom_status allocate_eigenpairs(const loom_host *host, eig_pairs *p, int32_t n,
                                       int32_t count)
{
  p->n = n;
  p->count = count;
  p->mu = malloc((size_t)count * sizeof *p->mu);
  p->vec = malloc((size_t)count * (size_t)n * sizeof *p->vec);
  LOOM_CHECK(host, p->mu != NULL && p->vec != NULL, LOOM_E_NOMEM,
             "no memory for %d eigenvectors of %d vertices; ask for fewer", count, n);
  return LOOM_OK;
}

/* y to u = W^-1/2 y */
static void scale_back(const eig_system *s, eig_pairs *p)
{
  for (int32_t m = 0; m < p->count; ++m)
    for (int32_t i = 0; i < s->n; ++i)
      p->vec[(size_t)m * (size_t)s->n + (size_t)i] /= root_weight(s, i);
}

/* ---- small systems ---- */
static loom_status solve_dense_eigen(const loom_host *host, const eig_system *s,
                                     const eig_request *r, eig_pairs *out)
{
  const int n = s->n, work_len = 64 * n + 64;
  const size_t nn = (size_t)n * (size_t)n;
  int info = 0;
  double *a = calloc(nn, sizeof *a), *w = malloc((size_t)n * sizeof *w);
  double *work = malloc((size_t)work_len * sizeof *work);
  loom_status st = a != NULL && w != NULL && work != NULL
                       ? allocate_eigenpairs(host, out, n, r->count)
                       : LOOM_E_NOMEM;
  if (st == LOOM_OK) {
    for (int32_t i = 0; i < n; ++i)
      for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; ++k)
        a[(size_t)i * (size_t)n + (size_t)s->col[k]] =
            s->val[k] / (root_weight(s, i) * root_weight(s, s->col[k]));
    dsyev_("V", "L", &n, a, &n, w, work, &work_len, &info);
    memcpy(out->mu, w, (size_t)r->count * sizeof *w);
    memcpy(out->vec, a, (size_t)r->count * (size_t)n * sizeof *a);
    scale_back(s, out);
    out->source = EIG_DENSE;
    out->converged = info == 0;
  } else if (out->mu == NULL) {
    st = LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for a dense matrix of %d vertices", n);
  }
  free(a);
  free(w);
  free(work);
  return st;
}

/* ---- Lanczos ---- */
loom_status eig_factorise(const loom_host *host, const eig_system *s, chol *c)
{
  int64_t nnz = 0;
  int pivot, m = 0;
  LOOM_TRY(chol_open(c, host, CHOL_AMD, 0, "use a smaller mesh, or subspace = none"));
  for (int32_t i = 0; i < s->n; ++i)
    for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; ++k) nnz += s->col[k] <= i;
  LOOM_TRY(chol_matrix(c, s->n, nnz));
  for (int32_t i = 0; i < s->n; ++i) {
    chol_ptr(c)[i] = m;
    for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; ++k) {
      if (s->col[k] > i) continue;
      chol_row(c)[m] = s->col[k];
      chol_val(c)[m++] = s->val[k];
    }
  }
  chol_ptr(c)[s->n] = m;
  LOOM_TRY(chol_analyse(c));
  const loom_status f = chol_factorise(c, &pivot);
  if (f == LOOM_REJECTED)
    return LOOM_FAIL(host, LOOM_E_NUMERIC,
                     "the global matrix is not positive definite (free row %d)", pivot);
  return f;
}

/* to = W^1/2 H^-1 W^1/2 from */
static loom_status apply_inverse(const eig_system *s, chol *c, const double *from, double *to)
{
  const int *perm = chol_perm(c);
  double *b = chol_rhs(c);
  for (int32_t k = 0; k < s->n; ++k) b[k] = from[perm[k]] * root_weight(s, perm[k]);
  LOOM_TRY(chol_solve(c));
  for (int32_t k = 0; k < s->n; ++k) to[perm[k]] = b[k] * root_weight(s, perm[k]);
  return LOOM_OK;
}

typedef struct control { /* ARPACK's parameters and places in its workspace */
  a_int iparam[11], ipntr[11];
} control;

typedef struct lanczos { /* ARPACK's arrays */
  a_int n, ncv, lworkl;
  double *resid, *v, *workd, *workl;
  a_int *select;
} lanczos;

static int lanczos_open(lanczos *z, int32_t n, int32_t count)
{
  const a_int want = 2 * count + 20;
  z->n = n;
  z->ncv = want < n ? want : n;
  z->lworkl = z->ncv * (z->ncv + 8);
  z->resid = malloc((size_t)n * sizeof *z->resid);
  z->v = malloc((size_t)n * (size_t)z->ncv * sizeof *z->v);
  z->workd = malloc(3 * (size_t)n * sizeof *z->workd);
  z->workl = malloc((size_t)z->lworkl * sizeof *z->workl);
  z->select = calloc((size_t)z->ncv, sizeof *z->select);
  return z->resid != NULL && z->v != NULL && z->workd != NULL && z->workl != NULL &&
         z->select != NULL;
}

static void lanczos_close(lanczos *z)
{
  free(z->resid);
  free(z->v);
  free(z->workd);
  free(z->workl);
  free(z->select);
}

/* A start vector without symmetries of its own: integer hash of the row to [-1, 1). */
static void fill_start_vector(double *v, int32_t n)
{
  for (int32_t i = 0; i < n; ++i) {
    uint64_t x = (uint64_t)(uint32_t)i + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    v[i] = (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1.0;
  }
}

/* ARPACK's answers to *found pairs, largest eigenvalues of A^-1 in ascending order. */
static loom_status extract_eigenpairs(const loom_host *host, const eig_request *r, lanczos *z,
                                      control *k, a_int info, eig_pairs *out)
{
  /* 1: restarts used up, 3: no shifts left; pairs that have converged by then are good */
  a_int found = info == 0 || info == 1 || info == 3 ? k->iparam[4] : 0;
  found = found < r->count ? found : r->count;
  out->converged = found == r->count;
  out->n = z->n;
  out->count = 0;
  if (found == 0) return LOOM_OK;
  double *d = malloc((size_t)r->count * sizeof *d);
  a_int end = 0;
  LOOM_CHECK(host, d != NULL, LOOM_E_NOMEM, "no memory for %d eigenvalues", r->count);
  const loom_status st = allocate_eigenpairs(host, out, z->n, found);
  if (st == LOOM_OK) {
    dseupd_c(1, "A", z->select, d, z->v, z->n, 0.0, "I", z->n, "LM", r->count, r->tolerance,
             z->resid, z->ncv, z->v, z->n, k->iparam, k->ipntr, z->workd, z->workl, z->lworkl,
             &end);
    found = end == 0 ? (k->iparam[4] < found ? k->iparam[4] : found) : 0;
    for (a_int m = 0; m < found; ++m) { /* descending in 1/mu: ascending in mu */
      const size_t at = (size_t)(found - 1 - m), rows = (size_t)z->n;
      out->mu[m] = 1.0 / d[at];
      memcpy(out->vec + (size_t)m * rows, z->v + at * rows, rows * sizeof *z->v);
    }
    out->count = found;
    out->converged = found == r->count;
  }
  free(d);
  return st;
}

static loom_status run_lanczos(const loom_host *host, const eig_system *s, const eig_request *r,
                               chol *c, lanczos *z, eig_pairs *out)
{
  a_int ido = 0, info = 1; /* 1: the start vector is given */
  control box = {{0}, {0}}, *const k = &box;
  k->iparam[0] = 1;           /* exact shifts */
  k->iparam[2] = r->restarts; /* at most */
  k->iparam[3] = 1;           /* block size */
  k->iparam[6] = 1;           /* standard problem, operator applied as it is */
  fill_start_vector(z->resid, s->n);
  for (;;) {
    dsaupd_c(&ido, "I", z->n, "LM", r->count, r->tolerance, z->resid, z->ncv, z->v, z->n, k->iparam,
             k->ipntr, z->workd, z->workl, z->lworkl, &info);
    if (ido != 1 && ido != -1) break;
    LOOM_TRY(apply_inverse(s, c, z->workd + k->ipntr[0] - 1, z->workd + k->ipntr[1] - 1));
    ++out->solves;
  }
  LOOM_TRY(extract_eigenpairs(host, r, z, k, info, out));
  scale_back(s, out);
  return LOOM_OK;
}

static loom_status solve_sparse_eigen(const loom_host *host, const eig_system *s,
                                      const eig_request *r, eig_pairs *out)
{
  chol c = {0};
  lanczos z = {0};
  loom_status st = eig_factorise(host, s, &c);
  if (st == LOOM_OK) {
    if (lanczos_open(&z, s->n, r->count))
      st = run_lanczos(host, s, r, &c, &z, out);
    else
      st = LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for %d Lanczos vectors of %d vertices", z.ncv,
                     s->n);
  }
  lanczos_close(&z);
  chol_close(&c);
  return st;
}

/* Leaves out the first pair with a residual that is too large, and all pairs behind it. */
static void trim_inaccurate_pairs(const eig_system *s, eig_pairs *p)
{
  eig_pairs one = *p;
  one.count = 1;
  p->residual = 0.0;
  for (int32_t m = 0; m < p->count; ++m) {
    one.mu = p->mu + m;
    one.vec = p->vec + (size_t)m * (size_t)p->n;
    const double res = eig_residual(s, &one);
    if (!(res <= residual_most)) {
      p->count = m;
      p->converged = 0;
      return;
    }
    p->residual = fmax(p->residual, res);
  }
}

loom_status eig_smallest(const loom_host *host, const eig_system *s, const eig_request *r,
                         eig_pairs *out)
{
  *out = (eig_pairs){0};
  LOOM_CHECK(host, r->count > 0 && r->count < s->n, LOOM_E_ARG,
             "%d eigenpairs of %d free vertices were asked for", r->count, s->n);
  const int keep = r->cache != NULL && r->cache[0] != '\0';
  if (keep && eig_cache_read(s, r, out)) {
    trim_inaccurate_pairs(s, out);
    if (out->count == r->count) {
      out->source = EIG_READ;
      out->converged = 1;
      return LOOM_OK;
    }
    eig_free(out);
    out->stale = 1;
  }
  const int32_t stale = out->stale;
  /* Lanczos needs room for about twice the pairs it finds */
  const int small = s->n <= DENSE_BELOW || 3 * r->count > s->n;
  loom_status st = small ? solve_dense_eigen(host, s, r, out) : solve_sparse_eigen(host, s, r, out);
  out->stale = stale;
  if (st != LOOM_OK) {
    eig_free(out);
    return st;
  }
  trim_inaccurate_pairs(s, out);
  if (keep && out->converged) out->unsaved = !eig_cache_write(s, r, out);
  return LOOM_OK;
}
