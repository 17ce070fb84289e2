/* Smallest eigenpairs of the modes of ndb_pd: against exact and dense ones, free components with
 * equal eigenvalues, and the treatment of files of another system. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eigen.h"
#include "support/test_host.h"

extern void dsyev_(const char *job, const char *half, const int *n, double *a, const int *lda,
                   double *w, double *work, const int *lwork, int *info);

static const double PI = 3.14159265358979323846;

typedef struct grid {
  int64_t ptr[4001];
  int32_t col[20000];
  double val[20000], weight[4000];
} grid;

static int is_grid_neighbour(int32_t i, int32_t j, int32_t side)
{
  const int32_t cell = side * side;
  if (i / cell != j / cell) return 0; /* of two sheets */
  const int32_t dx = abs(i % side - j % side), dy = abs(i / side - j / side);
  return dx + dy == 1;
}

/* `sheets` separate grids of side^2 vertices: 5-point Laplacian with zero boundary, plus `mass` */
static eig_system build_grid_laplacian(grid *g, int32_t side, int32_t sheets, double mass)
{
  const int32_t n = sheets * side * side;
  int64_t m = 0;
  for (int32_t i = 0; i < n; ++i) {
    const int32_t at[5] = {i - side, i - 1, i, i + 1, i + side};
    g->ptr[i] = m;
    for (int k = 0; k < 5; ++k) {
      if (at[k] < 0 || at[k] >= n || (at[k] != i && !is_grid_neighbour(i, at[k], side))) continue;
      g->col[m] = at[k];
      g->val[m++] = at[k] == i ? 4.0 + mass : -1.0;
    }
    g->weight[i] = 1.0 + 0.5 * sin(0.37 * i);
  }
  g->ptr[n] = m;
  return (eig_system){n, g->ptr, g->col, g->val, NULL};
}

static int compare_eigenvalues(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double worst_dot(const eig_system *s, const eig_pairs *p)
{
  double worst = 0.0;
  for (int32_t a = 0; a < p->count; ++a)
    for (int32_t b = 0; b <= a; ++b) {
      double sum = a == b ? -1.0 : 0.0;
      for (int32_t i = 0; i < s->n; ++i)
        sum += (s->weight != NULL ? s->weight[i] : 1.0) * p->vec[(size_t)a * (size_t)s->n + i] *
               p->vec[(size_t)b * (size_t)s->n + i];
      worst = fmax(worst, fabs(sum));
    }
  return worst;
}

Test(eigen, exact_eigenvalues_of_a_grid)
{
  enum { SIDE = 40, K = 30 };
  static grid g;
  static double exact[SIDE * SIDE];
  const eig_system s = build_grid_laplacian(&g, SIDE, 1, 0.0);
  const eig_request r = {.count = K, .restarts = 300, .tolerance = 1e-10};
  test_host t;
  eig_pairs p;
  th_open(&t, 1, 0);
  cr_assert_eq(eig_smallest(&t.host, &s, &r, &p), LOOM_OK, "%s", t.err.text);
  cr_assert(p.converged && p.count == K && p.source == EIG_COMPUTED && p.solves > K);
  for (int a = 0; a < SIDE; ++a)
    for (int b = 0; b < SIDE; ++b)
      exact[SIDE * a + b] =
          4.0 - 2.0 * cos(PI * (a + 1) / (SIDE + 1)) - 2.0 * cos(PI * (b + 1) / (SIDE + 1));
  qsort(exact, SIDE * SIDE, sizeof *exact, compare_eigenvalues);
  /* double eigenvalues (a, b), (b, a) among them */
  for (int k = 0; k < K; ++k)
    cr_expect_float_eq(p.mu[k], exact[k], 1e-9 * exact[k], "%d: %.15g %.15g", k, p.mu[k], exact[k]);
  cr_expect_lt(p.residual, 1e-9);
  cr_expect_lt(worst_dot(&s, &p), 1e-9);
  eig_free(&p);
  th_close(&t);
}

Test(eigen, generalised_against_dense)
{
  enum { SIDE = 25, N = SIDE * SIDE, K = 40 };
  static grid g;
  static double a[N * N], w[N], work[64 * N];
  eig_system s = build_grid_laplacian(&g, SIDE, 1, 0.01);
  s.weight = g.weight;
  for (int i = 0; i < N; ++i)
    for (int64_t k = s.ptr[i]; k < s.ptr[i + 1]; ++k)
      a[N * i + s.col[k]] = s.val[k] / sqrt(s.weight[i] * s.weight[s.col[k]]);
  const int n = N, len = 64 * N;
  int info;
  dsyev_("N", "L", &n, a, &n, w, work, &len, &info);
  cr_assert_eq(info, 0);
  const eig_request r = {.count = K, .restarts = 300, .tolerance = 1e-10};
  test_host t;
  eig_pairs p, q;
  th_open(&t, 1, 0);
  cr_assert_eq(eig_smallest(&t.host, &s, &r, &p), LOOM_OK, "%s", t.err.text);
  cr_assert(p.converged && p.source == EIG_COMPUTED);
  for (int k = 0; k < K; ++k)
    cr_expect_float_eq(p.mu[k], w[k], 1e-9 * w[k], "%d: %.15g %.15g", k, p.mu[k], w[k]);
  cr_expect_lt(worst_dot(&s, &p), 1e-9);
  /* the same again: to the bit */
  cr_assert_eq(eig_smallest(&t.host, &s, &r, &q), LOOM_OK);
  cr_expect_eq(memcmp(p.vec, q.vec, sizeof(double) * K * N), 0);
  eig_free(&q);
  eig_free(&p);
  th_close(&t);
}

/* Two equal sheets, both free: every eigenvalue comes twice, the rigid ones too. */
Test(eigen, free_components_have_their_own_modes)
{
  enum { SIDE = 20, K = 24 };
  static grid g;
  const eig_system s = build_grid_laplacian(&g, SIDE, 2, 1e-3);
  const eig_request r = {.count = K, .restarts = 300, .tolerance = 1e-12};
  test_host t;
  eig_pairs p;
  for (int32_t i = 0; i < s.n; ++i) /* no boundary: rows sum to the mass */
    for (int64_t k = s.ptr[i]; k < s.ptr[i + 1]; ++k)
      if (s.col[k] == i) g.val[k] = (double)(s.ptr[i + 1] - s.ptr[i] - 1) + 1e-3;
  th_open(&t, 1, 0);
  cr_assert_eq(eig_smallest(&t.host, &s, &r, &p), LOOM_OK, "%s", t.err.text);
  cr_assert(p.converged && p.source == EIG_COMPUTED, "%d of %d", p.count, K);
  cr_expect_float_eq(p.mu[0], 1e-3, 1e-10);
  for (int k = 0; k < K; k += 2)
    cr_expect_float_eq(p.mu[k], p.mu[k + 1], 1e-9 * p.mu[k], "%d: %.12g %.12g", k, p.mu[k],
                       p.mu[k + 1]);
  cr_expect_lt(worst_dot(&s, &p), 1e-8);
  eig_free(&p);
  th_close(&t);
}

Test(eigen, small_systems_and_a_solver_that_gives_up)
{
  static grid g;
  eig_system s = build_grid_laplacian(&g, 5, 1, 0.0);
  const eig_request few = {.count = 24, .restarts = 300, .tolerance = 1e-10};
  test_host t;
  eig_pairs p;
  th_open(&t, 1, 0);
  cr_assert_eq(eig_smallest(&t.host, &s, &few, &p), LOOM_OK, "%s", t.err.text);
  cr_expect(p.source == EIG_DENSE && p.converged && p.count == 24);
  cr_expect_lt(p.residual, 1e-13);
  eig_free(&p);
  /* one restart is not enough for 60 pairs to rounding: fewer come back, all of them right */
  s = build_grid_laplacian(&g, 50, 1, 0.0);
  const eig_request hard = {.count = 60, .restarts = 1, .tolerance = 0.0};
  cr_assert_eq(eig_smallest(&t.host, &s, &hard, &p), LOOM_OK, "%s", t.err.text);
  cr_expect(!p.converged && p.count < 60, "%d", p.count);
  if (p.count > 0) cr_expect_lt(eig_residual(&s, &p), 1e-7);
  eig_free(&p);
  th_close(&t);
}

static void corrupt_file_byte(const char *path, long at)
{
  FILE *f = fopen(path, "r+b");
  cr_assert(f != NULL);
  cr_assert_eq(fseek(f, at, SEEK_SET), 0);
  fputc(0x5a, f);
  fclose(f);
}

Test(eigen, cache_is_read_and_a_wrong_file_is_replaced)
{
  static grid g;
  char folder[] = "/tmp/loom-eigen-XXXXXX", sub[64];
  cr_assert(mkdtemp(folder) != NULL);
  snprintf(sub, sizeof sub, "%s/a/b", folder);
  eig_system s = build_grid_laplacian(&g, 30, 1, 0.0);
  const eig_request r = {.count = 10, .restarts = 300, .tolerance = 1e-10, .cache = sub};
  test_host t;
  eig_pairs p, q;
  th_open(&t, 1, 0);
  cr_assert_eq(eig_smallest(&t.host, &s, &r, &p), LOOM_OK, "%s", t.err.text);
  cr_expect(p.source == EIG_COMPUTED && !p.stale && !p.unsaved);
  cr_assert_eq(eig_smallest(&t.host, &s, &r, &q), LOOM_OK);
  cr_expect_eq(q.source, EIG_READ);
  cr_expect_eq(memcmp(p.vec, q.vec, sizeof(double) * 10 * 900), 0);
  eig_free(&q);
  char *path = eig_cache_path(&s, &r);
  static const long places[] = {0, 9, 17, 60, 5000}; /* magic, hashes, an eigenvalue, a vector */
  for (int k = 0; k < 5; ++k) {
    corrupt_file_byte(path, places[k]);
    cr_assert_eq(eig_smallest(&t.host, &s, &r, &q), LOOM_OK);
    cr_expect(q.source == EIG_COMPUTED && q.stale, "byte %ld", places[k]);
    cr_expect_eq(memcmp(p.vec, q.vec, sizeof(double) * 10 * 900), 0);
    eig_free(&q);
  }
  /* another system has another file; its contents under this name are refused */
  g.val[0] += 1e-9;
  char *other = eig_cache_path(&s, &r);
  cr_expect_neq(strcmp(path, other), 0);
  cr_assert_eq(rename(path, other), 0);
  cr_assert_eq(eig_smallest(&t.host, &s, &r, &q), LOOM_OK);
  cr_expect(q.source == EIG_COMPUTED && q.stale);
  eig_free(&q);
  remove(other);
  const eig_request nowhere = {
      .count = 10, .restarts = 300, .tolerance = 1e-10, .cache = "/proc/none"};
  cr_assert_eq(eig_smallest(&t.host, &s, &nowhere, &q), LOOM_OK);
  cr_expect(q.unsaved && q.converged);
  eig_free(&q);
  free(path);
  free(other);
  rmdir(sub);
  snprintf(sub, sizeof sub, "%s/a", folder);
  rmdir(sub);
  cr_expect_eq(rmdir(folder), 0);
  eig_free(&p);
  th_close(&t);
}
