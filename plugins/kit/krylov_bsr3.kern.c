/* krylov_bsr3.kern.c - products with a matrix of 3x3 blocks and with the inverse of its diagonal.
 */
#include "kit/krylov_bsr3.kern.h"

#include "geom/small.kern.h"

/* Rows of about 10 to 30 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 4096

#ifdef __CUDACC__
/* Sums of a device: one element per thread.  Four, as elsewhere, leave a matrix of 100,000 rows
 * with fewer blocks of threads than a large device has multiprocessors. */
#undef LK_CHUNK
#define LK_CHUNK LK_BLOCK
#endif

/* A positive definite stand-in for a diagonal block D that is not: its largest row sum times
 * the identity.  D is symmetric. */
LK_FN lk_real row_sum(const lk_real *D)
{
  lk_real most = LK_R(0.0);
  LK_UNROLL
  for (int r = 0; r < 3; ++r)
    most = LK_FMAX(most, LK_FABS(D[3 * r]) + LK_FABS(D[3 * r + 1]) + LK_FABS(D[3 * r + 2]));
  return most > LK_R(0.0) ? most : LK_R(1.0);
}

LK_FN void invert_diagonal_block(const lk_real *D, lk_real *inv)
{
  lk_real L[9], B[9];
  const int definite = lk_sym_definite(3, D, L);
  const lk_real one = LK_R(1.0) / row_sum(D);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) B[k] = k % 4 == 0 ? one : LK_R(0.0);
  if (definite) lk_inv33(D, B);
  inv[0] = B[0];
  inv[1] = B[1];
  inv[2] = B[2];
  inv[3] = B[4];
  inv[4] = B[5];
  inv[5] = B[8];
}

/* The inverse of a diagonal matrix: of that of D, or of the unit matrix. */
LK_FN void invert_diagonal(const lk_real *D, int plain, lk_real *inv)
{
  const lk_real one = LK_R(1.0) / row_sum(D);
  inv[1] = inv[2] = inv[4] = LK_R(0.0);
  inv[0] = D[0] > LK_R(0.0) ? LK_R(1.0) / D[0] : one;
  inv[3] = D[4] > LK_R(0.0) ? LK_R(1.0) / D[4] : one;
  inv[5] = D[8] > LK_R(0.0) ? LK_R(1.0) / D[8] : one;
  if (plain) inv[0] = inv[3] = inv[5] = LK_R(1.0);
}

LK_KERNEL_PLAIN(krylov_bsr3_invert, a, i)
{
  lk_real inv[6];
  int64_t k = a->row_ptr[i];
  const int64_t last = a->row_ptr[i + 1] - 1;
  while (k < last && a->col[k] != i) ++k; /* the diagonal block is always there */
  if (a->kind == KRYLOV_BLOCK_JACOBI)
    invert_diagonal_block(a->val + 9 * k, inv);
  else
    invert_diagonal(a->val + 9 * k, a->kind == KRYLOV_PLAIN, inv);
  LK_UNROLL
  for (int c = 0; c < 6; ++c) a->inv[6 * (int64_t)i + c] = inv[c];
}

LK_REDUCE_SUM_PLAIN(krylov_bsr3_precondition, a, i)
{
  lk_real r[3], z[3];
  if (*a->stop != 0) return LK_R(0.0);
  const lk_real *const inv = a->inv + 6 * (int64_t)i;
  LK_LOAD3(r, a->x, (int64_t)i);
  z[0] = inv[0] * r[0] + inv[1] * r[1] + inv[2] * r[2];
  z[1] = inv[1] * r[0] + inv[3] * r[1] + inv[4] * r[2];
  z[2] = inv[2] * r[0] + inv[4] * r[1] + inv[5] * r[2];
  LK_STORE3(a->y, (int64_t)i, z);
  return lk_dot3(r, z);
}

LK_FN lk_real multiply_bsr3_row(const krylov_bsr3_args *a, lk_int i)
{
  const int64_t hi = a->row_ptr[i + 1];
  lk_real p[3], q[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int64_t k = a->row_ptr[i]; k < hi; ++k) {
    const lk_real *v = a->val + 9 * k;
    LK_LOAD3(p, a->x, (int64_t)a->col[k]);
    q[0] += v[0] * p[0] + v[1] * p[1] + v[2] * p[2];
    q[1] += v[3] * p[0] + v[4] * p[1] + v[5] * p[2];
    q[2] += v[6] * p[0] + v[7] * p[1] + v[8] * p[2];
  }
  LK_STORE3(a->y, (int64_t)i, q);
  LK_LOAD3(p, a->x, (int64_t)i);
  return lk_dot3(p, q);
}

/* Component t % 3 of row t / 3, by the operations of multiply_bsr3_row() in the same order: the
 * same bits of y.  Three neighbouring threads read one block, in which their numbers follow each
 * other.
 */
LK_FN lk_real multiply_component(const krylov_bsr3_args *a, lk_int t)
{
  const lk_int i = t / 3, r = t % 3;
  const int64_t hi = a->row_ptr[i + 1];
  lk_real p[3], q = LK_R(0.0);
  for (int64_t k = a->row_ptr[i]; k < hi; ++k) {
    const lk_real *const v = a->val + 9 * k + 3 * r;
    LK_LOAD3(p, a->x, (int64_t)a->col[k]);
    q += v[0] * p[0] + v[1] * p[1] + v[2] * p[2];
  }
  a->y[t] = q;
  return a->x[t] * q;
}

LK_REDUCE_SUM_PLAIN(krylov_bsr3_multiply, a, i)
{
  if (*a->stop != 0) return LK_R(0.0);
  return a->split ? multiply_component(a, i) : multiply_bsr3_row(a, i);
}
