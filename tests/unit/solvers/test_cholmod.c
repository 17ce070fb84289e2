/* The parts of the CHOLMOD solvers: pattern with couplings, values, triangular solves and
 * factorisation errors, against dense elimination on small random problems. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_solve3.h"
#include "kit/pd_matrix.h"
#include "mem/mem.h"

enum { N = 60 };

typedef struct stage { /* a host with memory and messages, all that these parts use */
  loom_err err;
  mem *m;
  loom_host h;
  loom_exec e;
  loom_scene sc;
  loom_csr L;
  double dense[N][N]; /* L, N/m */
} stage;

static void t_count(const loom_host *host, int counter, int64_t n)
{
  (void)host, (void)counter, (void)n;
}

static loom_status t_fail(const loom_host *host, loom_status code, const char *file, int line,
                          const char *func, const char *fmt, ...)
{
  stage *const s = host->core;
  va_list ap;
  (void)file, (void)line, (void)func;
  va_start(ap, fmt);
  vsnprintf(s->err.text, sizeof s->err.text, fmt, ap);
  va_end(ap);
  return s->err.code = code;
}
static loom_status t_map(const loom_host *host, const loom_exec *e, loom_buf *b, int access,
                         int place, void **p)
{
  return buf_map(((stage *)host->core)->m, e, b, access, place, p);
}
static loom_status t_unmap(const loom_host *host, loom_buf *b)
{
  return buf_unmap(((stage *)host->core)->m, b);
}

static loom_buf *create_filled_buf(stage *s, int type, int64_t count, const void *data)
{
  loom_buf *b = NULL;
  void *p;
  cr_assert_eq(buf_new(s->m, "test", "data", type, count, &b), LOOM_OK);
  cr_assert_eq(buf_map(s->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p), LOOM_OK);
  memcpy(p, data, buf_type_size(type) * (size_t)count);
  cr_assert_eq(buf_unmap(s->m, b), LOOM_OK);
  return b;
}

static double unit_random(void) { return (double)rand() / RAND_MAX; }

/* A band of random couplings with a heavy diagonal: positive definite.  Fixed vertices
 * have unit rows, as the core makes them; `sign` -1 spoils one diagonal entry. */
static void set_stage(stage *s, double sign)
{
  static int64_t ptr[N + 1];
  static int32_t col[N * N];
  static double val[N * N];
  static uint8_t fixed[N];
  *s = (stage){.e = {.struct_size = sizeof s->e, .num_threads = 2, .device = -1}};
  cr_assert_eq(mem_new(&s->err, 1, &s->m), LOOM_OK);
  s->h = (loom_host){.struct_size = sizeof s->h,
                     .core = s,
                     .fail = t_fail,
                     .count = t_count,
                     .map = t_map,
                     .unmap = t_unmap};
  srand(5);
  for (int i = 0; i < N; ++i) fixed[i] = i % 17 == 3;
  for (int i = 0; i < N; ++i) {
    s->dense[i][i] += fixed[i] ? 1.0 : 0.5;
    for (int j = i + 1; j < N && !fixed[i]; ++j) {
      if (fixed[j] || (j - i > 2 && j - i != 9)) continue;
      const double w = 0.1 + unit_random();
      s->dense[i][i] += w;
      s->dense[j][j] += w;
      s->dense[i][j] -= w;
      s->dense[j][i] -= w;
    }
  }
  s->dense[N / 2][N / 2] *= sign;
  int64_t m = 0;
  for (int i = 0; i < N; ++i, ptr[i] = m)
    for (int j = 0; j < N; ++j)
      if (s->dense[i][j] != 0.0) {
        col[m] = j;
        val[m++] = s->dense[i][j];
      }
  s->L = (loom_csr){.struct_size = sizeof s->L,
                    .num_rows = N,
                    .nnz = m,
                    .pattern_id = 1,
                    .row_ptr = create_filled_buf(s, LOOM_I64, N + 1, ptr),
                    .col = create_filled_buf(s, LOOM_I32, m, col),
                    .val = create_filled_buf(s, LOOM_REAL, m, val)};
  s->sc = (loom_scene){.struct_size = sizeof s->sc, .num_verts = N};
  s->sc.fixed = create_filled_buf(s, LOOM_U8, N, fixed);
}

/* Contact terms: one vertex against the world, and four-vertex terms far off the band. */
static loom_quad create_contact_terms(stage *s, int count)
{
  int32_t v[4 * 8];
  double w[4 * 8], k[8], zero[3 * 8] = {0};
  for (int j = 0; j < count; ++j) {
    const int vo = j % 2 == 0;
    for (int a = 0; a < 4; ++a) {
      v[4 * j + a] = vo && a > 0 ? -1 : (7 * j + 19 * a + 1) % N;
      w[4 * j + a] = a == 0 ? 1.0 : -1.0 / 3.0;
    }
    k[j] = 10.0 + j;
  }
  return (loom_quad){.struct_size = sizeof(loom_quad),
                     .width = 4,
                     .count = count,
                     .capacity = 8,
                     .v = create_filled_buf(s, LOOM_I32, 32, v),
                     .w = create_filled_buf(s, LOOM_REAL, 32, w),
                     .k = create_filled_buf(s, LOOM_REAL, 8, k),
                     .p = create_filled_buf(s, LOOM_REAL, 24, zero),
                     .dir = create_filled_buf(s, LOOM_REAL, 24, zero)};
}

static void add_dense(const stage *s, double A[N][N], const loom_quad *q)
{
  const int32_t *v;
  const double *w, *k;
  const uint8_t *fixed;
  void *p;
  cr_assert_eq(buf_map(s->m, NULL, q->v, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  v = p;
  cr_assert_eq(buf_map(s->m, NULL, q->w, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  w = p;
  cr_assert_eq(buf_map(s->m, NULL, q->k, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  k = p;
  cr_assert_eq(buf_map(s->m, NULL, s->sc.fixed, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  fixed = p;
  for (int64_t j = 0; j < q->count; ++j)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) {
        const int32_t i = v[4 * j + a], l = v[4 * j + b];
        if (i >= 0 && l >= 0 && !fixed[i] && !fixed[l])
          A[i][l] += k[j] * w[4 * j + a] * w[4 * j + b];
      }
  mem_release_maps(s->m);
}

/* x := A^-1 x by elimination without pivoting, which a definite matrix allows */
static void solve_by_elimination(double A[N][N], double x[N])
{
  for (int k = 0; k < N; ++k)
    for (int i = k + 1; i < N; ++i) {
      const double f = A[i][k] / A[k][k];
      for (int j = k; j < N; ++j) A[i][j] -= f * A[k][j];
      x[i] -= f * x[k];
    }
  for (int k = N - 1; k >= 0; --k) {
    for (int j = k + 1; j < N; ++j) x[k] -= A[k][j] * x[j];
    x[k] /= A[k][k];
  }
}

/* A x = b for three random columns, sparse against dense.  The condition number is below
 * 1e3, so 1e-11 is a hundred times the rounding to be expected. */
static void compare_solve(const chol *c, double A[N][N])
{
  static double y[N][3], x[3][N], copy[N][N];
  const int *perm = chol_perm(c);
  double *const work = malloc(chol_solve3_work(c->L) * sizeof *work);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < N; ++i) x[j][i] = unit_random() - 0.5;
  for (int k = 0; k < N; ++k)
    for (int j = 0; j < 3; ++j) y[k][j] = x[j][perm[k]];
  chol_solve3(c->L, &y[0][0], work);
  for (int j = 0; j < 3; ++j) {
    memcpy(copy, A, sizeof copy);
    solve_by_elimination(copy, x[j]);
    for (int k = 0; k < N; ++k)
      cr_assert_float_eq(y[k][j], x[j][perm[k]], 1e-11, "row %d: %.15g, not %.15g", perm[k],
                         y[k][j], x[j][perm[k]]);
  }
  free(work);
}

/* A matrix with room for the terms of `first` is filled with the terms of each round. */
static void with_terms(int ordering, int first, int then)
{
  stage s;
  chol c;
  pd_matrix M = {0};
  int pivot;
  pd_contact k = {0};
  double A[N][N];
  set_stage(&s, 1.0);
  cr_assert_eq(chol_open(&c, &s.h, ordering, 1, CHOL_REMEDY), LOOM_OK);
  const loom_quad q = create_contact_terms(&s, first), r = create_contact_terms(&s, then);
  cr_assert_eq(pd_contact_gather(&k, &s.h, &s.e, &s.sc, &q), LOOM_OK);
  cr_assert_eq(pd_matrix_pattern(&M, &c, &s.e, &s.sc, &s.L, k.off, k.num_off), LOOM_OK, "%s",
               s.err.text);
  cr_expect(pd_matrix_covers(&M, &c, &k));
  const loom_quad *const rounds[] = {&r, &q, &r};
  for (int round = 0; round < 3; ++round) {
    cr_assert_eq(pd_contact_gather(&k, &s.h, &s.e, &s.sc, rounds[round]), LOOM_OK);
    cr_assert(pd_matrix_covers(&M, &c, &k));
    cr_assert_eq(pd_matrix_values(&M, &c, &k), LOOM_OK);
    cr_assert_eq(chol_factorise(&c, &pivot), LOOM_OK, "%s", s.err.text);
    memcpy(A, s.dense, sizeof A);
    add_dense(&s, A, rounds[round]);
    compare_solve(&c, A);
  }
  cr_expect_geq(chol_factor_bytes(&c), 8.0 * c.L->xsize + 4.0 * c.L->ssize + 8.0 * N);
  pd_matrix_free(&M);
  chol_close(&c);
  pd_contact_free(&k);
  mem_free(s.m);
}

Test(cholmod, operator_alone) { with_terms(CHOL_AMD, 0, 0); }
Test(cholmod, contact_of_one_vertex) { with_terms(CHOL_AMD, 1, 1); }
Test(cholmod, contact_between_vertices) { with_terms(CHOL_AMD, 8, 8); }
Test(cholmod, couplings_that_went) { with_terms(CHOL_AMD, 8, 3); }
Test(cholmod, nested_dissection) { with_terms(CHOL_METIS, 8, 8); }

Test(cholmod, pattern_without_room_is_noticed)
{
  stage s;
  chol c;
  pd_matrix M = {0};
  pd_contact k = {0};
  set_stage(&s, 1.0);
  cr_assert_eq(chol_open(&c, &s.h, CHOL_AMD, 1, CHOL_REMEDY), LOOM_OK);
  cr_assert_eq(pd_matrix_pattern(&M, &c, &s.e, &s.sc, &s.L, NULL, 0), LOOM_OK);
  const loom_quad q = create_contact_terms(&s, 2);
  cr_assert_eq(pd_contact_gather(&k, &s.h, &s.e, &s.sc, &q), LOOM_OK);
  cr_assert_gt(k.num_off, 0);
  cr_expect_not(pd_matrix_covers(&M, &c, &k));
  pd_matrix_free(&M);
  chol_close(&c);
  pd_contact_free(&k);
  mem_free(s.m);
}

Test(cholmod, indefinite_matrix_names_its_row)
{
  stage s;
  chol c;
  pd_matrix M = {0};
  int pivot = -2;
  const pd_contact none = {0};
  set_stage(&s, -1.0);
  cr_assert_eq(chol_open(&c, &s.h, CHOL_AMD, 1, CHOL_REMEDY), LOOM_OK);
  cr_assert_eq(pd_matrix_pattern(&M, &c, &s.e, &s.sc, &s.L, NULL, 0), LOOM_OK);
  cr_assert_eq(pd_matrix_values(&M, &c, &none), LOOM_OK);
  cr_assert_eq(chol_factorise(&c, &pivot), LOOM_REJECTED);
  cr_expect(pivot >= 0 && pivot < N, "pivot %d", pivot);
  pd_matrix_free(&M);
  chol_close(&c);
  mem_free(s.m);
}

Test(cholmod, directional_terms_are_refused)
{
  stage s;
  pd_contact k = {0};
  double dir[24] = {0};
  set_stage(&s, 1.0);
  loom_quad q = create_contact_terms(&s, 3);
  dir[3 * 1 + 2] = 1.0;
  q.dir = create_filled_buf(&s, LOOM_REAL, 24, dir);
  cr_assert_eq(pd_contact_gather(&k, &s.h, &s.e, &s.sc, &q), LOOM_E_INTERNAL);
  cr_expect(strstr(s.err.text, "term 1 ") != NULL, "%s", s.err.text);
  pd_contact_free(&k);
  mem_free(s.m);
}

Test(cholmod, matrix_beyond_32_bit_is_refused)
{
  stage s;
  chol c;
  set_stage(&s, 1.0);
  cr_assert_eq(chol_open(&c, &s.h, CHOL_AMD, 1, CHOL_REMEDY), LOOM_OK);
  cr_assert_eq(chol_matrix(&c, 10, INT64_C(1) << 31), LOOM_E_UNSUPPORTED);
  cr_expect(strstr(s.err.text, "32-bit") != NULL, "%s", s.err.text);
  chol_close(&c);
  mem_free(s.m);
}
