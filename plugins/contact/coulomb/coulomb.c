/* coulomb.c - exact Coulomb friction on vertices by explicit contact forces, for pd_explicit.
 *
 * M. Ly, J. Jouve, L. Boissieux, F. Bertails-Descoubes, Projective Dynamics with Dry Frictional
 * Contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392396.
 *
 * The global matrix of projective dynamics is split into the masses M and a rest C, P = M + C.
 * With the masses alone on the left, the momentum of every vertex at the end of the step would be
 *   f = b - C v = m v - h g,
 * g the gradient without contact at the iterate.  For each contact on its own the law of Signorini
 * and Coulomb gives the impulse r from f; the next global step P v' = b + r takes it as a constant
 * force.  Where v' = v, M v = f + r, and the law holds for v itself.
 *
 * update() makes r at each accepted iterate, eval() adds the force -r/h to the gradient.  So the
 * core's residual is that of the law, and zero exactly at its fixed points.  Lengths stand in place
 * of momenta here: coulomb.kern.h.
 *
 * DEVIATION: with law = gap, the default, the normal part of the law is on the gap at the end of
 * the step; law = speed is the paper's, on the velocity.  Contacts are of vertices with
 * bodies; cloth does not meet cloth.
 *
 * No state carries over between steps: pairs and forces are made anew.
 */
#include <math.h>

#include "coulomb.kern.h"
#include "kit/gather.h"
#include "kit/pair_friction.h"
#include "loom/plug.h"
#include "loom/plugin.h"

static const lk_entry k_setup = LK_ENTRY_MOVES(coulomb_setup, 37, 15),
                      k_choose = LK_ENTRY_MOVES(coulomb_choose, 0, 4),
                      k_law = LK_ENTRY_MOVES(coulomb_law, 13, 4);
static const lk_entry k_active = LK_ENTRY_MOVES(coulomb_active, 6, 1),
                      k_lowest = LK_ENTRY_MOVES(coulomb_lowest, 7, 1),
                      k_strongest = LK_ENTRY_MOVES(coulomb_strongest, 7, 1),
                      k_work = LK_ENTRY_MOVES(coulomb_work, 16, 1);

enum { LAW_GAP = 0, LAW_SPEED = 1 };
enum { OBJECTS_REFUSE = 0, OBJECTS_PASS = 1 };

typedef struct {
  double offset;
  double margin;
  int32_t law;     /* LAW_* */
  int32_t objects; /* OBJECTS_* */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, offset, 1e-3, 0, 1, "m",
                    "Gap (distance minus the radius) below which a vertex is in contact."),
    LOOM_PARAM_REAL(settings, margin, 1e-2, 0, 1, "m",
                    "Detection lists pairs this far beyond the offset: a vertex that an iteration "
                    "brings into contact must be among them."),
    LOOM_PARAM_ENUM(settings, law, LAW_GAP, "gap|speed",
                    "Signorini's law: the gap at the end of the step does not fall below the "
                    "offset, or a vertex in contact does not come nearer (the paper's)."),
    LOOM_PARAM_ENUM(settings, objects, OBJECTS_REFUSE, "refuse|pass",
                    "Scenes of several cloths or solids, which do not meet each other here: "
                    "refused, or run with each passing through the others."),
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  int64_t m;        /* pairs */
  loom_buf *node;   /* i32 [m][4] */
  loom_buf *away;   /* real [m], m */
  loom_buf *normal; /* real [m][3] */
  loom_buf *c;      /* real [m], m */
  loom_buf *mu;     /* real [m] */
  loom_buf *move;   /* real [m][3], m */
  loom_buf *r;      /* real [m][3], m */
  loom_buf *grad;   /* real [n][3], N, without contact */
  loom_buf *force;  /* real [n][3], N */
  loom_buf *result; /* real [4] */
  gather corner;    /* contacts of each vertex */
} coulomb;

/* ---- life ---- */

static loom_status coulomb_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                  const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(coulomb), self));
  coulomb *const p = *self;
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->set = *(const settings *)set;
  LOOM_CHECK(host, loom_scene_followers(sc) == NULL, LOOM_E_CONFIG,
             "contact model 'coulomb' needs the mass of every vertex that it pushes, and a vertex "
             "of an affine body has none of its own; use penalty, dbb or ndb");
  LOOM_CHECK(host, sc->num_objects < 2 || p->set.objects == OBJECTS_PASS, LOOM_E_CONFIG,
             "contact model 'coulomb' has contact of vertices with bodies alone, so '%s' and '%s' "
             "would pass through each other; use ndb, dbb or penalty, or accept it with objects = "
             "pass",
             sc->object_names[0], sc->object_names[1]);
  const int64_t n3 = 3 * (int64_t)sc->num_verts;
  const plug_buf all[] = {{"contacts", LOOM_I32, 0, &p->node},
                          {"distances", LOOM_REAL, 0, &p->away},
                          {"normals", LOOM_REAL, 0, &p->normal},
                          {"planes", LOOM_REAL, 0, &p->c},
                          {"friction", LOOM_REAL, 0, &p->mu},
                          {"obstacle motion", LOOM_REAL, 0, &p->move},
                          {"reactions", LOOM_REAL, 0, &p->r},
                          {"gradient without contact", LOOM_REAL, n3, &p->grad},
                          {"contact forces", LOOM_REAL, n3, &p->force},
                          {"sums", LOOM_REAL, 4, &p->result}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  return gather_create(&p->corner, host, e);
}

static loom_status coulomb_begin_step(void *self, const loom_step *s)
{
  coulomb *const p = self;
  (void)s;
  p->m = 0; /* pairs of the last step are not valid in this one */
  return LOOM_OK;
}

/* ---- pairs ---- */

static loom_status coulomb_plan(void *self, const loom_step *s, loom_query *q)
{
  const coulomb *const p = self;
  (void)s;
  q->what = LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)(p->set.offset + p->set.margin);
  return LOOM_OK;
}

static loom_status resize_coulomb_pairs(coulomb *p, int64_t m)
{
  const loom_host *const host = p->host;
  p->m = m;
  LOOM_TRY(host->buf_resize(host, p->node, 4 * m));
  LOOM_TRY(host->buf_resize(host, p->away, m));
  LOOM_TRY(host->buf_resize(host, p->normal, 3 * m));
  LOOM_TRY(host->buf_resize(host, p->c, m));
  LOOM_TRY(host->buf_resize(host, p->mu, m));
  LOOM_TRY(host->buf_resize(host, p->move, 3 * m));
  return host->buf_resize(host, p->r, 3 * m);
}

/* Planes, friction and motion of bodies at the contacts; the contacts of each vertex. */
static loom_status take_coulomb_pairs(coulomb *p, const loom_step *s, const loom_pairs *pairs)
{
  const loom_body_rows rows = {
      .struct_size = sizeof rows, .count = pairs->count, .body = pairs->obst, .x = pairs->point};
  LOOM_TRY(resize_coulomb_pairs(p, pairs->count));
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(p->host->body_carry(p->host, p->e, &rows, s->progress, 0.0, p->move));
  plug_maps m = plug_maps_on(p->host, p->e);
  const coulomb_setup_args a = {.x = plug_read(&m, s->x),
                                .x_start = plug_read(&m, s->x_start),
                                .radius = plug_read(&m, p->sc->radius),
                                .body0 = plug_read(&m, s->body0),
                                .body1 = plug_read(&m, s->body1),
                                .kind = plug_read(&m, pairs->kind),
                                .v = plug_read(&m, pairs->v),
                                .w = plug_read(&m, pairs->w),
                                .obst = plug_read(&m, pairs->obst),
                                .gap = plug_read(&m, pairs->gap),
                                .point = plug_read(&m, pairs->point),
                                .friction = plug_read(&m, p->sc->body_friction),
                                .given = plug_read(&m, pairs->normal),
                                .normal = plug_write(&m, p->normal),
                                .move = plug_rdwr(&m, p->move),
                                .c = plug_write(&m, p->c),
                                .mu = plug_write(&m, p->mu),
                                .r = plug_write(&m, p->r),
                                .away = plug_write(&m, p->away),
                                .node = plug_write(&m, p->node),
                                .progress = (lk_real)s->progress,
                                .n = p->sc->num_verts,
                                .named = pair_friction_open(&m, p->sc)};
  LOOM_TRY(plug_launch(&m, &k_setup, &a, p->m, NULL));
  LOOM_TRY(gather_sort(&p->corner, p->node, p->sc->fixed, p->sc->num_verts, p->m));
  const coulomb_choose_args choose = {.first = plug_read(&m, p->corner.first),
                                      .pair = plug_read(&m, p->corner.owner),
                                      .obst = plug_read(&m, pairs->obst),
                                      .away = plug_read(&m, p->away),
                                      .node = plug_rdwr(&m, p->node)};
  return plug_launch(&m, &k_choose, &choose, p->sc->num_verts, NULL);
}

/* Forces at s->x. */
static loom_status find_coulomb_forces(coulomb *p, const loom_step *s)
{
  loom_problem bare = *s->problem;
  bare.terms &= ~(uint32_t)LOOM_TERM_CONTACT;
  LOOM_TRY(p->host->eval(p->host, &bare, s->x, LOOM_EVAL_GRADIENT, NULL, p->grad));
  plug_maps m = plug_maps_on(p->host, p->e);
  const coulomb_law_args a = {.x = plug_read(&m, s->x),
                              .x_start = plug_read(&m, s->x_start),
                              .grad = plug_read(&m, p->grad),
                              .mass = plug_read(&m, p->sc->mass),
                              .first = plug_read(&m, p->corner.first),
                              .pair = plug_read(&m, p->corner.owner),
                              .node = plug_read(&m, p->node),
                              .normal = plug_read(&m, p->normal),
                              .c = plug_read(&m, p->c),
                              .mu = plug_read(&m, p->mu),
                              .move = plug_read(&m, p->move),
                              .r = plug_rdwr(&m, p->r),
                              .force = plug_write(&m, p->force),
                              .h2 = (lk_real)loom_problem_h2(s->problem),
                              .offset = (lk_real)p->set.offset,
                              .by_speed = p->set.law == LAW_SPEED};
  return plug_launch(&m, &k_law, &a, p->sc->num_verts, NULL);
}

static loom_status coulomb_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                                  uint32_t *changed)
{
  coulomb *const p = self;
  const int64_t before = p->m;
  if (when == LOOM_AFTER_DETECT) LOOM_TRY(take_coulomb_pairs(p, s, pairs));
  *changed = p->m > 0 || before > 0 ? LOOM_CHANGED_VALUES : LOOM_CHANGED_NONE;
  return p->m > 0 ? find_coulomb_forces(p, s) : LOOM_OK;
}

/* ---- gradient and numbers ---- */

static loom_status coulomb_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                double *dissipation, loom_buf *grad)
{
  const coulomb *const p = self;
  (void)s, (void)x, (void)dissipation;
  if (energy != NULL) *energy = p->m > 0 ? (double)NAN : *energy; /* the force has no potential */
  if (grad == NULL || p->m == 0) return LOOM_OK;
  return p->host->axpby(p->host, p->e, -1.0, p->force, 1.0, grad);
}

static loom_status reduce_coulomb_pairs(coulomb *p, const loom_step *s, const lk_entry *k,
                                        double *out)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const coulomb_measure_args a = {.x = plug_read(&m, s->x),
                                  .x_start = plug_read(&m, s->x_start),
                                  .mass = plug_read(&m, p->sc->mass),
                                  .node = plug_read(&m, p->node),
                                  .normal = plug_read(&m, p->normal),
                                  .c = plug_read(&m, p->c),
                                  .move = plug_read(&m, p->move),
                                  .r = plug_read(&m, p->r),
                                  .h2 = (lk_real)loom_problem_h2(s->problem)};
  return plug_reduce(&m, k, &a, p->m, p->result, out);
}

static loom_status coulomb_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  coulomb *const p = self;
  double active, lowest;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(reduce_coulomb_pairs(p, s, &k_active, &active));
  LOOM_TRY(reduce_coulomb_pairs(p, s, &k_lowest, &lowest));
  LOOM_TRY(reduce_coulomb_pairs(p, s, &k_strongest, &out->max_force));
  LOOM_TRY(reduce_coulomb_pairs(p, s, &k_work, &out->dissipated));
  out->active = (int64_t)active;
  out->min_gap = -lowest;
  return LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_GRADIENT | LOOM_CONT_EXPLICIT |
                                                 LOOM_CONT_FRICTION | LOOM_CONT_FRICTION_BODY |
                                                 LOOM_CONT_STATEFUL,
                                     .needs = LOOM_COLL_PROXIMITY,
                                     .pair_kinds = LOOM_BIT(LOOM_PAIR_VO) | LOOM_BIT(LOOM_PAIR_BVT),
                                     .create = coulomb_create,
                                     .destroy = plug_free,
                                     .begin_step = coulomb_begin_step,
                                     .plan = coulomb_plan,
                                     .update = coulomb_update,
                                     .eval = coulomb_eval,
                                     .metrics = coulomb_metrics};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "coulomb",
    .version = "0.1.0",
    .summary = "explicit contact forces on vertices with exact Coulomb friction (PD-Coulomb)\n"
               "vertices meet bodies alone: cloth passes through itself, scenes of several objects "
               "are refused, and edges and triangles pass through thin or sharp bodies\n"
               "it sees no impacts within a step: a vertex that moves farther than margin in a "
               "step can pass a body",
    .reference = "M. Ly, J. Jouve, L. Boissieux, F. Bertails-Descoubes, Projective Dynamics with "
                 "Dry Frictional Contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392396",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
