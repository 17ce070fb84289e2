/* test_pd_bfgs.c - the parts of pd_bfgs on a small sheet: quasi-Newton iterations against conjugate
 * gradients and dense elimination, cycles of the two levels with and without contact. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pd_bfgs_stage.h"

/* ---- dense algebra ---- */

/* P' (H + B) P, [3 m][3 m], and P' H P with the factor's addition to its diagonal. */
static double *reduced_matrix(const stage *z, int contact)
{
  const spline_rows *const P = &z->s.rows;
  const size_t m = 3 * (size_t)P->cols;
  double *const S = calloc(m * m, sizeof *S);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      for (int c = 0; c < 3; ++c)
        for (int e = 0; e < 3; ++e) {
          const double v =
              (c == e ? z->H[i][j] : 0.0) + (contact ? z->B[3 * i + c][3 * j + e] : 0.0);
          for (int64_t a = P->ptr[i]; v != 0.0 && a < P->ptr[i + 1]; ++a)
            for (int64_t b = P->ptr[j]; b < P->ptr[j + 1]; ++b)
              S[(3 * (size_t)P->col[a] + (size_t)c) * m + 3 * (size_t)P->col[b] + (size_t)e] +=
                  P->val[a] * v * P->val[b];
        }
  if (!contact)
    for (size_t k = 0; k < m; ++k) S[k * m + k] *= 1.0 + 1e-8;
  return S;
}

/* x = A^-1 b by Cholesky's method; A is overwritten by its factor if `fresh`. */
static void dense_solve(double *A, size_t m, int fresh, const double *b, double *x)
{
  for (size_t j = 0; fresh && j < m; ++j)
    for (size_t i = j; i < m; ++i) {
      double v = A[i * m + j];
      for (size_t k = 0; k < j; ++k) v -= A[i * m + k] * A[j * m + k];
      A[i * m + j] = i == j ? sqrt(v) : v / A[j * m + j];
    }
  for (size_t i = 0; i < m; ++i) {
    x[i] = b[i];
    for (size_t k = 0; k < i; ++k) x[i] -= A[i * m + k] * x[k];
    x[i] /= A[i * m + i];
  }
  for (size_t i = m; i-- > 0;) {
    for (size_t k = i + 1; k < m; ++k) x[i] -= A[k * m + i] * x[k];
    x[i] /= A[i * m + i];
  }
}

static double dot_vectors(const double *a, const double *b, size_t m)
{
  double s = 0.0;
  for (size_t k = 0; k < m; ++k) s += a[k] * b[k];
  return s;
}

static void multiply_square_matrix(const double *A, const double *x, size_t m, double *y)
{
  for (size_t i = 0; i < m; ++i) y[i] = dot_vectors(A + i * m, x, m);
}

/* ---- quasi-Newton iterations ---- */

/* From an empty history the iterates equal conjugate gradients preconditioned by the factor,
 * one after the other. */
Test(pd_bfgs, begins_as_conjugate_gradients)
{
  static stage z;
  enum { ITERS = 8 };
  pd_bfgs_settings set = stage_defaults;
  set.history = ITERS;
  stage_open(&z, 1, &set);
  stage_give_contact(&z, 40.0);
  const size_t m = 3 * (size_t)z.s.basis.cols;
  double *const S = reduced_matrix(&z, 1), *const F = reduced_matrix(&z, 0);
  double *const w = calloc(6 * m, sizeof *w);
  double *const r = w, *const x = w + m, *const p = w + 2 * m, *const q = w + 3 * m;
  double *const zz = w + 4 * m, rho = 0.0;
  uint64_t seed = 21;
  loom_real *const g = calloc(m, sizeof *g);
  for (size_t k = 0; k < m; ++k) r[k] = (double)(g[k] = (loom_real)th_random(&seed));
  th_put(&z.t, z.s.bfgs.g, g);
  const bfgs_system A = {
      .multiply = pd_bfgs_reduced_multiply, .solve = pd_bfgs_reduced_solve, .self = &z.s};
  cr_assert_eq(bfgs_begin(&z.s.bfgs), LOOM_OK);
  for (int k = 0; k < ITERS; ++k) {
    dense_solve(F, m, k == 0, r, zz);
    const double next = dot_vectors(r, zz, m), beta = k == 0 ? 0.0 : next / rho;
    rho = next;
    for (size_t i = 0; i < m; ++i) p[i] = zz[i] + beta * p[i];
    multiply_square_matrix(S, p, m, q);
    const double alpha = rho / dot_vectors(p, q, m);
    double most = 0.0, off = 0.0;
    for (size_t i = 0; i < m; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    cr_assert_eq(bfgs_iterate(&z.s.bfgs, &A), LOOM_OK, "%s", z.t.err.text);
    loom_real *const y = th_get(&z.t, z.s.bfgs.y);
    for (size_t i = 0; i < m; ++i) {
      most = fmax(most, fabs(x[i]));
      off = fmax(off, fabs(x[i] - (double)y[i]));
    }
    cr_expect_lt(off, 1e-12 * most, "iteration %d: %g of %g", k + 1, off, most);
    free(y);
  }
  free(S);
  free(F);
  free(w);
  free(g);
  stage_close(&z);
}

/* Energy of the error after `iters` iterations on another right-hand side, in parts of that of the
 * start; history: made on a first one. */
static double second_solve(int first_iters, int iters)
{
  static stage z;
  stage_open(&z, 1, &stage_defaults);
  stage_give_contact(&z, 40.0);
  const size_t m = 3 * (size_t)z.s.basis.cols;
  double *const S = reduced_matrix(&z, 1), *const F = reduced_matrix(&z, 1);
  double *const w = calloc(4 * m, sizeof *w), *const b = w, *const x = w + m, *const e = w + 2 * m;
  const bfgs_system A = {
      .multiply = pd_bfgs_reduced_multiply, .solve = pd_bfgs_reduced_solve, .self = &z.s};
  uint64_t seed = 5;
  loom_real *const g = calloc(m, sizeof *g);
  for (int solve = 0; solve < 2; ++solve) {
    for (size_t k = 0; k < m; ++k) b[k] = (double)(g[k] = (loom_real)th_random(&seed));
    th_put(&z.t, z.s.bfgs.g, g);
    cr_assert_eq(bfgs_begin(&z.s.bfgs), LOOM_OK);
    for (int k = 0; k < (solve == 0 ? first_iters : iters); ++k)
      cr_assert_eq(bfgs_iterate(&z.s.bfgs, &A), LOOM_OK);
  }
  dense_solve(F, m, 1, b, x);
  loom_real *const y = th_get(&z.t, z.s.bfgs.y);
  for (size_t i = 0; i < m; ++i) e[i] = x[i] - (double)y[i];
  multiply_square_matrix(S, e, m, w + 3 * m);
  const double left = dot_vectors(e, w + 3 * m, m), all = dot_vectors(x, b, m);
  free(y);
  free(g);
  free(w);
  free(S);
  free(F);
  stage_close(&z);
  return sqrt(left / all);
}

/* Pairs from one right-hand side serve the next: the control has no pairs. */
Test(pd_bfgs, keeps_what_it_learned)
{
  const double fresh = second_solve(0, 2), taught = second_solve(12, 2);
  cr_expect_lt(taught, 0.5 * fresh, "%g, without a history %g", taught, fresh);
}

/* The oldest pairs make room; many iterations at the solution do no harm. */
Test(pd_bfgs, history_is_limited)
{
  static stage z;
  pd_bfgs_settings set = stage_defaults;
  set.history = 3;
  stage_open(&z, 1, &set);
  stage_give_contact(&z, 1.0);
  const bfgs_system A = {
      .multiply = pd_bfgs_reduced_multiply, .solve = pd_bfgs_reduced_solve, .self = &z.s};
  cr_assert_eq(z.t.host.axpby(&z.t.host, &z.t.exec, 1.0, z.s.bfgs.y, 0.0, z.s.bfgs.g), LOOM_OK);

  cr_assert_eq(bfgs_begin(&z.s.bfgs), LOOM_OK);
  for (int k = 0; k < 5; ++k) cr_assert_eq(bfgs_iterate(&z.s.bfgs, &A), LOOM_OK);
  cr_expect_eq(z.s.bfgs.num, 3);
  loom_real *const y = th_get(&z.t, z.s.bfgs.y);
  for (int k = 0; k < 3 * z.s.basis.cols; ++k) cr_expect_eq(y[k], 0); /* the right-hand side was */
  free(y);
  stage_close(&z);
}

/* ---- cycles ---- */

/* (H + B) u */
static void apply_stage_hessian(const stage *z, int contact, const double *u, double *out)
{
  for (int i = 0; i < 3 * N; ++i) {
    out[i] = 0.0;
    for (int j = 0; j < N; ++j) out[i] += z->H[i / 3][j] * u[3 * j + i % 3];
    for (int j = 0; contact && j < 3 * N; ++j) out[i] += z->B[i][j] * u[j];
  }
}

/* Energy norms of the error before and after `cycles`, on the right-hand side g. */
static double cycles_leave(stage *z, int contact, int cycles)
{
  const size_t m = 3 * N;
  double *const A = calloc(m * m, sizeof *A), *const w = calloc(5 * m, sizeof *w);
  double *const x = w, *const e = w + m, *const Ae = w + 2 * m, *const r = w + 3 * m;
  int at;
  int32_t iters = 0;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < m; ++j)
      A[i * m + j] = (i % 3 == j % 3 ? z->H[i / 3][j / 3] : 0.0) + (contact ? z->B[i][j] : 0.0);
  dense_solve(A, m, 1, &z->g[0][0], x);
  const double start = sqrt(dot_vectors(x, &z->g[0][0], m));
  memcpy(e, x, m * sizeof *e);
  memcpy(r, z->g, m * sizeof *r);
  for (int k = 0; k < cycles; ++k) {
    loom_real *const rr = calloc(m, sizeof *rr);
    for (size_t i = 0; i < m; ++i) rr[i] = (loom_real)r[i];
    th_put(&z->t, z->s.r, rr);
    free(rr);
    cr_assert_eq(pd_bfgs_cycle(&z->s, &at, &iters), LOOM_OK, "%s", z->t.err.text);
    loom_real *const u = th_get(&z->t, z->s.u[at]);
    for (size_t i = 0; i < m; ++i) e[i] -= (double)u[i];
    free(u);
    apply_stage_hessian(z, contact, e, r);
  }
  apply_stage_hessian(z, contact, e, Ae);
  const double left = sqrt(dot_vectors(e, Ae, m));
  free(A);
  free(w);
  return left / start;
}

/* Each level alone is far from both together. */
Test(pd_bfgs, two_levels)
{
  static stage z;
  double left[3];
  for (int way = 0; way < 3; ++way) {
    pd_bfgs_settings set = stage_defaults;
    if (way == 1) set.bfgs_iters = 0;
    if (way == 2) set.jacobi_iters = 0;
    stage_open(&z, 1, &set);
    cr_assert_eq(pd_bfgs_sweep_make(&z.s), LOOM_OK);
    cr_expect(z.s.mu_hi > 1.0 && z.s.mu_hi < 4.0, "%g", z.s.mu_hi);
    left[way] = cycles_leave(&z, 0, 3);
    stage_close(&z);
  }
  cr_expect_lt(left[0], 0.05, "%g", left[0]);
  cr_expect_gt(left[1], 4.0 * left[0], "sweeps alone: %g, both %g", left[1], left[0]);
  cr_expect_gt(left[2], 4.0 * left[0], "splines alone: %g, both %g", left[2], left[0]);
}

Test(pd_bfgs, cycles_with_contact_converge)
{
  static stage z;
  for (int way = 0; way < 3; ++way) {
    pd_bfgs_settings set = stage_defaults;
    set.jacobi = way == 1 ? JACOBI_SCALAR : JACOBI_BLOCK;
    stage_open(&z, 1, &set);
    stage_give_contact(&z, way == 2 ? 1e4 : 30.0);
    cr_assert_eq(pd_bfgs_sweep_make(&z.s), LOOM_OK);
    const double left = cycles_leave(&z, 1, 12);
    cr_expect_lt(left, way == 2 ? 0.6 : 0.2, "way %d: %g left", way, left);
    stage_close(&z);
  }
}

/* Several cycles in one solve are the cycles one after the other, with the residual in between. */
Test(pd_bfgs, several_cycles)
{
  static stage z;
  pd_bfgs_settings set = stage_defaults;
  int32_t iters = 0;
  loom_buf *u = NULL;
  stage_open(&z, 1, &set);
  stage_give_contact(&z, 30.0);
  cr_assert_eq(pd_bfgs_sweep_make(&z.s), LOOM_OK);
  const double one_by_one = cycles_leave(&z, 1, 3);
  stage_close(&z);
  set.cycles = 3;
  stage_open(&z, 1, &set);
  stage_give_contact(&z, 30.0);
  cr_assert_eq(pd_bfgs_sweep_make(&z.s), LOOM_OK);
  loom_real *const r = calloc(3 * N, sizeof *r);
  for (int i = 0; i < 3 * N; ++i) r[i] = (loom_real)z.g[i / 3][i % 3];
  th_put(&z.t, z.s.r, r);
  cr_assert_eq(pd_bfgs_solve(&z.s, &u, &iters), LOOM_OK, "%s", z.t.err.text);
  cr_expect_eq(iters, 3 * 7);
  loom_real *const sum = th_get(&z.t, u), *const left = th_get(&z.t, z.s.r);
  double *const all = calloc(6 * N, sizeof *all);
  for (int i = 0; i < 3 * N; ++i) all[i] = (double)sum[i];
  apply_stage_hessian(&z, 1, all, all + 3 * N);
  double most = 0.0;
  for (int i = 0; i < 3 * N; ++i) {
    const double want = z.g[i / 3][i % 3] - all[3 * N + i];
    most = fmax(most, fabs(want));
    cr_expect_float_eq(left[i], want, 1e-10);
  }
  cr_expect(most > 0.0 && one_by_one < 0.9, "%g, %g", most, one_by_one);
  free(r);
  free(sum);
  free(left);
  free(all);
  stage_close(&z);
}

static loom_real *cycle_of(int threads, int reduced)
{
  static stage z;
  pd_bfgs_settings set = stage_defaults;
  int at;
  int32_t iters = 0;
  set.reduced = reduced;
  stage_open(&z, threads, &set);
  stage_give_contact(&z, 30.0);
  cr_assert_eq(pd_bfgs_sweep_make(&z.s), LOOM_OK);
  loom_real *const rr = calloc(3 * N, sizeof *rr);
  for (int i = 0; i < 3 * N; ++i) rr[i] = (loom_real)z.g[i / 3][i % 3];
  th_put(&z.t, z.s.r, rr);
  free(rr);
  cr_assert_eq(pd_bfgs_cycle(&z.s, &at, &iters), LOOM_OK, "%s", z.t.err.text);
  cr_expect_eq(iters, 7);
  loom_real *const u = th_get(&z.t, z.s.u[at]);
  for (int i = 0; i < N; ++i)
    for (int c = 0; c < 3; ++c) cr_expect(!z.fixed[i] || u[3 * i + c] == 0);
  stage_close(&z);
  return u;
}

Test(pd_bfgs, same_bits_for_any_number_of_threads)
{
  loom_real *const a = cycle_of(1, REDUCED_FACTOR), *const b = cycle_of(3, REDUCED_FACTOR);
  cr_expect_eq(memcmp(a, b, 3 * N * sizeof *a), 0);
  free(a);
  free(b);
}

Test(pd_bfgs, inverse_and_factor_agree)
{
  loom_real *const a = cycle_of(1, REDUCED_FACTOR), *const b = cycle_of(1, REDUCED_INVERSE);
  for (int i = 0; i < 3 * N; ++i) cr_expect_float_eq(a[i], b[i], 1e-9);
  free(a);
  free(b);
}

/* More splines than vertices, as on pieces of a few triangles: the factor stands. */
Test(pd_bfgs, splines_as_fine_as_the_mesh)
{
  static stage z;
  pd_bfgs_settings set = stage_defaults;
  set.spacing = 1.0;
  stage_open(&z, 1, &set);
  cr_expect_gt(z.s.basis.cols, N);
  cr_assert_eq(pd_bfgs_sweep_make(&z.s), LOOM_OK);
  const double left = cycles_leave(&z, 0, 3);
  cr_expect_lt(left, 0.02, "%g", left);
  stage_close(&z);
}
