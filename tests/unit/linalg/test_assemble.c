/* gather.c, bsr.c, csr.c, pattern.c, union.c, spmv.c against dense assembly of random elements. */
#include <float.h>
#include <math.h>

#include "linalg/assemble.h"
#include "linalg/linalg.h"
#include "support/bufs.h"

enum { NV = 31, NB = 4, MAX_TRIPLETS = 60, SIDE = 3 * NV };
static const int arity_of[NB] = {1, 3, 4, 2}, elems_of[NB] = {3, 40, 25, 0};
#define EPS (sizeof(loom_real) == 8 ? DBL_EPSILON : FLT_EPSILON)
/* a sum of at most 200 terms of size 1, in another order: 200^2 / 2 roundings at worst */
#define TOL (2e4 * EPS)

typedef struct fixture {
  mem *m;
  loom_exec e;
  loom_scene sc;
  loom_elem_block blocks[NB];
  int32_t verts[NB][40 * 4];
  loom_real mass[NV];
  uint8_t fixed[NV];
  loom_buf *mats[NB]; /* real [ne][3a][3a] */
  loom_real mat[NB][40 * 144];
} fixture;

/* Random elements; vertex NV-1 is in none, vertex 3 in most, element 5 repeats a vertex. */
static fixture *open_assembly_fixture(int check, int threads, uint64_t seed, int with_fixed)
{
  fixture *f = calloc(1, sizeof *f);
  cr_assert(f != NULL);
  f->m = t_mem(check);
  f->e = t_exec(threads);
  for (int b = 0; b < NB; ++b) {
    const int a = arity_of[b], corners = a * elems_of[b], reals = 9 * a * corners;
    for (int q = 0; q < corners; ++q)
      f->verts[b][q] = q % 2 ? 3 : 2 + (int32_t)(t_random(&seed) % (NV - 3));
    for (int k = 0; k < reals; ++k) f->mat[b][k] = (loom_real)t_uniform(&seed);
    f->mats[b] = t_buf(f->m, LOOM_REAL, reals, f->mat[b]);
    f->blocks[b] = (loom_elem_block){.struct_size = sizeof f->blocks[b],
                                     .type = "random",
                                     .num_elems = elems_of[b],
                                     .arity = a,
                                     .verts = t_buf(f->m, LOOM_I32, corners, f->verts[b])};
  }
  for (int i = 0; i < NV; ++i) {
    f->mass[i] = (loom_real)(1 + i);
    f->fixed[i] = (uint8_t)(with_fixed && i % 7 == 3);
  }
  f->sc = (loom_scene){.struct_size = sizeof f->sc,
                       .num_verts = NV,
                       .num_blocks = NB,
                       .blocks = f->blocks,
                       .mass = t_buf(f->m, LOOM_REAL, NV, f->mass),
                       .fixed = t_buf(f->m, LOOM_U8, NV, f->fixed)};
  return f;
}

static void close_assembly_fixture(fixture *f)
{
  cr_assert(mem_mapped(f->m) == NULL);
  cr_assert_eq(mem_leaks(f->m, "core", NULL, 0), 0, "the assembly left buffers behind");
  mem_free(f->m);
  exec_close(&f->e);
  free(f);
}

typedef struct contact {
  int num;
  int32_t row[MAX_TRIPLETS], col[MAX_TRIPLETS];
  loom_real val[MAX_TRIPLETS][9];
} contact;

static void random_contact(contact *c, int num, uint64_t seed)
{
  c->num = num;
  for (int k = 0; k < num; ++k) {
    c->row[k] = (int32_t)(t_random(&seed) % NV);
    c->col[k] = (int32_t)(t_random(&seed) % NV);
    if (k % 5 == 4) c->row[k] = c->row[k - 1], c->col[k] = c->col[k - 1]; /* repeated place */
    for (int i = 0; i < 9; ++i) c->val[k][i] = (loom_real)t_uniform(&seed);
  }
}

static loom_blocks3 contact_buffers(fixture *f, const contact *c)
{
  return (loom_blocks3){.struct_size = sizeof(loom_blocks3),
                        .count = c->num,
                        .capacity = c->num,
                        .row = t_buf(f->m, LOOM_I32, c->num, c->row),
                        .col = t_buf(f->m, LOOM_I32, c->num, c->col),
                        .val = t_buf(f->m, LOOM_REAL, 9 * (int64_t)c->num, c->val)};
}

/* ---- dense reference ---- */
static void dense_unit(const fixture *f, double *D, int w)
{
  for (int i = 0; i < w * NV; ++i)
    for (int j = 0; j < w * NV; ++j)
      if (f->fixed[i / w] || f->fixed[j / w]) D[i * w * NV + j] = i == j;
}

static double *dense_bsr(const fixture *f, const contact *c, double scale)
{
  double *D = calloc((size_t)SIDE * SIDE, sizeof *D);
  cr_assert(D != NULL);
  for (int b = 0; b < NB; ++b) {
    const int w = 3 * arity_of[b];
    for (int e = 0; e < elems_of[b]; ++e)
      for (int i = 0; i < w; ++i)
        for (int j = 0; j < w; ++j)
          D[(3 * f->verts[b][e * w / 3 + i / 3] + i % 3) * SIDE +
            3 * f->verts[b][e * w / 3 + j / 3] + j % 3] += f->mat[b][(e * w + i) * w + j];
  }
  for (int i = 0; i < SIDE; ++i) D[i * SIDE + i] += scale * f->mass[i / 3];
  for (int k = 0; c != NULL && k < c->num; ++k)
    for (int i = 0; i < 9; ++i)
      D[(3 * c->row[k] + i / 3) * SIDE + 3 * c->col[k] + i % 3] += c->val[k][i];
  dense_unit(f, D, 3);
  return D;
}

static void assemble_full_bsr(fixture *f, asm_bsr *A, const loom_blocks3 *begin,
                              const loom_blocks3 *add)
{
  T_OK(f->m, asm_bsr_begin(A, begin));
  T_OK(f->m, asm_bsr_add_diagonal(A, f->sc.mass, 0.5));
  for (int b = 0; b < NB; ++b) T_OK(f->m, asm_bsr_add_elements(A, b, f->mats[b]));
  if (add != NULL) T_OK(f->m, asm_bsr_add_contact(A, add));
  T_OK(f->m, asm_bsr_finish(A));
}

static void compare_bsr(fixture *f, const asm_bsr *A, const contact *c)
{
  const loom_bsr3 *M = asm_bsr_matrix(A);
  double *D = dense_bsr(f, c, 0.5);
  int64_t *ptr = t_read(f->m, M->row_ptr);
  int32_t *col = t_read(f->m, M->col);
  loom_real *val = t_read(f->m, M->val);
  cr_assert_eq(buf_count(M->row_ptr), NV + 1);
  cr_assert_eq(buf_count(M->col), M->num_blocks);
  cr_assert_eq(buf_count(M->val), 9 * M->num_blocks);
  cr_assert_eq(M->num_rows, NV);
  cr_assert_eq(ptr[0], 0);
  cr_assert_eq(ptr[NV], M->num_blocks);
  for (int i = 0; i < NV; ++i) {
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      if (k > ptr[i]) cr_assert_gt(col[k], col[k - 1], "columns ascend");
      for (int s = 0; s < 9; ++s) {
        double *d = &D[(3 * i + s / 3) * SIDE + 3 * col[k] + s % 3];
        cr_assert_leq(fabs(*d - val[9 * k + s]), TOL, "block (%d, %d)", i, col[k]);
        *d = 0;
      }
    }
  }
  for (int i = 0; i < SIDE * SIDE; ++i) cr_assert_eq(D[i], 0, "a nonzero is not in the pattern");
  free(D);
  free(ptr);
  free(col);
  free(val);
}

/* out += contrib of block b, gathered in chunks of `chunk` elements */
static void gather_block_chunks(fixture *f, const loom_elem_block *b, int32_t num_verts,
                                int32_t chunk, loom_buf *contrib, loom_buf *out)
{
  loom_err err = {0};
  asm_gather *g = NULL;
  asm_gather_view v;
  buf_maps q = {.m = f->m, .e = &f->e};
  cr_assert_eq(asm_gather_new(&err, f->m, b, num_verts, chunk, &g), LOOM_OK, "%s", err.text);
  const lk_real *const from = buf_maps_add(&q, contrib, LOOM_READ);
  asm_gather_open(g, &q, out, &v);
  T_OK(f->m, q.status);
  for (int32_t c = 0; c * chunk < b->num_elems; ++c)
    T_OK(f->m, asm_gather_chunk(&v, &f->e, c, from + 3 * (int64_t)b->arity * chunk * c));
  T_OK(f->m, buf_maps_end(&q));
  asm_gather_free(g);
}

/* The same bits for any number of threads and any size of the chunks. */
Test(assemble, gather_adds_all_corners)
{
  for (int check = 0; check < 2; ++check) {
    loom_real first[3 * NV];
    for (int variant = 0; variant < 12; ++variant) {
      static const int32_t chunks[] = {1, 3, 7, 1000};
      const int threads = 1 + variant % 3;
      fixture *f = open_assembly_fixture(check, threads, 7, 0);
      double want[3 * NV];
      loom_real start[3 * NV];
      for (int i = 0; i < 3 * NV; ++i) want[i] = start[i] = (loom_real)(i % 5);
      loom_buf *out = t_buf(f->m, LOOM_REAL, SIDE, start);
      for (int b = 0; b < NB; ++b) {
        /* contributions: the first corners * 3 reals of its matrices */
        gather_block_chunks(f, &f->blocks[b], NV, chunks[variant % 4], f->mats[b], out);
        for (int q = 0; q < arity_of[b] * elems_of[b]; ++q)
          for (int c = 0; c < 3; ++c) want[3 * f->verts[b][q] + c] += f->mat[b][3 * q + c];
      }
      loom_real *got = t_read(f->m, out);
      if (variant == 0) memcpy(first, got, sizeof first);
      cr_assert(t_same_bits(first, got, sizeof first), "%d threads, chunks of %d: other bits",
                threads, chunks[variant % 4]);
      for (int i = 0; i < 3 * NV; ++i) cr_assert_leq(fabs(got[i] - want[i]), TOL);
      free(got);
      close_assembly_fixture(f);
    }
  }
}

/* Indices beyond 16 bits: vertices far apart in one element, and chunks of many corners. */
Test(assemble, gather_of_wide_chunks)
{
  enum { FAR = 100000, MANY = 30000 };
  fixture *f = open_assembly_fixture(0, 2, 7, 0);
  int32_t *verts = calloc(3 * MANY, sizeof *verts);
  loom_real *add = calloc(9 * MANY, sizeof *add);
  double *want = calloc(3 * FAR, sizeof *want);
  uint64_t seed = 3;
  cr_assert(verts != NULL && add != NULL && want != NULL);
  for (int span = 0; span < 2; ++span) {
    const int32_t range = span == 0 ? FAR : 200;
    for (int q = 0; q < 3 * MANY; ++q) {
      verts[q] = (int32_t)(t_random(&seed) % (uint64_t)range);
      for (int c = 0; c < 3; ++c) add[3 * q + c] = (loom_real)(t_random(&seed) % 100);
    }
    const loom_elem_block b = {.struct_size = sizeof b,
                               .type = "random",
                               .num_elems = MANY,
                               .arity = 3,
                               .verts = t_buf(f->m, LOOM_I32, 3 * MANY, verts)};
    loom_buf *const contrib = t_buf(f->m, LOOM_REAL, 9 * MANY, add);
    for (int chunk = 1000; chunk <= MANY; chunk *= 30) { /* 3,000 and 90,000 corners */
      loom_buf *const out = t_buf(f->m, LOOM_REAL, 3 * FAR, NULL);
      gather_block_chunks(f, &b, FAR, chunk, contrib, out);
      loom_real *got = t_read(f->m, out);
      memset(want, 0, 3 * FAR * sizeof *want);
      for (int q = 0; q < 3 * MANY; ++q)
        for (int c = 0; c < 3; ++c) want[3 * verts[q] + c] += add[3 * q + c];
      for (int i = 0; i < 3 * FAR; ++i)
        cr_assert_eq(got[i], want[i], "row %d", i / 3); /* integers */
      free(got);
    }
  }
  free(verts);
  free(add);
  free(want);
  close_assembly_fixture(f);
}

Test(assemble, bsr_equals_dense)
{
  for (int check = 0; check < 2; ++check) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      loom_err err = {0};
      fixture *f = open_assembly_fixture(check, 1 + (int)seed % 3, seed, seed % 2 == 1);
      asm_bsr *A = NULL;
      contact c;
      random_contact(&c, 10 * (int)seed, seed + 50);
      const loom_blocks3 blocks = contact_buffers(f, &c);
      cr_assert_eq(asm_bsr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_OK, "%s", err.text);
      assemble_full_bsr(f, A, NULL, NULL);
      compare_bsr(f, A, NULL);
      assemble_full_bsr(f, A, &blocks, &blocks);
      compare_bsr(f, A, &c);
      assemble_full_bsr(f, A, &blocks, NULL); /* in the pattern, but without values */
      compare_bsr(f, A, NULL);
      asm_bsr_free(A);
      close_assembly_fixture(f);
    }
  }
}

Test(assemble, bsr_same_bits_for_any_thread_count)
{
  loom_real *first = NULL;
  for (int threads = 1; threads <= 8; ++threads) {
    loom_err err = {0};
    fixture *f = open_assembly_fixture(0, threads, 3, 1);
    asm_bsr *A = NULL;
    contact c;
    random_contact(&c, MAX_TRIPLETS, 4);
    const loom_blocks3 blocks = contact_buffers(f, &c);
    cr_assert_eq(asm_bsr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_OK);
    assemble_full_bsr(f, A, &blocks, &blocks);
    loom_real *val = t_read(f->m, asm_bsr_matrix(A)->val);
    const size_t bytes = (size_t)buf_count(asm_bsr_matrix(A)->val) * sizeof *val;
    if (first != NULL) cr_assert(t_same_bits(first, val, bytes), "%d threads", threads);
    if (first == NULL)
      first = val;
    else
      free(val);
    asm_bsr_free(A);
    close_assembly_fixture(f);
  }
  free(first);
}

/* rows and columns as given, for the life of the pattern */
static int64_t begin_with(fixture *f, asm_bsr *A, int num, const int32_t (*pairs)[2])
{
  contact c = {.num = num};
  for (int k = 0; k < num; ++k) {
    c.row[k] = pairs[k][0];
    c.col[k] = pairs[k][1];
    c.val[k][0] = 1;
  }
  const loom_blocks3 blocks = contact_buffers(f, &c);
  assemble_full_bsr(f, A, &blocks, &blocks);
  compare_bsr(f, A, &c);
  return asm_bsr_matrix(A)->pattern_id;
}

Test(assemble, pattern_id_changes_exactly_with_the_pattern)
{
  for (int check = 0; check < 2; ++check) {
    loom_err err = {0};
    fixture *f = open_assembly_fixture(check, 2, 9, 0);
    asm_bsr *A = NULL;
    static const int32_t diag[2][2] = {{0, 0}, {NV - 1, NV - 1}}, far[2][2] = {{0, 30}, {30, 0}},
                         more[4][2] = {{0, 30}, {30, 0}, {0, 1}, {1, 0}},
                         other[2][2] = {{1, 30}, {30, 1}};
    cr_assert_eq(asm_bsr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_OK);
    const int64_t base = asm_bsr_matrix(A)->pattern_id, nnz = asm_bsr_matrix(A)->num_blocks;
    cr_assert_eq(begin_with(f, A, 2, diag), base); /* vertex-obstacle contacts: diagonal only */
    cr_assert_eq(asm_bsr_matrix(A)->num_blocks, nnz);
    const int64_t first = begin_with(f, A, 2, far);
    cr_assert_neq(first, base);
    cr_assert_eq(asm_bsr_matrix(A)->num_blocks, nnz + 2);
    cr_assert_eq(begin_with(f, A, 2, far), first);
    const int64_t second = begin_with(f, A, 4, more);
    cr_assert_neq(second, first);
    cr_assert_eq(asm_bsr_matrix(A)->num_blocks, nnz + 4);
    cr_assert_eq(begin_with(f, A, 2, far), second); /* a subset of the last one */
    cr_assert_eq(begin_with(f, A, 2, diag), second);
    cr_assert_eq(begin_with(f, A, 0, diag), second);
    T_OK(f->m, asm_bsr_begin(A, NULL));
    cr_assert_eq(asm_bsr_matrix(A)->pattern_id, second);
    const int64_t third = begin_with(f, A, 2, other);
    cr_assert(third != second && third != first && third != base);
    cr_assert_eq(asm_bsr_matrix(A)->num_blocks, nnz + 2); /* stale places are given up */
    asm_bsr_free(A);
    close_assembly_fixture(f);
  }
}

Test(assemble, csr_equals_dense)
{
  for (int check = 0; check < 2; ++check) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      loom_err err = {0};
      fixture *f = open_assembly_fixture(check, 1 + (int)seed, seed, seed % 2 == 1);
      asm_csr *A = NULL;
      double D[NV][NV] = {{0}};
      cr_assert_eq(asm_csr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_OK, "%s", err.text);
      for (int round = 0; round < 2; ++round) { /* begin really starts anew */
        T_OK(f->m, asm_csr_begin(A));
        T_OK(f->m, asm_csr_add_mass(A, 2));
        for (int b = 0; b < NB; ++b) T_OK(f->m, asm_csr_add_elements(A, b, f->mats[b]));
        T_OK(f->m, asm_csr_finish(A));
      }
      for (int b = 0; b < NB; ++b) { /* the first a * a * ne reals are the weights */
        const int a = arity_of[b];
        for (int q = 0; q < a * elems_of[b]; ++q)
          for (int s = 0; s < a; ++s)
            D[f->verts[b][q]][f->verts[b][q - q % a + s]] += f->mat[b][a * q + s];
      }
      for (int i = 0; i < NV; ++i) D[i][i] += 2 * f->mass[i];
      dense_unit(f, &D[0][0], 1);
      const loom_csr *L = asm_csr_matrix(A);
      int64_t *ptr = t_read(f->m, L->row_ptr);
      int32_t *col = t_read(f->m, L->col);
      loom_real *val = t_read(f->m, L->val);
      cr_assert_eq(ptr[NV], L->nnz);
      for (int i = 0; i < NV; ++i)
        for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
          cr_assert_leq(fabs(D[i][col[k]] - val[k]), TOL, "(%d, %d)", i, col[k]);
          D[i][col[k]] = 0;
        }
      for (int i = 0; i < NV * NV; ++i) cr_assert_eq(D[i / NV][i % NV], 0);
      free(ptr);
      free(col);
      free(val);
      asm_csr_free(A);
      close_assembly_fixture(f);
    }
  }
}

Test(assemble, products_equal_dense)
{
  for (int check = 0; check < 2; ++check) {
    loom_err err = {0};
    fixture *f = open_assembly_fixture(check, 2, 21, 1);
    asm_bsr *A = NULL;
    asm_csr *B = NULL;
    contact c;
    loom_real x[SIDE];
    uint64_t seed = 1;
    for (int i = 0; i < SIDE; ++i) x[i] = (loom_real)t_uniform(&seed);
    random_contact(&c, 30, 2);
    const loom_blocks3 blocks = contact_buffers(f, &c);
    loom_buf *bx = t_buf(f->m, LOOM_REAL, SIDE, x), *by = t_buf(f->m, LOOM_REAL, SIDE, NULL);
    cr_assert_eq(asm_bsr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_OK);
    assemble_full_bsr(f, A, &blocks, &blocks);
    T_OK(f->m, la_spmv_bsr3(f->m, &f->e, asm_bsr_matrix(A), bx, by));
    double *D = dense_bsr(f, &c, 0.5);
    loom_real *y = t_read(f->m, by);
    for (int i = 0; i < SIDE; ++i) {
      double want = 0;
      for (int j = 0; j < SIDE; ++j) want += D[i * SIDE + j] * x[j];
      cr_assert_leq(fabs(want - y[i]), TOL);
    }
    free(y);
    free(D);
    cr_assert_eq(asm_csr_new(&err, f->m, &f->e, &f->sc, &B), LOOM_OK);
    T_OK(f->m, asm_csr_begin(B));
    T_OK(f->m, asm_csr_add_mass(B, 1)); /* the diagonal of fixed vertices becomes 1 */
    T_OK(f->m, asm_csr_finish(B));
    T_OK(f->m, la_spmv_csr3(f->m, &f->e, asm_csr_matrix(B), bx, by));
    y = t_read(f->m, by);
    for (int i = 0; i < SIDE; ++i)
      cr_assert_eq(y[i], f->fixed[i / 3] ? x[i] : (loom_real)(f->mass[i / 3] * x[i]));
    free(y);
    cr_assert_eq(la_spmv_bsr3(f->m, &f->e, asm_bsr_matrix(A), bx, bx), LOOM_E_STATE);
    cr_assert_eq(la_spmv_csr3(f->m, &f->e, asm_csr_matrix(B), f->sc.mass, by), LOOM_E_ARG);
    asm_bsr_free(A);
    asm_csr_free(B);
    close_assembly_fixture(f);
  }
}

Test(assemble, misuse_is_named)
{
  loom_err err = {0};
  fixture *f = open_assembly_fixture(0, 1, 2, 0);
  asm_bsr *A = NULL;
  asm_csr *B = NULL;
  asm_gather *g = NULL;
  contact c = {.num = 1, .row = {0}, .col = {30}};
  const loom_blocks3 blocks = contact_buffers(f, &c);
  cr_assert_eq(asm_bsr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_OK);
  cr_assert_eq(asm_csr_new(&err, f->m, &f->e, &f->sc, &B), LOOM_OK);
  cr_assert_eq(asm_bsr_add_elements(A, NB, f->mats[0]), LOOM_E_ARG);
  cr_assert_eq(asm_bsr_add_elements(A, 2, f->mats[0]), LOOM_E_ARG);
  cr_assert_eq(asm_csr_add_elements(B, -1, f->mats[0]), LOOM_E_ARG);
  cr_assert_eq(asm_csr_add_elements(B, 2, f->sc.mass), LOOM_E_ARG);
  T_OK(f->m, asm_bsr_begin(A, NULL));
  cr_assert_eq(asm_bsr_add_contact(A, &blocks), LOOM_E_STATE); /* not announced */
  c.col[0] = NV;
  const loom_blocks3 outside = contact_buffers(f, &c);
  cr_assert_eq(asm_bsr_begin(A, &outside), LOOM_E_ARG);
  cr_assert(strstr(mem_err(f->m)->text, "(0, 31)") != NULL, "%s", mem_err(f->m)->text);
  asm_bsr_free(A);
  asm_csr_free(B);
  cr_assert_eq(asm_gather_new(&err, f->m, &f->blocks[1], 5, 8, &g), LOOM_E_ARG);
  cr_assert(strstr(err.text, "there are 5 vertices") != NULL, "%s", err.text);
  cr_assert(g == NULL);
  cr_assert_eq(asm_gather_new(&err, f->m, &f->blocks[1], NV, 0, &g), LOOM_E_ARG);
  cr_assert(g == NULL);
  f->sc.num_verts = 5;
  cr_assert_eq(asm_csr_new(&err, f->m, &f->e, &f->sc, &B), LOOM_E_ARG);
  cr_assert_eq(asm_bsr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_E_ARG);
  cr_assert(A == NULL && B == NULL);
  close_assembly_fixture(f);
}

static loom_status build_all_assemblers(fixture *f, const loom_blocks3 *blocks)
{
  loom_err err = {0};
  asm_bsr *A = NULL;
  asm_csr *B = NULL;
  asm_gather *g = NULL;
  loom_status s = asm_gather_new(&err, f->m, &f->blocks[2], NV, 5, &g);
  if (s == LOOM_OK) s = asm_csr_new(&err, f->m, &f->e, &f->sc, &B);
  if (s == LOOM_OK) s = asm_csr_begin(B);
  if (s == LOOM_OK) s = asm_csr_add_elements(B, 1, f->mats[1]);
  if (s == LOOM_OK) s = asm_bsr_new(&err, f->m, &f->e, &f->sc, &A);
  if (s == LOOM_OK) s = asm_bsr_begin(A, blocks);
  if (s == LOOM_OK) s = asm_bsr_add_contact(A, blocks);
  asm_gather_free(g);
  asm_csr_free(B);
  asm_bsr_free(A);
  return s;
}

Test(assemble, every_allocation_may_fail)
{
  for (int check = 0; check < 2; ++check) {
    loom_status s = LOOM_E_NOMEM;
    int k = 0;
    while (s != LOOM_OK) {
      fixture *f = open_assembly_fixture(check, 1, 2, 1);
      contact c;
      random_contact(&c, 20, 3);
      const loom_blocks3 blocks = contact_buffers(f, &c);
      mem_fail_after(f->m, ++k);
      s = build_all_assemblers(f, &blocks);
      mem_fail_after(f->m, 0);
      cr_assert(s == LOOM_OK || s == LOOM_E_NOMEM, "allocation %d gives %s", k, err_status_text(s));
      close_assembly_fixture(f);
    }
    cr_assert_gt(k, 40);
  }
}
