/* acl.c - contact model `acl`: adaptive contact linearization.
 *
 * The contact energy of yarns (geom/yarn.kern.h) is split into contact sets, boxes of pairs of
 * quadrature points.  Each has a linear model of its force about the configuration it was built
 * in, which turns with the set; it is built anew when the set has deformed beyond `tolerance`.
 * Detection explores only pairs that are in no set: it gets the boxes of the sets to leave out.
 *
 * J. M. Kaldor, D. L. James, S. Marschner, Efficient yarn-based cloth with adaptive contact
 * linearization, ACM TOG 29(4), 2010, sections 4 and 5; see README.md for the deviations. */
#include <math.h>
#include <stdlib.h>

#include "acl.h"

static const loom_param params[] = {
    LOOM_PARAM_REAL(acl_settings, stiffness, 3.5, 0, 1e9, "N/m",
                    "k_contact of the energy per squared length of yarn (3000 to 4500 dyn/cm in "
                    "table 1)."),
    LOOM_PARAM_REAL(
        acl_settings, tolerance, 0.04, 0, 1e9, "1",
        "tau: a model is built anew when the metric (eq. 6) exceeds it; 0: exact forces "
        "in every step.  Models make energy: one collision of two free yarns adds 34 % at 0.04, "
        "at any dt, and 0.1 % or less at 0.004; damping hides it."),
    LOOM_PARAM_INT(acl_settings, padding, 3, 1, 64, "points",
                   "alpha: a set reaches this far beyond the points in contact."),
    LOOM_PARAM_REAL(acl_settings, release, 1.05, 1, 100, "1",
                    "A set without contact ends when its points are farther apart than this many "
                    "times both radii (2.1 r, section 5.3)."),
    LOOM_PARAM_REAL(acl_settings, stiction, 0, 0, 1e9, "N/m",
                    "Stiffness of each of the 4 springs across a set that stand for entangled "
                    "fibres; 0: none."),
    LOOM_PARAM_REAL(acl_settings, stiction_break, 1e-9, 0, 1e9, "J",
                    "Energy at which one of these springs breaks and begins anew without force."),
    LOOM_PARAM_GONE("stats",
                    "the log has its numbers: columns of /steps_extra and times of /sections"),
};

/* ---- life ---- */

static void acl_destroy(void *self)
{
  acl *const m = self;
  if (m == NULL) return;
  acl_state_free(m);
  free(m);
}

static loom_status acl_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(acl), self));
  acl *const m = *self;
  m->host = host;
  m->sc = sc;
  m->e = e;
  m->n = sc->num_verts;
  m->set = *(const acl_settings *)set;
  LOOM_TRY(yarn_table_new(host, sc, e, &m->table));
  return acl_state_new(m);
}

static loom_status acl_reset(void *self)
{
  acl_forget(self);
  return LOOM_OK;
}

static loom_status acl_begin_step(void *self, const loom_step *s)
{
  acl *const m = self;
  int32_t changed;
  m->have_force = 0;
  m->change = s->rest_change;
  LOOM_TRY(yarn_table_refresh(m->host, m->sc, &m->table, &changed));
  m->grown |= changed;
  return LOOM_OK;
}

/* Sets adapt once per step, where it starts: the scheme is explicit. */
static loom_status acl_plan(void *self, const loom_step *s, loom_query *q)
{
  acl *const m = self;
  m->planned = s->iter < 0 && m->table.num_segs > 0;
  q->what = m->planned ? LOOM_DETECT_PROXIMITY : 0;
  q->margin = 0;
  q->x0 = q->x1 = s->x_start;
  q->exclude = m->exclude;
  return LOOM_OK;
}

static loom_status acl_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                              uint32_t *changed)
{
  acl *const m = self;
  *changed = LOOM_CHANGED_NONE;
  if (when != LOOM_AFTER_DETECT || !m->planned) return LOOM_OK;
  m->planned = 0;
  *changed = LOOM_CHANGED_VALUES | LOOM_CHANGED_PATTERN;
  return acl_adapt(m, s, pairs);
}

static const loom_column columns[] = {
    {"sets", "1", "contact sets there are"},
    {"built", "1", "models built in this step"},
    {"born", "1", "sets that began in this step"},
    {"died", "1", "sets that ended in this step"},
    {"found", "1", "pairs of segments that detection reported"},
    {"points", "1", "control points of all sets"},
    {"pairs", "1", "pairs of points in contact when models were built"},
};

static loom_status acl_log_step(void *self, const loom_step *s, double *out)
{
  const acl *const m = self;
  int64_t points = 0, pairs = 0;
  (void)s;
  for (int64_t i = 0; i < m->num; ++i)
    if (m->sets[i].state != ACL_DEAD) points += m->sets[i].at.slots, pairs += m->sets[i].pairs;
  out[0] = (double)m->live;
  out[1] = (double)m->built;
  out[2] = (double)m->born;
  out[3] = (double)m->died;
  out[4] = (double)m->found;
  out[5] = (double)points;
  out[6] = (double)pairs;
  return LOOM_OK;
}

static loom_status acl_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  acl *const m = self;
  loom_real least = (loom_real)INFINITY;
  (void)s;
  out->active = m->live;
  if (m->live == 0) return LOOM_OK;
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const t = &m->sets[i];
    if (t->state == ACL_DEAD) continue;
    const loom_real gap = LK_SQRT(t->at.eps2) - t->at.reach; /* when the model was built */
    least = gap < least ? gap : least;
  }
  out->min_gap = (double)least;
  return acl_max_force(m, &out->max_force);
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_GRADIENT,
                                     .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_EXCLUDE,
                                     .pair_kinds = LOOM_BIT(LOOM_PAIR_YY),
                                     .create = acl_create,
                                     .destroy = acl_destroy,
                                     .reset = acl_reset,
                                     .begin_step = acl_begin_step,
                                     .plan = acl_plan,
                                     .update = acl_update,
                                     .eval = acl_eval,
                                     .metrics = acl_metrics,
                                     .checkpoint = acl_checkpoint,
                                     .log_step = acl_log_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "acl",
    .version = "0.1.0",
    .summary = "linear models of yarn contacts that turn with them and are built anew as needed",
    .reference = "J. M. Kaldor, D. L. James, S. Marschner, Efficient yarn-based cloth with "
                 "adaptive contact linearization, ACM TOG 29(4), 2010, doi 10.1145/1778765.1778842",
    .license = "MIT",
    LOOM_SETTINGS(acl_settings, params),
    LOOM_STEP_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
