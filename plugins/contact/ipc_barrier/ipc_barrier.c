/* ipc_barrier.c - incremental potential contact: a barrier on the distance of every pair, with
 * lagged, smoothed Coulomb friction.  With the step bound of a collision plugin pairs never touch,
 * so they never penetrate: this is the reference for all other contact models.
 *
 * Symbols of M. Li et al. 2020 and 2021 (barrier.kern.h): d_hat gap at which the force begins,
 * kappa stiffness, xi thickness, D squared distance, s = D - xi^2.  b is a function of D
 * (ipc_barrier.kern.c); kit/barrier has the common part of barriers.  Solvers that split contact
 * off also get the second half of their step from this plugin (correction.h).
 */
#include "correction.h"
#include "ipc_barrier.kern.h"
#include "kit/barrier.h"

typedef struct settings {
  barrier_settings b; /* first: the kit's rows of the table name members of it */
  double correction_tolerance, correction_cg;
  int64_t correction_iters;
  int32_t correction;
} settings;

typedef struct ipc_barrier {
  barrier b;
  correction correction;
  correction_settings how;
} ipc_barrier;

static const loom_param params[] = {
    BARRIER_PARAM_D_HAT,
    LOOM_PARAM_REAL(barrier_settings, stiffness, 0, 0, 1e12, "N/m",
                    "kappa in b = -kappa d_hat^2 (z - 1)^2 ln z, z = (D - xi^2) / ((d_hat + xi)^2 "
                    "- xi^2); 0: from the mean mass of a vertex and the time step, of "
                    "each object by itself, doubled while gaps of objects that can touch it stay "
                    "tiny; a pair of two objects takes the smaller one."),
    BARRIER_PARAM_SLACK,
    BARRIER_PARAM_HESSIAN,
    BARRIER_PARAMS_FRICTION(BARRIER_LAG_STEP),
    LOOM_PARAM_REAL(settings, correction_tolerance, 1e-3, 1e-12, 1e3, "m/s",
                    "Split steps: the correction ends when the largest Newton step over the time "
                    "step is below this."),
    LOOM_PARAM_REAL(settings, correction_cg, 1e-2, 1e-14, 1, "1",
                    "Split steps: relative tolerance of the correction's linear solves."),
    LOOM_PARAM_INT(settings, correction_iters, 100, 1, 100000, "1",
                   "Split steps: Newton iterations of the correction at most; its point is "
                   "feasible after any number of them."),
    LOOM_PARAM_ENUM(
        settings, correction, CORRECTION_PROXIMAL, "proximal|splitting",
        "Split steps: a proximal gradient step on the whole problem, which does not "
        "move resting cloth; or the paper's time splitting, which at 10 ms has 0.6 to 0.65 "
        "of Coulomb's friction (0.8 at 5 ms) and moves resting cloth."),
};

static const loom_column step_columns[] = {
    {"newton", "1", "Newton iterations of the correction of a split step"},
    {"cg", "1", "iterations of their linear solves"},
    {"alpha_min", "1", "least share of a Newton step that was taken; 1: all of each"},
    {"moved", "m", "largest way between the elastic step and the corrected one"},
    {"capped", "1", "1: the correction ended before its tolerance"},
};

static loom_status ipc_barrier_create(const loom_host *host, const loom_scene *sc,
                                      const loom_exec *e, const void *set, void **self)
{
  static const barrier_model model = {.pair = PAIR_KERNELS(ipc_barrier),
                                      .lag = LK_ENTRY_NEAR_MOVES(ipc_barrier_lag, 4, 34, 23)};
  const double unit = 4.0 * 0.25 * barrier_g2(0.25) + 2.0 * barrier_g1(0.25);
  const settings *const given = set;
  LOOM_TRY(plug_new(host, sizeof(ipc_barrier), self));
  ipc_barrier *const p = *self;
  p->how = (correction_settings){.tolerance = given->correction_tolerance,
                                 .cg = given->correction_cg,
                                 .iters = given->correction_iters,
                                 .kind = given->correction};
  LOOM_TRY(correction_new(&p->correction, host, e));
  LOOM_TRY(barrier_new(&p->b, host, sc, e, &given->b, &model, unit));
  /* The printed correction moves cloth on from the end of the expansion. */
  if (given->correction == CORRECTION_SPLITTING) p->b.frozen_rule = FRIC_LIMIT;
  return LOOM_OK;
}

BARRIER_CALLBACKS(ipc_barrier)

static loom_status ipc_barrier_begin(void *self, const loom_step *s)
{
  ipc_barrier *const p = self;
  correction_begin(&p->correction);
  const int splits = s->problem->contact == LOOM_CONTACT_FROZEN;
  if (splits && p->how.kind == CORRECTION_PROXIMAL && !p->correction.weighed) {
    LOOM_TRY(correction_weigh(&p->correction, p->b.c.sc, s));
    LOOM_TRY(barrier_weigh(&p->b, p->correction.weight, 3));
  }
  return ipc_barrier_begin_step(self, s);
}

static loom_status ipc_barrier_follow(void *self, const loom_step *s, loom_buf *x, int *again)
{
  return barrier_follow(&((ipc_barrier *)self)->b, s, x, again);
}

static loom_status ipc_barrier_resolve(void *self, const loom_step *s, loom_buf *x_start,
                                       loom_buf *x_trial)
{
  ipc_barrier *const p = self;
  const correction_friction f = {fric_any(&p->b.friction) ? ipc_barrier_follow : NULL, p};
  return correction_resolve(&p->correction, p->b.c.sc, &p->how, &f, s, x_start, x_trial);
}

static loom_status ipc_barrier_log_step(void *self, const loom_step *s, double *out)
{
  const correction_report *const r = &((const ipc_barrier *)self)->correction.report;
  (void)s;
  if (r->newton == 0) return LOOM_OK; /* not a split step */
  out[0] = (double)r->newton;
  out[1] = (double)r->cg;
  out[2] = r->alpha;
  out[3] = r->moved;
  out[4] = (double)r->capped;
  return LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_column columns[] = {BARRIER_COLUMNS};

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_FRICTION |
                LOOM_CONT_FRICTION_BODY | LOOM_CONT_FRICTION_CLOTH | LOOM_CONT_STATEFUL |
                LOOM_CONT_RESOLVE | LOOM_CONT_MOVES_FOLLOWERS,
    .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
    .pair_kinds = CAND_KINDS,
    .create = ipc_barrier_create,
    .destroy = ipc_barrier_destroy,
    .reset = ipc_barrier_reset,
    .begin_step = ipc_barrier_begin,
    .plan = ipc_barrier_plan,
    .update = ipc_barrier_update,
    .end_step = ipc_barrier_end_step,
    .eval = ipc_barrier_eval,
    .hessian = ipc_barrier_hessian,
    .resolve = ipc_barrier_resolve,
    .metrics = ipc_barrier_metrics,
    .checkpoint = ipc_barrier_checkpoint,
    .log_step = ipc_barrier_log_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "ipc_barrier",
    .version = "0.1.0",
    .summary = "barrier on all distances with lagged Coulomb friction: never penetrates",
    .reference = "M. Li et al., Incremental potential contact, ACM TOG 39(4), 2020, doi "
                 "10.1145/3386569.3392425; M. Li, D. M. Kaufman, C. Jiang, Codimensional "
                 "incremental potential contact, ACM TOG 40(4), 2021, doi 10.1145/3450626.3459767",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
    LOOM_STEP_COLUMNS(step_columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
