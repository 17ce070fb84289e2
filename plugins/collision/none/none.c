/* none.c - collision detection that finds no pairs: for scenes without contact.
 *
 * It claims no capability, so a contact model that needs pairs is refused before step 0 instead
 * of silently having no effect.
 * none.so exports this plugin and the contact model of the same name. */
#include "contact_none.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct {
  const loom_host *host;
} none;

static loom_status none_collision_create(const loom_host *host, const loom_scene *sc,
                                         const loom_exec *e, const void *set, void **self)
{
  (void)sc, (void)e, (void)set;
  LOOM_TRY(plug_new(host, sizeof(none), self));
  none *const p = *self;
  p->host = host;
  return LOOM_OK;
}

static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = 0,
    .pair_kinds = LOOM_PAIR_MASK_ALL,
    .create = none_collision_create,
    .destroy = plug_free,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LOOM_ON_CPU | LOOM_ON_CUDA),
    .name = "none",
    .version = "0.1.0",
    .summary = "no detection: scenes without contact",
    .reference = "none",
    .license = "MIT",
};

LOOM_EXPORT_PLUGIN(&plugin, &contact_none_plugin)
