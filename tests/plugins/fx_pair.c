/* fx_pair.c - one file with two plugins of one name and different kinds. */
#include "loom/plugin.h"

static loom_status fx_pair_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                  const void *settings, void **self)
{
  (void)host, (void)sc, (void)e, (void)settings;
  *self = NULL;
  return LOOM_OK;
}
static void fx_pair_destroy(void *self) { (void)self; }
static loom_status fx_pair_step(void *self, const loom_step *s)
{
  (void)self, (void)s;
  return LOOM_OK;
}
static loom_status fx_pair_detect(void *self, const loom_step *s, const loom_query *q,
                                  loom_pairs *out)
{
  (void)self, (void)s, (void)q;
  out->count = 0;
  return LOOM_OK;
}
static loom_status fx_pair_plan(void *self, const loom_step *s, loom_query *q)
{
  (void)self, (void)s;
  q->what = 0;
  return LOOM_OK;
}
static loom_status fx_pair_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                                  uint32_t *changed)
{
  (void)self, (void)s, (void)pairs, (void)when;
  *changed = LOOM_CHANGED_NONE;
  return LOOM_OK;
}
static loom_status fx_pair_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  (void)self, (void)s;
  out->active = 0;
  return LOOM_OK;
}

static const loom_collision_ops collision_ops = {.struct_size = sizeof(loom_collision_ops),
                                                 .create = fx_pair_create,
                                                 .destroy = fx_pair_destroy,
                                                 .begin_step = fx_pair_step,
                                                 .detect = fx_pair_detect};
static const loom_contact_ops contact_ops = {.struct_size = sizeof(loom_contact_ops),
                                             .create = fx_pair_create,
                                             .destroy = fx_pair_destroy,
                                             .begin_step = fx_pair_step,
                                             .plan = fx_pair_plan,
                                             .update = fx_pair_update,
                                             .metrics = fx_pair_metrics};

static const loom_plugin plugins[] = {
    {LOOM_PLUGIN(collision, collision_ops, LOOM_ON_CPU | LOOM_ON_CUDA), .name = "fx_pair",
     .version = "0.1.0", .summary = "finds nothing", .reference = "none", .license = "MIT"},
    {LOOM_PLUGIN(contact, contact_ops, LOOM_ON_CPU | LOOM_ON_CUDA), .name = "fx_pair",
     .version = "0.1.0", .summary = "no contact", .reference = "none", .license = "MIT"},
};

LOOM_EXPORT_PLUGIN(&plugins[0], &plugins[1])
