/* reduced.c - inverse of the reduced matrix, a dense matrix of some tens of rows. */
#include <math.h>
#include <string.h>

#include "ndb_pd.h"

/* Lan et al. 2024, eq. 25: (S / s) Y = I with s the mean of |S_ij|, by elimination with row pivots;
 * S^-1 = Y / s. */
static int scaled_inverse(int32_t n, const double *S, double *inv, double *A)
{
  const size_t nn = (size_t)n * (size_t)n;
  double s = 0.0;
  for (size_t k = 0; k < nn; ++k) s += fabs(S[k]);
  s /= (double)nn;
  if (!(s > 0.0) || isinf(s)) return 0;
  for (size_t k = 0; k < nn; ++k) A[k] = S[k] / s;
  memset(inv, 0, nn * sizeof *inv);
  for (int32_t i = 0; i < n; ++i) inv[i * n + i] = 1.0;
  for (int32_t j = 0; j < n; ++j) {
    int32_t best = j;
    for (int32_t i = j + 1; i < n; ++i)
      if (fabs(A[i * n + j]) > fabs(A[best * n + j])) best = i;
    if (!(fabs(A[best * n + j]) > 0.0)) return 0;
    for (int32_t c = 0; best != j && c < n; ++c) {
      const double a = A[j * n + c], b = inv[j * n + c];
      A[j * n + c] = A[best * n + c];
      inv[j * n + c] = inv[best * n + c];
      A[best * n + c] = a;
      inv[best * n + c] = b;
    }
    const double pivot = A[j * n + j];
    for (int32_t c = 0; c < n; ++c) {
      A[j * n + c] /= pivot;
      inv[j * n + c] /= pivot;
    }
    for (int32_t i = 0; i < n; ++i) {
      const double f = i != j ? A[i * n + j] : 0.0;
      if (f == 0.0) continue;
      for (int32_t c = 0; c < n; ++c) {
        A[i * n + c] -= f * A[j * n + c];
        inv[i * n + c] -= f * inv[j * n + c];
      }
    }
  }
  for (size_t k = 0; k < nn; ++k) inv[k] /= s;
  return 1;
}

/* The masked matrix is a difference: where nearly all vertices are in contact, rounding can make it
 * indefinite.  A small share of its diagonal is then added; the result is still the matrix of a
 * correction. */
loom_status ndb_pd_invert(ndb_pd *s, int32_t cols, const double *extra, loom_buf *out)
{
  const loom_host *const host = s->host;
  const size_t all = (size_t)s->space.cols * (size_t)s->space.cols;
  double *const M = s->work, *const inv = M + all, *const work = inv + all;
  double top = 0.0;
  for (int32_t i = 0; i < cols; ++i) {
    for (int32_t j = 0; j < cols; ++j)
      M[i * cols + j] = s->S[i * s->space.cols + j] +
                        (extra != NULL ? 0.5 * (extra[i * cols + j] + extra[j * cols + i]) : 0.0);
    top = fmax(top, fabs(M[i * cols + i]));
  }
  for (double add = 0.0;; add = add > 0.0 ? 100.0 * add : 1e-14) {
    const int good = s->set.reduced == REDUCED_INVERSE
                         ? scaled_inverse(cols, M, inv, work)
                         : subspace_cholesky_inverse(cols, M, inv, work);
    if (good) break;
    LOOM_CHECK(
        host, add < 1e-2, LOOM_E_NUMERIC,
        "the reduced matrix of %d modes cannot be inverted: largest diagonal %g N/m, largest "
        "contact weight %g N/m; try subspace = none",
        cols, top, s->w_max);
    for (int32_t i = 0; i < cols; ++i) M[i * cols + i] += (add > 0.0 ? 100.0 * add : 1e-14) * top;
  }
  void *p;
  LOOM_TRY(host->map(host, s->e, out, LOOM_WRITE, LOOM_AT_HOST, &p));
  loom_real *const to = p;
  for (int64_t k = 0; k < (int64_t)cols * cols; ++k) to[k] = (loom_real)inv[k];
  return host->unmap(host, out);
}
