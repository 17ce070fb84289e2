/* repulsion.c - a linear force between what is closer than `reach`: the exemplary contact plugin.
 *
 * Read this file first if you want to write a contact model, then kit/candidates.h.  It has every
 * part that a model needs and nothing else: settings, state, what detection shall look for, what it
 * found, the forms of the energy, what the log asks for, and the descriptor.  repulsion.kern.c has
 * the law of one pair; it acts on cloth and on bodies of every kind, on CPU and CUDA.
 *
 *   B(x) = sum over pairs of  m k/2 (reach - gap)^2   where gap < reach, else 0
 *
 * over all vertex-triangle and edge-edge pairs and all vertices and bodies; m is the mollifier of
 * nearly parallel edges.  This is the penalty of D. Terzopoulos et al., Elastically deformable
 * models, SIGGRAPH 1987, section 5, in its plainest form: no friction, and nothing keeps what is
 * fast from passing through.
 *
 * Nothing outlives a step but the candidates, which are found again: there is no checkpoint().
 */
#include <math.h>

#include "kit/pair_energy.h"
#include "repulsion.kern.h"

/* Settings: a plain struct, and a table that lets the core parse, check, document and log every
 * member.  Units, ranges and defaults stand here and nowhere else. */
typedef struct {
  double reach;
  double stiffness;
} settings;

static const loom_param params[] = {
    {"reach", LOOM_P_REAL, LOOM_P_OPEN_MIN, offsetof(settings, reach), 2e-3, 0, 1, NULL, NULL, "m",
     "Gap (distance minus both radii) at which the force begins."},
    LOOM_PARAM_REAL(settings, stiffness, 100, 0, 1e12, "N/m",
                    "Force of a pair per length that its gap lacks to `reach`."),
};

/* State of one instance.  There are no globals: two instances may run side by side. */
typedef struct {
  candidates c;       /* which pairs are near, and how near */
  pair_energy energy; /* sums of the law over them */
} repulsion;

/* ---- life ---- */

static loom_status repulsion_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                                    const void *set, void **self)
{
  static const pair_kernels kernels = PAIR_KERNELS(repulsion);
  const settings *const given = set;
  /* from here on destroy() cleans up, also if create() fails below */
  LOOM_TRY(plug_new(h, sizeof(repulsion), self));
  repulsion *const p = *self;
  p->energy = (pair_energy){.c = &p->c, .k = &kernels};
  p->energy.number[REPULSION_STIFFNESS] = given->stiffness;
  p->energy.number[REPULSION_REACH] = given->reach;
  /* pairs are looked for as far again as the force reaches, so that detection is needed seldom */
  return cand_new(&p->c, h, sc, e, given->reach, 0.0, given->reach);
}

/* The state was changed from outside: forget what was found. */
static loom_status repulsion_reset(void *self)
{
  cand_reset(&((repulsion *)self)->c);
  return LOOM_OK;
}

/* PREDICT: bodies have moved since the last step. */
static loom_status repulsion_begin_step(void *self, const loom_step *s)
{
  (void)s;
  return cand_begin_step(&((repulsion *)self)->c);
}

/* ---- pairs ---- */

/* DETECT, first half: which pairs are wanted, up to which gap, at which positions. */
static loom_status repulsion_plan(void *self, const loom_step *s, loom_query *q)
{
  return cand_plan(&((repulsion *)self)->c, s, q);
}

/* DETECT, second half: the pairs that were found.  Also called after every accepted iterate; this
 * model learns nothing from those. */
static loom_status repulsion_update(void *self, const loom_step *s, const loom_pairs *pairs,
                                    int when, uint32_t *changed)
{
  *changed = LOOM_CHANGED_NONE; /* the energy is a function of x alone, whatever was found */
  if (when != LOOM_AFTER_DETECT) return LOOM_OK;
  return cand_update(&((repulsion *)self)->c, s, pairs);
}

/* ---- forms ---- */

/* Adds to what is wanted; the rest is NULL. */
static loom_status repulsion_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                  double *dissipation, loom_buf *grad)
{
  repulsion *const p = self;
  (void)dissipation; /* there is none */
  LOOM_TRY(cand_activate_all(&p->c, s, x, s->progress, NULL));
  return pair_eval(&p->energy, s, x, energy, grad);
}

/* Appends blocks; where there is no room for them it says how many there are. */
static loom_status repulsion_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                                     loom_blocks3 *out)
{
  repulsion *const p = self;
  const int64_t first = out->count;
  int64_t num = 0;
  LOOM_TRY(cand_activate_all(&p->c, s, x, s->progress, NULL));
  LOOM_TRY(cand_count(&p->c, 1, &num));
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  return pair_hessian(&p->energy, s, x, how, first, out);
}

/* What the log tells of the model. */
static loom_status repulsion_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  repulsion *const p = self;
  LOOM_TRY(cand_activate_all(&p->c, s, s->x, s->progress, NULL));
  out->active = p->c.act.num;
  LOOM_TRY(cand_least_gap_later(&p->c, &out->min_gap));
  return pair_strongest(&p->energy, s, s->x, &out->max_force);
}

/* The table the core calls: `provides` is what the fit test compares with what a solver needs,
 * `needs` with what detection can do. */
static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN,
    .needs = LOOM_COLL_PROXIMITY,
    .pair_kinds = CAND_KINDS,
    .create = repulsion_create,
    .destroy = plug_free, /* buffers are freed by the core */
    .reset = repulsion_reset,
    .begin_step = repulsion_begin_step,
    .plan = repulsion_plan,
    .update = repulsion_update,
    .eval = repulsion_eval,
    .hessian = repulsion_hessian,
    .metrics = repulsion_metrics,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "repulsion",
    .version = "0.1.0",
    .summary = "linear repulsion of cloth and bodies, without friction; the exemplary plugin\n"
               "it has no friction, whatever [body.NAME] friction says",
    .reference = "D. Terzopoulos, J. Platt, A. Barr, K. Fleischer, Elastically deformable models, "
                 "SIGGRAPH 1987, doi 10.1145/37401.37427",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

/* The only exported symbol of the module, loom_plugin_query(). */
LOOM_EXPORT_PLUGIN(&plugin)
