/* fx_cut.c - a collision plugin that finds no pairs and cuts the last filter of every k-th step
 * to a given share: truncated steps for the tests of residual forwarding. */
#include <stdlib.h>

#include "loom/plugin.h"

typedef struct settings {
  double share;
  int64_t every, first;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, share, 0.1, 0, 1, "1", "Share of the way that is left."),
    LOOM_PARAM_INT(settings, every, 5, 1, 1000000, "1", "Steps from one cut to the next."),
    LOOM_PARAM_INT(settings, first, 4, 0, 1000000, "1", "First step that is cut."),
};

static loom_status fx_cut_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                 const void *set, void **self)
{
  settings *const s = malloc(sizeof *s);
  (void)sc, (void)e;
  LOOM_CHECK(host, s != NULL, LOOM_E_NOMEM, "no memory");
  *s = *(const settings *)set;
  *self = s;
  return LOOM_OK;
}

static void fx_cut_destroy(void *self) { free(self); }

static loom_status fx_cut_detect(void *self, const loom_step *s, const loom_query *q,
                                 loom_pairs *out)
{
  (void)self, (void)s, (void)q, (void)out;
  return LOOM_OK;
}

/* The guess of a step, before its first iteration, passes. */
static loom_status fx_cut_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                   loom_bound *out)
{
  const settings *const set = self;
  const int64_t k = s->index - set->first;
  (void)x0, (void)x1;
  out->t_global = s->iter >= 0 && k >= 0 && k % set->every == 0 ? set->share : 1.0;
  return LOOM_OK;
}

static const loom_collision_ops ops = {.struct_size = sizeof ops,
                                       .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
                                       .pair_kinds = LOOM_BIT(LOOM_PAIR_VT),
                                       .create = fx_cut_create,
                                       .destroy = fx_cut_destroy,
                                       .detect = fx_cut_detect,
                                       .max_step = fx_cut_max_step};

static const loom_plugin plugin = {.magic = LOOM_MAGIC,
                                   .struct_size = (uint32_t)sizeof(loom_plugin),
                                   .abi_major = LOOM_ABI_MAJOR,
                                   .abi_minor = LOOM_ABI_MINOR,
                                   .real_size = sizeof(loom_real),
                                   .kind = LOOM_KIND_COLLISION,
                                   .backends = LOOM_ON_CPU,
                                   .layout = LOOM_LAYOUT,
                                   .name = "fx_cut",
                                   .version = "1.0.0",
                                   .summary = "cuts steps",
                                   .reference = "none",
                                   .license = "MIT",
                                   .build = LOOM_BUILD_INFO,
                                   .num_params = LOOM_COUNT(params),
                                   .settings_size = sizeof(settings),
                                   .params = params,
                                   .ops.collision = &ops};

const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index)
{
  (void)host_abi;
  return index == 0 ? &plugin : NULL;
}
