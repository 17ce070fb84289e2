/* cubic_barrier.c - the cubic barrier with elasticity-inclusive dynamic stiffness: each contact has
 * a stiffness from mass over the square of its gap and from the elastic Hessian.
 *
 *   energy of a contact           cubic_law.kern.h
 *   stiffness of a contact        cubic_barrier.kern.h, elastic.h
 *   friction, checks              kit/barrier
 *
 * The stiffness is that of the point `at`: the start of the step, then each accepted iterate.
 * Between two of these points the energy is a function of x alone.  No state outlives the step. */
#include "cubic_barrier.kern.h"
#include "elastic.h"
#include "kit/barrier.h"

typedef struct settings {
  barrier_settings
      b; /* first: the kit's rows of the table name members of it; .stiffness: factor */
  double speed;
} settings;

typedef struct cubic_barrier {
  barrier b;
  settings set;
  cand_choice choice;
  elastic_diagonal elastic; /* at the start of the step */
  loom_buf *at;             /* real [n][3], m, the point of the stiffness */
  double progress;          /* of the bodies' motion there */
  loom_buf *each;           /* real [m], N/m, the stiffness */
  int64_t generation;       /* of the candidates of `each` */
  int known;                /* 1: `each` belongs to `at` */
} cubic_barrier;

static const lk_entry k_weigh = LK_ENTRY_MOVES(cubic_weigh, 22, 6),
                      k_most = LK_ENTRY_MOVES(cubic_most, 1, 1);

static const loom_param params[] = {
    BARRIER_PARAM_D_HAT,
    LOOM_PARAM_REAL_AS("factor", settings, b.stiffness, 1, 0, 1e6, "1",
                       "Factor on the stiffness of every contact.", LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(settings, speed, 1, 1e-6, 1e6, "m/s",
                    "v in the stiffness m v^2/g^2 + n.Hn of a contact with the gap g; the paper "
                    "has m/g^2, which are these numbers with v = 1 m/s."),
    BARRIER_PARAM_SLACK,
    BARRIER_PARAM_HESSIAN,
    BARRIER_PARAMS_FRICTION(BARRIER_LAG_STEP),
};

/* ---- stiffness ---- */

static loom_status weigh_contacts(cubic_barrier *q, const loom_step *s)
{
  candidates *const c = &q->b.c;
  LOOM_TRY(cand_ask(c, q->at, q->progress));
  plug_maps m = plug_maps_on(c->host, c->e);
  const cubic_weigh_args a = {.s = cand_open(c, &m, s, q->at, q->progress),
                              .mass = plug_read(&m, c->sc->mass),
                              .elastic = plug_read(&m, q->elastic.sum),
                              .each = plug_write(&m, q->each),
                              .d_hat = (lk_real)q->set.b.d_hat,
                              .speed2 = (lk_real)(q->set.speed * q->set.speed)};
  return plug_launch(&m, &k_weigh, &a, c->m, NULL);
}

/* cand_choice.choose(): it leaves all active pairs, and gives new candidates their stiffness. */
static loom_status weigh_new_contacts(void *self, const loom_step *s, loom_buf *x, double progress)
{
  cubic_barrier *const q = self;
  candidates *const c = &q->b.c;
  if (q->known && q->generation == c->generation) return LOOM_OK;
  q->known = 1;
  q->generation = c->generation;
  LOOM_TRY(c->host->buf_resize(c->host, q->each, c->m));
  LOOM_TRY(weigh_contacts(q, s));
  return cand_ask(c, x, progress);
}

/* The stiffness is that of s->x from now on. */
static loom_status move_point(cubic_barrier *q, const loom_step *s)
{
  q->known = 0;
  q->progress = s->progress;
  return q->b.c.host->buf_copy(q->b.c.host, q->b.c.e, q->at, s->x);
}

/* ---- life ---- */

static loom_status cubic_barrier_create(const loom_host *host, const loom_scene *sc,
                                        const loom_exec *e, const void *set, void **self)
{
  static const barrier_model model = {.pair = PAIR_KERNELS(cubic_barrier),
                                      .lag = LK_ENTRY_NEAR_MOVES(cubic_barrier_lag, 4, 35, 24)};
  const double unit = 2.0; /* d2E/dg2 at half of d_hat for k = 1 */
  const settings *const given = set;
  const int64_t n = sc->num_verts;
  LOOM_TRY(plug_new(host, sizeof(cubic_barrier), self));
  cubic_barrier *const q = *self;
  const plug_buf all[] = {{"point of the stiffness", LOOM_REAL, 3 * n, &q->at},
                          {"stiffness of contacts", LOOM_REAL, 0, &q->each}};
  q->set = *given;
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  LOOM_TRY(elastic_diagonal_new(&q->elastic, host, sc, e));
  LOOM_TRY(barrier_new(&q->b, host, sc, e, &given->b, &model, unit));
  q->choice = (cand_choice){.choose = weigh_new_contacts, .self = q};
  q->b.c.choice = &q->choice;
  q->b.energy.each = q->each;
  return LOOM_OK;
}

BARRIER_CALLBACKS(cubic_barrier)

static void cubic_barrier_end(void *self)
{
  cubic_barrier *const q = self;
  elastic_diagonal_free(&q->elastic);
  cubic_barrier_destroy(self);
}

static loom_status cubic_barrier_begin(void *self, const loom_step *s)
{
  cubic_barrier *const q = self;
  const candidates *const c = &q->b.c;
  q->known = 0;
  q->progress = 0.0;
  LOOM_TRY(c->host->buf_copy(c->host, c->e, q->at, s->x_start));
  LOOM_TRY(elastic_diagonal_at(&q->elastic, s->x_start));
  return cubic_barrier_begin_step(self, s);
}

/* The stiffness changes before friction takes its normal forces.  Frozen contact has that of the
 * start of the step until its end. */
static loom_status cubic_barrier_follow(void *self, const loom_step *s, const loom_pairs *pairs,
                                        int when, uint32_t *changed)
{
  cubic_barrier *const q = self;
  const int moves = when == LOOM_AFTER_ACCEPT && s->problem->contact == LOOM_CONTACT_LIVE;
  if (moves) LOOM_TRY(move_point(q, s));
  LOOM_TRY(cubic_barrier_update(self, s, pairs, when, changed));
  if (moves && q->b.c.m > 0) *changed |= LOOM_CHANGED_VALUES;
  return LOOM_OK;
}

static loom_status cubic_barrier_measure(void *self, const loom_step *s, loom_contact_metrics *out)
{
  cubic_barrier *const q = self;
  candidates *const c = &q->b.c;
  LOOM_TRY(cubic_barrier_metrics(self, s, out));
  if (out->extra == NULL) return LOOM_OK;
  out->extra[0] = 0.0;
  if (c->act.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const cubic_most_args a = {.list = plug_read(&m, c->act.list), .each = plug_read(&m, q->each)};
  return plug_reduce_later(&m, &k_most, &a, c->act.num, c->result, &c->later, q->set.b.stiffness,
                           out->extra);
}

/* ---- descriptor ---- */

static const loom_column columns[] = {{"kappa", "N/m", "largest stiffness of an active contact"}};

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT |
                                                 LOOM_CONT_HESSIAN | LOOM_CONT_FRICTION |
                                                 LOOM_CONT_STATEFUL,
                                     .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
                                     .pair_kinds = CAND_KINDS,
                                     .create = cubic_barrier_create,
                                     .destroy = cubic_barrier_end,
                                     .reset = cubic_barrier_reset,
                                     .begin_step = cubic_barrier_begin,
                                     .plan = cubic_barrier_plan,
                                     .update = cubic_barrier_follow,
                                     .end_step = cubic_barrier_end_step,
                                     .eval = cubic_barrier_eval,
                                     .hessian = cubic_barrier_hessian,
                                     .metrics = cubic_barrier_measure,
                                     .checkpoint = cubic_barrier_checkpoint};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "cubic_barrier",
    .version = "0.1.0",
    .summary = "cubic barrier with the elastic Hessian in its stiffness: never penetrates",
    .reference = "R. Ando, A Cubic Barrier with Elasticity-Inclusive Dynamic Stiffness, ACM TOG "
                 "43(6), 2024, doi 10.1145/3687908; friction and mollifier: M. Li et al., "
                 "Incremental potential contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392425",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
