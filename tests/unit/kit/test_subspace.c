/* test_subspace.c - kit/subspace against dense algebra: splines (partition of unity, which
 * functions are in their span, seams), reduced matrices, restriction and prolongation. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/splines.h"
#include "kit/subspace.h"
#include "support/test_host.h"

enum { SIDE = 19, N = 2 * SIDE * SIDE, MOST = 400, COLS = 21, BAND = 6 };

/* ---- splines ---- */

typedef struct sheet { /* two pieces of SIDE x SIDE vertices, at random places of 0.9 x 0.6 m */
  spline_sample sample[N + SIDE];
  uint8_t fixed[N];
  double cell[2];
  double *U;
  int32_t cols, ld;
} sheet;

/* seam: the first SIDE vertices lie on the second piece, too. */
static void create_subspace_sheets(sheet *s, test_host *t, int seam)
{
  uint64_t seed = 5;
  spline_rows rows;
  memset(s, 0, sizeof *s);
  for (int i = 0; i < N; ++i) {
    const int k = i % (SIDE * SIDE), line = k / SIDE;
    s->sample[i] = (spline_sample){i,
                                   i / (SIDE * SIDE),
                                   {0.05 * (k % SIDE) + 0.01 * th_random(&seed),
                                    0.6 / (SIDE - 1) * line + 0.01 * th_random(&seed)}};
    s->fixed[i] = i % 97 == 0;
  }
  for (int i = 0; i < SIDE; ++i) {
    s->sample[N + i] = s->sample[N - 1 - i];
    s->sample[N + i].row = i;
  }
  s->cell[0] = 0.2;
  s->cell[1] = 0.15;
  const spline_request r = {.n = N,
                            .num_pieces = 2,
                            .num_samples = N + (seam ? SIDE : 0),
                            .sample = s->sample,
                            .cell = s->cell,
                            .fixed = s->fixed,
                            .most = MOST};
  cr_assert_eq(spline_basis(&t->host, &r, &rows), LOOM_OK, "%s", t->err.text);
  cr_assert_eq(spline_dense(&t->host, &rows, &s->U), LOOM_OK, "%s", t->err.text);
  cr_assert(s->U != NULL && rows.cols > 0 && rows.cols <= rows.all);
  for (int i = 0; i < N; ++i)
    for (int64_t k = rows.ptr[i] + 1; k < rows.ptr[i + 1]; ++k)
      cr_expect_lt(rows.col[k - 1], rows.col[k]);
  s->cols = rows.cols;
  spline_free(&rows);
  s->ld = subspace_ld(s->cols);
}

/* Distance of f from the span over the vertices that are not fixed, root of the sum of squares. */
static double distance_to_span(const sheet *s, const double *f)
{
  const size_t square = (size_t)s->cols * (size_t)s->cols;
  double *const G = calloc(3 * square, sizeof *G), *const b = calloc((size_t)s->cols, sizeof *b);
  double far = 0.0;
  for (int i = 0; i < N; ++i)
    for (int p = 0; p < s->cols; ++p) {
      const double u = s->U[i * s->ld + p];
      if (u == 0.0) continue;
      b[p] += u * f[i];
      for (int q = 0; q < s->cols; ++q) G[p * s->cols + q] += u * s->U[i * s->ld + q];
    }
  cr_assert(subspace_cholesky_inverse(s->cols, G, G + square, G + 2 * square));
  for (int i = 0; i < N; ++i) {
    double r = s->fixed[i] ? 0.0 : f[i];
    for (int p = 0; p < s->cols; ++p)
      for (int q = 0; q < s->cols && s->U[i * s->ld + p] != 0.0; ++q)
        r -= s->U[i * s->ld + p] * G[square + (size_t)(p * s->cols + q)] * b[q];
    far += r * r;
  }
  free(G);
  free(b);
  return sqrt(far);
}

Test(subspace, splines_hold_what_is_quadratic)
{
  static sheet s;
  static double f[N];
  test_host t;
  th_open(&t, 1, 1);
  create_subspace_sheets(&s, &t, 0);
  for (int a = 0; a <= 3; ++a)
    for (int b = 0; b <= 2; ++b) {
      for (int i = 0; i < N; ++i) /* another multiple on the second piece */
        f[i] = (1.0 + s.sample[i].piece) * pow(s.sample[i].u[0], a) * pow(s.sample[i].u[1], b);
      const double far = distance_to_span(&s, f);
      if (a <= 2)
        cr_expect_lt(far, 1e-9, "u^%d v^%d: %g", a, b, far);
      else
        cr_expect_gt(far, 1e-4, "u^%d v^%d: %g", a, b, far);
    }
  free(s.U);
  th_close(&t);
}

Test(subspace, splines_sum_to_one)
{
  static sheet s;
  test_host t;
  th_open(&t, 1, 1);
  for (int seam = 0; seam < 2; ++seam) {
    create_subspace_sheets(&s, &t, seam);
    for (int i = 0; i < N; ++i) {
      double sum = 0.0;
      int used = 0;
      for (int p = 0; p < s.ld; ++p) {
        sum += s.U[i * s.ld + p];
        used += s.U[i * s.ld + p] != 0.0;
      }
      cr_expect_float_eq(sum, s.fixed[i] ? 0.0 : 1.0, 1e-12, "row %d: %g", i, sum);
      cr_expect_leq(used, seam && i < SIDE ? 18 : 9, "row %d: %d", i, used);
    }
    for (int i = 0; i < N; ++i) /* a piece has splines of its own */
      for (int j = 0; j < N; ++j)
        for (int p = 0; p < s.cols && i >= SIDE && s.sample[i].piece < s.sample[j].piece; ++p)
          cr_assert(s.U[i * s.ld + p] == 0.0 || s.U[j * s.ld + p] == 0.0);
    free(s.U);
  }
  th_close(&t);
}

/* A vertex on a seam has the mean of its two rows. */
Test(subspace, seams)
{
  static sheet s, apart;
  test_host t;
  th_open(&t, 1, 1);
  create_subspace_sheets(&s, &t, 1);
  create_subspace_sheets(&apart, &t, 0);
  cr_assert_eq(s.cols, apart.cols);
  for (int i = 0; i < SIDE; ++i)
    for (int p = 0; p < s.ld && !s.fixed[i] && !s.fixed[N - 1 - i]; ++p)
      cr_expect_float_eq(s.U[i * s.ld + p],
                         0.5 * (apart.U[i * s.ld + p] + apart.U[(N - 1 - i) * s.ld + p]), 1e-15);
  free(s.U);
  free(apart.U);
  th_close(&t);
}

Test(subspace, too_many_splines_are_none)
{
  static sheet s;
  test_host t;
  double *U = NULL;
  spline_rows rows;
  th_open(&t, 1, 1);
  create_subspace_sheets(&s, &t, 0);
  s.cell[0] = s.cell[1] = 1e-4;
  const spline_request r = {.n = N,
                            .num_pieces = 2,
                            .num_samples = N,
                            .sample = s.sample,
                            .cell = s.cell,
                            .fixed = s.fixed,
                            .most = MOST};
  cr_expect_eq(spline_basis(&t.host, &r, &rows), LOOM_OK);
  cr_expect_eq(spline_dense(&t.host, &rows, &U), LOOM_OK);
  cr_expect(U == NULL && rows.ptr == NULL && rows.cols == 0 && rows.all > MOST);
  free(s.U);
  th_close(&t);
}

/* ---- bases, matrices ---- */

/* COLS columns, two of three entries zero. */
static double *random_basis(void)
{
  uint64_t seed = 11;
  const int ld = subspace_ld(COLS);
  double *const U = calloc((size_t)N * (size_t)ld, sizeof *U);
  for (int i = 0; i < N; ++i)
    for (int p = 0; p < COLS; ++p) U[i * ld + p] = (i + p) % 3 == 0 ? th_random(&seed) : 0.0;
  return U;
}

Test(subspace, reduced_matrix)
{
  static int64_t ptr[N + 1];
  static int32_t col[2 * BAND * N];
  static loom_real val[2 * BAND * N];
  static double AU[N][COLS], S[COLS * COLS];
  test_host t;
  uint64_t seed = 2;
  const int ld = subspace_ld(COLS);
  int m = 0;
  th_open(&t, 1, 1);
  double *const U = random_basis();
  for (int i = 0; i < N; ++i, ptr[i] = m) /* not symmetric, so that U' A is not U' A' */
    for (int j = i - BAND; j < i + BAND; ++j) {
      if (j < 0 || j >= N || (i + j) % 3 == 1) continue;
      col[m] = j;
      val[m] = (loom_real)th_random(&seed);
      for (int p = 0; p < COLS; ++p) AU[i][p] += (double)val[m] * U[j * ld + p];
      ++m;
    }
  const subspace_csr A = {.n = N, .ptr = ptr, .col = col, .val = val};
  cr_assert_eq(subspace_reduce(&t.host, &A, U, COLS, S), LOOM_OK);
  for (int p = 0; p < COLS; ++p)
    for (int q = 0; q < COLS; ++q) {
      double s = 0.0;
      for (int i = 0; i < N; ++i) s += U[i * ld + p] * AU[i][q];
      cr_expect_float_eq(S[p * COLS + q], s, 1e-12, "%d, %d: %g not %g", p, q, S[p * COLS + q], s);
    }
  free(U);
  th_close(&t);
}

Test(subspace, inverse)
{
  static double S[COLS * COLS], inv[COLS * COLS], L[COLS * COLS];
  uint64_t seed = 4;
  for (int p = 0; p < COLS; ++p)
    for (int q = 0; q <= p; ++q) {
      const double v = th_random(&seed);
      S[p * COLS + q] = S[q * COLS + p] = p == q ? (double)COLS : v;
    }
  cr_assert(subspace_cholesky_inverse(COLS, S, inv, L));
  for (int p = 0; p < COLS; ++p)
    for (int q = 0; q < COLS; ++q) {
      double s = 0.0;
      for (int k = 0; k < COLS; ++k) s += S[p * COLS + k] * inv[k * COLS + q];
      cr_expect_float_eq(s, p == q ? 1.0 : 0.0, 1e-13);
    }
  for (int p = 0; p < COLS; ++p) S[7 * COLS + p] = S[p * COLS + 7] = S[3 * COLS + p];
  cr_expect_not(subspace_cholesky_inverse(COLS, S, inv, L), "a singular matrix");
}

/* The product with the inverse as a device has it, transposed: the same bits. */
Test(subspace, product_with_the_transposed)
{
  enum { COUNT = 75 };
  static const lk_entry rows = LK_ENTRY(subspace_invert),
                        columns = LK_ENTRY(subspace_invert_turned);
  static loom_real inv[COUNT * COUNT], turned[COUNT * COUNT], g[3 * 2 * COUNT], q[3 * COUNT],
      of_turned[3 * COUNT];
  test_host t;
  uint64_t seed = 6;
  th_open(&t, 1, 1);
  for (int p = 0; p < COUNT; ++p)
    for (int k = 0; k < COUNT; ++k)
      inv[p * COUNT + k] = turned[k * COUNT + p] = (loom_real)th_random(&seed);
  for (int cols = 31; cols <= COUNT; cols += 11) {
    static loom_real corner[COUNT * COUNT], other[COUNT * COUNT];
    for (int k = 0; k < 3 * 2 * COUNT; ++k) /* numbers behind the last row are not read */
      g[k] = k < 3 * cols ? (loom_real)th_random(&seed) : (loom_real)NAN;
    for (int p = 0; p < cols; ++p)
      for (int k = 0; k < cols; ++k) {
        corner[p * cols + k] = inv[p * COUNT + k];
        other[p * cols + k] = turned[p * COUNT + k];
      }
    subspace_args a = {.g = g, .q = q, .cols = cols, .inv = corner};
    cr_assert_eq(lk_run(&rows, &t.exec, &a, cols, NULL), LOOM_OK);
    a.inv = other;
    a.q = of_turned;
    cr_assert_eq(lk_run(&columns, &t.exec, &a, cols, NULL), LOOM_OK);
    cr_expect_arr_eq(q, of_turned, sizeof *q * 3 * (size_t)cols, "%d columns", cols);
  }
  th_close(&t);
}

/* ---- corrections ---- */

typedef struct trip { /* the parts of a correction */
  double scale[N], r[N][3], u[N][3], inv[COLS * COLS];
} trip;

static loom_real *copy_as_reals(const double *from, int n)
{
  loom_real *const to = calloc((size_t)n, sizeof *to);
  for (int k = 0; k < n; ++k) to[k] = (loom_real)from[k];
  return to;
}

static loom_buf *create_real_buf(test_host *t, const double *from, int n)
{
  loom_real *const v = copy_as_reals(from, n);
  loom_buf *const b = th_buf(t, LOOM_REAL, n, v);
  free(v);
  return b;
}

/* u after a correction with the leading `cols` columns. */
static loom_real *correct_on(int backend, const trip *x, const double *U, int threads, int cols,
                             int scaled, int add)
{
  test_host t;
  subspace s = {0};
  th_open_on(&t, backend, threads, 1);
  loom_buf *const scale = create_real_buf(&t, x->scale, N), *const r = create_real_buf(
                                                                &t, &x->r[0][0], 3 * N);
  loom_buf *const u = create_real_buf(&t, &x->u[0][0], 3 * N), *const inv = create_real_buf(
                                                                   &t, x->inv, cols * cols);
  cr_assert_eq(subspace_new(&s, &t.host, &t.exec, N), LOOM_OK);
  cr_assert_eq(subspace_set(&s, COLS, U), LOOM_OK);
  plug_maps m = plug_maps_on(&t.host, &t.exec);
  subspace_args a = subspace_bind(&s, &m);
  cr_expect_eq(a.cols, COLS);
  a.cols = cols;
  a.add = add;
  a.scale = scaled ? plug_read(&m, scale) : NULL;
  a.r = plug_read(&m, r);
  a.inv = plug_read(&m, inv);
  a.u = plug_rdwr(&m, u);
  cr_assert_eq(m.status, LOOM_OK);
  cr_assert_eq(subspace_correct(&s, &a), LOOM_OK);
  cr_assert_eq(plug_unbind(&m), LOOM_OK);
  loom_real *const out = th_get(&t, u);
  th_close(&t);
  return out;
}

static loom_real *correct_on_cpu(const trip *x, const double *U, int threads, int cols, int scaled,
                                 int add)
{
  return correct_on(LOOM_CPU, x, U, threads, cols, scaled, add);
}

static void fill_correction(trip *x)
{
  uint64_t seed = 9;
  for (int i = 0; i < N; ++i) {
    x->scale[i] = 1.0 + 0.5 * th_random(&seed);
    for (int c = 0; c < 3; ++c) {
      x->r[i][c] = th_random(&seed);
      x->u[i][c] = th_random(&seed);
    }
  }
  for (int k = 0; k < COLS * COLS; ++k) x->inv[k] = th_random(&seed);
}

Test(subspace, corrections)
{
  static trip x;
  const int ld = subspace_ld(COLS);
  double *const U = random_basis();
  fill_correction(&x);
  for (int way = 0; way < 8; ++way) {
    const int cols = way & 1 ? 10 : COLS, scaled = (way & 2) != 0, add = (way & 4) != 0;
    loom_real *const u = correct_on_cpu(&x, U, 1, cols, scaled, add);
    for (int c = 0; c < 3; ++c) {
      double g[COLS] = {0}, q[COLS] = {0};
      for (int i = 0; i < N; ++i)
        for (int p = 0; p < cols; ++p)
          g[p] += (scaled ? x.scale[i] : 1.0) * U[i * ld + p] * x.r[i][c];
      for (int p = 0; p < cols; ++p)
        for (int k = 0; k < cols; ++k) q[p] += x.inv[p * cols + k] * g[k];
      for (int i = 0; i < N; ++i) {
        double want = 0.0;
        for (int p = 0; p < cols; ++p) want += (scaled ? x.scale[i] : 1.0) * U[i * ld + p] * q[p];
        if (add) want += x.u[i][c];
        cr_assert_float_eq(u[3 * i + c], want, 1e-10, "way %d, row %d: %g not %g", way, i,
                           (double)u[3 * i + c], want);
      }
    }
    free(u);
  }
  free(U);
}

Test(subspace, same_bits_for_any_number_of_threads)
{
  static trip x;
  double *const U = random_basis();
  fill_correction(&x);
  loom_real *const one = correct_on_cpu(&x, U, 1, COLS, 1, 1);
  for (int threads = 2; threads <= 4; ++threads) {
    loom_real *const many = correct_on_cpu(&x, U, threads, COLS, 1, 1);
    for (int k = 0; k < 3 * N; ++k) cr_assert_eq(one[k], many[k], "%d threads", threads);
    free(many);
  }
  free(one);
  free(U);
}

Test(subspace, corrections_on_a_device)
{
  static trip x;
  char why[256];
  if (exec_cuda_devices(why, sizeof why) == 0) cr_skip_test("no CUDA device: %s", why);
  double *const U = random_basis();
  fill_correction(&x);
  loom_real *const host = correct_on_cpu(&x, U, 1, COLS, 1, 1);
  loom_real *const device = correct_on(LOOM_CUDA, &x, U, 1, COLS, 1, 1);
  for (int k = 0; k < 3 * N; ++k) cr_assert_eq(host[k], device[k], "component %d", k);
  free(host);
  free(device);
  free(U);
}
