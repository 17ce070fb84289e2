/* fixture.c - the smallest plugin; definitions of the build make the faulty variants. */
#include "loom/plugin.h"

#ifndef FX_MAGIC
#define FX_MAGIC LOOM_MAGIC
#endif
#ifndef FX_MAJOR
#define FX_MAJOR LOOM_ABI_MAJOR
#endif
#ifndef FX_MINOR
#define FX_MINOR LOOM_ABI_MINOR
#endif
#ifndef FX_REAL
#define FX_REAL sizeof(loom_real)
#endif
#ifndef FX_LAYOUT
#define FX_LAYOUT LOOM_LAYOUT
#endif
#ifndef FX_OPS_SIZE
#define FX_OPS_SIZE sizeof(loom_solver_ops)
#endif

static loom_status fixture_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                  const void *settings, void **self)
{
  (void)host, (void)sc, (void)e, (void)settings;
  static char instance; /* it holds no data */
  *self = &instance;
#ifdef FX_CREATE_FAILS
  return LOOM_FAIL(host, LOOM_E_NOMEM, "no room for 7 things; use a smaller mesh");
#else
  return LOOM_OK;
#endif
}
static void fixture_destroy(void *self) { (void)self; }
static loom_status fixture_step(void *self, const loom_step *s)
{
  (void)self, (void)s;
  return LOOM_OK;
}
static loom_status fixture_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  (void)self, (void)s;
  it->inner_iters = 0;
  return LOOM_OK;
}

typedef struct settings {
  double rate;
} settings;
static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, rate, 0.5, 0, 1, "1", "Share of the step to take.")};
static const loom_column columns[] = {{"rate_used", "1", "Share that was taken."}};

static const loom_solver_ops ops = {.struct_size = (uint32_t)FX_OPS_SIZE,
                                    .needs = LOOM_NEED_ELEM_GRADIENT,
                                    .create = fixture_create,
                                    .destroy = fixture_destroy,
                                    .begin_step = fixture_step,
                                    .iterate = fixture_iterate,
                                    .end_step = fixture_step};

static const loom_plugin plugin = {.magic = FX_MAGIC,
                                   .struct_size = (uint32_t)sizeof(loom_plugin),
                                   .abi_major = FX_MAJOR,
                                   .abi_minor = FX_MINOR,
                                   .real_size = FX_REAL,
                                   .kind = LOOM_KIND_SOLVER,
                                   .backends = LOOM_ON_CPU,
                                   .layout = FX_LAYOUT,
                                   .name = FX_NAME,
                                   .version = "1.2.3",
                                   .summary = "does nothing",
                                   .reference = "none",
                                   .license = "MIT",
                                   .build = LOOM_BUILD_INFO,
                                   .num_params = LOOM_COUNT(params),
                                   .settings_size = sizeof(settings),
                                   .params = params,
                                   .num_columns = LOOM_COUNT(columns),
                                   .columns = columns,
                                   .ops.solver = &ops};

const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index)
{
  (void)host_abi;
  return index == 0 ? &plugin : NULL;
}
