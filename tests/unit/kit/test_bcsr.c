/* test_bcsr.c - kit/bcsr: assembly of several kinds of elements against plain sums into a dense
 * matrix, which add in the same order, so the bits are the same; systems that come of it, solved by
 * kit/krylov; impacts as one linear system. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/bcsr_steady.h"
#include "kit/krylov_bsr3.h"
#include "support/test_host.h"

enum { N = 1200, TRIANGLES = 900, PAIRS = 700, LISTS = 60, LONGEST = 45, KINDS = 3 };

typedef struct elements { /* on the host */
  int64_t count;
  int arity;    /* 0: by ptr */
  int64_t *ptr; /* [count+1] */
  int32_t *node;
  int64_t corners, blocks;
  loom_real *K; /* [blocks][b][b] */
} elements;

static int32_t draw_index(uint64_t *seed, int n)
{
  return (int32_t)floor((th_random(seed) + 1.0) / 2.0 * n);
}

/* Triangles, pairs with corners that are none, lists of any length; every K of an element is u u' +
 * I/10 for random u, so that sums are positive definite. */
static void create_elements(elements *s, int kind, int b, uint64_t seed)
{
  static const int counts[] = {TRIANGLES, PAIRS, LISTS}, arities[] = {3, 4, 0};
  *s = (elements){.count = counts[kind], .arity = arities[kind]};
  s->ptr = calloc((size_t)s->count + 1, sizeof *s->ptr);
  for (int64_t e = 0; e < s->count; ++e) {
    const int64_t a = s->arity > 0 ? s->arity : draw_index(&seed, LONGEST); /* also none */
    s->ptr[e + 1] = s->ptr[e] + a;
    s->blocks += a * a;
  }
  s->corners = s->ptr[s->count];
  s->node = calloc((size_t)s->corners + 1, sizeof *s->node);
  s->K = calloc((size_t)(s->blocks * b * b) + 1, sizeof *s->K);
  for (int64_t c = 0; c < s->corners; ++c) s->node[c] = draw_index(&seed, kind == 0 ? N : N / 20);
  for (int64_t c = 0; c < s->corners && kind == 1; c += 7) s->node[c] = -1;
  loom_real *K = s->K;
  for (int64_t e = 0; e < s->count; ++e) {
    const int a = (int)(s->ptr[e + 1] - s->ptr[e]) * b;
    double u[3 * LONGEST];
    for (int p = 0; p < a; ++p) u[p] = th_random(&seed);
    for (int p = 0; p < a; ++p)
      for (int q = 0; q < a; ++q)
        K[((p / b) * (a / b) + q / b) * b * b + (p % b) * b + q % b] =
            (loom_real)(u[p] * u[q] + (p == q ? 0.1 : 0.0));
    K += a * a;
  }
}

static void free_elements(elements *s)
{
  free(s->ptr);
  free(s->node);
  free(s->K);
}

static void add_dense_elements(const elements *s, int b, loom_real *dense)
{
  const loom_real *K = s->K;
  for (int64_t e = 0; e < s->count; ++e)
    for (int64_t c = s->ptr[e]; c < s->ptr[e + 1]; ++c)
      for (int64_t d = s->ptr[e]; d < s->ptr[e + 1]; ++d, K += b * b)
        for (int k = 0; k < b * b && s->node[c] >= 0 && s->node[d] >= 0; ++k)
          dense[((int64_t)s->node[c] * N + s->node[d]) * b * b + k] += K[k];
}

static bcsr_kind create_bcsr_kind(test_host *t, const elements *s, int b)
{
  return (bcsr_kind){.count = s->count,
                     .arity = s->arity,
                     .ptr = s->arity > 0 ? NULL : th_buf(t, LOOM_I64, s->count + 1, s->ptr),
                     .node = th_buf(t, LOOM_I32, s->corners, s->node),
                     .K = th_buf(t, LOOM_REAL, s->blocks * b * b, s->K)};
}

/* The pattern is that of all couplings and the diagonal, and values have the bits of the plain sum.
 */
static void compare_bcsr_dense(test_host *t, const bcsr *A, int b, const loom_real *dense)
{
  int64_t *const row = th_get(t, A->row), known = 0;
  int32_t *const col = th_get(t, A->col);
  loom_real *const val = th_get(t, A->val);
  for (int64_t k = 0; k < (int64_t)N * N * b * b; k += b * b) {
    int there = k / (b * b) / N == k / (b * b) % N;
    for (int s = 0; s < b * b; ++s) there |= dense[k + s] != 0;
    known += there;
  }
  cr_expect_eq(A->nnz, known, "%lld blocks, not %lld", (long long)A->nnz, (long long)known);
  cr_assert_eq(row[N], A->nnz);
  for (int64_t i = 0; i < N; ++i)
    for (int64_t k = row[i]; k < row[i + 1]; ++k) {
      cr_assert(k == row[i] || col[k] > col[k - 1], "row %lld is not ascending", (long long)i);
      cr_assert_eq(
          memcmp(val + k * b * b, dense + (i * N + col[k]) * b * b, (size_t)(b * b) * sizeof *val),
          0, "block %lld, %d", (long long)i, col[k]);
    }
  free(row), free(col), free(val);
}

static void assemble_on(int backend, int b, int threads)
{
  test_host t;
  bcsr A;
  elements s[KINDS];
  bcsr_kind kinds[KINDS];
  const size_t bytes = (size_t)N * N * (size_t)(b * b) * sizeof(loom_real);
  loom_real *const dense = malloc(bytes);
  th_open_on(&t, backend, threads, 1);
  cr_assert_eq(bcsr_new(&A, &t.host, &t.exec, b), LOOM_OK);
  for (int k = 0; k < KINDS; ++k) {
    create_elements(&s[k], k, b, 1 + (uint64_t)k);
    kinds[k] = create_bcsr_kind(&t, &s[k], b);
    cr_assert_eq(bcsr_index(&A, N, &kinds[k]), LOOM_OK, "%s", t.err.text);
  }
  for (int num = KINDS; num >= 0;
       --num) { /* fewer kinds, another pattern, in the end the diagonal */
    memset(dense, 0, bytes);
    cr_assert_eq(bcsr_pattern(&A, kinds, num), LOOM_OK, "%s", t.err.text);
    for (int twice = 0; twice < 2; ++twice) /* the same pattern again */
      cr_assert_eq(bcsr_values(&A, kinds, num), LOOM_OK, "%s", t.err.text);
    for (int k = 0; k < num; ++k) add_dense_elements(&s[k], b, dense);
    compare_bcsr_dense(&t, &A, b, dense);
    cr_expect_eq(A.pattern_id, KINDS - num + 1);
  }
  for (int k = 0; k < KINDS; ++k) free_elements(&s[k]);
  free(dense);
  th_close(&t);
}

/* K as one matrix of each element, in a buffer. */
static loom_buf *dense_of(test_host *t, const elements *s)
{
  const int64_t side = 3 * s->arity;
  loom_real *const out = calloc((size_t)(s->count * side * side), sizeof *out);
  for (int64_t e = 0; e < s->count; ++e)
    for (int64_t p = 0; p < side; ++p)
      for (int64_t q = 0; q < side; ++q)
        out[(e * side + p) * side + q] =
            s->K[9 * ((e * s->arity + p / 3) * s->arity + q / 3) + 3 * (p % 3) + q % 3];
  loom_buf *const b = th_buf(t, LOOM_REAL, s->count * side * side, out);
  free(out);
  return b;
}

/* += elements of part p, K of which is copied to a buffer of its own. */
static void add_part(test_host *t, bcsr *A, const bcsr_steady *s, const loom_real *K, int64_t p)
{
  const int64_t each = 9 * (int64_t)s->arity * s->arity, num = bcsr_steady_count(s, p) * each;
  loom_buf *const part = th_buf(t, LOOM_REAL, num, K + p * s->part * each);
  cr_assert_eq(bcsr_steady_add(A, s, part, p), LOOM_OK, "%s", t->err.text);
}

/* Triangles and pairs that never change, in parts of `part` elements, and lists that come and go.
 */
static void steady_on(int backend, int threads, int64_t part)
{
  test_host t;
  bcsr A;
  elements s[KINDS];
  bcsr_kind kinds[KINDS];
  bcsr_steady steady[2];
  loom_real *K[2];
  const size_t bytes = (size_t)N * N * 9 * sizeof(loom_real);
  loom_real *const dense = malloc(bytes);
  th_open_on(&t, backend, threads, 1);
  cr_assert_eq(bcsr_new(&A, &t.host, &t.exec, 3), LOOM_OK);
  for (int k = 0; k < KINDS; ++k) {
    create_elements(&s[k], k, 3, 1 + (uint64_t)k);
    kinds[k] = create_bcsr_kind(&t, &s[k], 3);
    if (k == 2) continue;
    kinds[k].dense = 1;
    kinds[k].K = dense_of(&t, &s[k]);
    K[k] = th_get(&t, kinds[k].K);
  }
  cr_assert_eq(bcsr_base(&A, N, kinds, 2), LOOM_OK, "%s", t.err.text);
  for (int k = 0; k < 2; ++k)
    cr_assert_eq(bcsr_steady_new(&steady[k], &A, &kinds[k], part), LOOM_OK, "%s", t.err.text);
  cr_assert_eq(bcsr_index(&A, N, &kinds[2]), LOOM_OK, "%s", t.err.text);
  for (int lists = 1; lists >= 0; --lists) {
    memset(dense, 0, bytes);
    for (int k = 0; k < 2 + lists; ++k) add_dense_elements(&s[k], 3, dense);
    cr_assert_eq(bcsr_pattern(&A, &kinds[2], lists), LOOM_OK, "%s", t.err.text);
    cr_assert_eq(bcsr_clear(&A), LOOM_OK);
    for (int k = 0; k < 2; ++k)
      for (int64_t p = 0; p < steady[k].parts; ++p) add_part(&t, &A, &steady[k], K[k], p);
    if (lists) cr_assert_eq(bcsr_add_kind(&A, &kinds[2]), LOOM_OK);
    compare_bcsr_dense(&t, &A, 3, dense);
    /* and in a loop over elements */
    cr_assert_eq(bcsr_clear(&A), LOOM_OK);
    for (int k = 0; k < 2 && backend == LOOM_CPU; ++k)
      cr_assert_eq(bcsr_serial_part(&A, &kinds[k], 0, kinds[k].count), LOOM_OK, "%s", t.err.text);
    if (lists) cr_assert_eq(bcsr_add_kind(&A, &kinds[2]), LOOM_OK);
    if (backend == LOOM_CPU) compare_bcsr_dense(&t, &A, 3, dense);
  }
  for (int k = 0; k < 2; ++k) bcsr_steady_free(&steady[k]), free(K[k]);
  for (int k = 0; k < KINDS; ++k) free_elements(&s[k]);
  free(dense);
  th_close(&t);
}

Test(bcsr, steady_elements)
{
  steady_on(LOOM_CPU, 1, 64);
  steady_on(LOOM_CPU, 3, 50);
  steady_on(LOOM_CPU, 2, 5000);
}

Test(bcsr, blocks) { assemble_on(LOOM_CPU, 3, 1); }
Test(bcsr, numbers) { assemble_on(LOOM_CPU, 1, 1); }
Test(bcsr, blocks_by_threads) { assemble_on(LOOM_CPU, 3, 3); }

Test(bcsr, blocks_on_a_device)
{
  char why[256];
  if (exec_cuda_devices(why, sizeof why) == 0) cr_skip_test("no CUDA device: %s", why);
  assemble_on(LOOM_CUDA, 3, 1);
  steady_on(LOOM_CUDA, 1, 100);
}

/* ---- other forms of the same elements ----
 */

/* K of elements of `arity` as one dense matrix each. */
static void make_dense(const elements *s, int b, loom_real *out)
{
  const int a = s->arity;
  for (int64_t e = 0; e < s->count; ++e)
    for (int p = 0; p < a * b; ++p)
      for (int q = 0; q < a * b; ++q)
        out[(e * a * b + p) * a * b + q] =
            s->K[((e * a + p / b) * a + q / b) * b * b + (p % b) * b + q % b];
}

/* Every block for itself: rows and columns. */
static void make_single(const elements *s, int32_t *row, int32_t *col)
{
  int64_t k = 0;
  for (int64_t e = 0; e < s->count; ++e)
    for (int64_t c = s->ptr[e]; c < s->ptr[e + 1]; ++c)
      for (int64_t d = s->ptr[e]; d < s->ptr[e + 1]; ++d, ++k) {
        row[k] = s->node[c];
        col[k] = s->node[d];
      }
}

/* Dense element matrices, and blocks that name their row and column, give the bits of the plain
 * sum; the diagonal is where A says. */
Test(bcsr, dense_and_single)
{
  enum { B = 3 };
  elements s[2];
  test_host t;
  bcsr A;
  th_open(&t, 2, 1);
  cr_assert_eq(bcsr_new(&A, &t.host, &t.exec, B), LOOM_OK);
  for (int k = 0; k < 2; ++k) create_elements(&s[k], k, B, 1 + (uint64_t)k);
  loom_real *const plain = calloc((size_t)N * N * B * B, sizeof *plain);
  loom_real *const matrices = calloc((size_t)s[0].blocks * B * B, sizeof *matrices);
  int32_t *const row = calloc((size_t)s[1].blocks, sizeof *row);
  int32_t *const col = calloc((size_t)s[1].blocks, sizeof *col);
  make_dense(&s[0], B, matrices);
  make_single(&s[1], row, col);
  for (int k = 0; k < 2; ++k) add_dense_elements(&s[k], B, plain);
  bcsr_kind kinds[] = {{.count = s[0].count,
                        .arity = 3,
                        .node = th_buf(&t, LOOM_I32, s[0].corners, s[0].node),
                        .K = th_buf(&t, LOOM_REAL, s[0].blocks * B * B, matrices),
                        .dense = 1},
                       {.count = s[1].blocks,
                        .arity = 1,
                        .node = th_buf(&t, LOOM_I32, s[1].blocks, row),
                        .to = th_buf(&t, LOOM_I32, s[1].blocks, col),
                        .K = th_buf(&t, LOOM_REAL, s[1].blocks * B * B, s[1].K)}};
  for (int k = 0; k < 2; ++k) cr_assert_eq(bcsr_index(&A, N, &kinds[k]), LOOM_OK);
  cr_assert_eq(bcsr_pattern(&A, kinds, 2), LOOM_OK);
  cr_assert_eq(bcsr_values(&A, kinds, 2), LOOM_OK, "%s", t.err.text);
  compare_bcsr_dense(&t, &A, B, plain);
  int64_t *const diag = th_get(&t, A.diag);
  int32_t *const cols = th_get(&t, A.col);
  for (int i = 0; i < N; ++i) cr_expect_eq(cols[diag[i]], i, "row %d", i);
  for (int k = 0; k < 2; ++k) free_elements(&s[k]);
  free(diag), free(cols), free(plain), free(matrices), free(row), free(col);
  th_close(&t);
}

/* The assembled system is solved: A d = r with r = A x gives x. */
Test(bcsr, a_system)
{
  static loom_real x[3 * N], r[3 * N];
  test_host t;
  bcsr A;
  elements s[KINDS];
  bcsr_kind kinds[KINDS];
  krylov_cg c = {0};
  krylov_bsr3 P = {0};
  krylov_system system;
  krylov_result out;
  const krylov_forcing f = {.eta_min = 1e-13, .eta_max = 1e-13, .gamma = 0.9};
  uint64_t seed = 8;
  loom_real *const dense = calloc((size_t)N * N * 9, sizeof *dense);
  th_open(&t, 2, 0);
  cr_assert_eq(bcsr_new(&A, &t.host, &t.exec, 3), LOOM_OK);
  for (int k = 0; k < KINDS; ++k) {
    create_elements(&s[k], k, 3, 1 + (uint64_t)k);
    kinds[k] = create_bcsr_kind(&t, &s[k], 3);
    cr_assert_eq(bcsr_index(&A, N, &kinds[k]), LOOM_OK);
    add_dense_elements(&s[k], 3, dense);
  }
  cr_assert_eq(bcsr_pattern(&A, kinds, KINDS), LOOM_OK);
  cr_assert_eq(bcsr_values(&A, kinds, KINDS), LOOM_OK);
  for (int i = 0; i < 3 * N; ++i) x[i] = (loom_real)th_random(&seed);
  for (int64_t i = 0; i < 3 * N; ++i)
    for (int64_t j = 0; j < 3 * N; ++j)
      r[i] += dense[(i / 3 * N + j / 3) * 9 + i % 3 * 3 + j % 3] * x[j];
  loom_buf *const right = th_buf(&t, LOOM_REAL, 3 * N, r), *const d =
                                                               th_buf(&t, LOOM_REAL, 3 * N, NULL);
  const loom_bsr3 matrix = bcsr_matrix3(&A);
  cr_assert_eq(krylov_bsr3_new(&P, &t.host, &t.exec, N), LOOM_OK);
  cr_assert_eq(krylov_cg_new(&c, &t.host, &t.exec, N, 5000), LOOM_OK);
  cr_assert_eq(krylov_bsr3_open(&P, &matrix, &system), LOOM_OK);
  plug_maps m = plug_maps_on(&t.host, &t.exec);
  lk_real *const to_r = plug_rdwr(&m, right), *const to_d = plug_write(&m, d);
  cr_assert_eq(krylov_cg_solve(&c, NULL, &system, to_r, to_d, &f, &out), LOOM_OK);
  cr_assert_eq(plug_unbind(&m), LOOM_OK);
  cr_assert_eq(krylov_bsr3_close(&P), LOOM_OK);
  cr_expect_eq(out.stop, KRYLOV_CONVERGED);
  loom_real *const found = th_get(&t, d);
  for (int i = 0; i < 3 * N; ++i) { /* rows of no element are zero, and stay where they were */
    const int alone = dense[(int64_t)(i / 3) * (N + 1) * 9] == 0;
    cr_assert_float_eq(found[i], alone ? 0.0 : x[i], 1e-8, "%d: %g not %g", i, found[i], x[i]);
  }
  for (int k = 0; k < KINDS; ++k) free_elements(&s[k]);
  free(found);
  free(dense);
  th_close(&t);
}

/* Impacts that share vertices, S = G M^-1 G': rows are impacts, elements the vertices with the list
 * of their impacts, S_jk = sum over vertices of c_j c_k n_j.n_k / m. */
Test(bcsr, impacts)
{
  enum { VERTS = 90, IMPACTS = 140 };
  static int32_t v[IMPACTS][4], node[4 * IMPACTS];
  static double G[IMPACTS][3 * VERTS], n[IMPACTS][3], w[IMPACTS][4], mass[VERTS];
  static int64_t ptr[VERTS + 1];
  static double dense[IMPACTS][IMPACTS];
  test_host t;
  bcsr A;
  uint64_t seed = 6;
  for (int i = 0; i < VERTS; ++i) mass[i] = 2.0 + th_random(&seed);
  for (int j = 0; j < IMPACTS; ++j) {
    for (int c = 0; c < 3; ++c) n[j][c] = th_random(&seed);
    for (int a = 0; a < 4; ++a) {
      v[j][a] = (j / 2 + 7 * a) % VERTS;
      w[j][a] = th_random(&seed);
      for (int c = 0; c < 3; ++c) G[j][3 * v[j][a] + c] += w[j][a] * n[j][c];
    }
  }
  int64_t m = 0, blocks = 0;
  loom_real *const K = calloc((size_t)4 * IMPACTS * IMPACTS, sizeof *K);
  for (int i = 0; i < VERTS; ++i) {
    double own[4 * IMPACTS];
    const int64_t lo = ptr[i] = m;
    for (int j = 0; j < IMPACTS; ++j)
      for (int a = 0; a < 4; ++a)
        if (v[j][a] == i) {
          own[m - lo] = w[j][a];
          node[m++] = j;
        }
    for (int64_t p = lo; p < m; ++p)
      for (int64_t q = lo; q < m; ++q) {
        const double *const np = n[node[p]], *const nq = n[node[q]];
        K[blocks++] = (loom_real)(own[p - lo] * own[q - lo] / mass[i] *
                                  (np[0] * nq[0] + np[1] * nq[1] + np[2] * nq[2]));
      }
  }
  ptr[VERTS] = m;
  for (int j = 0; j < IMPACTS; ++j)
    for (int k = 0; k < IMPACTS; ++k)
      for (int i = 0; i < 3 * VERTS; ++i) dense[j][k] += G[j][i] * G[k][i] / mass[i / 3];
  th_open(&t, 2, 1);
  bcsr_kind verts = {.count = VERTS,
                     .ptr = th_buf(&t, LOOM_I64, VERTS + 1, ptr),
                     .node = th_buf(&t, LOOM_I32, m, node),
                     .K = th_buf(&t, LOOM_REAL, blocks, K)};
  cr_assert_eq(bcsr_new(&A, &t.host, &t.exec, 1), LOOM_OK);
  cr_assert_eq(bcsr_index(&A, IMPACTS, &verts), LOOM_OK);
  cr_assert_eq(bcsr_pattern(&A, &verts, 1), LOOM_OK);
  cr_assert_eq(bcsr_values(&A, &verts, 1), LOOM_OK);
  int64_t *const row = th_get(&t, A.row);
  int32_t *const col = th_get(&t, A.col);
  loom_real *const val = th_get(&t, A.val);
  for (int j = 0; j < IMPACTS; ++j)
    for (int64_t k = row[j]; k < row[j + 1]; ++k) {
      cr_expect_float_eq(val[k], dense[j][col[k]], 1e-13, "%d, %d", j, col[k]);
      dense[j][col[k]] = 0.0;
    }
  for (int j = 0; j < IMPACTS; ++j)
    for (int k = 0; k < IMPACTS; ++k) cr_expect_eq(dense[j][k], 0.0, "%d, %d is missing", j, k);
  free(row), free(col), free(val), free(K);
  th_close(&t);
}
