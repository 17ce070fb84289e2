/* krylov_bsr3.kern.c - products with a matrix of 3x3 blocks and with the inverse of its diagonal.
 */
#include "kit/krylov_bsr3.kern.h"

#include "kit/body_matrix.kern.h"

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

/* The 3x3 block of row i and column j, or NULL */
LK_FN const lk_real *find_block(const krylov_bsr3_bodies_args *a, int32_t i, int32_t j)
{
  for (int64_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; ++k)
    if (a->col[k] == j) return a->val + 9 * k;
  return NULL;
}

/* From L in the lower triangle of A: (L L')^-1 */
LK_FN void invert_body(lk_real *A)
{
  LK_ROLLED
  for (int j = 0; j < 12; ++j) { /* L^-1 */
    const lk_real d = LK_R(1.0) / A[13 * j];
    LK_ROLLED
    for (int i = 0; i < j; ++i) {
      lk_real s = LK_R(0.0);
      LK_ROLLED
      for (int k = i; k < j; ++k) s -= A[12 * j + k] * A[12 * k + i];
      A[12 * i + j] = s * d; /* kept in the upper triangle until row j of L is read */
    }
    LK_ROLLED
    for (int i = 0; i < j; ++i) A[12 * j + i] = A[12 * i + j];
    A[13 * j] = d;
  }
  LK_ROLLED
  for (int i = 0; i < 12; ++i) { /* row i of L^-T L^-1, right of the diagonal, then on it */
    LK_ROLLED
    for (int q = 0; q < 12 - i; ++q) {
      const int j = i + (q + 1) % (12 - i);
      lk_real s = LK_R(0.0);
      LK_ROLLED
      for (int k = j; k < 12; ++k) s += A[12 * k + i] * A[12 * k + j];
      A[12 * i + j] = s;
    }
  }
  LK_ROLLED
  for (int i = 0; i < 12; ++i) {
    LK_ROLLED
    for (int j = 0; j < i; ++j) A[12 * i + j] = A[12 * j + i];
  }
}

LK_KERNEL_PLAIN(krylov_bsr3_invert_bodies, a, i)
{
  const int32_t *const v = a->vert + 4 * (int64_t)i;
  lk_real *const A = a->inv + 144 * (int64_t)i;
  LK_ROLLED
  for (int p = 0; p < 16; ++p) {
    const lk_real *const b = find_block(a, v[p / 4], v[p % 4]);
    LK_UNROLL
    for (int k = 0; k < 9; ++k)
      A[12 * (3 * (p / 4) + k / 3) + 3 * (p % 4) + k % 3] = b != NULL ? b[k] : LK_R(0.0);
  }
  if (body_matrix_factorise(A)) {
    invert_body(A);
    return;
  }
  LK_ROLLED
  for (int k = 0; k < 144; ++k) A[k] = LK_R(0.0);
  LK_ROLLED
  for (int p = 0; p < 4; ++p) {
    lk_real inv[6];
    invert_diagonal_block(find_block(a, v[p], v[p]), inv);
    lk_real *const to = A + 39 * p;
    to[0] = inv[0];
    to[1] = to[12] = inv[1];
    to[2] = to[24] = inv[2];
    to[13] = inv[3];
    to[14] = to[25] = inv[4];
    to[26] = inv[5];
  }
}

/* The three rows of a control point */
LK_FN lk_real precondition_body(const krylov_bsr3_args *a, lk_int i)
{
  const int32_t body = a->slot[i] / 4, corner = a->slot[i] % 4;
  const lk_real *const inv = a->body_inv + 144 * (int64_t)body + 36 * corner;
  lk_real r[3], z[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  LK_ROLLED
  for (int p = 0; p < 4; ++p) {
    LK_LOAD3(r, a->x, (int64_t)a->vert[4 * (int64_t)body + p]);
    LK_UNROLL
    for (int c = 0; c < 3; ++c) z[c] += lk_dot3(inv + 12 * c + 3 * p, r);
  }
  LK_STORE3(a->y, (int64_t)i, z);
  LK_LOAD3(r, a->x, (int64_t)i);
  return lk_dot3(r, z);
}

LK_REDUCE_SUM_PLAIN(krylov_bsr3_precondition, a, i)
{
  lk_real r[3], z[3];
  if (*a->stop != 0) return LK_R(0.0);
  if (a->slot != NULL && a->slot[i] >= 0) return precondition_body(a, i);
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
