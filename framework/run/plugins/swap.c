/* swap.c - a section with a plugin that was replaced from outside: which keys its plugins have. */
#include "run/plugins/stand_in.h"
#include "run/run_state.h"

typedef struct place {
  run *r;
  int kind; /* LOOM_KIND_* */
} place;

static loom_status find_swap_params(void *user, loom_err *why, const char *name,
                                    const loom_param **params, uint32_t *num_params)
{
  const place *const p = user;
  const loom_plugin *found = NULL;
  LOOM_TRY(stand_in_look_up(p->r, why, p->kind, name, &found));
  *params = found->params;
  *num_params = found->num_params;
  return LOOM_OK;
}

static void report_swap(void *user, const char *text)
{
  const place *const p = user;
  if (p->r->opt->foreign != NULL)
    return; /* that no setting of a solver is used goes without saying */
  run_message(p->r, LOOM_LOG_INFO, text);
}

loom_status swap_keys(run *r, const cfg_section *s, int kind)
{
  place at = {r, kind};
  const cfg_owners owners = {find_swap_params, report_swap, &at};
  return cfg_swap(r->err, s, "plugin", &owners);
}
