/* The multifrontal factorisation against dense elimination, on random patterns of all kinds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "mf.h"
#include "support/test_host.h"

enum { MOST = 150 };

typedef struct sys { /* a matrix of n x n blocks, dense and for mf */
  int n, m;
  double A[3 * MOST][3 * MOST];
  int linked[MOST][MOST];
} sys;

static uint64_t seed;

static int chance(double p) { return 0.5 * (th_random(&seed) + 1.0) < p; }

/* Blocks that need not be symmetric in themselves; a diagonal that outweighs them. */
static void link_up(sys *s, int i, int j)
{
  if (i == j || s->linked[i][j]) return;
  s->linked[i][j] = s->linked[j][i] = 1;
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      const double v = th_random(&seed);
      s->A[3 * i + c][3 * j + d] = s->A[3 * j + d][3 * i + c] = v;
      s->A[3 * i + c][3 * i + c] += fabs(v);
      s->A[3 * j + d][3 * j + d] += fabs(v);
    }
}

enum { EMPTY, BAND, STAR, MESH, SCATTER, FULL, FOREST, SHAPES };

static sys *make(int shape, int n)
{
  sys *const s = calloc(1, sizeof *s);
  cr_assert(s != NULL);
  s->n = n;
  s->m = 3 * n;
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) {
      s->A[3 * i + c][3 * i + c] = 1.0;
      for (int d = 0; d < c; ++d)
        s->A[3 * i + c][3 * i + d] = s->A[3 * i + d][3 * i + c] = 0.2 * th_random(&seed);
    }
  for (int i = 0; i < n; ++i) {
    if (shape == STAR) link_up(s, i, n / 3);
    for (int j = 0; j < i; ++j) {
      const int dx = abs(i % 10 - j % 10), dy = i / 10 - j / 10;
      if ((shape == BAND && i - j < 4) || (shape == MESH && dx + dy <= 2) || shape == FULL ||
          (shape == SCATTER && chance(0.03)) ||
          (shape == FOREST && i / 12 == j / 12 && chance(0.3)))
        link_up(s, i, j);
    }
  }
  return s;
}

static void to_mf(const sys *s, mf *f)
{
  int64_t num = 0;
  cr_assert_eq(mf_reserve(f, (int64_t)s->n * s->n / 2), LOOM_OK);
  for (int i = 0; i < s->n; ++i) {
    f->ptr[i] = num;
    for (int j = 0; j < i; ++j)
      if (s->linked[i][j]) f->col[num++] = j;
  }
  f->ptr[s->n] = num;
}

static void block(const sys *s, int i, int j, double *b)
{
  for (int c = 0; c < 9; ++c) b[c] = s->A[3 * i + c / 3][3 * j + c % 3];
}

static loom_status factor(const sys *s, mf *f, int32_t *pivot)
{
  double b[9];
  mf_clear(f);
  for (int i = 0; i < s->n; ++i) {
    for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k) {
      block(s, i, f->col[k], b);
      mf_put(f, k, b);
    }
    block(s, i, i, b);
    mf_put(f, f->ptr[s->n] + i, b);
  }
  return mf_factor(f, pivot);
}

/* |A x - b| for x by the factor.  The matrix is diagonally dominant, so 1e-12 is a thousand times
 * the rounding to be expected. */
static void solves(const sys *s, mf *f, const char *what)
{
  double *const x = calloc((size_t)s->m, sizeof *x), *const b = calloc((size_t)s->m, sizeof *b);
  for (int i = 0; i < s->m; ++i) x[i] = b[i] = th_random(&seed);
  mf_solve(f, x);
  for (int i = 0; i < s->m; ++i) {
    double r = -b[i];
    for (int j = 0; j < s->m; ++j) r += s->A[i][j] * x[j];
    cr_assert(fabs(r) < 1e-12, "%s, row %d: residual %g", what, i, r);
  }
  free(x);
  free(b);
}

/* The columns of the nodes cover all vertices once, parents come later, rows ascend and those
 * of a node are among its parent's. */
static void sound_tree(const mf *f)
{
  int32_t next = 0;
  for (int32_t s = 0; s < f->num_nodes; ++s) {
    const mf_node *const p = &f->node[s];
    cr_assert_eq(p->first, next);
    cr_assert(p->cols > 0 && p->rows >= p->cols);
    cr_assert((p->parent < 0) == (p->rows == p->cols));
    next += p->cols;
    for (int32_t k = 1; k < p->rows; ++k) cr_assert_lt(f->row[p->row + k - 1], f->row[p->row + k]);
    if (p->parent < 0) continue;
    cr_assert_gt(p->parent, s);
    const mf_node *const q = &f->node[p->parent];
    for (int32_t k = p->cols; k < p->rows; ++k) {
      int found = 0;
      for (int32_t i = 0; i < q->rows; ++i) found |= f->row[q->row + i] == f->row[p->row + k];
      cr_assert(found, "row %d of node %d is not in its parent", f->row[p->row + k], s);
    }
  }
  cr_assert_eq(next, f->n);
}

Test(mf, all_shapes_and_orderings)
{
  static const int sizes[] = {1, 2, 3, 17, 60, MOST};
  test_host t;
  int32_t pivot;
  th_open(&t, 1, 0);
  for (int shape = 0; shape < SHAPES; ++shape)
    for (int k = 0; k < 6; ++k)
      for (int ordering = MF_AMD; ordering <= MF_METIS; ++ordering) {
        char what[64];
        mf f;
        sys *const s = make(shape, sizes[k]);
        snprintf(what, sizeof what, "shape %d, %d vertices, ordering %d", shape, s->n, ordering);
        cr_assert_eq(mf_open(&f, &t.host, s->n), LOOM_OK);
        to_mf(s, &f);
        cr_assert_eq(mf_order(&f, ordering), LOOM_OK, "%s: %s", what, t.err.text);
        cr_assert_eq(mf_analyse(&f), LOOM_OK);
        sound_tree(&f);
        cr_assert_eq(factor(s, &f, &pivot), LOOM_OK, "%s: vertex %d", what, pivot);
        cr_assert_eq(pivot, -1);
        solves(s, &f, what);
        mf_close(&f);
        free(s);
      }
  th_close(&t);
}

/* Contact comes and goes: more links, then fewer, under the order of the first pattern. */
Test(mf, another_pattern_in_the_same_order)
{
  test_host t;
  mf f;
  int32_t pivot;
  th_open(&t, 1, 0);
  sys *const s = make(MESH, MOST), *const alone = make(MESH, MOST);
  cr_assert_eq(mf_open(&f, &t.host, MOST), LOOM_OK);
  to_mf(s, &f);
  cr_assert_eq(mf_order(&f, MF_METIS), LOOM_OK);
  cr_assert_eq(mf_analyse(&f), LOOM_OK);
  const double flops = f.flops;
  for (int round = 0; round < 4; ++round) {
    for (int k = 0; k < 15; ++k) link_up(s, 7 * k % MOST, (11 * k + 5 + 20 * round) % MOST);
    to_mf(s, &f);
    cr_assert_eq(mf_analyse(&f), LOOM_OK);
    sound_tree(&f);
    cr_assert_gt(f.flops, flops);
    cr_assert_eq(factor(s, &f, &pivot), LOOM_OK);
    solves(s, &f, "more links");
  }
  to_mf(alone, &f);
  cr_assert_eq(mf_analyse(&f), LOOM_OK);
  cr_assert_eq(f.flops, flops);
  cr_assert_eq(factor(alone, &f, &pivot), LOOM_OK);
  solves(alone, &f, "the first pattern again");
  mf_close(&f);
  free(s);
  free(alone);
  th_close(&t);
}

/* The pivot that is named is that of a vertex whose leading matrix is not definite: making that
 * diagonal entry negative is seen at this vertex when nothing else is wrong before it. */
Test(mf, indefinite_matrices_are_rejected)
{
  test_host t;
  mf f;
  int32_t pivot;
  th_open(&t, 1, 0);
  for (int v = 0; v < 60; v += 7) {
    sys *const s = make(BAND, 60);
    s->A[3 * v + 1][3 * v + 1] *= -1.0;
    cr_assert_eq(mf_open(&f, &t.host, 60), LOOM_OK);
    to_mf(s, &f);
    cr_assert_eq(mf_order(&f, MF_AMD), LOOM_OK);
    cr_assert_eq(mf_analyse(&f), LOOM_OK);
    cr_expect_eq(factor(s, &f, &pivot), LOOM_REJECTED);
    cr_expect_eq(pivot, v);
    s->A[3 * v + 1][3 * v + 1] *= -1.0; /* a rejected factor does not spoil the next */
    cr_assert_eq(factor(s, &f, &pivot), LOOM_OK);
    solves(s, &f, "after a rejection");
    mf_close(&f);
    free(s);
  }
  th_close(&t);
}

Test(mf, nan_is_rejected)
{
  test_host t;
  mf f;
  int32_t pivot;
  th_open(&t, 1, 0);
  sys *const s = make(MESH, 40);
  s->A[60][60] = NAN;
  cr_assert_eq(mf_open(&f, &t.host, 40), LOOM_OK);
  to_mf(s, &f);
  cr_assert_eq(mf_order(&f, MF_AMD), LOOM_OK);
  cr_assert_eq(mf_analyse(&f), LOOM_OK);
  cr_expect_eq(factor(s, &f, &pivot), LOOM_REJECTED);
  mf_close(&f);
  free(s);
  th_close(&t);
}

/* C -= A B' against three loops, for sizes around those of tiles and panels. */
Test(mf, dense_products)
{
  static const size_t sizes[] = {1, 2, 7, 8, 23, 24, 25, 49, 97, 200};
  enum { N = 200, LD = 203 };
  double *const A = malloc(sizeof(double) * LD * N), *const C = malloc(sizeof(double) * LD * N);
  double *const D = malloc(sizeof(double) * LD * N);
  double *const work = malloc(sizeof(double) * dense_work(N));
  for (int i = 0; i < LD * N; ++i) A[i] = th_random(&seed);
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < 10; ++b)
      for (int lower = 0; lower < 2; ++lower) {
        const size_t m = sizes[a], n = lower ? m : sizes[b], k = sizes[b];
        for (int i = 0; i < LD * N; ++i) C[i] = D[i] = th_random(&seed);
        const dense_update u = {A + 1, lower ? A + 1 : A + 2, C, LD, LD, m, n, k, lower};
        dense_subtract(&u, work);
        for (size_t j = 0; j < n; ++j)
          for (size_t i = lower ? j : 0; i < m; ++i) {
            double v = D[i + LD * j];
            for (size_t p = 0; p < k; ++p) v -= u.A[i + LD * p] * u.B[j + LD * p];
            cr_assert_float_eq(C[i + LD * j], v, 1e-12, "%zu x %zu x %zu", m, n, k);
          }
        for (size_t j = n; j < N; ++j) /* nothing beside the matrix is touched */
          for (size_t i = 0; i < LD; ++i) cr_assert_eq(C[i + LD * j], D[i + LD * j]);
      }
  free(A), free(C), free(D), free(work);
}
