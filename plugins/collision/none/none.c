/* none.c - collision detection that never finds anything: for scenes without contact.
 *
 * It answers every question with "no pairs" and therefore claims no capability: a contact
 * model that needs pairs is refused before step 0 instead of silently doing nothing.
 * none.so exports this plugin and the contact model of the same name. */
#include <stdlib.h>

#include "contact_none.h"
#include "loom/plugin.h"

typedef struct {
  const loom_host *h;
} none;

static loom_status none_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                               const void *set, void **self)
{
  (void)sc, (void)e, (void)set;
  none *p = calloc(1, sizeof *p);
  LOOM_CHECK(h, p != NULL, LOOM_E_NOMEM, "no memory for the instance");
  p->h = h;
  *self = p;
  return LOOM_OK;
}

static void none_destroy(void *self) { free(self); }

static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = 0,
    .pair_kinds = LOOM_PAIR_MASK_ALL,
    .create = none_create,
    .destroy = none_destroy,
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
