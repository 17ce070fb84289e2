/* blas1.c: values against plain loops, the same bits for any thread count, aliases, NaN, misuse. */
#include <math.h>

#include "linalg/linalg.h"
#include "support/bufs.h"

/* shorter and longer than one reduction chunk, and parallel */
static const int64_t sizes[] = {0, 1, 5, 1023, 1024, 1025, 100003};
enum { NUM_SIZES = sizeof sizes / sizeof sizes[0] };

/* relative error of a sum of n products: n rounding errors at most (Higham 2002, eq. 3.5) */
static double sum_tol(int64_t n)
{
  return (double)(n + 2) * (sizeof(loom_real) == 8 ? 0x1p-53 : 0x1p-24);
}

static loom_real *random_reals(int64_t n, uint64_t seed)
{
  loom_real *v = malloc((size_t)(n + 1) * sizeof *v);
  cr_assert(v != NULL);
  for (int64_t i = 0; i < n; ++i) v[i] = (loom_real)t_uniform(&seed);
  return v;
}

Test(blas1, dot_against_a_plain_sum_and_over_threads)
{
  for (int check = 0; check < 2; ++check) {
    for (int k = 0; k < NUM_SIZES; ++k) {
      const int64_t n = sizes[k];
      mem *m = t_mem(check);
      loom_real *a = random_reals(n, 1), *b = random_reals(n, 2);
      loom_buf *x = t_buf(m, LOOM_REAL, n, a), *y = t_buf(m, LOOM_REAL, n, b);
      double first[2] = {0, 0}, exact = 0, squares = 0, size = 0;
      for (int64_t i = 0; i < n; ++i) {
        exact += (double)a[i] * b[i];
        squares += (double)a[i] * a[i];
        size += fabs((double)a[i] * b[i]);
      }
      for (int threads = 1; threads <= 8; ++threads) {
        loom_exec e = t_exec(threads);
        double d[2];
        T_OK(m, la_dot(m, &e, x, y, &d[0]));
        T_OK(m, la_dot(m, &e, x, x, &d[1]));
        if (threads == 1) memcpy(first, d, sizeof d);
        cr_assert(t_same_bits(d, first, sizeof d), "%d threads give other bits", threads);
        exec_close(&e);
      }
      cr_assert_leq(fabs(first[0] - exact), 2 * sum_tol(n) * size);
      cr_assert_leq(fabs(first[1] - squares), 2 * sum_tol(n) * squares);
      free(a);
      free(b);
      mem_free(m);
    }
  }
}

Test(blas1, updates)
{
  for (int check = 0; check < 2; ++check) {
    for (int k = 0; k < NUM_SIZES; ++k) {
      const int64_t n = sizes[k];
      mem *m = t_mem(check);
      loom_exec e = t_exec(2);
      loom_real *a = random_reals(n, 3), *b = random_reals(n, 4), *got;
      loom_buf *x = t_buf(m, LOOM_REAL, n, a), *y = t_buf(m, LOOM_REAL, n, b),
               *z = t_buf(m, LOOM_REAL, n, NULL);
      const loom_real p = (loom_real)0.75, q = (loom_real)-1.5; /* exact in both precisions */
      T_OK(m, la_waxpby(m, &e, p, x, q, y, z));
      got = t_read(m, z);
      for (int64_t i = 0; i < n; ++i) cr_assert_eq(got[i], (loom_real)(p * a[i] + q * b[i]));
      free(got);
      T_OK(m, la_axpby(m, &e, p, x, q, y));
      got = t_read(m, y);
      for (int64_t i = 0; i < n; ++i) cr_assert_eq(got[i], (loom_real)(p * a[i] + q * b[i]));
      free(got);
      T_OK(m, la_fill(m, &e, z, 2.5));
      got = t_read(m, z);
      for (int64_t i = 0; i < n; ++i) cr_assert_eq(got[i], (loom_real)2.5);
      free(got);
      free(a);
      free(b);
      exec_close(&e);
      mem_free(m);
    }
  }
}

Test(blas1, zero_b_ignores_nan_in_y)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = t_mem(check);
    loom_exec e = t_exec(1);
    const loom_real a[2] = {1, 2}, nan[2] = {NAN, INFINITY};
    loom_buf *x = t_buf(m, LOOM_REAL, 2, a), *y = t_buf(m, LOOM_REAL, 2, nan);
    T_OK(m, la_axpby(m, &e, 3, x, 0, y));
    loom_real *got = t_read(m, y);
    cr_assert_eq(got[0], 3);
    cr_assert_eq(got[1], 6);
    free(got);
    exec_close(&e);
    mem_free(m);
  }
}

Test(blas1, aliases_give_the_formula)
{
  for (int check = 0; check < 2; ++check) {
    const loom_real a[2] = {1, -2}, b[2] = {10, 20};
    const loom_real want[4][2] = {{32, 56}, {32, 56}, {5, -10}, {5, -10}};
    loom_exec e = t_exec(1);
    for (int k = 0; k < 4; ++k) {
      mem *m = t_mem(check);
      loom_buf *x = t_buf(m, LOOM_REAL, 2, a), *y = t_buf(m, LOOM_REAL, 2, b), *out = x;
      if (k == 0) T_OK(m, la_waxpby(m, &e, 2, x, 3, y, x));
      if (k == 1) T_OK(m, la_waxpby(m, &e, 2, x, 3, y, out = y));
      if (k == 2) T_OK(m, la_waxpby(m, &e, 2, x, 3, x, out = y));
      if (k == 3) T_OK(m, la_axpby(m, &e, 2, x, 3, x));
      loom_real *got = t_read(m, out);
      cr_assert_eq(got[0], want[k][0], "case %d", k);
      cr_assert_eq(got[1], want[k][1], "case %d", k);
      free(got);
      mem_free(m);
    }
    exec_close(&e);
  }
}

Test(blas1, norm_max3)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = t_mem(check);
    loom_exec e = t_exec(3);
    const int64_t n = 5000;
    loom_real *a = random_reals(3 * n, 5);
    double v = -1;
    a[12963] = 2; /* row 4321 */
    a[12964] = 3;
    a[12965] = 6;
    loom_buf *x = t_buf(m, LOOM_REAL, 3 * n, a), *none = t_buf(m, LOOM_REAL, 0, NULL);
    T_OK(m, la_norm_max3(m, &e, x, &v));
    cr_assert_eq(v, 7); /* 4 + 9 + 36 = 49 is exact */
    T_OK(m, la_norm_max3(m, &e, none, &v));
    cr_assert_eq(v, 0);
    a[77] = NAN; /* in another chunk, smaller values around it */
    loom_buf *y = t_buf(m, LOOM_REAL, 3 * n, a);
    T_OK(m, la_norm_max3(m, &e, y, &v));
    cr_assert(isnan(v));
    free(a);
    exec_close(&e);
    mem_free(m);
  }
}

Test(blas1, slots_collect_results)
{
  mem *m = t_mem(0);
  loom_exec e = t_exec(1);
  const loom_real a[3] = {2, 3, 6};
  double v[3] = {0};
  loom_buf *x = t_buf(m, LOOM_REAL, 3, a);
  T_OK(m, la_dot_slot(m, &e, x, x, 4));
  T_OK(m, la_norm_max3_slot(m, &e, x, 5));
  T_OK(m, exec_fetch(mem_err(m), &e, 4, 2, v));
  cr_assert_eq(v[0], 49);
  cr_assert_eq(v[1], 7);
  cr_assert_eq(la_dot_slot(m, &e, x, x, LOOM_NUM_RESULTS), LOOM_E_ARG);
  cr_assert_eq(la_norm_max3_slot(m, &e, x, -1), LOOM_E_ARG);
  exec_close(&e);
  mem_free(m);
}

Test(blas1, misuse_is_named_and_leaves_nothing_mapped)
{
  mem *m = t_mem(0);
  loom_exec e = t_exec(1);
  double v;
  void *p;
  loom_buf *x = t_buf(m, LOOM_REAL, 4, NULL), *y = t_buf(m, LOOM_REAL, 5, NULL),
           *i = t_buf(m, LOOM_I32, 4, NULL);
  cr_assert_eq(la_dot(m, &e, x, y, &v), LOOM_E_ARG);
  cr_assert_eq(la_dot(m, &e, x, i, &v), LOOM_E_ARG);
  cr_assert_eq(la_axpby(m, &e, 1, x, 1, y), LOOM_E_ARG);
  cr_assert_eq(la_waxpby(m, &e, 1, x, 1, x, y), LOOM_E_ARG);
  cr_assert_eq(la_norm_max3(m, &e, x, &v), LOOM_E_ARG);
  cr_assert_eq(la_fill(m, &e, i, 1), LOOM_E_ARG);
  loom_buf *z = t_buf(m, LOOM_REAL, 4, NULL);
  T_OK(m, buf_map(m, NULL, z, LOOM_RDWR, LOOM_AT_HOST, &p));
  cr_assert_eq(la_axpby(m, &e, 1, x, 1, z), LOOM_E_STATE);
  T_OK(m, buf_unmap(m, z));
  cr_assert(mem_mapped(m) == NULL);
  exec_close(&e);
  mem_free(m);
}
