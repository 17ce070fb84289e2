/* The parts of ndb_pd on a small random sheet, against dense algebra: spectrum, contact weights,
 * reduced matrices in each way, the fused sweeps, splines, and whole global steps. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndb_pd.h"
#include "support/grid_matrix.h"

extern void dsyev_(const char *job, const char *half, const int *n, double *a, const int *lda,
                   double *w, double *work, const int *lwork, int *info);

enum { SIDE = 14, N = SIDE * SIDE, TERMS = 40 };

typedef struct stage {
  test_host t;
  ndb_pd s;
  double H[N][N]; /* of free vertices, unit rows at fixed ones */
  loom_csr L;
  loom_quad quad;
  loom_buf *x, *grad;
  double g[N][3];
} stage;

static stage *pd_of_host;

static loom_status ndb_stage_pd_operator(const loom_host *host, const loom_problem *p,
                                         const loom_csr **L)
{
  (void)host, (void)p;
  *L = &pd_of_host->L;
  return LOOM_OK;
}
static void ndb_stage_tic(const loom_host *host, const char *section) { (void)host, (void)section; }

/* set: changes of the test to the defaults */
static void open_ndb_stage(stage *z, int threads, const ndb_pd_settings *set)
{
  static loom_real x[3 * N], mass[N];
  static uint8_t fixed[N];
  uint64_t seed = 7;
  memset(z, 0, sizeof *z);
  pd_of_host = z;
  th_open(&z->t, threads, 1);
  z->t.host.pd_operator = ndb_stage_pd_operator;
  z->t.host.tic = z->t.host.toc = ndb_stage_tic;
  for (int i = 0; i < N; ++i) {
    x[3 * i] = (loom_real)(0.1 * (i % SIDE));
    x[3 * i + 1] = (loom_real)(0.1 * (i / SIDE));
    x[3 * i + 2] = (loom_real)0;
    mass[i] = (loom_real)2e-6;
    fixed[i] = i == 0 || i == SIDE - 1;
    for (int c = 0; c < 3; ++c) z->g[i][c] = fixed[i] ? 0.0 : th_random(&seed);
  }
  th_scene(&z->t, N, x, mass, NULL, 0);
  th_put(&z->t, z->t.scene.fixed, fixed);
  grid_triangles(&z->t, SIDE);
  grid_matrix(SIDE, fixed, &z->H[0][0]);
  z->L = grid_csr(&z->t, N, &z->H[0][0]);
  z->x = z->t.step.x;
  z->grad = th_buf(&z->t, LOOM_REAL, 3 * N, z->g);
  z->t.step.h = 0.01;
  z->s = (ndb_pd){.host = &z->t.host, .sc = &z->t.scene, .e = &z->t.exec, .n = N, .set = *set};
  cr_assert_eq(ndb_pd_operator_new(&z->s), LOOM_OK, "%s", z->t.err.text);
  cr_assert_eq(ndb_pd_operator_make(&z->s, &z->t.step), LOOM_OK, "%s", z->t.err.text);
  cr_assert_eq(ndb_pd_basis_make(&z->s), LOOM_OK, "%s", z->t.err.text);
  cr_assert_eq(ndb_pd_reuse_new(&z->s), LOOM_OK, "%s", z->t.err.text);
  cr_assert_eq(ndb_pd_fused_make(&z->s), LOOM_OK, "%s", z->t.err.text);
}

static void close_stage(stage *z)
{
  ndb_pd *const s = &z->s;
  ndb_pd_basis_free(s);
  ndb_pd_monitor_free(s);
  th_close(&z->t);
}

static ndb_pd_settings default_ndb_settings(void)
{
  return (ndb_pd_settings){.smoother = SMOOTHER_A_JACOBI,
                           .rank = 2,
                           .sweeps = 40,
                           .presmooth = 2,
                           .subspace = SUBSPACE_EIGEN,
                           .modes = MODES_GENERALISED,
                           .reuse = REUSE_MASKED,
                           .weights = WEIGHTS_EXACT,
                           .r1 = 21,
                           .r2 = 13,
                           .spacing = 4,
                           .eigen_tolerance = 1e-10,
                           .eigen_restarts = 300,
                           .cache = ""};
}

/* Terms at one vertex in front, then some that join up to four; W is their exact matrix. */
static void create_stage_contact(stage *z, int joined, double size, double W[N][N])
{
  static int32_t v[TERMS][4];
  static loom_real w[TERMS][4], k[TERMS], p[TERMS][3];
  uint64_t seed = 3;
  memset(W, 0, sizeof(double) * N * N);
  for (int t = 0; t < TERMS; ++t) {
    const int corners = t < TERMS / 2 || !joined ? 1 : 4;
    k[t] = (loom_real)(size * (1.5 + th_random(&seed)));
    for (int a = 0; a < 4; ++a) {
      v[t][a] = a < corners ? (3 * t + 11 * a + (t > 30) * 40) % N : -1;
      w[t][a] = a < corners ? (loom_real)(corners == 1 ? 1 : th_random(&seed)) : 0;
    }
    for (int a = 0; a < corners; ++a)
      for (int b = 0; b < corners; ++b) W[v[t][a]][v[t][b]] += k[t] * w[t][a] * w[t][b];
  }
  for (int i = 0; i < N; ++i) W[0][i] = W[i][0] = W[SIDE - 1][i] = W[i][SIDE - 1] = 0.0;
  z->quad = (loom_quad){.struct_size = sizeof z->quad,
                        .width = 4,
                        .count = TERMS,
                        .v = th_buf(&z->t, LOOM_I32, 4 * TERMS, v),
                        .w = th_buf(&z->t, LOOM_REAL, 4 * TERMS, w),
                        .k = th_buf(&z->t, LOOM_REAL, TERMS, k),
                        .p = th_buf(&z->t, LOOM_REAL, 3 * TERMS, p)};
  cr_assert_eq(ndb_pd_contact(&z->s, &z->quad), LOOM_OK, "%s", z->t.err.text);
}

/* eigenvalues of a symmetric matrix, ascending; A is overwritten */
static void compute_eigenvalues(double *A, double *mu)
{
  static double work[64 * N];
  const int n = N, len = 64 * N;
  int info;
  dsyev_("N", "L", &n, A, &n, mu, work, &len, &info);
  cr_assert_eq(info, 0);
}

Test(ndb_pd, bounds_of_the_spectrum)
{
  static stage z;
  static double A[N][N], mu[N];
  const ndb_pd_settings set = default_ndb_settings();
  open_ndb_stage(&z, 1, &set);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) A[i][j] = z.H[i][j] / sqrt(z.H[i][i] * z.H[j][j]);
  compute_eigenvalues(&A[0][0], mu);
  cr_expect(z.s.mu_hi >= mu[N - 1] && z.s.mu_hi <= 1.025 * mu[N - 1], "%g %g", z.s.mu_hi,
            mu[N - 1]);
  cr_expect(z.s.mu_lo > 0.0 && z.s.mu_lo <= mu[0], "%g %g", z.s.mu_lo, mu[0]);
  /* unit rows of the two pins are eigenvalues 1 of A and none of the free rows */
  cr_expect_float_eq(z.s.mu1, mu[21], 1e-9);
  cr_expect_float_eq(z.s.mu2, mu[13], 1e-9);
  cr_expect_eq(z.s.space.cols, 21);
  cr_expect_eq(z.s.space.ld, 24);
  close_stage(&z);
}

Test(ndb_pd, contact_weights_are_a_diagonal_that_is_not_below)
{
  static stage z;
  static double W[N][N], mu[N];
  const ndb_pd_settings set = default_ndb_settings();
  open_ndb_stage(&z, 1, &set);
  create_stage_contact(&z, 0, 2.0, W);
  loom_real *w = th_get(&z.t, z.s.w);
  int64_t rows = 0;
  for (int i = 0; i < N; ++i) {
    cr_expect_float_eq(w[i], W[i][i], 1e-14, "%d: %g %g", i, w[i], W[i][i]);
    rows += W[i][i] > 0.0;
  }
  cr_expect_eq(z.s.rows, rows);
  free(w);
  create_stage_contact(&z, 1, 2.0, W);
  w = th_get(&z.t, z.s.w);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) W[i][j] = (i == j ? w[i] : 0.0) - W[i][j];
  compute_eigenvalues(&W[0][0], mu);
  cr_expect_gt(mu[0], -1e-12);
  free(w);
  cr_assert_eq(ndb_pd_contact(&z.s, NULL), LOOM_OK);
  cr_expect(z.s.rows == 0 && z.s.w_max == 0.0);
  close_stage(&z);
}

/* U' (H + W) U of the rows as they are or masked, dense */
static void compute_reduced_matrix(stage *z, int masked, double W[N][N], double *S)
{
  const int r = z->s.r2;
  loom_real *U = th_get(&z->t, z->s.space.U);
  static double V[N][64];
  for (int i = 0; i < N; ++i)
    for (int m = 0; m < r; ++m)
      V[i][m] = U[i * z->s.space.ld + m] * (masked ? z->H[i][i] / (z->H[i][i] + W[i][i]) : 1.0);
  for (int a = 0; a < r; ++a)
    for (int b = 0; b < r; ++b) {
      double q = 0.0;
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) q += V[i][a] * (z->H[i][j] + W[i][j]) * V[j][b];
      S[a * r + b] = q;
    }
  free(U);
}

static void check_update(int update, int reuse, int space, int inverse)
{
  static stage z;
  static double W[N][N], S[64 * 64];
  ndb_pd_settings set = default_ndb_settings();
  double worst = 0.0, top = 0.0, off = 0.0;
  set.update = update;
  set.reuse = reuse;
  set.subspace = space;
  set.reduced = inverse;
  open_ndb_stage(&z, 1, &set);
  create_stage_contact(&z, 0, 2.0, W);
  cr_assert_eq(ndb_pd_reuse(&z.s), LOOM_OK, "%s", z.t.err.text);
  const int r = z.s.r2;
  cr_assert(r > 8 && r <= 64);
  compute_reduced_matrix(&z, reuse == REUSE_MASKED, W, S);
  for (int a = 0; a < r; ++a)
    for (int b = 0; b < r; ++b) {
      const double e = 0.5 * (z.s.extra[a * r + b] + z.s.extra[b * r + a]);
      worst = fmax(worst, fabs(z.s.S[a * z.s.space.cols + b] + e - S[a * r + b]));
      top = fmax(top, fabs(S[a * r + b]));
    }
  cr_expect_lt(worst, 1e-12 * top, "update %d, reuse %d: %g of %g", update, reuse, worst, top);
  loom_real *inv = th_get(&z.t, z.s.inv2);
  for (int a = 0; a < r; ++a)
    for (int b = 0; b < r; ++b) {
      double q = a == b ? -1.0 : 0.0;
      for (int k = 0; k < r; ++k) q += inv[a * r + k] * S[k * r + b];
      off = fmax(off, fabs(q));
    }
  cr_expect_lt(off, 1e-9, "inverse %d: %g", inverse, off);
  free(inv);
  close_stage(&z);
}

Test(ndb_pd, reduced_matrix_with_contact)
{
  for (int inverse = 0; inverse < 2; ++inverse) {
    check_update(UPDATE_SYRK, REUSE_PLAIN, SUBSPACE_EIGEN, inverse);
    check_update(UPDATE_TABLE, REUSE_PLAIN, SUBSPACE_EIGEN, inverse);
    check_update(UPDATE_FULL, REUSE_PLAIN, SUBSPACE_EIGEN, inverse);
    check_update(UPDATE_SYRK, REUSE_MASKED, SUBSPACE_EIGEN, inverse);
    check_update(UPDATE_FULL, REUSE_MASKED, SUBSPACE_EIGEN, inverse);
    check_update(UPDATE_SYRK, REUSE_PLAIN, SUBSPACE_BSPLINE, inverse);
    check_update(UPDATE_SYRK, REUSE_MASKED, SUBSPACE_BSPLINE, inverse);
  }
}

/* total of one global step */
static double *step_of(const ndb_pd_settings *set, int threads, int with_contact, double size)
{
  static stage z;
  static double W[N][N];
  ndb_pd_report r;
  double theta;
  open_ndb_stage(&z, threads, set);
  if (with_contact)
    create_stage_contact(&z, 0, size, W);
  else
    cr_assert_eq(ndb_pd_contact(&z.s, NULL), LOOM_OK);
  cr_assert_eq(ndb_pd_solve(&z.s, &z.t.step, z.x, z.grad, 1, &r, &theta), LOOM_OK, "%s",
               z.t.err.text);
  double *const u = th_get(&z.t, z.s.total);
  close_stage(&z);
  return u;
}

static double relative_difference(const double *a, const double *b)
{
  double far = 0.0, top = 0.0;
  for (int k = 0; k < 3 * N; ++k) {
    far = fmax(far, fabs(a[k] - b[k]));
    top = fmax(top, fabs(a[k]));
  }
  return far / top;
}

/* Two sweeps in one gather are the two sweeps, and the third is one of its own. */
Test(ndb_pd, fused_sweeps_are_the_sweeps)
{
  for (int mixed = 0; mixed < 2; ++mixed)
    for (int rank = 2; rank < 4; ++rank)
      for (int touch = 0; touch < 2; ++touch) {
        ndb_pd_settings set = default_ndb_settings();
        set.sweeps = 7;
        set.rank = rank;
        set.precision = mixed;
        double *const a = step_of(&set, 1, touch, 2.0);
        set.fused = 1;
        double *const b = step_of(&set, 1, touch, 2.0);
        cr_expect_lt(relative_difference(a, b), mixed ? 1e-5 : 1e-14, "rank %d: %g", rank,
                     relative_difference(a, b));
        free(a);
        free(b);
      }
}

/* Every way ends at the solution, from every base, with any weights. */
Test(ndb_pd, every_way_leads_to_the_solution)
{
  ndb_pd_settings set = default_ndb_settings();
  for (int touch = 0; touch < 3; ++touch) {
    const double size = touch == 2 ? 1e6 : 2.0;
    set = default_ndb_settings();
    set.smoother = SMOOTHER_PCG;
    set.sweeps = 200;
    double *const exact = step_of(&set, 1, touch > 0, size);
    for (int smoother = SMOOTHER_JACOBI; smoother <= SMOOTHER_CHEBYSHEV; ++smoother)
      for (int space = SUBSPACE_NONE; space <= SUBSPACE_BSPLINE; ++space)
        for (int rest = 0; rest < 2; ++rest) {
          set = default_ndb_settings();
          set.smoother = smoother;
          set.subspace = space;
          set.base = rest;
          set.sweeps = smoother == SMOOTHER_CHEBYSHEV ? 1000 : space == SUBSPACE_NONE ? 6000 : 3000;
          double *const u = step_of(&set, 1, touch > 0, size);
          cr_expect_lt(relative_difference(exact, u), 1e-8,
                       "smoother %d, subspace %d, base %d, contact %d: %g", smoother, space, rest,
                       touch, relative_difference(exact, u));
          free(u);
        }
    free(exact);
  }
}

/* With residuals in double between them, float sweeps lead to the same solution. */
Test(ndb_pd, float_sweeps_are_refined)
{
  ndb_pd_settings set = default_ndb_settings();
  set.sweeps = 400;
  set.cycle = 20;
  double *const a = step_of(&set, 1, 1, 2.0);
  set.precision = PRECISION_MIXED;
  double *const b = step_of(&set, 1, 1, 2.0);
  cr_expect_lt(relative_difference(a, b), 1e-12, "%g", relative_difference(a, b));
  free(a);
  free(b);
}

Test(ndb_pd, same_bits_for_any_number_of_threads)
{
  for (int smoother = SMOOTHER_JACOBI; smoother <= SMOOTHER_PCG; ++smoother) {
    ndb_pd_settings set = default_ndb_settings();
    set.smoother = smoother;
    set.cycle = 10;
    double *const a = step_of(&set, 1, 1, 2.0), *const b = step_of(&set, 4, 1, 2.0);
    cr_expect_eq(memcmp(a, b, 3 * N * sizeof *a), 0, "smoother %d", smoother);
    free(a);
    free(b);
  }
}

Test(ndb_pd, splines_sum_to_one)
{
  static stage z;
  ndb_pd_settings set = default_ndb_settings();
  set.subspace = SUBSPACE_BSPLINE;
  set.spacing = 3;
  open_ndb_stage(&z, 1, &set);
  loom_real *U = th_get(&z.t, z.s.space.U);
  uint8_t *fixed = th_get(&z.t, z.t.scene.fixed);
  cr_expect_eq(z.s.space.cols, 49); /* 13 cells: 5 + 2 splines a side */
  for (int i = 0; i < N; ++i) {
    double sum = 0.0;
    int used = 0;
    for (int m = 0; m < z.s.space.ld; ++m) {
      sum += U[i * z.s.space.ld + m];
      used += U[i * z.s.space.ld + m] != 0;
    }
    cr_expect_float_eq(sum, fixed[i] ? 0.0 : 1.0, 1e-12, "vertex %d: %.15g", i, sum);
    cr_expect_leq(used, 9);
  }
  free(U);
  free(fixed);
  close_stage(&z);
}

/* Held: within a step weights only rise, half above the weights that outgrew them. */
Test(ndb_pd, held_weights)
{
  static stage z;
  static double W[N][N], V[N][N];
  ndb_pd_settings set = default_ndb_settings();
  set.weights = WEIGHTS_HELD;
  open_ndb_stage(&z, 1, &set);
  static const double sizes[] = {2.0, 1.0, 3.0, 0.5};
  static const double expected[] = {2.0, 2.0, 4.5, 4.5};
  for (int k = 0; k < 4; ++k) {
    create_stage_contact(&z, 0, sizes[k], W);
    loom_real *const w = th_get(&z.t, z.s.w);
    for (int i = 0; i < N; ++i)
      cr_expect_float_eq(w[i], expected[k] / sizes[k] * W[i][i], 1e-12, "%d, vertex %d: %g", k, i,
                         w[i]);
    free(w);
  }
  z.s.holding = 0; /* another step */
  create_stage_contact(&z, 0, 0.5, V);
  loom_real *const w = th_get(&z.t, z.s.w);
  for (int i = 0; i < N; ++i) cr_expect_float_eq(w[i], V[i][i], 1e-14);
  free(w);
  close_stage(&z);
}

/* Auto: as held until an iterate runs ahead of the filter, then the weights of each iteration. */
Test(ndb_pd, weights_follow_iterates_that_run_ahead)
{
  static stage z;
  static double W[N][N];
  ndb_pd_settings set = default_ndb_settings();
  set.weights = WEIGHTS_AUTO;
  open_ndb_stage(&z, 1, &set);
  static const double sizes[] = {2.0, 1.0, 0.5, 3.0};
  static const double expected[] = {2.0, 2.0, 0.5, 3.0};
  for (int k = 0; k < 4; ++k) {
    z.s.leads = k >= 2;
    create_stage_contact(&z, 0, sizes[k], W);
    loom_real *const w = th_get(&z.t, z.s.w);
    for (int i = 0; i < N; ++i)
      cr_expect_float_eq(w[i], expected[k] / sizes[k] * W[i][i], 1e-12, "%d, vertex %d: %g", k, i,
                         w[i]);
    free(w);
  }
  close_stage(&z);
}
