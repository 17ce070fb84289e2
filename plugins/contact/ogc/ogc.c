/* ogc.c - offset geometric contact: an energy on the gap of every contact of a surface and the
 * offset of another one, quadratic far from the surface and logarithmic near it.
 *
 *   law of a contact              ogc_law.kern.h
 *   which pairs are contacts      ogc.kern.h
 *   friction, stiffness, checks   kit/barrier
 *
 * Contacts of vertices are a function of x.  Contacts of edges are chosen at the start of a step
 * and at accepted iterates, and last until its end, so that no state outlives the step. */
#include "kit/barrier.h"
#include "kit/features.h"
#include "ogc.kern.h"

typedef struct settings {
  barrier_settings b;
} settings;

typedef struct ogc {
  barrier b;
  features features;
  cand_choice choice;
  int terms;          /* 1: choose all triangles (ogc.kern.h) */
  loom_buf *at;       /* real [n][3], m, the last accepted iterate */
  double progress;    /* of the bodies' motion there */
  loom_buf *in;       /* i64 [m], 1: two edges in contact */
  int64_t generation; /* of the candidates of `in` */
  int known;          /* 1: `in` has the contacts of this step */
} ogc;

static const loom_param params[] = {
    BARRIER_PARAM_D_HAT,
    LOOM_PARAM_REAL(barrier_settings, stiffness, 0, 0, 1e12, "N/m",
                    "k in E = k/2 (d_hat - gap)^2, which is logarithmic below d_hat/2; 0: from the "
                    "mean mass of a vertex and the time step, of each object by itself, doubled "
                    "while gaps of objects that can touch it stay tiny; a pair of two objects "
                    "takes the smaller one."),
    BARRIER_PARAM_SLACK,
    BARRIER_PARAM_HESSIAN,
    BARRIER_PARAMS_FRICTION(BARRIER_LAG_STEP),
};

static const lk_entry k_edges = LK_ENTRY_MOVES(ogc_edges, 12, 14),
                      k_new_edges = LK_ENTRY_MOVES(ogc_new_edges, 12, 14),
                      k_choose = LK_ENTRY_MOVES(ogc_choose, 12, 12);
static const lk_entry k_shared_energy = LK_ENTRY_NEAR_MOVES(ogc_shared_energy, 4, 4, 7),
                      k_shared_force = LK_ENTRY_NEAR_MOVES(ogc_shared_force, 4, 11, 9),
                      k_shared_hessian = LK_ENTRY_NEAR_MOVES(ogc_shared_hessian, 4, 110, 70);

/* ---- contacts ---- */

static ogc_edges_args open_edges(ogc *o, plug_maps *m, const loom_step *s, loom_buf *x,
                                 double progress, int add)
{
  return (ogc_edges_args){.s = cand_open(&o->b.c, m, s, x, progress),
                          .f = features_open(&o->features, m),
                          .key = plug_read(m, o->b.c.key),
                          .in = plug_rdwr(m, o->in),
                          .flat = add ? OGC_FLAT : OGC_FLAT_START,
                          .end = add ? OGC_END : OGC_END_START,
                          .add = add};
}

static loom_status add_edges(ogc *o, const loom_step *s, loom_buf *x, double progress, int add)
{
  plug_maps m = plug_maps_on(o->b.c.host, o->b.c.e);
  const ogc_edges_args a = open_edges(o, &m, s, x, progress, add);
  return plug_launch(&m, &k_edges, &a, o->b.c.m, NULL);
}

/* The contacts of edges of new candidates: at the start of the step, and where they were last
 * chosen. */
static loom_status find_edges(ogc *o, const loom_step *s)
{
  const candidates *const c = &o->b.c;
  if (o->known && o->generation == c->generation) return LOOM_OK;
  o->known = 1;
  o->generation = c->generation;
  LOOM_TRY(c->host->buf_resize(c->host, o->in, c->m));
  LOOM_TRY(add_edges(o, s, s->x_start, 0.0, 0));
  return add_edges(o, s, o->at, o->progress, 1);
}

/* cand_choice.choose() */
static loom_status choose_contacts(void *self, const loom_step *s, loom_buf *x, double progress)
{
  ogc *const o = self;
  candidates *const c = &o->b.c;
  LOOM_TRY(find_edges(o, s));
  plug_maps m = plug_maps_on(c->host, c->e);
  const ogc_choose_args a = {.s = cand_open(c, &m, s, x, progress),
                             .f = features_open(&o->features, &m),
                             .key = plug_read(&m, c->key),
                             .in = plug_read(&m, o->in),
                             .flag = plug_rdwr(&m, c->act.flag),
                             .terms = o->terms};
  return plug_launch(&m, &k_choose, &a, c->m, NULL);
}

static loom_status keep_point(ogc *o, loom_buf *x, double progress)
{
  const candidates *const c = &o->b.c;
  o->progress = progress;
  return c->host->buf_copy(c->host, c->e, o->at, x);
}

/* Adds the contacts of edges at the accepted iterate s->x. */
static loom_status follow_edges(ogc *o, const loom_step *s, uint32_t *changed)
{
  const candidates *const c = &o->b.c;
  double num = 0.0;
  LOOM_TRY(keep_point(o, s->x, s->progress));
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(find_edges(o, s));
  plug_maps m = plug_maps_on(c->host, c->e);
  const ogc_edges_args a = open_edges(o, &m, s, s->x, s->progress, 1);
  LOOM_TRY(plug_reduce(&m, &k_new_edges, &a, c->m, c->result, &num));
  if (num == 0.0) return LOOM_OK;
  *changed |= LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES;
  return add_edges(o, s, s->x, s->progress, 1);
}

/* ---- life ---- */

static loom_status ogc_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  static const barrier_model model = {.pair = PAIR_KERNELS(ogc),
                                      .lag = LK_ENTRY_NEAR_MOVES(ogc_lag, 4, 35, 24)};
  const double unit = 1.0; /* d2E/dg2 at half of d_hat for k = 1 */
  const settings *const given = set;
  LOOM_TRY(plug_new(host, sizeof(ogc), self));
  ogc *const o = *self;
  const plug_buf all[] = {{"accepted iterate", LOOM_REAL, 3 * (int64_t)sc->num_verts, &o->at},
                          {"edges in contact", LOOM_I64, 0, &o->in}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  LOOM_TRY(features_new(&o->features, host, sc, e));
  LOOM_TRY(barrier_new(&o->b, host, sc, e, &given->b, &model, unit));
  o->choice = (cand_choice){.choose = choose_contacts, .self = o};
  o->b.c.choice = &o->choice;
  o->b.c.keeps_keys = 1;
  return LOOM_OK;
}

BARRIER_CALLBACKS(ogc)

static loom_status ogc_begin(void *self, const loom_step *s)
{
  ogc *const o = self;
  o->known = 0;
  LOOM_TRY(keep_point(o, s->x_start, 0.0));
  return ogc_begin_step(self, s);
}

static loom_status ogc_follow(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                              uint32_t *changed)
{
  LOOM_TRY(ogc_update(self, s, pairs, when, changed));
  return follow_edges(self, s, changed);
}

/* ---- forms ---- */

static feature_terms_args open_terms(ogc *o, plug_maps *m, const loom_step *s, loom_buf *x)
{
  return (feature_terms_args){.p = pair_open(&o->b.energy, m, s, x),
                              .f = features_open(&o->features, m),
                              .key = plug_read(m, o->b.c.key)};
}

static loom_status add_term_energy(ogc *o, const loom_step *s, loom_buf *x, double *energy)
{
  candidates *const c = &o->b.c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const feature_terms_args a = open_terms(o, &m, s, x);
  return plug_reduce_later(&m, &k_shared_energy, &a, c->act.num, c->result, &c->later, 1.0, energy);
}

/* To the forces per corner that pair_forces() left. */
static loom_status add_term_forces(ogc *o, const loom_step *s, loom_buf *x)
{
  candidates *const c = &o->b.c;
  plug_maps m = plug_maps_on(c->host, c->e);
  feature_terms_args a = open_terms(o, &m, s, x);
  a.p.at = plug_read(&m, c->corner.at);
  a.p.force = plug_rdwr(&m, c->corner.force);
  return plug_launch(&m, &k_shared_force, &a, c->act.num, NULL);
}

/* To the blocks that barrier_hessian() wrote from place `first` on. */
static loom_status add_term_blocks(ogc *o, const loom_step *s, loom_buf *x, int64_t first,
                                   loom_blocks3 *out)
{
  candidates *const c = &o->b.c;
  if (c->act.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  feature_terms_args a = open_terms(o, &m, s, x);
  a.p.at_block = plug_read(&m, c->act.at);
  a.p.first = first;
  a.p.val = plug_rdwr(&m, out->val);
  return plug_launch(&m, &k_shared_hessian, &a, c->act.num, NULL);
}

/* Normal contact from all terms, at the pairs that are active at x. */
static loom_status add_terms(ogc *o, const loom_step *s, loom_buf *x, double *energy,
                             loom_buf *grad)
{
  candidates *const c = &o->b.c;
  if (c->act.num == 0) return LOOM_OK;
  LOOM_TRY(pair_eval(&o->b.energy, s, x, energy, NULL));
  if (energy != NULL) LOOM_TRY(add_term_energy(o, s, x, energy));
  if (grad == NULL) return LOOM_OK;
  LOOM_TRY(pair_forces(&o->b.energy, s, x));
  LOOM_TRY(add_term_forces(o, s, x));
  return gather_add(&c->corner, c->act.place, NULL, grad);
}

/* An expansion, which serves a step, has the contacts alone: no wall of a negative term. */
static loom_status ogc_terms(void *self, const loom_step *s, loom_buf *x, double *energy,
                             double *dissipation, loom_buf *grad)
{
  ogc *const o = self;
  if (s->expansion == LOOM_EXPAND_STEP) return ogc_eval(self, s, x, energy, dissipation, grad);
  o->terms = 1;
  const loom_status st = cand_activate(&o->b.c, s, x, s->progress);
  o->terms = 0;
  LOOM_TRY(st);
  LOOM_TRY(add_terms(o, s, x, energy, grad));
  if (dissipation != NULL) LOOM_TRY(fric_sums(&o->b.friction, s, x, dissipation, NULL));
  return grad != NULL ? fric_gradient(&o->b.friction, s, x, grad) : LOOM_OK;
}

/* A matrix that shall not be indefinite is that of the contacts; the exact one is that of all
 * terms. */
static loom_status ogc_blocks(void *self, const loom_step *s, loom_buf *x, int how,
                              loom_blocks3 *out)
{
  ogc *const o = self;
  const int64_t first = out->count;
  const int exact = how == LOOM_HESS_EXACT && s->expansion != LOOM_EXPAND_STEP &&
                    o->b.set.hessian != BARRIER_HESSIAN_GAUSS_NEWTON;
  o->terms = exact;
  const loom_status st = ogc_hessian(self, s, x, how, out);
  o->terms = 0;
  LOOM_TRY(st);
  return exact ? add_term_blocks(o, s, x, first, out) : LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_column columns[] = {BARRIER_COLUMNS};

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_FRICTION |
                LOOM_CONT_FRICTION_BODY | LOOM_CONT_FRICTION_CLOTH | LOOM_CONT_STATEFUL,
    .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
    .pair_kinds = CAND_KINDS,
    .create = ogc_create,
    .destroy = ogc_destroy,
    .reset = ogc_reset,
    .begin_step = ogc_begin,
    .plan = ogc_plan,
    .update = ogc_follow,
    .end_step = ogc_end_step,
    .eval = ogc_terms,
    .hessian = ogc_blocks,
    .metrics = ogc_metrics,
    .checkpoint = ogc_checkpoint};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "ogc",
    .version = "0.1.0",
    .summary = "offset geometric contact: each feature acts in its own block, never penetrates\n"
               "friction of cloth on cloth is up to 4 % short\n"
               "contacts of edges follow the iterates, so that ends of two solvers differ",
    .reference = "A. H. Chen, J. Hsu, Z. Liu, M. Macklin, Y. Yang, C. Yuksel, Offset Geometric "
                 "Contact, ACM TOG 44(4), 2025, doi 10.1145/3731205; friction and mollifier: "
                 "M. Li et al., Incremental potential contact, ACM TOG 39(4), 2020, doi "
                 "10.1145/3386569.3392425",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
