/* dbb.c - the distance-based barrier of projective dynamics: a barrier on the gap d of every
 * pair, as quadratic terms that displace to the gap d_hat.
 *
 *   B(d) = -kappa (d - d_hat)^2 ln(d / d_hat),   w(d) (d_hat - d) = -B'(d)
 *
 * Energy, derivatives, candidates and friction are those of ../contact_common (ipc.h) with
 * BARRIER_DISTANCE; here is the quadratic form.  L. Lan et al. 2022 weight their targets with
 * the value of the barrier, which is the derivative of no energy; with w as above fixed points
 * of the projective iteration are minima of B, and a line search can be trusted. */
#include <stdlib.h>

#include "dbb.kern.h"
#include "ipc.h"

typedef struct settings {
  ipc_settings base;
  int32_t weight; /* DBB_WEIGHT_* */
} settings;

typedef struct dbb {
  ipc base;
  int32_t weight;
} dbb;

static const loom_param params[] = {
    IPC_PARAM_D_HAT,
    {"kappa", LOOM_P_REAL, 0, offsetof(settings, base.stiffness), 0, 0, 1e12, NULL, NULL, "N/m",
     "Stiffness in B = -kappa (d - d_hat)^2 ln(d / d_hat), d the gap; 0: from mass and time step, "
     "doubled while gaps stay tiny."},
    LOOM_PARAM_ENUM(
        settings, weight, DBB_WEIGHT_ENERGY, "energy|curvature",
        "Weights of the quadratic terms: -B'(d) / (d_hat - d), or B''(d) spread so "
        "that the terms are nowhere softer than the barrier at x; forces are the same."),
    IPC_PARAM_SLACK,
    IPC_PARAM_HESSIAN,
    IPC_PARAMS_FRICTION,
};

static const lk_entry k_quad = LK_ENTRY(dbb_quad), k_drag = LK_ENTRY(dbb_drag);

/* ---- life --------------------------------------------------------------------------------- */

static loom_status dbb_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  const settings *const given = set;
  dbb *const p = calloc(1, sizeof *p);
  LOOM_CHECK(h, p != NULL, LOOM_E_NOMEM, "no memory for the instance");
  *self = p;
  p->weight = given->weight;
  return ipc_init(&p->base, h, sc, e, &given->base, BARRIER_DISTANCE, IPC_SLACK);
}

static void dbb_destroy(void *self)
{
  dbb *const p = self;
  if (p == NULL) return;
  ipc_free(&p->base);
  free(p);
}

/* ---- quadratic form ------------------------------------------------------------------------- */

/* Room for terms from `first` on. */
static dbb_terms terms_from(plug_maps *m, int64_t first, const loom_quad *out)
{
  return (dbb_terms){.first = first,
                     .v = plug_rdwr(m, out->v),
                     .w = plug_rdwr(m, out->w),
                     .k = plug_rdwr(m, out->k),
                     .p = plug_rdwr(m, out->p),
                     .dir = plug_rdwr(m, out->dir)};
}

static loom_status add_pairs(dbb *d, const loom_step *s, loom_buf *x, int64_t first, loom_quad *out)
{
  ipc *const p = &d->base;
  if (p->num_active == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const dbb_quad_args a = {.s = ipc_open(p, &m, s, x, s->progress),
                           .t = terms_from(&m, first, out),
                           .list = plug_read(&m, p->list),
                           .at = plug_read(&m, p->at_block),
                           .weight = d->weight};
  return ipc_launch(p, &m, &k_quad, &a, p->num_active, NULL);
}

static loom_status add_friction(dbb *d, const loom_step *s, loom_buf *x, int64_t first,
                                loom_quad *out)
{
  ipc *const p = &d->base;
  if (p->nf == 0 || p->fcorner.count == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const dbb_drag_args a = {.f = ipc_open_lagged(p, &m, s, x),
                           .t = terms_from(&m, first, out),
                           .at = plug_read(&m, p->fcorner.at)};
  return ipc_launch(p, &m, &k_drag, &a, p->nf, NULL);
}

static loom_status dbb_form(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  dbb *const d = self;
  ipc *const p = &d->base;
  const int64_t first = out->count;
  int64_t normal = 0;
  const loom_status st = ipc_activate(p, s, x, s->progress);
  if (st == LOOM_REJECTED)
    return ipc_overlap_error(p, s, "there are no quadratic terms where pairs overlap",
                             "filter every iteration ([filter] when = every)");
  LOOM_TRY(st);
  LOOM_TRY(ipc_count(p, 0, &normal));
  out->count = first + normal + p->fcorner.count;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(add_pairs(d, s, x, first, out));
  return add_friction(d, s, x, first + normal, out);
}

/* ---- descriptor ----------------------------------------------------------------------------- */

static const loom_column columns[] = {IPC_COLUMNS};

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD |
                LOOM_CONT_QUAD_ISO | LOOM_CONT_FRICTION | LOOM_CONT_STATEFUL,
    .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
    .pair_kinds = IPC_KINDS,
    .create = dbb_create,
    .destroy = dbb_destroy,
    .reset = ipc_reset,
    .begin_step = ipc_begin_step,
    .plan = ipc_plan,
    .update = ipc_update,
    .end_step = ipc_end_step,
    .eval = ipc_eval,
    .hessian = ipc_hess,
    .quad = dbb_form,
    .metrics = ipc_metrics_kappa,
    .checkpoint = ipc_checkpoint};

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
