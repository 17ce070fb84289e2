/* none.c - no contact forces and no corrections: a post-only model that fits every solver and every
 * collision plugin. */
#include "contact_none.h"
#include "loom/plug.h"

typedef struct {
  const loom_host *host;
} none;

static loom_status none_contact_create(const loom_host *host, const loom_scene *sc,
                                       const loom_exec *e, const void *set, void **self)
{
  (void)sc, (void)e, (void)set;
  LOOM_TRY(plug_new(host, sizeof(none), self));
  none *const p = *self;
  p->host = host;
  return LOOM_OK;
}

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = 0,
    .needs = 0,
    .pair_kinds = LOOM_PAIR_MASK_ALL,
    .create = none_contact_create,
    .destroy = plug_free,
};

const loom_plugin contact_none_plugin = {
    LOOM_PLUGIN(contact, ops, LOOM_ON_CPU | LOOM_ON_CUDA),
    .name = "none",
    .version = "0.1.0",
    .summary = "no contact forces",
    .reference = "none",
    .license = "MIT",
};
