/* cases_linalg.c - the kernels of framework/linalg with random arguments. */
#include "elements/elastic_form.kern.h"
#include "linalg/assemble.kern.h"
#include "linalg/blas1.kern.h"
#include "linalg/prim.kern.h"
#include "linalg/spmv.kern.h"
#include "support/bufs.h"
#include "unit/kernels/cases.h"

/* rows, entries per row, elements and their vertices, contact triplets */
#define N        INT64_C(20011)
#define PER_ROW  7
#define NNZ      (N * PER_ROW)
#define ARITY    INT64_C(3)
#define NE       (N - 2)
#define CORNERS  (ARITY * NE)
#define TRIPLETS INT64_C(5003)
#define MAX_HITS 4

/* ---- structures: PER_ROW ascending columns around the diagonal ---- */
static int32_t row_begin(int64_t i)
{
  const int64_t lo = i - PER_ROW / 2, top = N - PER_ROW;
  return (int32_t)(lo < 0 ? 0 : lo > top ? top : lo);
}
static void make_row_ptr(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((int64_t *)data)[i] = PER_ROW * i;
}
static void make_col(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t k = 0; k < count; ++k)
    ((int32_t *)data)[k] = row_begin(k / PER_ROW) + (int32_t)(k % PER_ROW);
}
/* element e joins the vertices e, e + 1, e + 2, so vertex i has up to three corners */
static void make_verts(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t q = 0; q < count; ++q) ((int32_t *)data)[q] = (int32_t)(q / ARITY + q % ARITY);
}
static int64_t first_corner(int64_t i) { return i < 2 ? i * (i + 1) / 2 : 3 * i - 3; }
static void make_ptr(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = first_corner(i);
    ((int32_t *)data)[i] = (int32_t)(k < CORNERS ? k : CORNERS);
  }
  ((int32_t *)data)[count - 2] = CORNERS - 1; /* the last vertex has one corner */
}
static void make_corner(void *data, int64_t count, uint64_t *random)
{
  int32_t *c = data;
  (void)random;
  int64_t k = 0;
  for (int64_t i = 0; i < N; ++i)
    for (int64_t e = i - 2; e <= i; ++e)
      if (e >= 0 && e < NE && k < count) c[k++] = (int32_t)(ARITY * e + (i - e));
}
static void make_pos(void *data, int64_t count, uint64_t *random)
{
  uint16_t *p = data;
  (void)random;
  int64_t k = 0;
  for (int64_t i = 0; i < N; ++i)
    for (int64_t e = i - 2; e <= i; ++e)
      for (int64_t s = 0; s < ARITY && e >= 0 && e < NE && 2 * k < count; ++s)
        p[k++] = (uint16_t)(e + s - row_begin(i));
}
static void make_map(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t k = 0; k < count; ++k) ((int32_t *)data)[k] = (int32_t)(k + k / PER_ROW);
}
static void make_linalg_fixed(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i) ((uint8_t *)data)[i] = t_random(random) % 9 == 0;
}
static void make_linalg_vertex(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = (int32_t)(t_random(random) % N);
}
static void make_index(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = (int32_t)i;
}
static void narrow_to_uint16(void *data, int64_t bytes, kc_make make)
{
  int32_t *const wide = malloc((size_t)bytes / 2 * sizeof *wide);
  uint64_t unused = 0;
  cr_assert(wide != NULL);
  make(wide, bytes / 2, &unused);
  for (int64_t i = 0; i < bytes / 2; ++i) ((uint16_t *)data)[i] = (uint16_t)wide[i];
  free(wide);
}
static void make_short_index(void *data, int64_t bytes, uint64_t *random)
{
  (void)random;
  narrow_to_uint16(data, bytes, make_index);
}
static void make_short_ptr(void *data, int64_t bytes, uint64_t *random)
{
  (void)random;
  narrow_to_uint16(data, bytes, make_ptr);
}
static void make_short_corner(void *data, int64_t bytes, uint64_t *random)
{
  (void)random;
  narrow_to_uint16(data, bytes, make_corner);
}
/* some of them in the pattern, some outside, some not even vertices */
static void make_near_column(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i)
    ((int32_t *)data)[i] = (int32_t)(i + (int64_t)(t_random(random) % 13)) - 6;
}
static void make_order(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = (int32_t)(i * 17 % count);
}
/* ascending, each value up to MAX_HITS times */
static void make_repeated_keys(void *data, int64_t count, uint64_t *random)
{
  uint64_t v = 0;
  for (int64_t i = 0; i < count; ++i) {
    v += i % MAX_HITS == 0 ? 1 + t_random(random) % 5 : t_random(random) % 2;
    ((uint64_t *)data)[i] = v;
  }
}

static void make_one_missing(void *data, int64_t count, uint64_t *random)
{
  make_repeated_keys(data, count, random);
  ((uint64_t *)data)[count / 2] = ASM_NO_PLACE;
}

/* ---- scalars ---- */
static void set_ab(void *args)
{
  blas1_args *a = args;
  a->a = (lk_real)0.3;
  a->b = (lk_real)-1.7;
}
static void set_old(void *args) { ((prim_match_args *)args)->num_old = N; }
static void set_scale(void *args) { ((asm_row_args *)args)->scale = (lk_real)1.3; }
static void set_bsr(void *args) { ((asm_bsr_elem_args *)args)->arity = ARITY; }
static void set_csr(void *args) { ((asm_csr_elem_args *)args)->arity = ARITY; }
static void set_place(void *args) { ((asm_place_args *)args)->num_rows = N; }
static void set_triplets(void *args) { ((asm_triplet_args *)args)->n = TRIPLETS; }

/* ---- rows ---- */
#define ENTRY(name) static const lk_entry e_##name = LK_ENTRY(name)
ENTRY(blas1_dot);
ENTRY(blas1_sumsq);
ENTRY(blas1_norm_max3);
ENTRY(blas1_axpby);
ENTRY(blas1_waxpby);
ENTRY(blas1_copy_scaled);
ENTRY(blas1_scale);
ENTRY(blas1_fill);
ENTRY(prim_match);
ENTRY(prim_compose);
ENTRY(spmv_bsr3);
ENTRY(spmv_csr3);
ENTRY(elastic_form);
ENTRY(asm_vec_gather);
ENTRY(asm_bsr_mass);
ENTRY(asm_bsr_unit);
ENTRY(asm_bsr_elem);
ENTRY(asm_bsr_elem_number);
ENTRY(asm_bsr_square);
ENTRY(asm_bsr_square_number);
ENTRY(asm_csr_mass);
ENTRY(asm_csr_unit);
ENTRY(asm_csr_elem);
ENTRY(asm_place);
ENTRY(asm_missing);
ENTRY(asm_triplet_sum);

#define IN(args, member, type, count, make)              \
  {                                                      \
    offsetof(args, member), type, LOOM_READ, count, make \
  }
#define OUT(args, member, type, count)                    \
  {                                                       \
    offsetof(args, member), type, LOOM_WRITE, count, NULL \
  }
#define INOUT(args, member, type, count, make)           \
  {                                                      \
    offsetof(args, member), type, LOOM_RDWR, count, make \
  }
#define MATRIX(args) \
  IN(args, row_ptr, LOOM_I64, N + 1, make_row_ptr), IN(args, col, LOOM_I32, NNZ, make_col)
#define INCIDENCE(args) \
  IN(args, ptr, LOOM_I32, N + 1, make_ptr), IN(args, corner, LOOM_I32, CORNERS, make_corner)
#define BSR_ELEM                                                          \
  INCIDENCE(asm_bsr_elem_args),                                           \
      IN(asm_bsr_elem_args, pos, LOOM_U8, 2 * ARITY * CORNERS, make_pos), \
      IN(asm_bsr_elem_args, row_ptr, LOOM_I64, N + 1, make_row_ptr),      \
      IN(asm_bsr_elem_args, hess, LOOM_REAL, 9 * ARITY * CORNERS, kc_uniform)

/* Sums of n terms of size 1 and random sign, added in another order: rounding errors of
 * partial sums of size sqrt(n) add up like sqrt(n), so n units in the last place of 1. */
#define SUM_ULPS N

static const kernel_case cases[] = {
    {&e_blas1_dot,
     N,
     SUM_ULPS,
     1,
     NULL,
     {IN(blas1_args, x, LOOM_REAL, N, kc_uniform), IN(blas1_args, y, LOOM_REAL, N, kc_uniform)}},
    {&e_blas1_sumsq, N, SUM_ULPS, 1, NULL, {IN(blas1_args, x, LOOM_REAL, N, kc_uniform)}},
    {&e_blas1_norm_max3, N, 0, 1, NULL, {IN(blas1_args, x, LOOM_REAL, 3 * N, kc_uniform)}},
    {&e_blas1_axpby,
     N,
     0,
     0,
     set_ab,
     {IN(blas1_args, x, LOOM_REAL, N, kc_uniform), INOUT(blas1_args, z, LOOM_REAL, N, kc_uniform)}},
    {&e_blas1_waxpby,
     N,
     0,
     0,
     set_ab,
     {IN(blas1_args, x, LOOM_REAL, N, kc_uniform), IN(blas1_args, y, LOOM_REAL, N, kc_uniform),
      OUT(blas1_args, z, LOOM_REAL, N)}},
    {&e_blas1_copy_scaled,
     N,
     0,
     0,
     set_ab,
     {IN(blas1_args, x, LOOM_REAL, N, kc_uniform), OUT(blas1_args, z, LOOM_REAL, N)}},
    {&e_blas1_scale, N, 0, 0, set_ab, {INOUT(blas1_args, z, LOOM_REAL, N, kc_uniform)}},
    {&e_blas1_fill, N, 0, 0, set_ab, {OUT(blas1_args, z, LOOM_REAL, N)}},
    {&e_prim_match,
     N,
     0,
     0,
     set_old,
     {IN(prim_match_args, old_key, LOOM_U64, N, make_repeated_keys),
      IN(prim_match_args, new_key, LOOM_U64, N, make_repeated_keys),
      OUT(prim_match_args, old_index, LOOM_I32, N)}},
    {&e_prim_compose,
     N,
     0,
     0,
     NULL,
     {IN(prim_compose_args, first, LOOM_I32, N, make_order),
      IN(prim_compose_args, second, LOOM_I32, N, make_linalg_vertex),
      OUT(prim_compose_args, out, LOOM_I32, N)}},
    {&e_spmv_bsr3,
     N,
     0,
     0,
     NULL,
     {MATRIX(spmv_args), IN(spmv_args, val, LOOM_REAL, 9 * NNZ, kc_uniform),
      IN(spmv_args, x, LOOM_REAL, 3 * N, kc_uniform), OUT(spmv_args, y, LOOM_REAL, 3 * N)}},
    {&e_spmv_csr3,
     N,
     0,
     0,
     NULL,
     {MATRIX(spmv_args), IN(spmv_args, val, LOOM_REAL, NNZ, kc_uniform),
      IN(spmv_args, x, LOOM_REAL, 3 * N, kc_uniform), OUT(spmv_args, y, LOOM_REAL, 3 * N)}},
    {&e_elastic_form,
     N,
     0,
     0,
     NULL,
     {MATRIX(elastic_form_args), IN(elastic_form_args, val, LOOM_REAL, NNZ, kc_uniform),
      IN(elastic_form_args, x, LOOM_REAL, 3 * N, kc_uniform),
      INOUT(elastic_form_args, grad, LOOM_REAL, 3 * N, kc_uniform),
      OUT(elastic_form_args, energy, LOOM_REAL, N)}},
    {&e_asm_vec_gather,
     N,
     0,
     0,
     NULL,
     {IN(asm_vec_args, wide_vert, LOOM_I32, N, make_index),
      IN(asm_vec_args, wide_ptr, LOOM_I32, N + 1, make_ptr),
      IN(asm_vec_args, wide_corner, LOOM_I32, CORNERS, make_corner),
      IN(asm_vec_args, contrib, LOOM_REAL, 3 * CORNERS, kc_uniform),
      INOUT(asm_vec_args, out, LOOM_REAL, 3 * N, kc_uniform)}},
    {&e_asm_vec_gather,
     N,
     0,
     0,
     NULL,
     {IN(asm_vec_args, vert, LOOM_U8, 2 * N, make_short_index),
      IN(asm_vec_args, ptr, LOOM_U8, 2 * (N + 1), make_short_ptr),
      IN(asm_vec_args, corner, LOOM_U8, 2 * CORNERS, make_short_corner),
      IN(asm_vec_args, contrib, LOOM_REAL, 3 * CORNERS, kc_uniform),
      INOUT(asm_vec_args, out, LOOM_REAL, 3 * N, kc_uniform)}},
    {&e_asm_bsr_mass,
     N,
     0,
     0,
     set_scale,
     {MATRIX(asm_row_args), IN(asm_row_args, mass, LOOM_REAL, N, kc_uniform),
      INOUT(asm_row_args, val, LOOM_REAL, 9 * NNZ, kc_uniform)}},
    {&e_asm_csr_mass,
     N,
     0,
     0,
     set_scale,
     {MATRIX(asm_row_args), IN(asm_row_args, mass, LOOM_REAL, N, kc_uniform),
      INOUT(asm_row_args, val, LOOM_REAL, NNZ, kc_uniform)}},
    {&e_asm_bsr_unit,
     N,
     0,
     0,
     NULL,
     {MATRIX(asm_row_args), IN(asm_row_args, fixed, LOOM_U8, N, make_linalg_fixed),
      INOUT(asm_row_args, val, LOOM_REAL, 9 * NNZ, kc_uniform)}},
    {&e_asm_csr_unit,
     N,
     0,
     0,
     NULL,
     {MATRIX(asm_row_args), IN(asm_row_args, fixed, LOOM_U8, N, make_linalg_fixed),
      INOUT(asm_row_args, val, LOOM_REAL, NNZ, kc_uniform)}},
    {&e_asm_bsr_elem,
     N,
     0,
     0,
     set_bsr,
     {BSR_ELEM, INOUT(asm_bsr_elem_args, val, LOOM_REAL, 9 * NNZ, kc_uniform)}},
    {&e_asm_bsr_elem,
     N,
     0,
     0,
     set_bsr, /* with a contact pattern */
     {BSR_ELEM, IN(asm_bsr_elem_args, map, LOOM_I32, NNZ, make_map),
      INOUT(asm_bsr_elem_args, val, LOOM_REAL, 9 * (NNZ + N), kc_uniform)}},
    {&e_asm_bsr_elem_number,
     9 * N,
     0,
     0,
     set_bsr,
     {BSR_ELEM, INOUT(asm_bsr_elem_args, val, LOOM_REAL, 9 * NNZ, kc_uniform)}},
    {&e_asm_bsr_square,
     N,
     0,
     0,
     set_bsr,
     {BSR_ELEM, INOUT(asm_bsr_elem_args, val, LOOM_REAL, 9 * NNZ, kc_uniform)}},
    {&e_asm_bsr_square_number,
     9 * N,
     0,
     0,
     set_bsr,
     {BSR_ELEM, INOUT(asm_bsr_elem_args, val, LOOM_REAL, 9 * NNZ, kc_uniform)}},
    {&e_asm_csr_elem,
     N,
     0,
     0,
     set_csr,
     {MATRIX(asm_csr_elem_args), INCIDENCE(asm_csr_elem_args),
      IN(asm_csr_elem_args, verts, LOOM_I32, CORNERS, make_verts),
      IN(asm_csr_elem_args, weights, LOOM_REAL, ARITY *CORNERS, kc_uniform),
      INOUT(asm_csr_elem_args, val, LOOM_REAL, NNZ, kc_uniform)}},
    {&e_asm_place,
     N,
     0,
     0,
     set_place,
     {IN(asm_place_args, row, LOOM_I32, N, make_index),
      IN(asm_place_args, col, LOOM_I32, N, make_near_column),
      IN(asm_place_args, row_ptr, LOOM_I64, N + 1, make_row_ptr),
      IN(asm_place_args, cols, LOOM_I32, NNZ, make_col), OUT(asm_place_args, place, LOOM_U64, N)}},
    {&e_asm_missing, N, 0, 1, NULL, {IN(asm_triplet_args, place, LOOM_U64, N, make_one_missing)}},
    {&e_asm_triplet_sum,
     TRIPLETS,
     0,
     0,
     set_triplets,
     {IN(asm_triplet_args, place, LOOM_U64, TRIPLETS, make_repeated_keys),
      IN(asm_triplet_args, order, LOOM_I32, TRIPLETS, make_order),
      IN(asm_triplet_args, block, LOOM_REAL, 9 * TRIPLETS, kc_uniform),
      INOUT(asm_triplet_args, val, LOOM_REAL, 9 * NNZ, kc_uniform)}},
};

const kernel_case *cases_linalg(int *num)
{
  *num = (int)(sizeof cases / sizeof cases[0]);
  return cases;
}
