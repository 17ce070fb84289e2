/* test_krylov.c - kit/krylov: conjugate gradients on small random problems, against dense
 * elimination. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/krylov_bsr3.h"
#include "support/test_host.h"

enum { N = 40, M = 3 * N, BIG = 3000 };

typedef struct problem {
  test_host t;
  loom_bsr3 A;
  loom_buf *r, *d;
  double dense[M][M], g[M];
} problem;

/* A band of coupled blocks, stiff in a random direction each: condition about 1e3 with weak
 * diagonal blocks.  `sign` -1 makes the block of vertex N/2 negative. */
static void fill_dense(problem *p, double sign)
{
  uint64_t seed = 7;
  memset(p->dense, 0, sizeof p->dense);
  for (int i = 0; i < N; ++i)
    for (int c = 0; c < 3; ++c) p->dense[3 * i + c][3 * i + c] = 0.05 + 0.01 * (i % 5);
  for (int i = 0; i < N; ++i)
    for (int step = 1; step <= 7; step += 3) {
      const int j = i + step;
      double u[3];
      if (j >= N) continue;
      for (int c = 0; c < 3; ++c) u[c] = th_random(&seed);
      const double w = step == 1 ? 20.0 : 1.0;
      for (int c = 0; c < 3; ++c)
        for (int e = 0; e < 3; ++e) {
          const double v = w * u[c] * u[e] + (c == e ? 0.2 : 0.0);
          p->dense[3 * i + c][3 * i + e] += v;
          p->dense[3 * j + c][3 * j + e] += v;
          p->dense[3 * i + c][3 * j + e] -= v;
          p->dense[3 * j + c][3 * i + e] -= v;
        }
    }
  for (int c = 0; c < 3 && sign < 0.0; ++c)
    for (int e = 0; e < 3; ++e) p->dense[3 * (N / 2) + c][3 * (N / 2) + e] *= sign;
  for (int i = 0; i < M; ++i) p->g[i] = th_random(&seed);
}

static int has_block_coupling(const problem *p, int i, int j)
{
  for (int c = 0; c < 3; ++c)
    for (int e = 0; e < 3; ++e)
      if (p->dense[3 * i + c][3 * j + e] != 0.0) return 1;
  return i == j;
}

static void open_krylov_problem(problem *p, double sign, int threads)
{
  static int64_t ptr[N + 1];
  static int32_t col[N * N];
  static loom_real val[9 * N * N];
  int m = 0;
  th_open(&p->t, threads, 1);
  fill_dense(p, sign);
  for (int i = 0; i < N; ++i, ptr[i] = m)
    for (int j = 0; j < N; ++j) {
      if (!has_block_coupling(p, i, j)) continue;
      for (int c = 0; c < 9; ++c)
        val[9 * m + c] = (loom_real)p->dense[3 * i + c / 3][3 * j + c % 3];
      col[m++] = j;
    }
  p->A = (loom_bsr3){.struct_size = sizeof p->A,
                     .num_rows = N,
                     .num_blocks = m,
                     .row_ptr = th_buf(&p->t, LOOM_I64, N + 1, ptr),
                     .col = th_buf(&p->t, LOOM_I32, m, col),
                     .val = th_buf(&p->t, LOOM_REAL, 9 * (int64_t)m, val)};
  p->r = th_buf(&p->t, LOOM_REAL, M, NULL);
  p->d = th_buf(&p->t, LOOM_REAL, M, NULL);
}

/* d of A d = -g with the blocks of A and a preconditioner of KRYLOV_BLOCK_JACOBI ... */
static krylov_result solve_by(problem *p, int kind, const krylov_forcing *f, int max_iters)
{
  krylov_cg c = {0};
  krylov_bsr3 b = {0};
  krylov_system A;
  krylov_result out;
  loom_real r[M];
  for (int i = 0; i < M; ++i) r[i] = (loom_real)-p->g[i];
  th_put(&p->t, p->r, r);
  cr_assert_eq(krylov_bsr3_new(&b, &p->t.host, &p->t.exec, N), LOOM_OK);
  b.kind = kind;
  cr_assert_eq(krylov_cg_new(&c, &p->t.host, &p->t.exec, N, max_iters), LOOM_OK);
  cr_assert_eq(krylov_bsr3_open(&b, &p->A, &A), LOOM_OK);
  plug_maps m = plug_maps_on(&p->t.host, &p->t.exec);
  lk_real *const to_r = plug_rdwr(&m, p->r), *const to_d = plug_write(&m, p->d);
  cr_assert_eq(krylov_cg_solve(&c, NULL, &A, to_r, to_d, f, &out), LOOM_OK, "%s", p->t.err.text);
  cr_assert_eq(plug_unbind(&m), LOOM_OK);
  cr_assert_eq(krylov_bsr3_close(&b), LOOM_OK);
  return out;
}

static krylov_result solve_with(problem *p, const krylov_forcing *f, int max_iters)
{
  return solve_by(p, KRYLOV_BLOCK_JACOBI, f, max_iters);
}

static krylov_result solve_with_eta(problem *p, double eta, int max_iters, double *d)
{
  const krylov_forcing f = {.eta_min = eta, .eta_max = eta, .gamma = 0.9};
  const krylov_result r = solve_with(p, &f, max_iters);
  loom_real *const v = th_get(&p->t, p->d);
  for (int i = 0; i < M; ++i) d[i] = (double)v[i];
  free(v);
  return r;
}

static void multiply_problem_matrix(const problem *p, const double *x, double *y)
{
  for (int i = 0; i < M; ++i) {
    y[i] = 0.0;
    for (int j = 0; j < M; ++j) y[i] += p->dense[i][j] * x[j];
  }
}

static double dot_dofs(const double *a, const double *b)
{
  double s = 0.0;
  for (int i = 0; i < M; ++i) s += a[i] * b[i];
  return s;
}

/* x = -A^-1 g by elimination without pivoting, which a definite matrix allows */
static void solve_dense_problem(const problem *p, double *x)
{
  static double A[M][M];
  memcpy(A, p->dense, sizeof A);
  for (int i = 0; i < M; ++i) x[i] = -p->g[i];
  for (int k = 0; k < M; ++k)
    for (int i = k + 1; i < M; ++i) {
      const double f = A[i][k] / A[k][k];
      for (int j = k; j < M; ++j) A[i][j] -= f * A[k][j];
      x[i] -= f * x[k];
    }
  for (int k = M - 1; k >= 0; --k) {
    for (int j = k + 1; j < M; ++j) x[k] -= A[k][j] * x[j];
    x[k] /= A[k][k];
  }
}

/* sqrt(r'P^-1 r) of r = -g - A d, by Cramer's rule on the diagonal blocks */
static double preconditioned_residual(const problem *p, const double *d)
{
  double r[M], s = 0.0;
  multiply_problem_matrix(p, d, r);
  for (int i = 0; i < M; ++i) r[i] = -p->g[i] - r[i];
  for (int i = 0; i < N; ++i) {
    double D[3][3], z[3];
    const double *b = r + 3 * i;
    for (int c = 0; c < 3; ++c)
      for (int e = 0; e < 3; ++e) D[c][e] = p->dense[3 * i + c][3 * i + e];
#define DET(a, b, c)                                                         \
  (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + \
   a[2] * (b[0] * c[1] - b[1] * c[0]))
    const double det = DET(D[0], D[1], D[2]);
    z[0] = DET(b, D[1], D[2]) / det;
    z[1] = DET(D[0], b, D[2]) / det;
    z[2] = DET(D[0], D[1], b) / det;
#undef DET
    s += b[0] * z[0] + b[1] * z[1] + b[2] * z[2];
  }
  return sqrt(s);
}

static double energy_error(const problem *p, const double *d, const double *exact)
{
  double e[M], Ae[M];
  for (int i = 0; i < M; ++i) e[i] = d[i] - exact[i];
  multiply_problem_matrix(p, e, Ae);
  return sqrt(dot_dofs(e, Ae));
}

/* Theory: the error falls in the norm of A in every iteration; the residual that is reported
 * is the true one, until rounding. */
Test(krylov, every_iteration_is_closer)
{
  problem p;
  double exact[M], d[M], zero[M] = {0};
  open_krylov_problem(&p, 1.0, 2);
  solve_dense_problem(&p, exact);
  double before = energy_error(&p, zero, exact);
  const double r0 = preconditioned_residual(&p, zero), first = before;
  for (int k = 1; k <= 60; ++k) {
    const krylov_result r = solve_with_eta(&p, 1e-14, k, d);
    const double now = energy_error(&p, d, exact);
    cr_assert_eq(r.iters, k);
    cr_assert_eq(r.stop, KRYLOV_MAX_ITERS);
    cr_assert_lt(now, before, "iteration %d: error %g after %g", k, now, before);
    cr_assert_float_eq(r.residual, preconditioned_residual(&p, d) / r0, 1e-12,
                       "iteration %d: %g, truly %g", k, r.residual,
                       preconditioned_residual(&p, d) / r0);
    cr_assert_float_eq(r.decrement, -dot_dofs(p.g, d), 1e-10 * r.decrement, "iteration %d", k);
    before = now;
  }
  cr_expect_lt(before, 0.05 * first, "after 60 iterations: %g of %g", before, first);
  cr_expect_float_eq(sqrt(solve_with_eta(&p, 1e-3, 1000, d).rho0), r0, 1e-12 * r0);
  th_close(&p.t);
}

/* Tolerances are met, not by much more than a few iterations' fall, and the solution is right. */
Test(krylov, tolerance)
{
  static const double eta[] = {1e-2, 1e-6, 1e-10};
  problem p;
  double exact[M], d[M], zero[M] = {0};
  int32_t before = 0;
  open_krylov_problem(&p, 1.0, 2);
  solve_dense_problem(&p, exact);
  const double r0 = preconditioned_residual(&p, zero);
  for (int i = 0; i < 3; ++i) {
    const krylov_result r = solve_with_eta(&p, eta[i], 1000, d);
    cr_expect_eq(r.stop, KRYLOV_CONVERGED);
    cr_expect_gt(r.iters, before);
    cr_expect_leq(r.residual, eta[i]);
    cr_expect_leq(preconditioned_residual(&p, d), eta[i] * r0 * 1.01 + 1e-13);
    before = r.iters;
  }
  cr_expect_leq(before, 2 * M, "%d iterations for %d unknowns", before, M);
  for (int i = 0; i < M; ++i) cr_assert_float_eq(d[i], exact[i], 1e-7, "component %d", i);
  th_close(&p.t);
}

/* Negative curvature ends the solve with a direction of descent; in the first iteration that
 * is the preconditioned gradient. */
Test(krylov, negative_curvature)
{
  problem p;
  double d[M], Ad[M];
  open_krylov_problem(&p, -1.0, 2);
  const krylov_result r = solve_with_eta(&p, 1e-10, 1000, d);
  cr_expect_eq(r.stop, KRYLOV_NEGATIVE);
  cr_expect_gt(r.iters, 0);
  cr_expect_lt(dot_dofs(p.g, d), 0.0);
  cr_expect_float_eq(r.decrement, -dot_dofs(p.g, d), 1e-10 * r.decrement);
  multiply_problem_matrix(&p, d, Ad); /* the model has fallen on the way: g'd + d'A d/2 < 0 */
  cr_expect_lt(dot_dofs(p.g, d) + 0.5 * dot_dofs(d, Ad), 0.0);

  memset(p.g, 0, sizeof p.g);
  for (int c = 0; c < 3; ++c) p.g[3 * (N / 2) + c] = 1.0 + c;
  const krylov_result s = solve_with_eta(&p, 1e-10, 1000, d);
  cr_expect_eq(s.stop, KRYLOV_NEGATIVE);
  cr_expect_eq(s.iters, 0);
  cr_expect_lt(dot_dofs(p.g, d), 0.0);
  cr_expect_float_eq(s.decrement, -dot_dofs(p.g, d), 1e-12 * s.decrement);
  th_close(&p.t);
}

Test(krylov, nothing_to_do)
{
  problem p;
  double d[M];
  open_krylov_problem(&p, 1.0, 1);
  memset(p.g, 0, sizeof p.g);
  const krylov_result r = solve_with_eta(&p, 1e-6, 100, d);
  cr_expect_eq(r.stop, KRYLOV_CONVERGED);
  cr_expect_eq(r.iters, 0);
  for (int i = 0; i < M; ++i) cr_expect_eq(d[i], 0.0);
  th_close(&p.t);
}

Test(krylov, a_right_hand_side_that_is_not_finite_ends_it)
{
  problem p;
  double d[M];
  open_krylov_problem(&p, 1.0, 1);
  p.g[17] = NAN;
  const krylov_result r = solve_with_eta(&p, 1e-6, 100, d);
  cr_expect_eq(r.stop, KRYLOV_BREAKDOWN);
  cr_expect(isnan(r.rho0));
  cr_expect_eq(r.iters, 0);
  th_close(&p.t);
}

/* ---- operators of the caller's ---- */

typedef struct own { /* dense A, P the diagonal (jacobi) or the identity */
  const problem *p;
  const krylov_cg *c;
  int jacobi, iterated;
} own;

static loom_status own_multiply(void *self, const krylov_product *q)
{
  const own *const o = self;
  for (int i = 0; i < M; ++i) {
    q->y[i] = 0;
    for (int j = 0; j < M; ++j) q->y[i] += (loom_real)o->p->dense[i][j] * q->x[j];
  }
  return krylov_dot(o->c, q);
}

static loom_status own_precondition(void *self, const krylov_product *q)
{
  const own *const o = self;
  for (int i = 0; i < M; ++i) q->y[i] = q->x[i] / (loom_real)(o->jacobi ? o->p->dense[i][i] : 1.0);
  return krylov_dot(o->c, q);
}

static void own_iterated(void *self) { ++((own *)self)->iterated; }

/* The error after `count` iterations without a tolerance. */
static double error_after(problem *p, int jacobi, int count, const double *exact)
{
  krylov_cg c = {0};
  own o = {.p = p, .c = &c, .jacobi = jacobi};
  const krylov_system A = {.multiply = own_multiply,
                           .precondition = own_precondition,
                           .iterated = own_iterated,
                           .self = &o};
  loom_real r[M], d[M];
  double e[M];
  for (int i = 0; i < M; ++i) r[i] = (loom_real)-p->g[i];
  cr_assert_eq(krylov_cg_new(&c, &p->t.host, &p->t.exec, N, count), LOOM_OK);
  cr_assert_eq(krylov_cg_iterate(&c, &A, r, d, count), LOOM_OK, "%s", p->t.err.text);
  cr_expect_eq(o.iterated, count);
  for (int i = 0; i < M; ++i) e[i] = (double)d[i];
  return energy_error(p, e, exact);
}

/* The preconditioner is at work, whichever it is: with it fewer iterations reach as far. */
Test(krylov, preconditioners_of_the_caller)
{
  problem p;
  double exact[M], zero[M] = {0};
  open_krylov_problem(&p, 1.0, 2);
  for (int i = 0; i < M; ++i) /* rows of very different size */
    for (int j = 0; j < M; ++j) p.dense[i][j] *= pow(10.0, 0.5 * (i % 5 + j % 5));
  solve_dense_problem(&p, exact);
  const double first = energy_error(&p, zero, exact);
  const double jacobi = error_after(&p, 1, 60, exact), none = error_after(&p, 0, 60, exact);
  cr_expect_lt(jacobi, 0.1 * first, "%g of %g", jacobi, first);
  cr_expect_lt(jacobi, 0.3 * none, "%g, without %g", jacobi, none);
  cr_expect_lt(error_after(&p, 1, 4 * M, exact), 1e-9 * first);
  th_close(&p.t);
}

/* Choice 2 of Eisenstat and Walker with its safeguard, and the limits. */
static double eta_of(problem *p, double eta_before, double rho_share)
{
  krylov_forcing f = {.eta_min = 1e-8, .eta_max = 0.5, .gamma = 0.9};
  double d[M];
  f.eta_before = eta_before;
  f.rho_before = rho_share > 0.0 ? solve_with_eta(p, 0.5, 100, d).rho0 / rho_share : 0.0;
  const krylov_result r = solve_with(p, &f, 1000);
  cr_expect_leq(r.residual, r.eta);
  return r.eta;
}

Test(krylov, forcing_terms)
{
  problem p;
  open_krylov_problem(&p, 1.0, 1);
  cr_expect_float_eq(eta_of(&p, 0.1, 0.0), 0.5, 0.0);                /* first: the largest */
  cr_expect_float_eq(eta_of(&p, 0.1, 1e-3), 0.9e-3, 1e-15);          /* |g|^2 fell by 1e-3 */
  cr_expect_float_eq(eta_of(&p, 0.4, 1e-3), 0.9 * 0.4 * 0.4, 1e-15); /* the safeguard */
  cr_expect_float_eq(eta_of(&p, 0.1, 10.0), 0.5, 0.0);               /* it grew */
  cr_expect_float_eq(eta_of(&p, 0.1, 1e-12), 1e-8, 1e-20);           /* the least */
  th_close(&p.t);
}

/* A chain long enough for several threads and chunks of the reductions. */
static loom_real *chain_on(int backend, int threads)
{
  test_host t;
  krylov_cg c = {0};
  krylov_bsr3 b = {0};
  krylov_system system;
  krylov_result result;
  const krylov_forcing f = {.eta_min = 1e-8, .eta_max = 1e-8, .gamma = 0.9};
  uint64_t seed = 3;
  int64_t *const ptr = calloc(BIG + 1, sizeof *ptr);
  int32_t *const col = calloc(3 * BIG, sizeof *col);
  loom_real *const val = calloc(27 * (size_t)BIG, sizeof *val);
  loom_real *const g = calloc(3 * (size_t)BIG, sizeof *g);
  int64_t m = 0;
  for (int i = 0; i < BIG; ++i, ptr[i] = m)
    for (int j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= BIG) continue;
      for (int k = 0; k < 3; ++k) val[9 * m + 4 * k] = (loom_real)(i == j ? 2.01 : -1.0);
      col[m++] = j;
    }
  for (int i = 0; i < 3 * BIG; ++i) g[i] = (loom_real)th_random(&seed);
  th_open_on(&t, backend, threads, 0);
  const loom_bsr3 A = {.struct_size = sizeof A,
                       .num_rows = BIG,
                       .num_blocks = m,
                       .row_ptr = th_buf(&t, LOOM_I64, BIG + 1, ptr),
                       .col = th_buf(&t, LOOM_I32, m, col),
                       .val = th_buf(&t, LOOM_REAL, 9 * m, val)};
  loom_buf *const right = th_buf(&t, LOOM_REAL, 3 * BIG, g);
  loom_buf *const d = th_buf(&t, LOOM_REAL, 3 * BIG, NULL);
  cr_assert_eq(krylov_bsr3_new(&b, &t.host, &t.exec, BIG), LOOM_OK);
  cr_assert_eq(krylov_cg_new(&c, &t.host, &t.exec, BIG, 1000), LOOM_OK);
  cr_assert_eq(krylov_bsr3_open(&b, &A, &system), LOOM_OK);
  plug_maps maps = plug_maps_on(&t.host, &t.exec);
  lk_real *const to_r = plug_rdwr(&maps, right), *const to_d = plug_write(&maps, d);
  cr_assert_eq(krylov_cg_solve(&c, NULL, &system, to_r, to_d, &f, &result), LOOM_OK);
  cr_assert_eq(plug_unbind(&maps), LOOM_OK);
  cr_assert_eq(krylov_bsr3_close(&b), LOOM_OK);
  cr_expect_eq(result.stop, KRYLOV_CONVERGED);
  cr_expect_gt(result.iters, 20);
  cr_expect_eq(result.products, result.iters);
  loom_real *const out = th_get(&t, d);
  th_close(&t);
  free(ptr), free(col), free(val), free(g);
  return out;
}

static loom_real *solve_chain_on_cpu(int threads) { return chain_on(LOOM_CPU, threads); }

Test(krylov, same_bits_for_any_number_of_threads)
{
  loom_real *const one = solve_chain_on_cpu(1);
  for (int threads = 2; threads <= 4; ++threads) {
    loom_real *const many = solve_chain_on_cpu(threads);
    for (int i = 0; i < 3 * BIG; ++i)
      cr_assert_eq(one[i], many[i], "%d threads, component %d", threads, i);
    free(many);
  }
  free(one);
}

/* Dot products round in another order there. */
Test(krylov, on_a_device)
{
  char why[256];
  if (exec_cuda_devices(why, sizeof why) == 0) cr_skip_test("no CUDA device: %s", why);
  loom_real *const host = solve_chain_on_cpu(1), *const device = chain_on(LOOM_CUDA, 1);
  for (int i = 0; i < 3 * BIG; ++i)
    cr_assert_float_eq(host[i], device[i], 1e-6, "component %d: %g, %g", i, host[i], device[i]);
  free(host);
  free(device);
}

/* A device multiplies per component, the CPU per row: both make the same bits of y, and sums of the
 * same terms. */
Test(krylov, product_per_component)
{
  static const lk_entry multiply = LK_ENTRY(krylov_bsr3_multiply);
  static problem p;
  loom_real x[M], of_rows[M], of_components[M], sum[2] = {0, 0};
  int32_t stop = 0;
  open_krylov_problem(&p, 1.0, 1);
  for (int i = 0; i < M; ++i) x[i] = (loom_real)p.g[i];
  plug_maps m = plug_maps_on(&p.t.host, &p.t.exec);
  krylov_bsr3_args a = {.row_ptr = plug_read(&m, p.A.row_ptr),
                        .col = plug_read(&m, p.A.col),
                        .val = plug_read(&m, p.A.val),
                        .x = x,
                        .y = of_rows,
                        .stop = &stop};
  cr_assert_eq(lk_run(&multiply, &p.t.exec, &a, N, &sum[0]), LOOM_OK);
  a.y = of_components;
  a.split = 1;
  cr_assert_eq(lk_run(&multiply, &p.t.exec, &a, M, &sum[1]), LOOM_OK);
  cr_expect_arr_eq(of_rows, of_components, sizeof of_rows);
  cr_expect_float_eq(sum[0], sum[1], 1e-13 * fabs(sum[0])); /* double, 120 terms */
  stop = 1;
  of_components[0] = 7;
  cr_assert_eq(lk_run(&multiply, &p.t.exec, &a, M, &sum[1]), LOOM_OK);
  cr_expect_eq(of_components[0], (loom_real)7);
  cr_assert_eq(plug_unbind(&m), LOOM_OK);
  th_close(&p.t);
}

/* |-g - A d| / |g| of the d that was found. */
static double relative_residual(problem *p)
{
  double d[M], Ad[M], r[M];
  loom_real *const v = th_get(&p->t, p->d);
  for (int i = 0; i < M; ++i) d[i] = (double)v[i];
  free(v);
  multiply_problem_matrix(p, d, Ad);
  for (int i = 0; i < M; ++i) r[i] = -p->g[i] - Ad[i];
  return sqrt(dot_dofs(r, r) / dot_dofs(p->g, p->g));
}

/* The Euclidean test means the same for every preconditioner, and ends at the first iterate that
 * passes it; the preconditioners differ in how soon that is. */
Test(krylov, euclidean)
{
  static problem p;
  int32_t iters[3];
  krylov_forcing f = {.eta_min = 1e-6, .eta_max = 1e-6, .gamma = 0.9, .euclidean = 1};
  open_krylov_problem(&p, 1.0, 1);
  for (int kind = KRYLOV_BLOCK_JACOBI; kind <= KRYLOV_PLAIN; ++kind) {
    const krylov_result r = solve_by(&p, kind, &f, 2000);
    const double end = relative_residual(&p);
    cr_assert_eq(r.stop, KRYLOV_CONVERGED, "kind %d", kind);
    cr_expect_float_eq(r.residual, end, 1e-9, "kind %d: %g is %g", kind, r.residual, end);
    cr_expect_leq(end, 1e-6);
    (void)solve_by(&p, kind, &f, r.iters - 1);
    cr_expect_gt(relative_residual(&p), 1e-6, "kind %d could have stopped before", kind);
    iters[kind] = r.iters;
  }
  cr_expect_lt(iters[KRYLOV_BLOCK_JACOBI], iters[KRYLOV_PLAIN]);
  cr_expect_neq(iters[KRYLOV_JACOBI], iters[KRYLOV_PLAIN], "the diagonal was not taken");
  th_close(&p.t);
}
