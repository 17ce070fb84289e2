/* The factorisation of cholmod_newton, on matrices with a changing pattern and with zero blocks:
 * its solution is compared with the dense matrix. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "support/test_host.h"

enum { N = 90, M = 3 * N };

typedef struct problem {
  test_host t;
  loom_bsr3 H;
  loom_real A[M][M];
  int32_t stored[N][N]; /* the block is in H, be it zero or not */
  double mass[N];
} problem;

static uint64_t seed = 11;

/* Blocks that need not be symmetric in themselves; the diagonal outweighs them. */
static void couple_vertices(problem *p, int i, int j)
{
  if (i == j) return;
  p->stored[i][j] = p->stored[j][i] = 1;
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      const loom_real v = (loom_real)th_random(&seed);
      p->A[3 * i + c][3 * j + d] = p->A[3 * j + d][3 * i + c] = v;
      p->A[3 * i + c][3 * i + c] += (loom_real)fabs((double)v);
      p->A[3 * j + d][3 * j + d] += (loom_real)fabs((double)v);
    }
}

/* The trace of an ended contact in the core's matrix: a place with zeros. */
static void clear_coupling(problem *p, int i, int j)
{
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) p->A[3 * i + c][3 * j + d] = p->A[3 * j + d][3 * i + c] = 0;
}

/* A sheet of 10 x 9 vertices, each bound to vertices at most two cells away. */
static problem *create_coupled_sheet(void)
{
  problem *const p = calloc(1, sizeof *p);
  loom_real x[M] = {0}, mass[N];
  cr_assert(p != NULL);
  th_open(&p->t, 1, 1);
  for (int i = 0; i < N; ++i) {
    p->stored[i][i] = 1;
    mass[i] = (loom_real)(0.5 + 0.01 * i);
    p->mass[i] = (double)mass[i];
    for (int c = 0; c < 3; ++c) p->A[3 * i + c][3 * i + c] = (loom_real)0.1;
    p->A[3 * i][3 * i + 2] = p->A[3 * i + 2][3 * i] = (loom_real)0.05;
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < i; ++j)
      if (abs(i % 10 - j % 10) + (i / 10 - j / 10) <= 2) couple_vertices(p, i, j);
  th_scene(&p->t, N, x, mass, NULL, 0);
  p->H = (loom_bsr3){.struct_size = sizeof p->H, .num_rows = N};
  return p;
}

static void free_sheet_hessian(problem *p)
{
  p->t.host.buf_free(&p->t.host, p->H.row_ptr);
  p->t.host.buf_free(&p->t.host, p->H.col);
  p->t.host.buf_free(&p->t.host, p->H.val);
}

/* H from the dense matrix */
static void assemble_sheet_hessian(problem *p)
{
  static int64_t ptr[N + 1];
  static int32_t col[N * N];
  static loom_real val[9 * N * N];
  int m = 0;
  for (int i = 0; i < N; ++i, ptr[i] = m)
    for (int j = 0; j < N; ++j) {
      if (!p->stored[i][j]) continue;
      for (int c = 0; c < 9; ++c) val[9 * m + c] = p->A[3 * i + c / 3][3 * j + c % 3];
      col[m++] = j;
    }
  free_sheet_hessian(p);
  p->H.num_blocks = m;
  ++p->H.pattern_id;
  p->H.row_ptr = th_buf(&p->t, LOOM_I64, N + 1, ptr);
  p->H.col = th_buf(&p->t, LOOM_I32, m, col);
  p->H.val = th_buf(&p->t, LOOM_REAL, 9 * (int64_t)m, val);
}

static void close_coupled_sheet(problem *p)
{
  free_sheet_hessian(p);
  th_close(&p->t);
  free(p);
}

static void open_newton_matrix(problem *p, cholmod_newton_matrix *m, int ordering)
{
  cr_assert_eq(cholmod_newton_matrix_open(m, &p->t.host, &p->t.scene, &p->t.exec, ordering),
               LOOM_OK, "%s", p->t.err.text);
}

/* x := (H + shift M)^-1 b.  The matrix is diagonally dominant and its rows are of size 10, so
 * 1e-12 is a hundred times the rounding to be expected of the residual. */
static void check_shifted_solve(problem *p, cholmod_newton_matrix *m, double shift, const double *b,
                                double *x, const char *what)
{
  int32_t pivot = 0;
  cr_assert_eq(cholmod_newton_matrix_shape(m, &p->H), LOOM_OK, "%s", p->t.err.text);
  cr_assert_eq(cholmod_newton_matrix_factor(m, &p->H, shift, &pivot), LOOM_OK, "%s: %d", what,
               pivot);
  cr_assert_eq(pivot, -1);
  memcpy(x, b, M * sizeof *x);
  cr_assert_eq(cholmod_newton_matrix_solve(m, x), LOOM_OK);
  for (int i = 0; i < M; ++i) {
    double r = shift * p->mass[i / 3] * x[i] - b[i];
    for (int j = 0; j < M; ++j) r += (double)p->A[i][j] * x[j];
    cr_assert(fabs(r) < 1e-12 * (1.0 + shift), "%s, row %d: residual %g", what, i, r);
  }
}

static void solves_anything(problem *p, cholmod_newton_matrix *m, double shift, const char *what)
{
  double b[M], x[M];
  for (int i = 0; i < M; ++i) b[i] = th_random(&seed);
  check_shifted_solve(p, m, shift, b, x, what);
}

Test(cholmod_newton_factor, solves_while_the_pattern_changes)
{
  for (int ordering = CHOL_AMD; ordering <= CHOL_METIS; ++ordering) {
    problem *const p = create_coupled_sheet();
    cholmod_newton_matrix m = {0};
    int kept = 0;
    open_newton_matrix(p, &m, ordering);
    for (int round = 0; round < 6; ++round) {
      int order[N];
      assemble_sheet_hessian(p);
      const int64_t before = m.p.ptr[N];
      memcpy(order, m.factor.order, sizeof order);
      solves_anything(p, &m, 0.0, "new pattern");
      if (round > 0) {
        cr_assert_neq(m.p.ptr[N], before, "the pattern stands");
        kept += memcmp(order, m.factor.order, sizeof order) == 0;
      }
      solves_anything(p, &m, 100.0, "other values, the same pattern");
      for (int k = 0; k < (round < 3 ? 12 : 1); ++k)
        couple_vertices(p, (7 * k + round) % N, (11 * k + 45) % N);
      if (round == 3)
        for (int i = 0; i < 20; ++i) clear_coupling(p, i, i + 10);
    }
    cr_expect(kept > 0 && kept < 5, "the order was kept %d times of 5", kept);
    cholmod_newton_matrix_close(&m);
    close_coupled_sheet(p);
  }
}

/* As many blocks, in other places: to be told from the pattern before. */
Test(cholmod_newton_factor, a_block_that_moves)
{
  problem *const p = create_coupled_sheet();
  cholmod_newton_matrix m = {0};
  open_newton_matrix(p, &m, CHOL_AMD);
  for (int j = 0; j < 8; ++j) {
    couple_vertices(p, 80, j);
    assemble_sheet_hessian(p);
    solves_anything(p, &m, 0.0, "moved");
    clear_coupling(p, 80, j);
  }
  cholmod_newton_matrix_close(&m);
  close_coupled_sheet(p);
}

/* Zeros that earlier contact left show in no bit of the solution, nor do systems solved
 * before once it is forgotten. */
Test(cholmod_newton_factor, history_leaves_no_bit)
{
  problem *const p = create_coupled_sheet();
  cholmod_newton_matrix m = {0}, fresh = {0};
  double b[M], x[M], y[M];
  for (int i = 0; i < M; ++i) b[i] = th_random(&seed);
  open_newton_matrix(p, &m, CHOL_METIS);
  open_newton_matrix(p, &fresh, CHOL_METIS);
  for (int i = 0; i < 20; ++i) couple_vertices(p, i, N - 1 - i);
  assemble_sheet_hessian(p);
  check_shifted_solve(p, &m, 0.0, b, x, "before");
  for (int i = 0; i < 20; ++i) clear_coupling(p, i, N - 1 - i);
  assemble_sheet_hessian(p);
  cholmod_newton_matrix_forget(&m);
  check_shifted_solve(p, &m, 0.0, b, x, "after");
  for (int i = 0; i < 20; ++i) p->stored[i][N - 1 - i] = p->stored[N - 1 - i][i] = 0;
  assemble_sheet_hessian(p);
  check_shifted_solve(p, &fresh, 0.0, b, y, "fresh");
  for (int i = 0; i < M; ++i) cr_assert_eq(x[i], y[i], "row %d: %.17g, %.17g", i, x[i], y[i]);
  cholmod_newton_matrix_close(&m);
  cholmod_newton_matrix_close(&fresh);
  close_coupled_sheet(p);
}

/* The negative diagonal entry of one vertex is named, and the shift that outweighs it serves. */
Test(cholmod_newton_factor, an_indefinite_matrix_and_its_shift)
{
  for (int v = 0; v < N; v += 13) {
    problem *const p = create_coupled_sheet();
    cholmod_newton_matrix m = {0};
    int32_t pivot = -2;
    p->A[3 * v + 1][3 * v + 1] *= -1;
    assemble_sheet_hessian(p);
    open_newton_matrix(p, &m, CHOL_AMD);
    cr_assert_eq(cholmod_newton_matrix_shape(&m, &p->H), LOOM_OK);
    cr_expect_eq(cholmod_newton_matrix_factor(&m, &p->H, 0.0, &pivot), LOOM_REJECTED);
    cr_expect_eq(pivot, v, "%d, not %d", pivot, v);
    solves_anything(p, &m, 1e3, "shifted");
    cholmod_newton_matrix_close(&m);
    close_coupled_sheet(p);
  }
}

/* For every BLAS behind CHOLMOD. */
static void is_rejected(loom_real pivot_entry)
{
  problem *const p = create_coupled_sheet();
  cholmod_newton_matrix m = {0};
  int32_t pivot;
  p->A[60][60] = pivot_entry;
  assemble_sheet_hessian(p);
  open_newton_matrix(p, &m, CHOL_AMD);
  cr_assert_eq(cholmod_newton_matrix_shape(&m, &p->H), LOOM_OK);
  cr_expect_eq(cholmod_newton_matrix_factor(&m, &p->H, 0.0, &pivot), LOOM_REJECTED);
  cholmod_newton_matrix_close(&m);
  close_coupled_sheet(p);
}

Test(cholmod_newton_factor, nan_is_rejected) { is_rejected((loom_real)NAN); }

Test(cholmod_newton_factor, infinity_is_rejected) { is_rejected((loom_real)INFINITY); }
