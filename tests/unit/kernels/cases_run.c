/* cases_run.c - kernels of framework/run that no scene launches with the plugins there are:
 * services that few solvers ask for, and substitutes for a form that a contact model does not
 * have. */
#include "linalg/blocks.kern.h"
#include "run/objective/objective.kern.h"
#include "run/plugins/pairs.kern.h"
#include "run/plugins/vet.kern.h"
#include "run/step/step.kern.h"
#include "support/bufs.h"
#include "unit/kernels/cases.h"

/* vertices, terms */
#define N INT64_C(5003)
#define M INT64_C(7001)
enum { OBJECTS = 4 };

static void make_share(void *data, int64_t count, uint64_t *random)
{
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i) v[i] = (loom_real)(0.5 + 0.75 * t_uniform(random));
}
static void make_run_fixed(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i) ((uint8_t *)data)[i] = t_random(random) % 9 == 0;
}
static void make_run_vertex(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = (int32_t)(t_random(random) % N);
}
/* of four corners the last two may be unused */
static void make_corners(void *data, int64_t count, uint64_t *random)
{
  make_run_vertex(data, count, random);
  for (int64_t i = 0; i < count; ++i)
    if (i % 4 > 1 && t_random(random) % 2 == 0) ((int32_t *)data)[i] = -1;
}

static void make_even_keys(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((uint64_t *)data)[i] = (uint64_t)(i * N / count);
}
static void make_reversed(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = (int32_t)(count - 1 - i);
}

static void make_pair_kind(void *data, int64_t count, uint64_t *random)
{
  static const int32_t kinds[] = {LOOM_PAIR_VT, LOOM_PAIR_EE, LOOM_PAIR_VE, LOOM_PAIR_VV};
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = kinds[t_random(random) % 4];
}
static void make_object(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = (int32_t)(t_random(random) % OBJECTS);
}

static void set_key(void *args) { ((blocks_key_args *)args)->n = N; }
static void set_sum(void *args) { ((blocks_sum_args *)args)->m = M; }
static void set_step(void *args) { ((inertia_args *)args)->inv_h2 = LK_R(1e4); }

#define ENTRY(name) static const lk_entry e_##name = LK_ENTRY(name)
ENTRY(run_inertia_apply);
ENTRY(run_mass_times);
ENTRY(run_min);
ENTRY(run_pair_apart);
ENTRY(run_pair_within);
ENTRY(run_quad_energy);
ENTRY(run_quad_gradient);
ENTRY(run_quad_hessian);
ENTRY(blocks_vertex_key);
ENTRY(blocks_key_sum);
ENTRY(blocks_apply);
ENTRY(blocks_append);
ENTRY(vet_unit);

#define FIELD(type, member, kind, access, count, make) \
  {                                                    \
    offsetof(type, member), kind, access, count, make  \
  }
#define REALS(type, member, count) FIELD(type, member, LOOM_REAL, LOOM_READ, count, kc_uniform)
#define OUT(type, member, count)   FIELD(type, member, LOOM_REAL, LOOM_WRITE, count, NULL)
#define INERTIA                                                          \
  REALS(inertia_args, x, 3 * N), REALS(inertia_args, y, 3 * N),          \
      FIELD(inertia_args, m, LOOM_REAL, LOOM_READ, N, make_share),       \
      FIELD(inertia_args, fixed, LOOM_U8, LOOM_READ, N, make_run_fixed), \
      FIELD(inertia_args, out, LOOM_REAL, LOOM_RDWR, 3 * N, kc_uniform)
#define QUAD                                                                                 \
  REALS(quad_args, x, 3 * N), FIELD(quad_args, v, LOOM_I32, LOOM_READ, 4 * M, make_corners), \
      REALS(quad_args, w, 4 * M), FIELD(quad_args, k, LOOM_REAL, LOOM_READ, M, make_share),  \
      REALS(quad_args, p, 3 * M), REALS(quad_args, dir, 3 * M)

/* of type, or of its member `of`; every corner has a vertex of one of OBJECTS objects, some are
 * rigid */
#define OWNERS(type, of)                                              \
  FIELD(type, of kind, LOOM_I32, LOOM_READ, M, make_pair_kind),       \
      FIELD(type, of v, LOOM_I32, LOOM_READ, 4 * M, make_run_vertex), \
      FIELD(type, of object, LOOM_I32, LOOM_READ, N, make_object),    \
      FIELD(type, of rigid, LOOM_U8, LOOM_READ, OBJECTS, make_run_fixed)

static const kernel_case cases[] = {
    {&e_run_pair_apart,
     M,
     0,
     0,
     NULL,
     {OWNERS(pair_apart_args, of.), FIELD(pair_apart_args, perm, LOOM_I32, LOOM_WRITE, M, NULL),
      FIELD(pair_apart_args, flag, LOOM_I64, LOOM_WRITE, M, NULL)}},
    {&e_run_pair_within, M, M, 1, NULL, {OWNERS(pair_owners, )}},
    {&e_run_inertia_apply, N, 0, 0, set_step, {INERTIA}},
    {&e_run_mass_times, N, 0, 0, set_step, {INERTIA}},
    {&e_run_min,
     N,
     0,
     0,
     NULL,
     {FIELD(min_args, a, LOOM_REAL, LOOM_RDWR, N, kc_uniform), REALS(min_args, b, N)}},
    {&e_run_quad_energy, M, M, 1, NULL, {QUAD}},
    {&e_run_quad_gradient, M, 0, 0, NULL, {QUAD, OUT(quad_args, out, 12 * M)}},
    {&e_run_quad_hessian,
     M,
     0,
     0,
     NULL,
     {QUAD, OUT(quad_args, out, 144 * M), FIELD(quad_args, row, LOOM_I32, LOOM_WRITE, 16 * M, NULL),
      FIELD(quad_args, col, LOOM_I32, LOOM_WRITE, 16 * M, NULL)}},
    {&e_blocks_vertex_key,
     4 * M,
     0,
     0,
     set_key,
     {FIELD(blocks_key_args, id, LOOM_I32, LOOM_READ, 4 * M, make_corners),
      FIELD(blocks_key_args, key, LOOM_U64, LOOM_WRITE, 4 * M, NULL)}},
    {&e_blocks_key_sum,
     N,
     0,
     0,
     set_sum,
     {FIELD(blocks_sum_args, key, LOOM_U64, LOOM_READ, M, make_even_keys),
      FIELD(blocks_sum_args, perm, LOOM_I32, LOOM_READ, M, make_reversed),
      REALS(blocks_sum_args, val, 3 * M),
      FIELD(blocks_sum_args, out, LOOM_REAL, LOOM_RDWR, 3 * N, kc_uniform)}},
    {&e_blocks_apply,
     M,
     0,
     0,
     NULL,
     {REALS(blocks_apply_args, H, 9 * M),
      FIELD(blocks_apply_args, col, LOOM_I32, LOOM_READ, M, make_run_vertex),
      REALS(blocks_apply_args, p, 3 * N), REALS(blocks_apply_args, q, 3 * N),
      OUT(blocks_apply_args, val, 3 * M)}},
    {&e_blocks_append,
     M,
     0,
     0,
     NULL,
     {FIELD(blocks_append_args, row, LOOM_I32, LOOM_READ, M, make_run_vertex),
      FIELD(blocks_append_args, col, LOOM_I32, LOOM_READ, M, make_run_vertex),
      REALS(blocks_append_args, val, 9 * M),
      FIELD(blocks_append_args, row2, LOOM_I32, LOOM_WRITE, M, NULL),
      FIELD(blocks_append_args, col2, LOOM_I32, LOOM_WRITE, M, NULL),
      OUT(blocks_append_args, val2, 9 * M)}},
    {&e_vet_unit, N, 0, 1, NULL, {FIELD(vet_unit_args, t, LOOM_REAL, LOOM_READ, N, make_share)}},
};

const kernel_case *cases_run(int *num)
{
  *num = (int)(sizeof cases / sizeof cases[0]);
  return cases;
}
