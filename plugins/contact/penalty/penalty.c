/* penalty.c - quadratic penalty on the gap, with lagged, smoothed Coulomb friction.
 *
 * A pair is linearised by its detection into a plane: gap g(x) = n . (sum_a w_a x_a - point)
 * minus the rest gap; [detect] every sets how often the core renews pairs.  The energy is
 *   B = sum k/2 min(g - offset, 0)^2,   k = stiffness / sum_a (w_a^2 / m_a)   [N/m]
 * over free vertices (of an edge or a triangle on a body over all of its vertices: a point near a
 * fixed one would have a stiffness without bound, but the vertices carry it anyway), so that
 * `stiffness` is a squared frequency, the same for every resolution: under gravity g a resting
 * sheet sinks by g / stiffness below the offset.
 *
 * Friction is the dissipative potential D = sum mu lambda f0(|u|) of friction.kern.h with the
 * normal force lambda of the last accepted iterate (friction_lag = iteration: at convergence
 * it is the true one; at a first guess cloth has that of the start) or of the start of the step
 * (step).  u is the tangential displacement over the step relative to the obstacle's surface point.
 *
 * No state carries over between steps: pairs and forces are made anew.
 */
#include "penalty.h"

#include "kit/iso_terms.h"

static const lk_entry k_energy = LK_ENTRY_MOVES(penalty_energy, 10, 4),
                      k_loss = LK_ENTRY_MOVES(penalty_dissipation, 19, 8);
static const lk_entry k_force = LK_ENTRY_MOVES(penalty_force, 29, 13);
static const lk_entry k_number = LK_ENTRY_MOVES(penalty_blocks, 6, 3); /* one of nine of a pair */
static const lk_entry k_hessian = LK_ENTRY_MOVES(penalty_blocks, 52, 24),
                      k_quad = LK_ENTRY_MOVES(penalty_terms, 42, 28);
static const lk_entry k_active = LK_ENTRY_MOVES(penalty_active, 10, 4),
                      k_lowest = LK_ENTRY_MOVES(penalty_lowest, 10, 4);
static const lk_entry k_strongest = LK_ENTRY_MOVES(penalty_strongest, 11, 4),
                      k_work = LK_ENTRY_MOVES(penalty_work, 21, 8);

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, stiffness, 1e6, 0, 1e12, "1/s^2",
                    "Stiffness per unit of effective mass; a sheet at rest sinks by g/stiffness."),
    LOOM_PARAM_REAL(settings, offset, 0, 0, 1, "m",
                    "Pairs closer than this are pushed apart; above g/stiffness no pair overlaps "
                    "at rest."),
    LOOM_PARAM_REAL(settings, margin, 5e-3, 0, 1, "m",
                    "Detection lists pairs this far beyond the offset, so that pairs which come "
                    "closer before the next detection are not missed."),
    LOOM_PARAM_REAL(settings, self_friction, 0, 0, 10, "1",
                    "Coulomb coefficient between cloths; bodies bring their own.", LOOM_P_PROBLEM),
    LOOM_PARAM_REAL(settings, epsilon_v, 1e-3, 1e-9, 1, "m/s",
                    "Sliding speed below which friction fades: sticking pairs creep slower than "
                    "this (Li et al. 2020, eq. 18, doi 10.1145/3386569.3392425)."),
    LOOM_PARAM_REAL(settings, stick, 1, 1e-6, 1e12, "1",
                    "Largest stiffness of a sticking pair over its normal stiffness: friction also "
                    "fades below a slip of 2 mu lambda / (stick k) per step."),
    LOOM_PARAM_ENUM(settings, friction_lag, LAG_ITERATION, "step|iteration",
                    "Normal forces for friction: of the start of the step, or of the last accepted "
                    "iterate."),
};

/* ---- life ---- */

static loom_status penalty_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                  const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(penalty), self));
  penalty *const p = *self;
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->set = *(const settings *)set;
  return penalty_state_new(p);
}

static loom_status penalty_begin_step(void *self, const loom_step *s)
{
  penalty *const p = self;
  (void)s;
  p->m = 0; /* pairs of the last step are not valid in this one */
  p->corner.count = p->blocks = 0;
  return LOOM_OK;
}

static loom_status penalty_plan(void *self, const loom_step *s, loom_query *q)
{
  penalty *const p = self;
  q->what = LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)(p->set.offset + p->set.margin);
  q->x0 = q->x1 = s->x;
  return LOOM_OK;
}

static loom_status penalty_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                                  uint32_t *changed)
{
  penalty *const p = self;
  *changed = LOOM_CHANGED_NONE;
  LOOM_TRY(ahead_take(&p->ahead, s));
  if (when == LOOM_AFTER_DETECT) return penalty_take_pairs(p, s, pairs, changed);
  if (!p->friction || p->m == 0 || p->set.friction_lag == LAG_STEP) return LOOM_OK;
  *changed = LOOM_CHANGED_VALUES;
  return penalty_take_forces(p, s, 0);
}

/* ---- energy and gradient ---- */

/* *expands: 1 in an expansion that serves the step (LOOM_EXPAND_STEP), with friction.  At zero slip
 * the Hessian of friction is that of sticking pairs and would hold sliding ones.  So secants are
 * taken at the slip that vertices have where they go (kit/ahead.h), with the normal forces of the
 * start of the step. */
static loom_status prepare_penalty_expansion(penalty *p, const loom_step *s, int *expands)
{
  *expands = p->friction && s->expansion == LOOM_EXPAND_STEP;
  if (!*expands) return LOOM_OK;
  LOOM_TRY(penalty_take_forces(p, s, 1));
  LOOM_TRY(penalty_temper_forces(p, s));
  LOOM_TRY(ahead_begin(&p->ahead));
  LOOM_TRY(penalty_sum_forces(p, s, PENALTY_FRICTION, p->ahead.hold));
  return ahead_find(&p->ahead, s);
}

/* Sum or maximum over the pairs at x. */
static loom_status reduce_penalty_pairs(penalty *p, const loom_step *s, loom_buf *x, int expands,
                                        const lk_entry *k, double *out)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_eval_args a = {.s = penalty_open(p, &m, s, x, p->lambda, expands)};
  return plug_reduce(&m, k, &a, p->m, p->result, out);
}

static loom_status add_penalty_gradient(penalty *p, const loom_step *s, loom_buf *x, int expands,
                                        loom_buf *grad)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_force_args a = {.s = penalty_open(p, &m, s, x, p->lambda, expands),
                                .at = plug_read(&m, p->corner.at),
                                .force = plug_write(&m, p->corner.force)};
  LOOM_TRY(plug_launch(&m, &k_force, &a, p->m, NULL));
  return gather_add(&p->corner, NULL, NULL, grad);
}

static loom_status penalty_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                double *dissipation, loom_buf *grad)
{
  penalty *const p = self;
  int expands;
  double value;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(prepare_penalty_expansion(p, s, &expands));
  if (energy != NULL) {
    LOOM_TRY(reduce_penalty_pairs(p, s, x, expands, &k_energy, &value));
    *energy += value;
  }
  if (dissipation != NULL && p->friction) {
    LOOM_TRY(reduce_penalty_pairs(p, s, x, expands, &k_loss, &value));
    *dissipation += value;
  }
  return grad != NULL ? add_penalty_gradient(p, s, x, expands, grad) : LOOM_OK;
}

/* ---- second-order forms ---- */

static loom_status penalty_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                                   loom_blocks3 *out)
{
  penalty *const p = self;
  const int64_t first = out->count;
  int expands;
  (void)how; /* normal forces: exact, and never indefinite */
  if (p->m == 0) return LOOM_OK;
  out->count = first + p->blocks;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(prepare_penalty_expansion(p, s, &expands));
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_blocks_args a = {.s = penalty_open(p, &m, s, x, p->lambda, expands),
                                 .at_block = plug_read(&m, p->at_block),
                                 .first = first,
                                 .row = plug_rdwr(&m, out->row),
                                 .col = plug_rdwr(&m, out->col),
                                 .val = plug_rdwr(&m, out->val),
                                 /* where a launch has room for so many elements */
                                 .split = p->e->backend != LOOM_CPU && p->m <= LK_MAX_ELEMS / 9};
  if (a.split) return plug_launch(&m, &k_number, &a, 9 * p->m, NULL);
  return plug_launch(&m, &k_hessian, &a, p->m, NULL);
}

static loom_status penalty_quad(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  penalty *const p = self;
  const int64_t first = out->count;
  if (p->m == 0) return LOOM_OK;
  out->count = first + p->m;
  if (out->count > out->capacity) return LOOM_GROW;
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_terms_args a = {.s = penalty_open(p, &m, s, x, p->lambda, 0),
                                .t = iso_open(&m, first, out)};
  return plug_launch(&m, &k_quad, &a, p->m, NULL);
}

static loom_status penalty_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  penalty *const p = self;
  double active, lowest;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(reduce_penalty_pairs(p, s, s->x, 0, &k_active, &active));
  LOOM_TRY(reduce_penalty_pairs(p, s, s->x, 0, &k_lowest, &lowest));
  LOOM_TRY(reduce_penalty_pairs(p, s, s->x, 0, &k_strongest, &out->max_force));
  if (p->friction) LOOM_TRY(reduce_penalty_pairs(p, s, s->x, 0, &k_work, &out->dissipated));
  out->active = (int64_t)active;
  out->min_gap = -lowest;
  return LOOM_OK;
}

/* ---- descriptor ----
 */

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD |
                LOOM_CONT_QUAD_ISO | LOOM_CONT_FRICTION | LOOM_CONT_FRICTION_BODY |
                LOOM_CONT_FRICTION_CLOTH | LOOM_CONT_STATEFUL,
    .needs = LOOM_COLL_PROXIMITY,
    .pair_kinds = LOOM_PAIR_MASK_PLAIN, /* ids of cloth vertices only */
    .create = penalty_create,
    .destroy = plug_free,
    .begin_step = penalty_begin_step,
    .plan = penalty_plan,
    .update = penalty_update,
    .eval = penalty_eval,
    .hessian = penalty_hessian,
    .quad = penalty_quad,
    .metrics = penalty_metrics};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "penalty",
    .version = "0.1.0",
    .summary =
        "quadratic penalty with lagged Coulomb friction\n"
        "at 0.97 of the load that slips a strip over a rod creeps with 8 mm/s at stick = 1, "
        "0.8 mm/s at 20 (smoothing 1 mm/s)\n"
        "it sees no impacts within a step: cloth at 1 m/s passes a rod of 5 mm in steps of 5 ms",
    .reference = "friction: M. Li et al., Incremental potential contact, ACM TOG 39(4), 2020, "
                 "doi 10.1145/3386569.3392425",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
