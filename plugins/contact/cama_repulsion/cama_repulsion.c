/* cama_repulsion.c - proximity forces of CAMA: k (thickness - d) along the normal of everything
 * that is closer than `thickness`, each feature of a surface once, with the matrix that goes with
 * them.
 *
 * M. Tang et al., CAMA: Contact-Aware Matrix Assembly with Unified Collision Handling for GPU-based
 * Cloth Simulation, Computer Graphics Forum 35(2), 2016, equation 2 and algorithm 2, with d the gap
 * (distance minus both radii), n from the second side to the first, and weights s of the closest
 * points, (1, -w1, -w2, -w3) or (1-u, u, -(1-v), -v):
 *   force on corner i    k (thickness - d) s_i n,       cama_repulsion.kern.h
 *   matrix               k s_i s_j n n' (Gauss-Newton), or pair by pair (pairwise.kern.h)
 *   adhesion             cama_repulsion.kern.h
 *   acting features      features.kern.h
 *   friction             drag.kern.h
 * Distances and the energy are functions of x, exact at every x; n and s are held fixed in the
 * matrix alone.  No state carries over between steps, so there is no checkpoint().
 */
#include "cama_repulsion.kern.h"

#include <math.h>

#include "drag.h"
#include "features.kern.h"
#include "kit/features.h"
#include "pairwise.kern.h"

static const lk_entry k_lag = LK_ENTRY_MOVES(cama_lag, 66, 27),
                      k_keep = LK_ENTRY_MOVES(cama_keep, 4, 1);
static const lk_entry k_shared_energy = LK_ENTRY_MOVES(cama_shared_energy, 4, 7);
static const lk_entry k_shared_force = LK_ENTRY_MOVES(cama_shared_force, 11, 9);
static const lk_entry k_kind = LK_ENTRY_MOVES(cama_kind, 0, 2),
                      k_count = LK_ENTRY_MOVES(cama_pairwise_count, 1, 10);
static const lk_entry k_pairwise = LK_ENTRY_MOVES(cama_pairwise, 118, 71);

enum { MATRIX_GAUSS_NEWTON = 0, MATRIX_PAIRWISE = 1 };
enum { DUPLICATES_OWNED = 0, DUPLICATES_ALL = 1 };
enum { COL_VT = 0, COL_EE = 1 };

typedef struct settings {
  double thickness, stiffness, adhesion, adhesion_range, slack, self_friction, epsilon_v;
  int32_t law;        /* CAMA_LINEAR, CAMA_QUADRATIC */
  int32_t matrix;     /* MATRIX_* */
  int32_t duplicates; /* DUPLICATES_* */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, thickness, 2e-3, 0, 1, "m",
                    "Gap (distance minus both radii) below which a pair is pushed apart.",
                    LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(settings, stiffness, 200, 0, 1e12, "N/m",
                    "Force on a pair per metre that its gap is below `thickness`; above m/h^2 it "
                    "sets the iterations of a linear solve."),
    LOOM_PARAM_REAL(
        settings, adhesion, 0, 0, 1e12, "N/m",
        "Draws pairs together that are farther apart than `thickness`: force per length beyond "
        "it up to half of adhesion_range, from there on as much less again."),
    LOOM_PARAM_REAL(settings, adhesion_range, 1e-3, 0, 1, "m",
                    "Adhesion ends this far beyond `thickness`."),
    LOOM_PARAM_ENUM(
        settings, law, CAMA_LINEAR, "linear|quadratic",
        "Force k V, V = `thickness` minus gap; or k V^2 / (2 thickness), as in ArcSim."),
    LOOM_PARAM_ENUM(settings, matrix, MATRIX_GAUSS_NEWTON, "gauss_newton|pairwise",
                    "Blocks k s_i s_j n n'; or springs between each corner of one side and each of "
                    "the other, as in the paper: stiffer, never less stable."),
    LOOM_PARAM_ENUM(settings, duplicates, DUPLICATES_OWNED, "owned|all",
                    "Features that several pairs have in common act once, or once for each pair."),
    LOOM_PARAM_REAL(settings, self_friction, 0, 0, 10, "1",
                    "Coulomb coefficient between cloths; bodies bring their own.", LOOM_P_PROBLEM),
    LOOM_PARAM_REAL(settings, epsilon_v, 1e-3, 1e-9, 1, "m/s",
                    "Sliding speed below which friction fades: sticking pairs creep slower."),
    LOOM_PARAM_REAL(settings, slack, 0, 0, 1, "m",
                    "Pairs are looked for this far beyond thickness, and again when a vertex has "
                    "moved by half of it; 0: 2 mm, a quarter of the mean edge where that is less."),
};
static const double default_slack = 2e-3; /* m, see there */

static const loom_column columns[] = {
    {"vt", "1", "acting pairs of a vertex and a triangle"},
    {"ee", "1", "acting pairs of edges"},
};

typedef struct cama_repulsion {
  settings set;
  candidates c;
  features features;
  pair_energy energy;
  drag drag;
  uint32_t pending; /* LOOM_CHANGED_* since the last update */
} cama_repulsion;

/* ---- life ---- */

/* How far beyond the thickness a pair acts, m. */
static double adhesion_reach(const settings *set)
{
  return set->adhesion > 0.0 ? set->adhesion_range : 0.0;
}

static void check_thickness(const cama_repulsion *p)
{
  const loom_host *const host = p->c.host;
  const double range = adhesion_reach(&p->set), reach = p->set.thickness + range;
  if (p->features.mean_edge == 0.0 || reach <= 0.5 * p->features.mean_edge) return;
  host->log(host, LOOM_LOG_WARN,
            "thickness%s is %.3g m, more than half of the mean edge, %.3g m: a pair is near many "
            "features at once, and neighbours push each other apart; lower thickness or refine",
            range > 0.0 ? " with adhesion_range" : "", reach, p->features.mean_edge);
}

static loom_status cama_repulsion_create(const loom_host *host, const loom_scene *sc,
                                         const loom_exec *e, const void *set, void **self)
{
  static const pair_kernels kernels = {.energy = LK_ENTRY_MOVES(cama_energy, 13, 6),
                                       .strongest = LK_ENTRY_MOVES(cama_strongest, 14, 6),
                                       .force = LK_ENTRY_MOVES(cama_force, 26, 13),
                                       .hessian = LK_ENTRY_MOVES(cama_hessian, 152, 105)};
  LOOM_TRY(plug_new(host, sizeof(cama_repulsion), self));
  cama_repulsion *const p = *self;
  p->set = *(const settings *)set;
  p->energy = (pair_energy){.c = &p->c, .k = &kernels, .gauss_newton = 1};
  p->energy.number[CAMA_STIFFNESS] = p->set.stiffness;
  p->energy.number[CAMA_REACH] = p->set.thickness + adhesion_reach(&p->set);
  p->energy.number[CAMA_ADHESION] = p->set.adhesion;
  p->energy.number[CAMA_RANGE] = adhesion_reach(&p->set);
  p->energy.number[CAMA_LAW] = p->set.law;
  p->c.keeps_keys = 1;
  LOOM_TRY(cand_new(&p->c, host, sc, e, p->energy.number[CAMA_REACH], p->set.slack, default_slack));
  LOOM_TRY(features_new(&p->features, host, sc, e));
  LOOM_TRY(drag_new(&p->drag, &p->c, p->set.self_friction, p->set.epsilon_v));
  check_thickness(p);
  return LOOM_OK;
}

static loom_status cama_repulsion_reset(void *self)
{
  cama_repulsion *const p = self;
  cand_reset(&p->c);
  fric_reset(&p->drag.f);
  p->pending = LOOM_CHANGED_NONE;
  return LOOM_OK;
}

/* ---- pairs ---- */

typedef struct chooser { /* context of cama_choose(); keep: CAMA_KEEP_* */
  cama_repulsion *p;
  int keep;
} chooser;

static loom_status cama_choose(void *self, const loom_step *s, loom_buf *x, double progress)
{
  const chooser *const by = self;
  cama_repulsion *const p = by->p;
  candidates *const c = &p->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const cama_keep_args a = {.s = cand_open(c, &m, s, x, progress),
                            .f = features_open(&p->features, &m),
                            .key = plug_read(&m, c->key),
                            .flag = plug_rdwr(&m, c->act.flag),
                            .keep = by->keep};
  return plug_launch(&m, &k_keep, &a, c->m, NULL);
}

/* Lists the active pairs at x that `keep`, CAMA_KEEP_*, does not drop. */
static loom_status activate_cama_pairs(cama_repulsion *p, const loom_step *s, loom_buf *x,
                                       double progress, int keep)
{
  chooser by = {.p = p, .keep = keep};
  const cand_choice choice = {.choose = cama_choose, .self = &by};
  return cand_activate_all(&p->c, s, x, progress,
                           p->set.duplicates == DUPLICATES_ALL ? NULL : &choice);
}

static loom_status cama_repulsion_begin_step(void *self, const loom_step *s)
{
  cama_repulsion *const p = self;
  LOOM_TRY(cand_begin_step(&p->c));
  p->pending = LOOM_CHANGED_NONE;
  if (!fric_any(&p->drag.f)) return LOOM_OK;
  p->pending = LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES;
  LOOM_TRY(activate_cama_pairs(p, s, s->x_start, 0.0, CAMA_KEEP_ACTING));
  return drag_begin_step(&p->drag, &p->energy, &k_lag, s);
}

static loom_status cama_repulsion_plan(void *self, const loom_step *s, loom_query *q)
{
  return cand_plan(&((cama_repulsion *)self)->c, s, q);
}

static loom_status cama_repulsion_update(void *self, const loom_step *s, const loom_pairs *pairs,
                                         int when, uint32_t *changed)
{
  cama_repulsion *const p = self;
  *changed = LOOM_CHANGED_NONE;
  if (when != LOOM_AFTER_DETECT) return LOOM_OK;
  *changed = p->pending;
  p->pending = LOOM_CHANGED_NONE;
  return cand_update(&p->c, s, pairs);
}

/* ---- forms ---- */

static feature_terms_args open_shared(cama_repulsion *p, plug_maps *m, const loom_step *s,
                                      loom_buf *x)
{
  return (feature_terms_args){.p = pair_open(&p->energy, m, s, x),
                              .f = features_open(&p->features, m),
                              .key = plug_read(m, p->c.key)};
}

static loom_status add_shared_energy(cama_repulsion *p, const loom_step *s, loom_buf *x,
                                     double *energy)
{
  candidates *const c = &p->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const feature_terms_args a = open_shared(p, &m, s, x);
  return plug_reduce_later(&m, &k_shared_energy, &a, c->act.num, c->result, &c->later, 1.0, energy);
}

/* To the forces per corner that pair_forces() left. */
static loom_status add_shared_forces(cama_repulsion *p, const loom_step *s, loom_buf *x)
{
  plug_maps m = plug_maps_on(p->c.host, p->c.e);
  feature_terms_args a = open_shared(p, &m, s, x);
  a.p.at = plug_read(&m, p->c.corner.at);
  a.p.force = plug_rdwr(&m, p->c.corner.force);
  return plug_launch(&m, &k_shared_force, &a, p->c.act.num, NULL);
}

static loom_status add_normal(cama_repulsion *p, const loom_step *s, loom_buf *x, double *energy,
                              loom_buf *grad)
{
  const int shared = p->set.duplicates == DUPLICATES_OWNED;
  candidates *const c = &p->c;
  LOOM_TRY(activate_cama_pairs(p, s, x, s->progress, CAMA_KEEP_SUM));
  if (c->act.num == 0) return LOOM_OK;
  LOOM_TRY(pair_eval(&p->energy, s, x, energy, NULL));
  if (energy != NULL && shared) LOOM_TRY(add_shared_energy(p, s, x, energy));
  if (grad == NULL) return LOOM_OK;
  LOOM_TRY(pair_forces(&p->energy, s, x));
  if (shared) LOOM_TRY(add_shared_forces(p, s, x));
  return gather_add(&c->corner, c->act.place, NULL, grad);
}

static loom_status cama_repulsion_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                       double *dissipation, loom_buf *grad)
{
  cama_repulsion *const p = self;
  LOOM_TRY(add_normal(p, s, x, energy, grad));
  if (dissipation != NULL) LOOM_TRY(drag_sum(&p->drag, s, x, 0.5, dissipation));
  return grad != NULL ? drag_gradient(&p->drag, s, x, grad) : LOOM_OK;
}

/* Blocks of each acting pair, and their sum. */
static loom_status count_blocks(cama_repulsion *p, const loom_step *s, loom_buf *x, int64_t *num)
{
  candidates *const c = &p->c;
  const loom_host *const host = c->host;
  if (p->set.matrix == MATRIX_GAUSS_NEWTON) return cand_count(c, 1, num);
  *num = 0;
  if (c->act.num == 0) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, c->act.count, c->act.num));
  LOOM_TRY(host->buf_resize(host, c->act.at, c->act.num + 1));
  plug_maps m = plug_maps_on(host, c->e);
  const cama_pairwise_count_args a = {.s = cand_open(c, &m, s, x, s->progress),
                                      .list = plug_read(&m, c->act.list),
                                      .count = plug_write(&m, c->act.count)};
  LOOM_TRY(plug_launch(&m, &k_count, &a, c->act.num, NULL));
  return host->scan_i64(host, c->e, c->act.count, c->act.at, num);
}

static loom_status add_pairwise(cama_repulsion *p, const loom_step *s, loom_buf *x, int64_t first,
                                loom_blocks3 *out)
{
  candidates *const c = &p->c;
  if (c->act.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  pair_args a = pair_open(&p->energy, &m, s, x);
  a.at_block = plug_read(&m, c->act.at);
  a.first = first;
  a.row = plug_rdwr(&m, out->row);
  a.col = plug_rdwr(&m, out->col);
  a.val = plug_rdwr(&m, out->val);
  return plug_launch(&m, &k_pairwise, &a, c->act.num, NULL);
}

/* The matrix does not depend on `how`: without the curvature of distances it is never indefinite.
 */
static loom_status cama_repulsion_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                                          loom_blocks3 *out)
{
  cama_repulsion *const p = self;
  const int64_t first = out->count;
  int64_t normal = 0;
  LOOM_TRY(activate_cama_pairs(p, s, x, s->progress, CAMA_KEEP_ACTING));
  LOOM_TRY(count_blocks(p, s, x, &normal));
  out->count = first + normal + p->drag.f.num_blocks;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(p->set.matrix == MATRIX_PAIRWISE
               ? add_pairwise(p, s, x, first, out)
               : pair_energy_hessian(&p->energy, s, x, how, first, out));
  return drag_hessian(&p->drag, s, x, first + normal, out);
}

/* ---- metrics ---- */

static loom_status count_kind(cama_repulsion *p, int edges, double *out)
{
  candidates *const c = &p->c;
  *out = 0.0;
  if (c->act.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const cama_kind_args a = {
      .kind = plug_read(&m, c->kind), .list = plug_read(&m, c->act.list), .edges = edges};
  return plug_reduce_later(&m, &k_kind, &a, c->act.num, c->result, &c->later, 1.0, out);
}

static loom_status cama_repulsion_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  cama_repulsion *const p = self;
  LOOM_TRY(activate_cama_pairs(p, s, s->x, s->progress, CAMA_KEEP_ACTING));
  out->active = p->c.act.num;
  LOOM_TRY(cand_least_gap_later(&p->c, &out->min_gap));
  LOOM_TRY(pair_strongest(&p->energy, s, s->x, &out->max_force));
  if (out->extra != NULL) {
    LOOM_TRY(count_kind(p, 0, &out->extra[COL_VT]));
    LOOM_TRY(count_kind(p, 1, &out->extra[COL_EE]));
  }
  return drag_sum(&p->drag, s, s->x, 1.0, &out->dissipated);
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_FRICTION |
                LOOM_CONT_FRICTION_BODY | LOOM_CONT_FRICTION_CLOTH | LOOM_CONT_HESS_APPROX,
    .needs = LOOM_COLL_PROXIMITY,
    .pair_kinds = CAND_KINDS,
    .create = cama_repulsion_create,
    .destroy = plug_free,
    .reset = cama_repulsion_reset,
    .begin_step = cama_repulsion_begin_step,
    .plan = cama_repulsion_plan,
    .update = cama_repulsion_update,
    .eval = cama_repulsion_eval,
    .hessian = cama_repulsion_hessian,
    .metrics = cama_repulsion_metrics};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "cama_repulsion",
    .version = "0.1.0",
    .summary = "linear repulsion of near pairs, each feature once, made for one linear solve\n"
               "friction of cloth on cloth is 5 % short with converged solvers; at 0.97 of the "
               "load that slips a strip over a rod creeps with 1.5 mm/s (smoothing 1 mm/s)",
    .reference = "M. Tang et al., CAMA: Contact-Aware Matrix Assembly with Unified Collision "
                 "Handling for GPU-based Cloth Simulation, Computer Graphics Forum 35(2), 2016, "
                 "doi 10.1111/cgf.12851",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
