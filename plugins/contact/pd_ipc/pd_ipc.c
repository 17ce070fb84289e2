/* pd_ipc.c - contact of projective dynamics as L. Lan et al. 2022 published it: every pair that is
 * closer than d_hat displaces its corners to that gap, each side by its share of the masses, with
 * the value of a barrier as weight.
 *
 * A baseline, kept literal.  The forces of these terms have no energy: the weight is the value of a
 * barrier and not its slope, and all corners of a triangle are pulled like its closest point.  So
 * only solvers that ask for terms can use it, no solver can search along a line with it, and a
 * triangle pushes back three times as hard as a vertex pushes.  `dbb` is the model with an energy.
 */
#include "pd_ipc.kern.h"

#include <math.h>
#include <stdio.h>

#include "kit/friction.h"
#include "kit/iso_terms.h"

typedef struct settings {
  double d_hat, kappa, slack, epsilon_v;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(
        settings, d_hat, 1e-3, 0, 1, "m",
        "Gap (distance minus both radii) below which a pair has a target, and at which that lies.",
        LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(settings, kappa, 100, 0, 1e12, "N/m",
                    "Stiffness of the weight -kappa (g^2 - d_hat^2)^2 ln(g^2 / d_hat^2) / d_hat^4, "
                    "g the gap; the smaller mass over the squared time step is added."),
    LOOM_PARAM_REAL(settings, slack, 0, 0, 1, "m",
                    "Pairs are looked for this far beyond d_hat, and again when a vertex has moved "
                    "by half of it; 0: 2 mm, a quarter of the mean edge where that is less."),
    LOOM_PARAM_REAL(settings, epsilon_v, 1e-3, 1e-9, 1, "m/s",
                    "Sliding speed on bodies below which friction fades: sticking contacts creep "
                    "slower than this (Li et al. 2020, eq. 18, doi 10.1145/3386569.3392425)."),
};
static const double default_slack = 2e-3; /* m, see there */

static const lk_entry k_quad = LK_ENTRY_NEAR_MOVES(pd_ipc_quad, 4, 47, 38);
static const lk_entry k_force = LK_ENTRY_NEAR_MOVES(pd_ipc_force, 4, 29, 21);
static const lk_entry k_strongest = LK_ENTRY_NEAR_MOVES(pd_ipc_strongest, 4, 18, 13);
static const lk_entry k_lag = LK_ENTRY_NEAR_MOVES(pd_ipc_lag, 4, 44, 34),
                      k_drag = LK_ENTRY_MOVES(pd_ipc_drag, 75, 26);

typedef struct pd_ipc {
  candidates c;
  pair_energy numbers; /* arguments of k_lag; there is no energy */
  friction friction;
  uint32_t pending; /* LOOM_CHANGED_* since the last update */
  settings set;
} pd_ipc;

/* ---- life ---- */

static loom_status pd_ipc_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                 const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(pd_ipc), self));
  pd_ipc *const p = *self;
  p->set = *(const settings *)set;
  p->numbers.c = &p->c;
  p->numbers.number[PD_IPC_KAPPA] = p->set.kappa;
  p->numbers.number[PD_IPC_D_HAT] = p->set.d_hat;
  LOOM_TRY(cand_new(&p->c, host, sc, e, p->set.d_hat, p->set.slack, default_slack));
  return fric_new(&p->friction, &p->c, 0.0, p->set.epsilon_v);
}

static loom_status pd_ipc_reset(void *self)
{
  pd_ipc *const p = self;
  cand_reset(&p->c);
  fric_reset(&p->friction);
  p->pending = LOOM_CHANGED_NONE;
  return LOOM_OK;
}

static loom_status pd_ipc_begin_step(void *self, const loom_step *s)
{
  pd_ipc *const p = self;
  uint32_t changed;
  LOOM_TRY(cand_begin_step(&p->c));
  p->numbers.number[PD_IPC_INV_H2] = s->problem->inertia;
  if (cand_activate(&p->c, s, s->x_start, 0.0) != LOOM_REJECTED) {
    p->pending =
        fric_any(&p->friction) ? LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES : LOOM_CHANGED_NONE;
    return fric_lag(&p->friction, &p->numbers, &k_lag, s, s->x_start, 0.0, &changed);
  }
  return cand_overlap_error(&p->c, s, "it starts with an overlap",
                            "move them apart, set [run] start = untangle, lower the thickness, or "
                            "let a step bound keep them apart ([filter] bound = global)");
}

/* ---- pairs ---- */

static loom_status pd_ipc_plan(void *self, const loom_step *s, loom_query *q)
{
  return cand_plan(&((pd_ipc *)self)->c, s, q);
}

static loom_status pd_ipc_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                                 uint32_t *changed)
{
  pd_ipc *const p = self;
  *changed = p->pending;
  p->pending = LOOM_CHANGED_NONE;
  if (when == LOOM_AFTER_DETECT) return cand_update(&p->c, s, pairs);
  const loom_status st = fric_lag(&p->friction, &p->numbers, &k_lag, s, s->x, s->progress, changed);
  return st == LOOM_REJECTED ? LOOM_OK : st; /* unfiltered: the last forces stay */
}

/* Refuses an end of the step where pairs overlap. */
static loom_status pd_ipc_end_step(void *self, const loom_step *s)
{
  pd_ipc *const p = self;
  const loom_status st = cand_activate(&p->c, s, s->x, s->progress);
  if (st != LOOM_REJECTED) return st;
  return cand_overlap_error(
      &p->c, s, "it ends with an overlap",
      "lower dt, or let a step bound keep them apart ([filter] bound = global)");
}

/* ---- forms ---- */

static pd_ipc_args open_pd_ipc_pairs(pd_ipc *p, plug_maps *m, const loom_step *s, loom_buf *x)
{
  return (pd_ipc_args){.s = cand_open(&p->c, m, s, x, s->progress),
                       .mass = plug_read(m, p->c.sc->mass),
                       .list = plug_read(m, p->c.act.list),
                       .kappa = (lk_real)p->set.kappa,
                       .d_hat = (lk_real)p->set.d_hat,
                       .inv_h2 = (lk_real)s->problem->inertia};
}

static loom_status pd_ipc_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                               double *dissipation, loom_buf *grad)
{
  pd_ipc *const p = self;
  candidates *const c = &p->c;
  LOOM_TRY(cand_activate(c, s, x, s->progress));
  if (dissipation != NULL) LOOM_TRY(fric_sums(&p->friction, s, x, dissipation, NULL));
  if (grad != NULL) LOOM_TRY(fric_gradient(&p->friction, s, x, grad));
  if (c->act.num == 0) return LOOM_OK;
  if (energy != NULL) *energy = NAN; /* no energy has these forces */
  if (grad == NULL) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const pd_ipc_force_args a = {.p = open_pd_ipc_pairs(p, &m, s, x),
                               .at = plug_read(&m, c->corner.at),
                               .force = plug_rdwr(&m, c->corner.force)};
  LOOM_TRY(plug_launch(&m, &k_force, &a, c->act.num, NULL));
  return gather_add(&c->corner, c->act.place, NULL, grad);
}

/* Where every iteration is filtered, pairs overlap when forces far above the barrier of kappa have
 * closed a gap to rounding, below which the bound cannot keep it.  Remedies: a gap that remains
 * ([filter] min_gap), or a stiffer barrier. */
static loom_status report_pd_ipc_overlap(pd_ipc *p, const loom_step *s)
{
  char remedy[256];
  snprintf(remedy, sizeof remedy,
           "let a gap remain ([filter] min_gap = %.3g, a twentieth of d_hat) or raise kappa above "
           "%g; every iteration must be filtered ([filter] when = every)",
           p->set.d_hat / 20, p->set.kappa);
  return cand_overlap_error(&p->c, s, "there are no quadratic terms where pairs overlap", remedy);
}

static loom_status add_pairs(pd_ipc *p, const loom_step *s, loom_buf *x, int64_t first,
                             loom_quad *out)
{
  candidates *const c = &p->c;
  if (c->act.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const pd_ipc_quad_args a = {.p = open_pd_ipc_pairs(p, &m, s, x),
                              .at = plug_read(&m, c->act.at),
                              .t = iso_open(&m, first, out)};
  return plug_launch(&m, &k_quad, &a, c->act.num, NULL);
}

static loom_status add_pd_ipc_friction(pd_ipc *p, const loom_step *s, loom_buf *x, int64_t first,
                                       loom_quad *out)
{
  friction *const f = &p->friction;
  if (f->num == 0 || f->corner.count == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->c.host, p->c.e);
  const pd_ipc_drag_args a = {.f = fric_open(f, &m, s, x),
                              .at = plug_read(&m, f->corner.at),
                              .t = iso_open(&m, first, out)};
  return plug_launch(&m, &k_drag, &a, f->num, NULL);
}

static loom_status pd_ipc_quad(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  pd_ipc *const p = self;
  candidates *const c = &p->c;
  const int64_t first = out->count;
  int64_t num = 0;
  const loom_status st = cand_activate(c, s, x, s->progress);
  if (st == LOOM_REJECTED) return report_pd_ipc_overlap(p, s);
  LOOM_TRY(st);
  LOOM_TRY(cand_count(c, 0, &num));
  out->count = first + num + p->friction.corner.count;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(add_pairs(p, s, x, first, out));
  return add_pd_ipc_friction(p, s, x, first + num, out);
}

static loom_status pd_ipc_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  pd_ipc *const p = self;
  candidates *const c = &p->c;
  const loom_status st = cand_activate(c, s, s->x, s->progress);
  if (st < LOOM_OK) return st;
  LOOM_TRY(cand_least_gap_later(c, &out->min_gap));
  if (st != LOOM_OK) { /* an unfiltered point */
    out->max_force = out->dissipated = NAN;
    return LOOM_OK;
  }
  LOOM_TRY(fric_sums(&p->friction, s, s->x, NULL, &out->dissipated));
  out->active = c->act.num;
  if (out->active == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const pd_ipc_args a = open_pd_ipc_pairs(p, &m, s, s->x);
  return plug_reduce_later(&m, &k_strongest, &a, c->act.num, c->result, &c->later, 1.0,
                           &out->max_force);
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_GRADIENT | LOOM_CONT_QUAD |
                                                 LOOM_CONT_QUAD_ISO | LOOM_CONT_FRICTION |
                                                 LOOM_CONT_FRICTION_BODY | LOOM_CONT_STATEFUL,
                                     .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
                                     .pair_kinds = CAND_KINDS,
                                     .create = pd_ipc_create,
                                     .destroy = plug_free,
                                     .reset = pd_ipc_reset,
                                     .begin_step = pd_ipc_begin_step,
                                     .plan = pd_ipc_plan,
                                     .update = pd_ipc_update,
                                     .end_step = pd_ipc_end_step,
                                     .eval = pd_ipc_eval,
                                     .quad = pd_ipc_quad,
                                     .metrics = pd_ipc_metrics};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "pd_ipc",
    .version = "0.1.0",
    .summary =
        "penetration-free projective dynamics as published: targets shared by mass, a baseline\n"
        "forces of a pair do not add up: two sheets that collide drift by 0.3 % of the sum of m "
        "|v| at 0.5 m/s and by 54 % at 3 m/s\n"
        "steps that end at their limit hold cloth back: 32 of 604 mm of a smooth slope at 10 ms "
        "and 60 iterations",
    .reference = "L. Lan, G. Ma, Y. Yang, C. Zheng, M. Li, C. Jiang, Penetration-free projective "
                 "dynamics on the GPU, ACM TOG 41(4), 2022, doi 10.1145/3528223.3530069",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
