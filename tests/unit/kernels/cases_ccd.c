/* cases_ccd.c - the kernels of framework/geom with random queries. */
#include "geom/ccd_list.kern.h"
#include "support/bufs.h"
#include "support/ccd_cases.h"
#include "unit/kernels/cases.h"

/* More queries than stay on one thread. */
enum { M = 4001 };

/* Query q has the vertices 4 q ...; all families take turns. */
static void make_end(int kind, int end, loom_real *out)
{
  double x[2][12];
  for (int q = 0; q < M; ++q) {
    ccd_case(kind, q % CASE_FAMILIES, (uint64_t)q, x[0], x[1]);
    for (int i = 0; i < 12; ++i) out[12 * q + i] = (loom_real)x[end][i];
  }
}
#define MAKE(kind, end)                                                        \
  static void make_##kind##_##end(void *data, int64_t count, uint64_t *random) \
  {                                                                            \
    (void)count, (void)random;                                                 \
    make_end(kind, end, data);                                                 \
  }
MAKE(0, 0)
MAKE(0, 1)
MAKE(1, 0)
MAKE(1, 1)

static void make_verts(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t k = 0; k < count; ++k) ((int32_t *)data)[k] = (int32_t)k;
}

static void set_toi(ccd_list_args *a, int method)
{
  a->settings = ccd_defaults();
  a->settings.xi = LK_R(1e-3);
  a->method = method;
}
static void set_additive(void *args) { set_toi(args, CCD_ADDITIVE); }
static void set_cubic(void *args) { set_toi(args, CCD_CUBIC); }
static void set_newton(void *args) { set_toi(args, CCD_NEWTON); }

static void set_samples(void *args, int samples, int projection)
{
  ccd_partial_settings *s = &((ccd_partial_args *)args)->settings;
  s->samples = samples;
  s->projection = projection;
  s->eta = LK_R(0.9);
}
static void set_three(void *args) { set_samples(args, CCD_SAMPLES_3, 0); }
static void set_adaptive(void *args) { set_samples(args, CCD_SAMPLES_ADAPTIVE, 1); }

#define ENTRY(name) static const lk_entry e_##name = LK_ENTRY(name);
ENTRY(ccd_list_vt)
ENTRY(ccd_list_ee)
ENTRY(ccd_partial_vt)
ENTRY(ccd_partial_ee)

#define FIELD(args, member, type, access, count, make) \
  {                                                    \
    offsetof(args, member), type, access, count, make  \
  }
#define INPUTS(args, kind)                                            \
  FIELD(args, x0, LOOM_REAL, LOOM_READ, 12 * M, make_##kind##_0),     \
      FIELD(args, x1, LOOM_REAL, LOOM_READ, 12 * M, make_##kind##_1), \
      FIELD(args, verts, LOOM_I32, LOOM_READ, 4 * M, make_verts)
#define TOI(e, kind, set)                                                                    \
  {                                                                                          \
    &e, M, 0, 0, set,                                                                        \
    {                                                                                        \
      INPUTS(ccd_list_args, kind), FIELD(ccd_list_args, toi, LOOM_REAL, LOOM_WRITE, M, NULL) \
    }                                                                                        \
  }
#define PARTIAL(e, kind, set)                                           \
  {                                                                     \
    &e, M, 0, 0, set,                                                   \
    {                                                                   \
      INPUTS(ccd_partial_args, kind),                                   \
          FIELD(ccd_partial_args, flags, LOOM_I32, LOOM_WRITE, M, NULL) \
    }                                                                   \
  }

static const kernel_case cases[] = {
    TOI(e_ccd_list_vt, 0, set_additive),     TOI(e_ccd_list_vt, 0, set_cubic),
    TOI(e_ccd_list_vt, 0, set_newton),       TOI(e_ccd_list_ee, 1, set_additive),
    TOI(e_ccd_list_ee, 1, set_cubic),        TOI(e_ccd_list_ee, 1, set_newton),
    PARTIAL(e_ccd_partial_vt, 0, set_three), PARTIAL(e_ccd_partial_vt, 0, set_adaptive),
    PARTIAL(e_ccd_partial_ee, 1, set_three), PARTIAL(e_ccd_partial_ee, 1, set_adaptive),
};

const kernel_case *cases_ccd(int *num)
{
  *num = (int)(sizeof cases / sizeof cases[0]);
  return cases;
}
