/* ipc_barrier.c - incremental potential contact: a barrier on the distance of every pair, with
 * lagged, smoothed Coulomb friction.  What never touches never penetrates: with the step bound
 * of a collision plugin this is the reference for all other contact models.
 *
 * Symbols of M. Li et al. 2020 and 2021 (barrier.kern.h): d_hat gap at which the force begins,
 * kappa stiffness, xi thickness, D squared distance, s = D - xi^2.
 * b is a function of D (BARRIER_SQUARED); everything else is in ../contact_common (ipc.h).
 */
#include <stdlib.h>

#include "ipc.h"

static const loom_param params[] = {
    IPC_PARAM_D_HAT,
    LOOM_PARAM_REAL(ipc_settings, stiffness, 0, 0, 1e12, "N/m",
                    "kappa in b = -kappa d_hat^2 (z - 1)^2 ln z, z = (D - xi^2) / ((d_hat + xi)^2 "
                    "- xi^2); 0: from mass and time step, doubled while gaps stay tiny."),
    IPC_PARAM_SLACK,
    IPC_PARAM_HESSIAN,
    IPC_PARAMS_FRICTION,
};

static loom_status barrier_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                                  const void *set, void **self)
{
  ipc *const p = calloc(1, sizeof *p);
  LOOM_CHECK(h, p != NULL, LOOM_E_NOMEM, "no memory for the instance");
  *self = p;
  return ipc_init(p, h, sc, e, set, BARRIER_SQUARED, IPC_SLACK);
}

static void barrier_destroy(void *self)
{
  ipc *const p = self;
  if (p == NULL) return;
  ipc_free(p);
  free(p);
}

/* ---- descriptor --------------------------------------------------------------------------------
 */

static const loom_column columns[] = {IPC_COLUMNS};

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT |
                                                 LOOM_CONT_HESSIAN | LOOM_CONT_FRICTION |
                                                 LOOM_CONT_STATEFUL,
                                     .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
                                     .pair_kinds = IPC_KINDS,
                                     .create = barrier_create,
                                     .destroy = barrier_destroy,
                                     .reset = ipc_reset,
                                     .begin_step = ipc_begin_step,
                                     .plan = ipc_plan,
                                     .update = ipc_update,
                                     .end_step = ipc_end_step,
                                     .eval = ipc_eval,
                                     .hessian = ipc_hess,
                                     .metrics = ipc_metrics_kappa,
                                     .checkpoint = ipc_checkpoint};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "ipc_barrier",
    .version = "0.1.0",
    .summary = "barrier on all distances with lagged Coulomb friction: never penetrates",
    .reference = "M. Li et al., Incremental potential contact, ACM TOG 39(4), 2020, doi "
                 "10.1145/3386569.3392425; M. Li, D. M. Kaufman, C. Jiang, Codimensional "
                 "incremental potential contact, ACM TOG 40(4), 2021, doi 10.1145/3450626.3459767",
    .license = "MIT",
    LOOM_SETTINGS(ipc_settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
