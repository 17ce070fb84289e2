/* sym3.c, sym3_cg.c and the module of loom/factor.h: against dense matrices. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/factor_module.h"
#include "linalg/sym3.h"
#include "support/bufs.h"

enum { N = 40, BLOCKS = 6 * N };

/* A symmetric matrix as it comes from assembly, both triangles by rows, and dense. */
typedef struct example {
  int block;
  int64_t ptr[N + 1];
  int32_t col[BLOCKS];
  loom_real val[BLOCKS * 9];
  double dense[3 * N][3 * N];
} example;

static double draw_entry(uint64_t *s) { return (double)(t_random(s) % 2000001) * 1e-6 - 1.0; }

static int is_band_neighbour(int i, int j, int far)
{
  return i == j || abs(i - j) == 1 || abs(i - j) == far;
}

/* Neighbours at distances 0, 1 and `far`; `shift` on the diagonal: from 30 on it is definite. */
static example *create_sym3_example(int block, int far, double shift, uint64_t seed)
{
  example *const e = calloc(1, sizeof *e);
  int64_t at = 0;
  e->block = block;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      if (!is_band_neighbour(i, j, far)) continue;
      const double once = draw_entry(&seed);
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d) {
          double v = block == 3 ? draw_entry(&seed) : c == d ? once : 0.0;
          if (i == j && c == d) v += shift;
          if (i == j && c < d) continue;
          e->dense[3 * i + c][3 * j + d] = v;
          e->dense[3 * j + d][3 * i + c] = v;
        }
    }
  for (int i = 0; i < N; ++i) {
    e->ptr[i] = at;
    for (int j = 0; j < N; ++j) {
      if (!is_band_neighbour(i, j, far)) continue;
      e->col[at] = j;
      for (int c = 0; c < block; ++c)
        for (int d = 0; d < block; ++d)
          e->val[block * block * at + block * c + d] = (loom_real)e->dense[3 * i + c][3 * j + d];
      ++at;
    }
  }
  e->ptr[N] = at;
  return e;
}

static sym3 build_example_sym3(const example *e)
{
  loom_err err = {0};
  sym3 A = {0};
  cr_assert_eq(sym3_take(&err, &A, N, e->block, e->ptr, e->col, e->val), LOOM_OK, "%s", err.text);
  return A;
}

static void random_vector(double *x, uint64_t seed)
{
  for (int i = 0; i < 3 * N; ++i) x[i] = draw_entry(&seed);
}

/* largest entry of y - (E + F) x, F may be NULL */
static double max_product_error(const example *E, const example *F, const double *x,
                                const double *y)
{
  double most = 0.0;
  for (int i = 0; i < 3 * N; ++i) {
    double sum = 0.0;
    for (int j = 0; j < 3 * N; ++j)
      sum += (E->dense[i][j] + (F != NULL ? F->dense[i][j] : 0.0)) * x[j];
    most = fmax(most, fabs(sum - y[i]));
  }
  return most;
}

Test(sym3, products_are_those_of_the_dense_matrix)
{
  loom_err err = {0};
  double x[3 * N], y[3 * N] = {0}, z[3 * N] = {0};
  example *const a = create_sym3_example(1, 7, 30.0, 1), *const b =
                                                             create_sym3_example(3, 11, 5.0, 2);
  sym3 A = build_example_sym3(a), B = build_example_sym3(b), S = {0};
  random_vector(x, 3);
  sym3_multiply_add(&A, x, y);
  cr_expect_lt(max_product_error(a, NULL, x, y), 1e-12);
  cr_expect_gt(max_product_error(b, NULL, x, y), 1e-3, "control");
  sym3_multiply_add(&B, x, y);
  cr_expect_lt(max_product_error(a, b, x, y), 1e-12);
  cr_assert_eq(sym3_sum(&err, &A, &B, &S), LOOM_OK);
  sym3_multiply_add(&S, x, z);
  cr_expect_lt(max_product_error(a, b, x, z), 1e-12);
  sym3_simplify(&B); /* it is no multiple of I */
  cr_expect_eq(B.block, 3);
  /* as blocks, the scalars are the same again */
  sym3 wide = {0}, back = {0};
  cr_assert_eq(sym3_take(&err, &back, N, 1, a->ptr, a->col, a->val), LOOM_OK);
  cr_assert_eq(sym3_sum(&err, &back, &back, &wide), LOOM_OK);
  cr_expect_eq(wide.block, 1);
  memset(z, 0, sizeof z);
  sym3_multiply_add(&wide, x, z);
  cr_expect_lt(max_product_error(a, a, x, z), 1e-12);
  sym3_free(&wide), sym3_free(&back);
  cr_expect(sym3_same_pattern(&A, &A));
  cr_expect_not(sym3_same_pattern(&A, &B));
  sym3_free(&A), sym3_free(&B), sym3_free(&S);
  free(a), free(b);
}

/* all entries of an example, in no order that means anything */
typedef struct list {
  int32_t row[BLOCKS], col[BLOCKS];
  uint8_t fixed[N];
  sym3_blocks view;
} list;

static list *create_block_list(const example *e)
{
  list *const l = calloc(1, sizeof *l);
  for (int i = 0; i < N; ++i)
    for (int64_t k = e->ptr[i]; k < e->ptr[i + 1]; ++k) l->row[k] = i, l->col[k] = e->col[k];
  l->view = (sym3_blocks){e->ptr[N], l->row, l->col, e->val, l->fixed};
  return l;
}

Test(sym3, conjugate_gradients_solve)
{
  double b[3 * N], x[3 * N], work[SYM3_WORK * N], energy = 0.0;
  example *const a = create_sym3_example(1, 7, 30.0, 4), *const c =
                                                             create_sym3_example(3, 11, 30.0, 5);
  list *const C = create_block_list(c);
  sym3 A = build_example_sym3(a);
  const sym3_system s = {.A = &A, .B = &C->view};
  sym3_solution sol;
  random_vector(b, 6);
  cr_assert_eq(sym3_solve(&s, b, x, work, 1e-12, 500, &sol), LOOM_OK);
  cr_expect(sol.converged && !sol.indefinite);
  cr_expect_lt(max_product_error(a, c, x, b), 1e-9);
  for (int i = 0; i < 3 * N; ++i) energy += b[i] * x[i];
  cr_expect_float_eq(sol.energy, energy, 1e-10 * energy);
  cr_assert_eq(sym3_solve(&s, b, x, work, 1e-12, 3, &sol), LOOM_OK);
  cr_expect(!sol.converged && sol.energy < energy, "three products are too few");
  sym3_free(&A);
  free(a), free(c), free(C);
}

Test(sym3, negative_curvature_is_told)
{
  double b[3 * N], x[3 * N], work[SYM3_WORK * N];
  example *const a = create_sym3_example(3, 7, 0.0, 7); /* eigenvalues on both sides of zero */
  sym3 A = build_example_sym3(a);
  const sym3_system s = {.A = &A};
  sym3_solution sol;
  random_vector(b, 8);
  cr_assert_eq(sym3_solve(&s, b, x, work, 1e-12, 500, &sol), LOOM_OK);
  cr_expect(sol.indefinite);
  sym3_free(&A);
  free(a);
}

/* Factors of both kinds, one after the other in one instance, and of other values. */
Test(sym3, module_factorises)
{
  loom_err err = {0};
  const loom_factor *m = NULL;
  void *self = NULL;
  char why[LOOM_FACTOR_WHY] = "";
  double b[3 * N], x[3 * N];
  cr_assert_eq(factor_module_open(&err, &m), LOOM_OK, "%s", err.text);
  if (m == NULL) {
    cr_skip_test("no module factors/cholmod.so was built");
  }
  cr_assert_eq(m->open(&self, why), LOOM_OK, "%s", why);
  for (int k = 0; k < 4; ++k) {
    example *const a = create_sym3_example(k % 2 ? 3 : 1, 7 + k, 30.0, 9 + (uint64_t)k);
    sym3 A = build_example_sym3(a);
    loom_factor_matrix v = sym3_view(&A);
    random_vector(b, 20);
    memcpy(x, b, sizeof x);
    cr_assert_eq(m->analyse(self, &v, why), LOOM_OK, "%s", why);
    cr_assert_eq(m->factorise(self, &v, why), LOOM_OK, "%s", why);
    cr_assert_eq(m->solve(self, x, why), LOOM_OK, "%s", why);
    cr_expect_lt(max_product_error(a, NULL, x, b), 1e-12);
    double square, energy = 0.0;
    for (int i = 0; i < 3 * N; ++i) energy += b[i] * x[i];
    cr_assert_eq(m->norm2(self, b, &square, why), LOOM_OK, "%s", why);
    cr_expect_float_eq(square, energy, 1e-13 * energy); /* half a solve gives the same number */
    for (int i = 0; i < N; ++i) A.diag[A.block * A.block * i] -= 60.0;
    cr_expect_eq(m->factorise(self, &v, why), LOOM_REJECTED, "it is indefinite");
    for (int i = 0; i < N; ++i) A.diag[A.block * A.block * i] += 60.0;
    cr_assert_eq(m->factorise(self, &v, why), LOOM_OK, "%s", why);
    memcpy(x, b, sizeof x);
    cr_assert_eq(m->solve(self, x, why), LOOM_OK, "%s", why);
    cr_expect_lt(max_product_error(a, NULL, x, b), 1e-12);
    sym3_free(&A);
    free(a);
  }
  m->close(self);
}

/* ---- a factor of A for the system of A + B ---- */
typedef struct exact {
  const loom_factor *m;
  void *self;
  int applied, halves;
} exact;

static loom_status exact_precondition(void *user, const double *r, double *z)
{
  exact *const e = user;
  char why[LOOM_FACTOR_WHY];
  memcpy(z, r, 3 * N * sizeof *z);
  ++e->applied;
  return e->m->solve(e->self, z, why);
}

static loom_status exact_norm2(void *user, const double *r, double *out)
{
  exact *const e = user;
  char why[LOOM_FACTOR_WHY];
  ++e->halves;
  return e->m->norm2(e->self, r, out, why);
}

/* The first product is known then, and so is its residual: the same iterations with less work. */
Test(sym3, factor_of_the_larger_part)
{
  loom_err err = {0};
  exact e = {0};
  char why[LOOM_FACTOR_WHY] = "";
  double b[3 * N], x[3 * N], work[SYM3_WORK * N];
  cr_assert_eq(factor_module_open(&err, &e.m), LOOM_OK, "%s", err.text);
  if (e.m == NULL) cr_skip_test("no module factors/cholmod.so was built");
  example *const a = create_sym3_example(1, 7, 300.0, 4), *const c =
                                                              create_sym3_example(3, 11, 30.0, 5);
  list *const B = create_block_list(c);
  sym3 A = build_example_sym3(a);
  const loom_factor_matrix v = sym3_view(&A);
  cr_assert_eq(e.m->open(&e.self, why), LOOM_OK, "%s", why);
  cr_assert_eq(e.m->analyse(e.self, &v, why), LOOM_OK, "%s", why);
  cr_assert_eq(e.m->factorise(e.self, &v, why), LOOM_OK, "%s", why);
  random_vector(b, 6);
  for (int k = 0; k < 2; ++k) {
    const double tol = k == 0 ? 1e-12 : 0.1;
    sym3_solution plain, known;
    sym3_system s = {.A = &A, .B = &B->view, .precondition = exact_precondition, .user = &e};
    cr_assert_eq(sym3_solve(&s, b, x, work, tol, 500, &plain), LOOM_OK);
    s.norm2 = exact_norm2;
    s.by_A = 1;
    e.applied = e.halves = 0;
    cr_assert_eq(sym3_solve(&s, b, x, work, tol, 500, &known), LOOM_OK);
    cr_expect(plain.converged && known.converged && plain.iters == known.iters, "%d: %d, %d", k,
              (int)plain.iters, (int)known.iters);
    cr_expect_float_eq(known.energy, plain.energy, 1e-12 * plain.energy);
    cr_expect_eq(e.halves, 1);
    if (k == 0) cr_expect_lt(max_product_error(a, c, x, b), 1e-9);
    if (k == 1) cr_expect(known.iters == 1 && e.applied == 1, "a half tells that it was enough");
  }
  e.m->close(e.self);
  sym3_free(&A);
  free(a), free(c), free(B);
}
