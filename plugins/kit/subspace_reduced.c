/* subspace_reduced.c - reduced matrices on the host: dense, of some tens to some thousand rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/subspace.h"

/* Row i of A U is made once, and added to the rows of S where row i of U has an entry. */
loom_status subspace_reduce(const loom_host *host, const subspace_csr *A, const double *U,
                            int32_t cols, double *S)
{
  const size_t ld = (size_t)subspace_ld(cols);
  double *const row = malloc((ld + 1) * sizeof *row);
  LOOM_CHECK(host, row != NULL, LOOM_E_NOMEM, "no memory for a subspace of %d columns", cols);
  memset(S, 0, (size_t)cols * (size_t)cols * sizeof *S);
  for (int32_t i = 0; i < A->n; ++i) {
    const double *const own = U + (size_t)i * ld;
    memset(row, 0, ld * sizeof *row);
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
      const double v = (double)A->val[k], *const u = U + (size_t)A->col[k] * ld;
      for (int32_t m = 0; m < cols; ++m) row[m] += v * u[m];
    }
    for (int32_t p = 0; p < cols; ++p) {
      if (own[p] == 0.0) continue;
      double *const to = S + (size_t)p * (size_t)cols;
      for (int32_t q = 0; q < cols; ++q) to[q] += own[p] * row[q];
    }
  }
  free(row);
  return LOOM_OK;
}

int subspace_cholesky_inverse(int32_t n, const double *S, double *inv, double *L)
{
  for (int32_t j = 0; j < n; ++j)
    for (int32_t i = j; i < n; ++i) {
      double v = S[i * n + j];
      for (int32_t k = 0; k < j; ++k) v -= L[i * n + k] * L[j * n + k];
      if (i > j) {
        L[i * n + j] = v / L[j * n + j];
        continue;
      }
      /* a pivot this small after cancellation has no correct digits */
      if (!(v > 1e-14 * fabs(S[j * n + j]))) return 0;
      L[j * n + j] = sqrt(v);
    }
  for (int32_t c = 0; c < n; ++c) { /* columns of the identity */
    for (int32_t i = c; i < n; ++i) {
      double v = i == c ? 1.0 : 0.0;
      for (int32_t k = c; k < i; ++k) v -= L[i * n + k] * inv[c * n + k];
      inv[c * n + i] = v / L[i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; --i) {
      double v = i >= c ? inv[c * n + i] : 0.0;
      for (int32_t k = i + 1; k < n; ++k) v -= L[k * n + i] * inv[c * n + k];
      inv[c * n + i] = v / L[i * n + i];
    }
  }
  return 1;
}
