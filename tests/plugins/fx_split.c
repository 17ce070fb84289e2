/* fx_split.c - time splitting at its smallest: a solver that goes half of the way to the inertial
 * target per iteration and wants no filter before the end of the step, a step bound, and a contact
 * model without forces that corrects the rest of the last cut, by lifting every free vertex, or
 * refuses steps that are too long for it.  Each logs how often it was asked, in every way there is.
 */
#include <stdlib.h>

#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct settings {
  int32_t resolve;
  double lift;    /* m */
  double share;   /* of the way that is left */
  double longest; /* s, step that it corrects */
  double from;    /* s, or that ends before this time */
} settings;

typedef struct split {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  double calls; /* of iterate(), max_step() or resolve() in this step */
} split;

static loom_status fx_split_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                   const void *set, void **self)
{
  split *const p = calloc(1, sizeof *p);
  LOOM_CHECK(host, p != NULL, LOOM_E_NOMEM, "no memory");
  *self = p;
  p->host = host;
  p->sc = sc;
  p->e = e;
  if (set != NULL) p->set = *(const settings *)set;
  return LOOM_OK;
}

static void fx_split_destroy(void *self) { free(self); }

static loom_status fx_split_begin_step(void *self, const loom_step *s)
{
  split *const p = self;
  (void)s;
  p->calls = 0.0;
  return LOOM_OK;
}

/* ---- the solver ---- */

static loom_status fx_split_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  split *const p = self;
  plug_maps m = plug_maps_on(p->host, p->e);
  const loom_real *const x = plug_read_host(&m, s->x), *const y = plug_read_host(&m, s->y);
  loom_real *const dir = plug_write_host(&m, s->trial);
  LOOM_TRY(m.status);
  (void)it;
  ++p->calls;
  for (int64_t i = 0; i < 3 * (int64_t)p->sc->num_verts; ++i)
    dir[i] = (loom_real)0.5 * (y[i] - x[i]);
  return plug_unbind(&m);
}

static loom_status fx_log(void *self, const loom_step *s, double *out)
{
  const split *const p = self;
  (void)s;
  out[0] = p->calls;
  return LOOM_OK;
}

static const loom_column columns[] = {{"calls", "1", "How often it was asked in this step."}};

static const loom_solver_ops solver_ops = {.struct_size = sizeof solver_ops,
                                           .trial = LOOM_TRIAL_DIRECTION,
                                           .filter_when = LOOM_FILTER_END,
                                           .create = fx_split_create,
                                           .destroy = fx_split_destroy,
                                           .begin_step = fx_split_begin_step,
                                           .iterate = fx_split_iterate,
                                           .log_step = fx_log};

static const loom_plugin solver = {
    LOOM_PLUGIN(solver, solver_ops, LOOM_ON_CPU),
    .name = "fx_split",
    .version = "1.0.0",
    .summary = "half of the way to the inertial target",
    .reference = "none",
    .license = "MIT",
    LOOM_STEP_COLUMNS(columns),
};

/* ---- the bound ---- */

static const loom_param bound_params[] = {
    LOOM_PARAM_REAL(settings, share, 0.5, 0, 1, "1", "Share of the way that is left."),
};

/* The guess of a step, before its first iteration, passes. */
static loom_status fx_split_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                     loom_bound *out)
{
  split *const p = self;
  (void)x0, (void)x1;
  ++p->calls;
  out->t_global = s->iter >= 0 ? p->set.share : 1.0;
  return LOOM_OK;
}

static const loom_collision_ops bound_ops = {.struct_size = sizeof bound_ops,
                                             .provides = LOOM_COLL_STEP_GLOBAL,
                                             .pair_kinds = LOOM_BIT(LOOM_PAIR_VT),
                                             .create = fx_split_create,
                                             .destroy = fx_split_destroy,
                                             .begin_step = fx_split_begin_step,
                                             .max_step = fx_split_max_step,
                                             .log_iter = fx_log};

static const loom_plugin bound = {
    LOOM_PLUGIN(collision, bound_ops, LOOM_ON_CPU),
    .name = "fx_split",
    .version = "1.0.0",
    .summary = "cuts steps",
    .reference = "none",
    .license = "MIT",
    LOOM_SETTINGS(settings, bound_params),
    LOOM_COLUMNS(columns),
};

/* ---- the contact model ---- */

static const loom_param params[] = {
    LOOM_PARAM_BOOL(settings, resolve, 1, "Whether it corrects anything."),
    LOOM_PARAM_REAL(settings, lift, 0.01, 0, 1, "m", "How far it lifts free vertices."),
    LOOM_PARAM_REAL(settings, longest, 1, 0, 1, "s", "Longest step that it corrects."),
    LOOM_PARAM_REAL(settings, from, 0, 0, 1e6, "s", "Longer steps that end earlier are corrected."),
};

static loom_status fx_resolve(void *self, const loom_step *s, loom_buf *x_start, loom_buf *x_trial)
{
  split *const p = self;
  if (s->h > p->set.longest && s->time >= p->set.from) return LOOM_REJECTED;
  plug_maps m = plug_maps_on(p->host, p->e);
  loom_real *const x = plug_rdwr_host(&m, x_trial);
  const uint8_t *const fixed = plug_read_host(&m, p->sc->fixed);
  LOOM_TRY(m.status);
  (void)x_start;
  for (int64_t i = 0; i < p->sc->num_verts; ++i)
    if (!fixed[i]) x[3 * i + 2] += (loom_real)p->set.lift;
  ++p->calls;
  return plug_unbind(&m);
}

static loom_status fx_split_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  const split *const p = self;
  (void)s;
  out->extra[0] = p->calls;
  return LOOM_OK;
}

static uint32_t fx_lacks(const void *set)
{
  return ((const settings *)set)->resolve ? 0 : LOOM_CONT_RESOLVE;
}

static const loom_contact_ops contact_ops = {.struct_size = sizeof contact_ops,
                                             .provides = LOOM_CONT_RESOLVE,
                                             .needs = LOOM_COLL_STEP_GLOBAL,
                                             .pair_kinds = LOOM_BIT(LOOM_PAIR_VT),
                                             .create = fx_split_create,
                                             .destroy = fx_split_destroy,
                                             .begin_step = fx_split_begin_step,
                                             .resolve = fx_resolve,
                                             .metrics = fx_split_metrics,
                                             .log_step = fx_log,
                                             .lacks = fx_lacks};

static const loom_plugin contact = {
    LOOM_PLUGIN(contact, contact_ops, LOOM_ON_CPU),
    .name = "fx_split",
    .version = "1.0.0",
    .summary = "lifts the rest of the last cut",
    .reference = "none",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
    LOOM_STEP_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&solver, &bound, &contact)
