/* repulsion.c - a linear force pushes pairs apart that are closer than `reach`: the exemplary
 * contact plugin.
 *
 * Read this file first if you want to write a contact model, then kit/candidates.h.  It has only
 * the parts that a contact model needs: settings, state, the query for detection, the pairs that
 * detection found, energy with gradient and Hessian, the metrics for the log, and the descriptor.
 * repulsion.kern.c has the law of one pair.  The model acts between cloth and cloth and between
 * cloth and bodies of every kind, on CPU and CUDA.
 *
 *   B(x) = sum over pairs of  m k/2 (reach - gap)^2   where gap < reach, else 0   [J]
 *
 * A pair is a vertex and a triangle, two edges, or a vertex and a body; its gap is their distance
 * minus the radii of both sides (m), and k is the setting `stiffness` (N/m).  The mollifier m is 1;
 * for two nearly parallel edges it falls to 0, so that B stays smooth (geom/barrier.kern.h).
 *
 * B is the penalty of D. Terzopoulos et al., Elastically deformable models, SIGGRAPH 1987,
 * section 5.  DEVIATION: its force is linear; in the paper the force grows exponentially with the
 * depth.  The model has no friction.  Its force is finite, so fast cloth can pass through.
 *
 * The plugin has no checkpoint(): it keeps only the candidate pairs, and every step finds them
 * anew.
 */
#include <math.h>

#include "kit/pair_energy.h"
#include "repulsion.kern.h"

/* Settings: a plain struct, and a table from which the core parses, checks, documents and logs
 * every member.  The table is the only place for units, ranges and defaults. */
typedef struct {
  double reach;
  double stiffness;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, reach, 2e-3, 0, 1, "m",
                    "Gap (distance minus both radii) at which the force begins.", LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(settings, stiffness, 100, 0, 1e12, "N/m",
                    "Force on a pair per metre by which its gap is smaller than `reach`."),
};

/* State of one instance.  Two instances may run side by side, so a plugin has no globals. */
typedef struct {
  candidates c;       /* pairs that are near each other, and their distances */
  pair_energy energy; /* the law, summed over these pairs */
} repulsion;

/* ---- life ---- */

static loom_status repulsion_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                    const void *set, void **self)
{
  static const pair_kernels kernels = PAIR_KERNELS(repulsion);
  const settings *const given = set;
  /* from here on the core calls destroy() even when create() fails: errors need no clean-up here */
  LOOM_TRY(plug_new(host, sizeof(repulsion), self));
  repulsion *const p = *self;
  p->energy = (pair_energy){.c = &p->c, .k = &kernels};
  p->energy.number[REPULSION_STIFFNESS] = given->stiffness;
  p->energy.number[REPULSION_REACH] = given->reach;
  /* The last two arguments set the slack to the reach, or to a quarter of the mean edge where that
   * is less.  Detection lists pairs with a gap below reach + slack, so that the list stays complete
   * until a vertex has moved by slack/2. */
  return cand_new(&p->c, host, sc, e, given->reach, 0.0, given->reach);
}

/* The core calls reset() after it has replaced the positions, as a replay does: the candidates
 * belong to the old positions. */
static loom_status repulsion_reset(void *self)
{
  cand_reset(&((repulsion *)self)->c);
  return LOOM_OK;
}

/* Phase PREDICT: bodies have new poses, so the candidates of the last step are dropped. */
static loom_status repulsion_begin_step(void *self, const loom_step *s)
{
  (void)s;
  return cand_begin_step(&((repulsion *)self)->c);
}

/* ---- pairs ---- */

/* Phase DETECT, first half: fills in the query with the kinds of pairs, the largest gap and the
 * positions.  Then the collision plugin looks for these pairs. */
static loom_status repulsion_plan(void *self, const loom_step *s, loom_query *q)
{
  return cand_plan(&((repulsion *)self)->c, s, q);
}

/* Phase DETECT, second half (LOOM_AFTER_DETECT): takes over the pairs that the collision plugin
 * found.  The core also calls update() after every accepted iterate (LOOM_AFTER_ACCEPT), where this
 * model has no work. */
static loom_status repulsion_update(void *self, const loom_step *s, const loom_pairs *pairs,
                                    int when, uint32_t *changed)
{
  *changed = LOOM_CHANGED_NONE; /* tells the solver: a new list gives the same energy at x */
  if (when != LOOM_AFTER_DETECT) return LOOM_OK;
  return cand_update(&((repulsion *)self)->c, s, pairs);
}

/* ---- energy, gradient, Hessian ---- */

/* Adds to each requested output; outputs that are not requested are NULL.  cand_activate_all()
 * computes the distances at x and lists the pairs with a gap below `reach`, the active pairs;
 * s->progress says where bodies stand. */
static loom_status repulsion_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                  double *dissipation, loom_buf *grad)
{
  repulsion *const p = self;
  (void)dissipation; /* a model without friction adds none */
  LOOM_TRY(cand_activate_all(&p->c, s, x, s->progress, NULL));
  return pair_eval(&p->energy, s, x, energy, grad);
}

/* Appends 3x3 blocks to `out`.  Where `out` is too small it sets out->count to the number needed
 * and returns LOOM_GROW; the core then enlarges `out` and calls again. */
static loom_status repulsion_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                                     loom_blocks3 *out)
{
  repulsion *const p = self;
  const int64_t first = out->count;
  int64_t num = 0;
  LOOM_TRY(cand_activate_all(&p->c, s, x, s->progress, NULL));
  LOOM_TRY(cand_count(&p->c, 1, &num)); /* blocks of all active pairs */
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  return pair_energy_hessian(&p->energy, s, x, how, first, out);
}

/* Numbers for the log: active pairs, the smallest gap (m) and the largest force (N). */
static loom_status repulsion_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  repulsion *const p = self;
  LOOM_TRY(cand_activate_all(&p->c, s, s->x, s->progress, NULL));
  out->active = p->c.act.num;
  LOOM_TRY(cand_least_gap_later(&p->c, &out->min_gap));
  return pair_strongest(&p->energy, s, s->x, &out->max_force);
}

/* The callbacks.  Before step 0 the core checks that `provides` covers the needs of the solver, and
 * that the collision plugin provides everything that `needs` lists. */
static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN,
    .needs = LOOM_COLL_PROXIMITY,
    .pair_kinds = CAND_KINDS,
    .create = repulsion_create,
    .destroy = plug_free, /* the core frees the buffers of an instance */
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
    /* a line about the method; further lines name its limits */
    .summary = "linear repulsion of cloth and bodies, without friction; the exemplary plugin\n"
               "it has no friction: [body.NAME] friction has no effect",
    .reference = "D. Terzopoulos, J. Platt, A. Barr, K. Fleischer, Elastically deformable models, "
                 "SIGGRAPH 1987, doi 10.1145/37401.37427",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

/* The only exported symbol of the module, loom_plugin_query(). */
LOOM_EXPORT_PLUGIN(&plugin)
