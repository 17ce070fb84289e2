/* reduced.kern.c - the steps of ndb_pd_invert() and subspace_cholesky_inverse(), to the bit: each
 * number is made by one lane in the same order. */
#include "reduced.kern.h"

/* Cholesky's factor of M into L; 0: a pivot has no correct digits.  All lanes agree. */
LK_FN int ndb_pd_factor(const ndb_pd_invert_args *a, lk_int lane, lk_int lanes)
{
  const int32_t n = a->cols;
  for (int32_t j = 0; j < n; ++j) {
    lk_real pivot = a->M[j * n + j];
    for (int32_t k = 0; k < j; ++k) pivot -= a->L[j * n + k] * a->L[j * n + k];
    if (!(pivot > LK_R(1e-14) * LK_FABS(a->M[j * n + j]))) return 0;
    const lk_real root = LK_SQRT(pivot);
    LK_SYNC(); /* all have read row j */
    for (int32_t i = j + lane; i < n; i += lanes) {
      lk_real v = a->M[i * n + j];
      for (int32_t k = 0; k < j && i > j; ++k) v -= a->L[i * n + k] * a->L[j * n + k];
      a->L[i * n + j] = i > j ? v / root : root;
    }
    LK_SYNC();
  }
  return 1;
}

/* Column c of the inverse. */
LK_FN void ndb_pd_solve_column(const ndb_pd_invert_args *a, int32_t c)
{
  const int32_t n = a->cols;
  lk_real *const x = a->inv + c * n;
  for (int32_t i = c; i < n; ++i) {
    lk_real v = i == c ? LK_R(1.0) : LK_R(0.0);
    for (int32_t k = c; k < i; ++k) v -= a->L[i * n + k] * x[k];
    x[i] = v / a->L[i * n + i];
  }
  for (int32_t i = n - 1; i >= 0; --i) {
    lk_real v = i >= c ? x[i] : LK_R(0.0);
    for (int32_t k = i + 1; k < n; ++k) v -= a->L[k * n + i] * x[k];
    x[i] = v / a->L[i * n + i];
  }
}

LK_KERNEL_BLOCK(ndb_pd_invert_block, a, block, lane, lanes)
{
  const int32_t n = a->cols;
  lk_real top = LK_R(0.0), add = LK_R(0.0);
  int good;
  (void)block; /* there is one */
  for (int32_t k = lane; k < n * n; k += lanes) {
    const int32_t i = k / n, j = k % n;
    a->M[k] = a->S[i * a->ld + j] + LK_R(0.5) * (a->extra[i * n + j] + a->extra[j * n + i]);
  }
  LK_SYNC();
  for (int32_t i = 0; i < n; ++i) top = LK_FMAX(top, LK_FABS(a->M[i * n + i]));
  for (;;) {
    good = ndb_pd_factor(a, lane, lanes);
    if (good || !(add < LK_R(1e-2))) break;
    add = add > LK_R(0.0) ? LK_R(100.0) * add : LK_R(1e-14);
    LK_SYNC();
    for (int32_t i = lane; i < n; i += lanes) a->M[i * n + i] += add * top;
    LK_SYNC();
  }
  if (lane == 0) *a->failed = good ? LK_R(0.0) : LK_R(1.0);
  for (int32_t c = lane; good && c < n; c += lanes) ndb_pd_solve_column(a, c);
}
