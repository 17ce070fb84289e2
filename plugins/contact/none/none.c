/* none.c - no contact forces: a post-only model that corrects nothing, so it fits every
 * solver and every collision plugin. */
#include <math.h>
#include <stdlib.h>

#include "contact_none.h"

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

static loom_status none_begin_step(void *self, const loom_step *s)
{
  (void)self, (void)s;
  return LOOM_OK;
}

/* Detection is skipped altogether. */
static loom_status none_plan(void *self, const loom_step *s, loom_query *q)
{
  (void)self, (void)s;
  q->what = 0;
  return LOOM_OK;
}

static loom_status none_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                               uint32_t *changed)
{
  (void)self, (void)s, (void)pairs, (void)when;
  *changed = LOOM_CHANGED_NONE;
  return LOOM_OK;
}

static loom_status none_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  (void)self, (void)s;
  out->active = 0;
  out->min_gap = NAN;
  out->max_force = 0.0;
  out->dissipated = 0.0;
  return LOOM_OK;
}

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = 0,
                                     .needs = 0,
                                     .pair_kinds = LOOM_PAIR_MASK_ALL,
                                     .create = none_create,
                                     .destroy = none_destroy,
                                     .begin_step = none_begin_step,
                                     .plan = none_plan,
                                     .update = none_update,
                                     .metrics = none_metrics};

const loom_plugin contact_none_plugin = {
    LOOM_PLUGIN(contact, ops, LOOM_ON_CPU | LOOM_ON_CUDA),
    .name = "none",
    .version = "0.1.0",
    .summary = "no contact forces",
    .reference = "none",
    .license = "MIT",
};
