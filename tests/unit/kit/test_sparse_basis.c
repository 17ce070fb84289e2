/* test_sparse_basis.c - kit/sparse_basis against dense algebra, on splines over two scattered
 * pieces that share a seam. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/sparse_basis.h"
#include "support/test_host.h"

enum { SIDE = 24, N = 2 * SIDE * SIDE, BAND = 5 };

typedef struct sheet {
  spline_sample sample[N + SIDE];
  uint8_t fixed[N];
  double cell[2];
  spline_rows P;
} sheet;

static void create_sampled_sheets(sheet *s, test_host *t)
{
  uint64_t seed = 5;
  for (int i = 0; i < N; ++i) {
    const int k = i % (SIDE * SIDE);
    s->sample[i] = (spline_sample){
        i, i / (SIDE * SIDE), {0.05 * (k % SIDE) + 0.01 * th_random(&seed), 0.05 * (k / SIDE)}};
    s->fixed[i] = i % 97 == 0;
  }
  for (int i = 0; i < SIDE; ++i) { /* the seam: rows of the first piece lie in the second, too */
    s->sample[N + i] = s->sample[SIDE * SIDE + i];
    s->sample[N + i].row = i;
  }
  s->cell[0] = 0.2;
  s->cell[1] = 0.15;
  const spline_request r = {.n = N,
                            .num_pieces = 2,
                            .num_samples = N + SIDE,
                            .sample = s->sample,
                            .cell = s->cell,
                            .fixed = s->fixed,
                            .most = 10000};
  cr_assert_eq(spline_basis(&t->host, &r, &s->P), LOOM_OK, "%s", t->err.text);
  cr_assert_gt(s->P.cols, 50);
}

static double find_row_entry(const spline_rows *P, int i, int k)
{
  for (int64_t m = P->ptr[i]; m < P->ptr[i + 1]; ++m)
    if (P->col[m] == k) return P->val[m];
  return 0.0;
}

static loom_buf *random_rows(test_host *t, int rows, uint64_t seed, double *copy)
{
  loom_real *const v = calloc(3 * (size_t)rows, sizeof *v);
  for (int i = 0; i < 3 * rows; ++i) copy[i] = (double)(v[i] = (loom_real)th_random(&seed));
  loom_buf *const b = th_buf(t, LOOM_REAL, 3 * (int64_t)rows, v);
  free(v);
  return b;
}

/* Restriction and prolongation, and the bits of both with several threads. */
Test(sparse_basis, products)
{
  static sheet s;
  static double r[3 * N], q[3 * N];
  loom_real *first[2] = {NULL, NULL};
  for (int threads = 1; threads <= 3; threads += 2) {
    test_host t;
    sparse_basis b;
    th_open(&t, threads, 1);
    create_sampled_sheets(&s, &t);
    cr_assert_eq(sparse_basis_new(&b, &t.host, &t.exec), LOOM_OK);
    cr_assert_eq(sparse_basis_set(&b, &s.P), LOOM_OK, "%s", t.err.text);
    loom_buf *const rb = random_rows(&t, N, 3, r), *const qb = random_rows(&t, b.cols, 4, q);
    loom_buf *const g = th_buf(&t, LOOM_REAL, 3 * (int64_t)b.cols, NULL);
    loom_buf *const u = th_buf(&t, LOOM_REAL, 3 * (int64_t)N, NULL);
    cr_assert_eq(sparse_basis_restrict(&b, rb, g), LOOM_OK);
    cr_assert_eq(sparse_basis_prolong(&b, qb, u, 0), LOOM_OK);
    cr_assert_eq(sparse_basis_prolong(&b, qb, u, 1), LOOM_OK); /* twice that */
    loom_real *const got[2] = {th_get(&t, g), th_get(&t, u)};
    for (int c = 0; c < 3; ++c) {
      for (int k = 0; k < b.cols; ++k) {
        double want = 0.0;
        for (int i = 0; i < N; ++i) want += find_row_entry(&s.P, i, k) * r[3 * i + c];
        cr_assert_float_eq(got[0][3 * k + c], want, 1e-12);
      }
      for (int i = 0; i < N; ++i) {
        double want = 0.0;
        for (int64_t m = s.P.ptr[i]; m < s.P.ptr[i + 1]; ++m)
          want += 2.0 * s.P.val[m] * q[3 * s.P.col[m] + c];
        cr_assert_float_eq(got[1][3 * i + c], want, 1e-12);
      }
    }
    if (threads == 1) {
      memcpy(first, got, sizeof first);
    } else {
      cr_expect_eq(memcmp(first[0], got[0], 3 * (size_t)b.cols * sizeof(loom_real)), 0);
      cr_expect_eq(memcmp(first[1], got[1], 3 * (size_t)N * sizeof(loom_real)), 0);
      for (int k = 0; k < 2; ++k) {
        free(first[k]);
        free(got[k]);
      }
    }
    spline_free(&s.P);
    th_close(&t);
  }
}

Test(sparse_basis, reduced_matrix)
{
  static sheet s;
  static int64_t ptr[N + 1];
  static int32_t col[2 * BAND * N];
  static loom_real val[2 * BAND * N];
  test_host t;
  sparse_reduced S;
  int m = 0;
  th_open(&t, 1, 1);
  create_sampled_sheets(&s, &t);
  for (int i = 0; i < N; ++i, ptr[i] = m)
    for (int j = i - BAND + 1; j < i + BAND; ++j) {
      if (j < 0 || j >= N || (i + j) % 3 == 1) continue;
      col[m] = j;
      val[m++] = (loom_real)(i == j ? 9.0 : 1.0 / (1.0 + (i > j ? i - j : j - i) + 0.01 * (i + j)));
    }
  const subspace_csr A = {.n = N, .ptr = ptr, .col = col, .val = val};
  cr_assert_eq(sparse_basis_reduce(&t.host, &A, &s.P, &S), LOOM_OK, "%s", t.err.text);
  cr_assert_eq(S.n, s.P.cols);
  double *const want = calloc((size_t)S.n * (size_t)S.n, sizeof *want);
  for (int i = 0; i < N; ++i)
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k)
      for (int64_t a = s.P.ptr[i]; a < s.P.ptr[i + 1]; ++a)
        for (int64_t b = s.P.ptr[col[k]]; b < s.P.ptr[col[k] + 1]; ++b)
          want[(size_t)s.P.col[a] * (size_t)S.n + (size_t)s.P.col[b]] +=
              s.P.val[a] * (double)val[k] * s.P.val[b];
  for (int p = 0; p < S.n; ++p)
    for (int64_t k = S.ptr[p]; k < S.ptr[p + 1]; ++k) {
      double *const w = &want[(size_t)p * (size_t)S.n + (size_t)S.col[k]];
      cr_expect(k == S.ptr[p] || S.col[k - 1] < S.col[k]);
      cr_assert_float_eq(S.val[k], *w, 1e-12 * (1.0 + fabs(*w)));
      *w = 0.0;
    }
  for (int k = 0; k < S.n * S.n; ++k) cr_assert_eq(want[k], 0.0); /* no entry is left out */
  free(want);
  sparse_reduced_free(&S);
  spline_free(&s.P);
  th_close(&t);
}

/* A function that is affine on both pieces is in the span, with the coefficients of its corners:
 * rows sum to one, and the mean of a seam's two rows is the mean of two equal values. */
Test(sparse_basis, partition_of_unity)
{
  static sheet s;
  test_host t;
  th_open(&t, 1, 1);
  create_sampled_sheets(&s, &t);
  for (int i = 0; i < N; ++i) {
    double sum = 0.0;
    for (int64_t k = s.P.ptr[i]; k < s.P.ptr[i + 1]; ++k) sum += s.P.val[k];
    cr_expect_float_eq(sum, s.fixed[i] ? 0.0 : 1.0, 1e-12, "row %d: %g", i, sum);
    cr_expect_leq(s.P.ptr[i + 1] - s.P.ptr[i], i < SIDE ? 18 : 9);
  }
  spline_free(&s.P);
  th_close(&t);
}
