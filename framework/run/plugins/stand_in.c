/* stand_in.c - see stand_in.h. */
#include "run/plugins/stand_in.h"

#include <string.h>

#include "core/build_info.h"
#include "run/run_state.h"

static loom_status create_stand_in(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                                   const void *set, void **self)
{
  static int it; /* *self must not be NULL */
  (void)h, (void)sc, (void)e, (void)set;
  *self = &it;
  return LOOM_OK;
}

static void destroy_stand_in(void *self) { (void)self; }

/* The steps of such a run do not ask for an iteration (step/foreign_step.c). */
static loom_status refuse_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  (void)self, (void)s, (void)it;
  return LOOM_E_INTERNAL;
}

static const loom_solver_ops ops = {.struct_size = sizeof ops,
                                    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT,
                                    .trial = LOOM_TRIAL_POINT,
                                    .filter_when = LOOM_FILTER_EVERY,
                                    .create = create_stand_in,
                                    .destroy = destroy_stand_in,
                                    .iterate = refuse_iterate};

static const loom_plugin plugin = {LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
                                   .name = STAND_IN_NAME,
                                   .version = "1",
                                   .summary = "stands for the program whose frames are measured",
                                   .reference = "none",
                                   .license = "MIT"};

loom_status stand_in_look_up(run *r, loom_err *err, int kind, const char *name,
                             const loom_plugin **out)
{
  const reg_entry *e = NULL;
  *out = &plugin;
  if (r->opt->foreign != NULL && kind == LOOM_KIND_SOLVER && strcmp(name, STAND_IN_NAME) == 0)
    return LOOM_OK;
  LOOM_TRY(registry_find(err, r->reg, kind, name, &e));
  *out = e->plugin;
  return LOOM_OK;
}
