/* ipc_barrier.c - incremental potential contact: a barrier on the distance of every pair, with
 * lagged, smoothed Coulomb friction.  What never touches never penetrates: with the step bound
 * of a collision plugin this is the reference for all other contact models.
 *
 * Symbols of M. Li et al. 2020 and 2021 (barrier.kern.h): d_hat gap at which the force begins,
 * kappa stiffness, xi thickness, D squared distance, s = D - xi^2.  b is a function of D
 * (ipc_barrier.kern.c); what it has in common with other barriers is kit/barrier.
 */
#include "ipc_barrier.kern.h"
#include "kit/barrier.h"

typedef struct ipc_barrier {
  barrier b;
} ipc_barrier;

static const loom_param params[] = {
    BARRIER_PARAM_D_HAT,
    LOOM_PARAM_REAL(barrier_settings, stiffness, 0, 0, 1e12, "N/m",
                    "kappa in b = -kappa d_hat^2 (z - 1)^2 ln z, z = (D - xi^2) / ((d_hat + xi)^2 "
                    "- xi^2); 0: from mass and time step, doubled while gaps stay tiny."),
    BARRIER_PARAM_SLACK,
    BARRIER_PARAM_HESSIAN,
    BARRIER_PARAMS_FRICTION,
};

static loom_status ipc_barrier_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                                      const void *set, void **self)
{
  static const barrier_model model = {.pair = PAIR_KERNELS(ipc_barrier),
                                      .lag = LK_ENTRY_NEAR(ipc_barrier_lag, 4)};
  const double unit = 4.0 * 0.25 * barrier_g2(0.25) + 2.0 * barrier_g1(0.25);
  LOOM_TRY(plug_new(h, sizeof(ipc_barrier), self));
  ipc_barrier *const p = *self;
  return barrier_new(&p->b, h, sc, e, set, &model, unit);
}

BARRIER_CALLBACKS(ipc_barrier)

/* ---- descriptor ---- */

static const loom_column columns[] = {BARRIER_COLUMNS};

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT |
                                                 LOOM_CONT_HESSIAN | LOOM_CONT_FRICTION |
                                                 LOOM_CONT_STATEFUL,
                                     .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
                                     .pair_kinds = CAND_KINDS,
                                     .create = ipc_barrier_create,
                                     .destroy = plug_free,
                                     .reset = ipc_barrier_reset,
                                     .begin_step = ipc_barrier_begin_step,
                                     .plan = ipc_barrier_plan,
                                     .update = ipc_barrier_update,
                                     .end_step = ipc_barrier_end_step,
                                     .eval = ipc_barrier_eval,
                                     .hessian = ipc_barrier_hessian,
                                     .metrics = ipc_barrier_metrics,
                                     .checkpoint = ipc_barrier_checkpoint};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "ipc_barrier",
    .version = "0.1.0",
    .summary = "barrier on all distances with lagged Coulomb friction: never penetrates",
    .reference = "M. Li et al., Incremental potential contact, ACM TOG 39(4), 2020, doi "
                 "10.1145/3386569.3392425; M. Li, D. M. Kaufman, C. Jiang, Codimensional "
                 "incremental potential contact, ACM TOG 40(4), 2021, doi 10.1145/3450626.3459767",
    .license = "MIT",
    LOOM_SETTINGS(barrier_settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
