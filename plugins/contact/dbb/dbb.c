/* dbb.c - the distance-based barrier of projective dynamics: a barrier on the gap d of every
 * pair, as quadratic terms that displace to the gap d_hat.
 *
 *   B(d) = -kappa (d - d_hat)^2 ln(d / d_hat),   w(d) (d_hat - d) = -B'(d)
 *
 * kit/pair_energy makes energy and derivatives of B, and kit/barrier has the common part of
 * barriers; this file has the quadratic form.  L. Lan et al. 2022 weight their targets with the
 * value of the barrier, which is the derivative of no energy; with w as above fixed points of the
 * projective iteration are minima of B, and a line search can be trusted. */
#include "dbb.kern.h"
#include "kit/barrier.h"
#include "kit/iso_terms.h"

typedef struct settings {
  barrier_settings base;
  int32_t weight; /* DBB_WEIGHT_* */
} settings;

typedef struct dbb {
  barrier b;
  int32_t weight;
} dbb;

static const loom_param params[] = {
    BARRIER_PARAM_D_HAT,
    LOOM_PARAM_REAL_AS("kappa", settings, base.stiffness, 0, 0, 1e12, "N/m",
                       "Stiffness in B = -kappa (d - d_hat)^2 ln(d / d_hat), d the gap; 0: from "
                       "the mean mass of a "
                       "vertex and the time step, of each object by itself, doubled while gaps of "
                       "objects that can "
                       "touch it stay tiny; a pair of two objects takes the smaller one."),
    LOOM_PARAM_ENUM(
        settings, weight, DBB_WEIGHT_ENERGY, "energy|curvature",
        "Weights of the quadratic terms: -B'(d) / (d_hat - d), or B''(d) spread so "
        "that the terms are nowhere softer than the barrier at x; forces are the same."),
    BARRIER_PARAM_SLACK,
    BARRIER_PARAM_HESSIAN,
    BARRIER_PARAMS_FRICTION(BARRIER_LAG_ITERATION),
};

static const lk_entry k_quad = LK_ENTRY_NEAR_MOVES(dbb_quad, 4, 57, 30),
                      k_drag = LK_ENTRY_MOVES(dbb_drag, 58, 19);

/* ---- life ---- */

static loom_status dbb_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  static const barrier_model model = {.pair = PAIR_KERNELS(dbb),
                                      .lag = LK_ENTRY_NEAR_MOVES(dbb_lag, 4, 35, 24)};
  const settings *const given = set;
  LOOM_TRY(plug_new(host, sizeof(dbb), self));
  dbb *const p = *self;
  p->weight = given->weight;
  return barrier_new(&p->b, host, sc, e, &given->base, &model, barrier_g2(0.5));
}

BARRIER_CALLBACKS(dbb)

/* ---- quadratic form ---- */

static loom_status add_pairs(dbb *d, const loom_step *s, loom_buf *x, int64_t first, loom_quad *out)
{
  candidates *const c = &d->b.c;
  if (c->act.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const dbb_quad_args a = {.p = pair_open(&d->b.energy, &m, s, x),
                           .t = iso_open(&m, first, out),
                           .at = plug_read(&m, c->act.at),
                           .weight = d->weight};
  return plug_launch(&m, &k_quad, &a, c->act.num, NULL);
}

static loom_status add_dbb_friction(dbb *d, const loom_step *s, loom_buf *x, int64_t first,
                                    loom_quad *out)
{
  candidates *const c = &d->b.c;
  friction *const f = &d->b.friction;
  if (f->num == 0 || f->corner.count == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const dbb_drag_args a = {.f = fric_open(f, &m, s, x),
                           .t = iso_open(&m, first, out),
                           .at = plug_read(&m, f->corner.at)};
  return plug_launch(&m, &k_drag, &a, f->num, NULL);
}

static loom_status dbb_quad(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  dbb *const d = self;
  const int64_t first = out->count;
  int64_t normal = 0;
  LOOM_TRY(barrier_activate(&d->b, s, x, "there are no quadratic terms where pairs overlap"));
  LOOM_TRY(cand_count(&d->b.c, 0, &normal));
  out->count = first + normal + d->b.friction.corner.count;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(add_pairs(d, s, x, first, out));
  return add_dbb_friction(d, s, x, first + normal, out);
}

/* ---- descriptor ---- */

static const loom_column columns[] = {BARRIER_COLUMNS};

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD |
                LOOM_CONT_QUAD_ISO | LOOM_CONT_FRICTION | LOOM_CONT_FRICTION_BODY |
                LOOM_CONT_FRICTION_CLOTH | LOOM_CONT_STATEFUL,
    .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
    .pair_kinds = CAND_KINDS,
    .create = dbb_create,
    .destroy = dbb_destroy,
    .reset = dbb_reset,
    .begin_step = dbb_begin_step,
    .plan = dbb_plan,
    .update = dbb_update,
    .end_step = dbb_end_step,
    .eval = dbb_eval,
    .hessian = dbb_hessian,
    .quad = dbb_quad,
    .metrics = dbb_metrics,
    .checkpoint = dbb_checkpoint};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "dbb",
    .version = "0.1.0",
    .summary = "distance-based barrier as quadratic terms, for projective solvers",
    .reference = "L. Lan et al., Penetration-free projective dynamics on the GPU, ACM TOG 41(4), "
                 "2022; friction and mollifier: M. Li et al., "
                 "Incremental potential contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392425",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
