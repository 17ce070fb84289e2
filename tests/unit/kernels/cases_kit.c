/* cases_kit.c - kernels of kits that are launched on the CPU alone. */
#include "kit/contact_diagonal.kern.h"
#include "support/bufs.h"
#include "unit/kernels/cases.h"

/* vertices, terms, corners of a term */
#define N INT64_C(5003)
#define M INT64_C(7001)
enum { WIDTH = 4 };

static void make_kit_vertex(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i)
    ((int32_t *)data)[i] =
        i % WIDTH > 1 && t_random(random) % 2 == 0 ? -1 : (int32_t)(t_random(random) % N);
}
static void make_kit_fixed(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i) ((uint8_t *)data)[i] = t_random(random) % 9 == 0;
}
/* a term in three has no stiffness */
static void make_stiffness(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i)
    ((loom_real *)data)[i] = t_random(random) % 3 == 0 ? 0 : (loom_real)(1.5 + t_uniform(random));
}
/* room for every corner of each term */
static void make_corner_places(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((int64_t *)data)[i] = WIDTH * i;
}
static void make_no_corner(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((int32_t *)data)[i] = -1;
}
static void make_no_key(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t i = 0; i < count; ++i) ((uint64_t *)data)[i] = N;
}
static void set_sizes(void *args)
{
  contact_diagonal_args *const a = args;
  a->n = N;
  a->width = WIDTH;
}

static const lk_entry count = LK_ENTRY(contact_diagonal_count),
                      list = LK_ENTRY(contact_diagonal_list);

#define FIELD(member, kind, access, count, make)                       \
  {                                                                    \
    offsetof(contact_diagonal_args, member), kind, access, count, make \
  }
#define TERMS                                               \
  FIELD(v, LOOM_I32, LOOM_READ, WIDTH *M, make_kit_vertex), \
      FIELD(w, LOOM_REAL, LOOM_READ, WIDTH *M, kc_uniform), \
      FIELD(k, LOOM_REAL, LOOM_READ, M, make_stiffness),    \
      FIELD(fixed, LOOM_U8, LOOM_READ, N, make_kit_fixed)

static const kernel_case cases[] = {
    {&count,
     M,
     0,
     0,
     set_sizes,
     {TERMS, FIELD(num, LOOM_I64, LOOM_WRITE, M, NULL),
      FIELD(all, LOOM_REAL, LOOM_WRITE, M, NULL)}},
    {&list,
     M,
     0,
     0,
     set_sizes,
     {TERMS, FIELD(place, LOOM_I64, LOOM_READ, M + 1, make_corner_places),
      FIELD(corner, LOOM_I32, LOOM_RDWR, WIDTH *M, make_no_corner),
      FIELD(key, LOOM_U64, LOOM_RDWR, WIDTH *M, make_no_key)}},
};

const kernel_case *cases_kit(int *num)
{
  *num = (int)(sizeof cases / sizeof cases[0]);
  return cases;
}
