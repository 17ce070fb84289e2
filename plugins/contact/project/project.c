/* project.c - post-correction against bodies: overlapping vertices are pushed out.
 *
 * resolve() moves each vertex whose gap is below `clearance` along the normal of the body it is
 * deepest in until its gap is `clearance`, and holds its tangential displacement back by at most
 * the coefficient of friction times that distance: Coulomb's law for the impulse m push / h of
 * the correction.  It detects again and repeats, for vertices between several bodies; these
 * rounds look for overlaps alone, because rounding leaves gaps on either side of `clearance`.
 * So a vertex at rest gets the impulse of its weight in every step and does not move.  Were it
 * pushed as it overlaps, it would fall through its clearance and jump back every few steps.
 * velocity() then corrects speeds: inward speed relative to the body's surface vanishes
 * (inelastic impact) together with the friction impulse it causes, and outward speed that only
 * stems from the push is taken back.
 *
 * The law of friction per node comes from M. Ly et al., "Projective dynamics with dry
 * frictional contact", ACM TOG 39(4), 2020, doi 10.1145/3386569.3392396, applied once after
 * the solve instead of within it.  No state carries over between steps.
 *
 * For bodies that move by themselves every change of a vertex's momentum is recorded beside the
 * body that caused it, and handed back to the body at the end of velocity().
 */
#include <math.h>

#include "kit/pair_friction.h"
#include "loom/plug.h"
#include "loom/plugin.h"
#include "project.kern.h"

static const lk_entry k_clear = LK_ENTRY_MOVES(project_clear, 4, 3),
                      k_key = LK_ENTRY_MOVES(project_key, 1, 1);
static const lk_entry k_deepest = LK_ENTRY_MOVES(project_deepest, 1, 0),
                      k_push = LK_ENTRY_MOVES(project_push, 40, 7);
static const lk_entry k_velocity = LK_ENTRY_MOVES(project_inelastic, 13, 30),
                      k_active = LK_ENTRY_MOVES(project_active, 3, 0);
static const lk_entry k_touch = LK_ENTRY_MOVES(project_touch, 12, 0);
static const lk_entry k_strongest = LK_ENTRY_MOVES(project_strongest, 4, 0),
                      k_loss = LK_ENTRY_MOVES(project_loss, 1, 0);

typedef struct {
  double clearance;
  int64_t rounds;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, clearance, 1e-6, 0, 1e-1, "m",
                    "Gap that vertices are kept at, so that rounding finds no overlap."),
    LOOM_PARAM_INT(settings, rounds, 16, 1, 10000, "1",
                   "Most rounds of detection and pushing in one correction."),
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  loom_buf *obst;       /* i32 [n][PROJECT_SLOTS] */
  loom_buf *normal;     /* real [n][PROJECT_SLOTS][3] */
  loom_buf *push;       /* real [n][PROJECT_SLOTS], m */
  loom_buf *loss;       /* real [n], J */
  loom_buf *key;        /* u64 [pairs] */
  loom_buf *perm;       /* i32 [pairs] */
  loom_buf *result;     /* real [1] */
  loom_buf *from;       /* real [pairs][3], m, where their points were at the start of the step */
  loom_buf *point;      /* real [n][PROJECT_SLOTS][3], m, where vertices touch */
  loom_buf *before;     /* the same points at the start of the step */
  loom_body_rows slots; /* bodies and points of all slots */
  int32_t balls;        /* bodies that move by themselves */
  loom_buf *given;      /* real [n][PROJECT_SLOTS][3], N s; NULL without balls, as the following */
  loom_buf *weight;     /* real [n][PROJECT_SLOTS], kg */
  double deepest;       /* m, overlap left by the latest correction; NaN: none made */
} project;

/* ---- life ---- */

/* Finds the bodies that move by themselves, and makes the buffers for reactions on them. */
static loom_status find_balls(project *p)
{
  const loom_host *const host = p->host;
  const int64_t slots = (int64_t)PROJECT_SLOTS * p->sc->num_verts;
  for (int k = 0; k < p->sc->num_obstacles; ++k) p->balls += p->sc->obstacles[k].mass > 0;
  if (p->balls == 0) return LOOM_OK;
  LOOM_TRY(host->buf_new(host, "impulses", LOOM_REAL, 3 * slots, &p->given));
  return host->buf_new(host, "masses of slots", LOOM_REAL, slots, &p->weight);
}

static loom_status project_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                  const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(project), self));
  project *const p = *self;
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->set = *(const settings *)set;
  const int64_t slots = (int64_t)PROJECT_SLOTS * sc->num_verts;
  LOOM_TRY(host->buf_new(host, "contact bodies", LOOM_I32, slots, &p->obst));
  LOOM_TRY(host->buf_new(host, "contact normals", LOOM_REAL, 3 * slots, &p->normal));
  LOOM_TRY(host->buf_new(host, "pushes", LOOM_REAL, slots, &p->push));
  LOOM_TRY(host->buf_new(host, "losses", LOOM_REAL, sc->num_verts, &p->loss));
  LOOM_TRY(host->buf_new(host, "pushed vertices", LOOM_U64, 0, &p->key));
  LOOM_TRY(host->buf_new(host, "pushing pairs", LOOM_I32, 0, &p->perm));
  LOOM_TRY(host->buf_new(host, "starts of points", LOOM_REAL, 0, &p->from));
  LOOM_TRY(host->buf_new(host, "touching points", LOOM_REAL, 3 * slots, &p->point));
  LOOM_TRY(host->buf_new(host, "their starts", LOOM_REAL, 3 * slots, &p->before));
  LOOM_TRY(find_balls(p));
  return host->buf_new(host, "sums", LOOM_REAL, 1, &p->result);
}

/* Clears the contacts of the vertices, which belong to another trial point. */
static loom_status clear_project_contacts(project *p)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const project_clear_args a = {.c = {.obst = plug_rdwr(&m, p->obst),
                                      .push = plug_rdwr(&m, p->push),
                                      .loss = plug_rdwr(&m, p->loss),
                                      .given = plug_rdwr(&m, p->given)}};
  return plug_launch(&m, &k_clear, &a, p->sc->num_verts, NULL);
}

static loom_status project_begin_step(void *self, const loom_step *s)
{
  project *const p = self;
  (void)s;
  p->deepest = NAN;
  return clear_project_contacts(p);
}

/* ---- positions ---- */

/* Pairs ordered by vertex, and the deepest overlap. */
static loom_status sort_project_pairs(project *p, const loom_pairs *pairs)
{
  const loom_host *const host = p->host;
  LOOM_TRY(host->buf_resize(host, p->key, pairs->count));
  LOOM_TRY(host->buf_resize(host, p->perm, pairs->count));
  plug_maps m = plug_maps_on(host, p->e);
  const project_key_args a = {.v = plug_read(&m, pairs->v),
                              .gap = plug_read(&m, pairs->gap),
                              .key = plug_write(&m, p->key)};
  LOOM_TRY(plug_run_on(&m, &k_key, &a, pairs->count, NULL));
  LOOM_TRY(plug_reduce(&m, &k_deepest, &a, pairs->count, p->result, &p->deepest));
  return host->sort_u64(host, p->e, p->key, p->perm);
}

/* Maps the contacts that vertices remember, for writing. */
static project_contacts map_project_contacts(const project *p, plug_maps *m)
{
  return (project_contacts){.obst = plug_rdwr(m, p->obst),
                            .normal = plug_rdwr(m, p->normal),
                            .push = plug_rdwr(m, p->push),
                            .loss = plug_rdwr(m, p->loss),
                            .given = plug_rdwr(m, p->given)};
}

static loom_status push_out(project *p, const loom_step *s, const loom_pairs *pairs,
                            loom_buf *x_start, loom_buf *x)
{
  const loom_body_rows rows = {
      .struct_size = sizeof rows, .count = pairs->count, .body = pairs->obst, .x = pairs->point};
  LOOM_TRY(p->host->buf_resize(p->host, p->from, 3 * pairs->count));
  LOOM_TRY(p->host->body_carry(p->host, p->e, &rows, 1.0, 0.0, p->from));
  plug_maps m = plug_maps_on(p->host, p->e);
  const project_push_args a = {.key = plug_read(&m, p->key),
                               .perm = plug_read(&m, p->perm),
                               .obst = plug_read(&m, pairs->obst),
                               .normal = plug_read(&m, pairs->normal),
                               .gap = plug_read(&m, pairs->gap),
                               .point = plug_read(&m, pairs->point),
                               .before = plug_read(&m, p->from),
                               .friction = plug_read(&m, p->sc->body_friction),
                               .fixed = plug_read(&m, p->sc->fixed),
                               .mass = plug_read(&m, p->sc->mass),
                               .x_start = plug_read(&m, x_start),
                               .x = plug_rdwr(&m, x),
                               .c = map_project_contacts(p, &m),
                               .named = pair_friction_open(&m, p->sc),
                               .m = pairs->count,
                               .clearance = (lk_real)p->set.clearance,
                               .inv_h = (lk_real)(1.0 / s->h)};
  return plug_launch(&m, &k_push, &a, pairs->count, NULL);
}

static loom_status project_resolve(void *self, const loom_step *s, loom_buf *x_start,
                                   loom_buf *x_trial)
{
  project *const p = self;
  const loom_host *const host = p->host;
  loom_query query = {.struct_size = sizeof query,
                      .what = LOOM_DETECT_PROXIMITY | LOOM_DETECT_OVERLAP,
                      .kinds = LOOM_BIT(LOOM_PAIR_VO),
                      .margin = (loom_real)p->set.clearance,
                      .x0 = x_trial,
                      .x1 = x_trial,
                      .progress0 = s->progress,
                      .progress1 = s->progress};
  LOOM_TRY(clear_project_contacts(p));
  for (int32_t k = 0;; ++k) {
    const loom_pairs *pairs;
    p->deepest = 0.0;
    LOOM_TRY(host->detect(host, &query, &pairs));
    if (pairs->count == 0) return LOOM_OK;
    LOOM_TRY(sort_project_pairs(p, pairs));
    p->deepest = fmax(p->deepest, 0.0);
    host->inner(host, k, LOOM_NORM_UPDATE_MAX, p->deepest);
    if (k == p->set.rounds) break;
    LOOM_TRY(push_out(p, s, pairs, x_start, x_trial));
    query.what = LOOM_DETECT_OVERLAP;
    query.margin = 0;
  }
  host->log(
      host, LOOM_LOG_WARN,
      "step %lld: vertices are still %.3g m deep in bodies after %lld rounds; raise 'rounds' or "
      "look for bodies that meet",
      (long long)s->index, p->deepest, (long long)p->set.rounds);
  return LOOM_OK;
}

/* ---- velocities ----
 */

static loom_status correct_velocities(project *p, const loom_step *s)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const project_inelastic_args a = {.point = plug_read(&m, p->point),
                                    .before = plug_read(&m, p->before),
                                    .friction = plug_read(&m, p->sc->body_friction),
                                    .mass = plug_read(&m, p->sc->mass),
                                    .v = plug_rdwr(&m, s->v_end),
                                    .c = map_project_contacts(p, &m),
                                    .named = pair_friction_open(&m, p->sc),
                                    .inv_h = (lk_real)(1.0 / s->h)};
  return plug_launch(&m, &k_velocity, &a, p->sc->num_verts, NULL);
}

/* Where the vertices touch their bodies now, and where that was at the start of the step. */
static loom_status compute_touch_points(project *p, const loom_step *s)
{
  const int64_t slots = (int64_t)PROJECT_SLOTS * p->sc->num_verts;
  plug_maps m = plug_maps_on(p->host, p->e);
  const project_touch_args a = {.x = plug_read(&m, s->x),
                                .radius = plug_read(&m, p->sc->radius),
                                .mass = plug_read(&m, p->sc->mass),
                                .normal = plug_read(&m, p->normal),
                                .point = plug_write(&m, p->point),
                                .weight = plug_write(&m, p->weight)};
  LOOM_TRY(plug_launch(&m, &k_touch, &a, slots, NULL));
  p->slots = (loom_body_rows){
      .struct_size = sizeof p->slots, .count = slots, .body = p->obst, .x = p->point};
  return p->host->body_carry(p->host, p->e, &p->slots, 1.0, 0.0, p->before);
}

static loom_status project_velocity(void *self, const loom_step *s)
{
  project *const p = self;
  LOOM_TRY(compute_touch_points(p, s));
  LOOM_TRY(correct_velocities(p, s));
  if (p->balls == 0) return LOOM_OK;
  return p->host->body_push(p->host, p->e, &p->slots, p->given, p->weight);
}

/* ---- metrics ---- */

static loom_status reduce_project_metric(project *p, const loom_step *s, const lk_entry *k,
                                         double *out)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const project_metric_args a = {.push = plug_read(&m, p->push),
                                 .loss = plug_read(&m, p->loss),
                                 .mass = plug_read(&m, p->sc->mass),
                                 .inv_h2 = (lk_real)s->problem->inertia};
  return plug_reduce(&m, k, &a, p->sc->num_verts, p->result, out);
}

static loom_status project_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  project *const p = self;
  double active = 0.0;
  LOOM_TRY(reduce_project_metric(p, s, &k_active, &active));
  out->active = (int64_t)active;
  if (active > 0.0) LOOM_TRY(reduce_project_metric(p, s, &k_strongest, &out->max_force));
  if (active > 0.0) LOOM_TRY(reduce_project_metric(p, s, &k_loss, &out->dissipated));
  if (p->deepest > 0.0) out->min_gap = -p->deepest; /* known only where it overlaps */
  return LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_RESOLVE | LOOM_CONT_VELOCITY |
                                                 LOOM_CONT_REACTION | LOOM_CONT_FRICTION_BODY,
                                     .needs = LOOM_COLL_OVERLAP | LOOM_COLL_PROXIMITY,
                                     .pair_kinds = LOOM_BIT(LOOM_PAIR_VO),
                                     .create = project_create,
                                     .destroy = plug_free,
                                     .begin_step = project_begin_step,
                                     .resolve = project_resolve,
                                     .metrics = project_metrics,
                                     .velocity = project_velocity};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "project",
    .version = "0.1.0",
    .summary = "push-out from bodies with inelastic, frictional velocities",
    .reference = "law of friction: M. Ly et al., Projective dynamics with dry frictional contact, "
                 "ACM TOG 39(4), 2020, doi 10.1145/3386569.3392396",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
};

LOOM_EXPORT_PLUGIN(&plugin)
