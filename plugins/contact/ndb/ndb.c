/* ndb.c - the non-distance barrier: quadratic contacts with weights w = w0 K^a that grow with the
 * number a of iterations that a contact needed, kept apart by continuous collision detection.
 *
 * L. Lan, Z. Lu, J. Long, C. Yuan, X. Li, X. He, H. Wang, C. Jiang, Y. Yang, "Efficient GPU cloth
 * simulation with non-distance barriers and subspace reuse", ACM TOG 43(6), 2024.
 *
 * Contacts are all pairs closer than d_hat + slack at the last feasible point x_feas and all pairs
 * that continuous detection hits on the way from there to the iterate x.  Their closest points
 * and normals are frozen at x_feas (ndb.kern.h) until FILTER has moved it; ages go over by name.
 * Between two filters x runs free, and may intersect.  A filter is asked for after `inner`
 * iterations; the core asks, too, before it takes a step for converged. */
#include <math.h>

#include "kit/pair_friction.h"
#include "ndb.h"

static const lk_entry k_key = LK_ENTRY_MOVES(ndb_key, 2, 2),
                      k_carry = LK_ENTRY_MOVES(ndb_carry, 3, 7);
static const lk_entry k_freeze = LK_ENTRY_MOVES(ndb_freeze, 36, 12);

static const double ndb_default_slack = 1e-3; /* m */

static const loom_param params[] = {
    LOOM_PARAM_REAL(ndb_settings, d_hat, 1e-3, 0, 1, "m",
                    "Gap (distance minus both radii) at which the force begins.", LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(ndb_settings, slack, 0, 0, 1, "m",
                    "Contacts are kept ready up to this far beyond d_hat; 0: 1 mm, a quarter of "
                    "the mean edge where that is less."),
    LOOM_PARAM_REAL(ndb_settings, w0, 1e-2, 0, 1e6, "1",
                    "First weight, in mean diagonals of the projective operator M/h^2 + sum w A'A, "
                    "of each object "
                    "by itself; a pair of two objects takes the smaller one.",
                    LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(ndb_settings, weight, 0, 0, 1e15, "N/m",
                    "The unit of w0 and w_max instead of that diagonal; 0: the diagonal."),
    LOOM_PARAM_REAL(ndb_settings, w_max, 1e4, 0, 1e12, "1", "Largest weight, in the same unit.",
                    LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(ndb_settings, growth_base, 2, 1, 100, "1",
                    "K in w = w0 K^a (eq. 7); 1: weights do not grow."),
    LOOM_PARAM_ENUM(ndb_settings, growth, NDB_GROW_GAP, "gap|literal|partial",
                    "When a grows: while the gap is below d_hat/2 (held up to d_hat, then "
                    "falling); as printed in eq. 7, while the pair is close; or while partial "
                    "detection hits it."),
    LOOM_PARAM_ENUM(ndb_settings, samples, 2, "none|1|3|6|adaptive",
                    "Sample points of partial detection (eqs. 8 to 15), for the two latter."),
    LOOM_PARAM_BOOL(ndb_settings, projection, 1, "Sample the closest points at x_feas, too."),
    LOOM_PARAM_REAL(ndb_settings, eta, 0.9, 0, 1, "1",
                    "Latest time of impact that adaptive sampling must see (eq. 14).",
                    LOOM_P_OPEN_MIN | LOOM_P_OPEN_MAX),
    LOOM_PARAM_ENUM(ndb_settings, targets, NDB_HALFSPACE, "halfspace|mass",
                    "Where contacts pull their vertices: to the closest point with the gap d_hat, "
                    "or both sides as a whole, shared by mass (no energy)."),
    LOOM_PARAM_INT(ndb_settings, inner, 0, 0, 1000000, "1",
                   "Iterations between two filters at most; 0: a third of the step's limit, 20 at "
                   "most."),
    LOOM_PARAM_BOOL(ndb_settings, carry, 1,
                    "Ages go over to the next step; the paper begins every step at 0."),
    LOOM_PARAM_BOOL(ndb_settings, mollify, 1,
                    "Forces of nearly parallel edges fade, as their closest points jump (Li et al. "
                    "2020, eq. 24); no: as published."),
    LOOM_PARAM_REAL(ndb_settings, self_friction, 0, 0, 10, "1",
                    "Coulomb coefficient between cloths; bodies bring their own.", LOOM_P_PROBLEM),
    LOOM_PARAM_REAL(ndb_settings, epsilon_v, 1e-3, 1e-9, 1, "m/s",
                    "Sliding speed below which friction fades (Li et al. 2020, eq. 18, doi "
                    "10.1145/3386569.3392425)."),
};

static const loom_column columns[] = {
    {"held", "1", "contacts held ready"},
    {"grown", "1", "contacts with a weight above the first"},
    {"ratio", "1", "largest weight over the first"},
    {"age", "1", "largest age a in w = w0 K^a"},
    {"continuous", "1", "continuous detections in this step so far, without the filters' own"},
};

/* ---- life ---- */

static loom_status ndb_reset(void *self)
{
  ndb *const d = self;
  d->num_old = 0;
  d->inertia_scale = 0.0;
  d->filters = -1;
  d->since = 0;
  ndb_forget(d);
  cand_reset(&d->c);
  return LOOM_OK;
}

static loom_status ndb_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  const ndb_settings *const given = set;
  LOOM_TRY(plug_new(host, sizeof(ndb), self));
  ndb *const d = *self;
  d->set = *given;
  d->c.leaves_rest = 1;
  LOOM_TRY(cand_new(&d->c, host, sc, e, given->d_hat, given->slack, ndb_default_slack));
  LOOM_CHECK(host, given->w_max >= given->w0, LOOM_E_CONFIG,
             "w_max = %g is below w0 = %g: raise w_max", given->w_max, given->w0);
  const plug_buf all[] = {{"offsets", LOOM_REAL, 0, &d->off},
                          {"shares", LOOM_REAL, 0, &d->share},
                          {"weights", LOOM_REAL, 0, &d->weight},
                          {"lacks", LOOM_REAL, 0, &d->lack},
                          {"live", LOOM_U8, 0, &d->live},
                          {"names", LOOM_U64, 0, &d->key},
                          {"last names", LOOM_U64, 0, &d->key_old},
                          {"ages", LOOM_I32, 0, &d->age},
                          {"last ages", LOOM_I32, 0, &d->age_old},
                          {"first ages", LOOM_I32, 0, &d->brought},
                          {"last first ages", LOOM_I32, 0, &d->brought_old},
                          {"next ages", LOOM_I32, 0, &d->leave},
                          {"forces", LOOM_REAL, 0, &d->force},
                          {"last forces", LOOM_REAL, 0, &d->force_old},
                          {"old places", LOOM_I32, 0, &d->from},
                          {"unrepaired", LOOM_REAL, 0, &d->hat},
                          {"pushes", LOOM_REAL, 0, &d->push},
                          {"measured point", LOOM_REAL, 0, &d->measured.x},
                          {"obstacles of contacts", LOOM_I32, 0, &d->slip_obst},
                          {"weights of corners", LOOM_REAL, 0, &d->w},
                          {"normals", LOOM_REAL, 0, &d->normal},
                          {"points on bodies", LOOM_REAL, 0, &d->point},
                          {"points at the start", LOOM_REAL, 0, &d->then},
                          {"points now", LOOM_REAL, 0, &d->now},
                          {"limits of friction", LOOM_REAL, 0, &d->most},
                          {"limits of friction in a step", LOOM_REAL, 0, &d->limit},
                          {"contact at the start", LOOM_REAL, 0, &d->start},
                          {"sizes of contact at the start", LOOM_REAL, 0, &d->size}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  d->c.corner.compact = e->backend == LOOM_CPU;
  LOOM_TRY(ahead_create(&d->ahead, host, e, sc));
  if (!(given->weight > 0.0) && sc->num_objects > 1 && sc->object != NULL)
    LOOM_TRY(host->buf_new(host, "shares of the unit", LOOM_REAL, sc->num_objects, &d->part));
  return ndb_reset(d);
}

/* ---- contacts ---- */

static void swap_buffers(loom_buf **a, loom_buf **b)
{
  loom_buf *const c = *a;
  *a = *b;
  *b = c;
}

/* Ages and limits of friction of contacts that were there before, 0 of new ones. */
static loom_status carry_over(ndb *d, const loom_pairs *pairs)
{
  candidates *const c = &d->c;
  const loom_host *const host = c->host;
  if (c->m == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(host, c->e);
  const ndb_key_args ka = {.pick = plug_read(&m, c->picked ? c->pick : NULL),
                           .kind = plug_read(&m, pairs->kind),
                           .name = plug_read(&m, pairs->key),
                           .key = plug_write(&m, d->key)};
  LOOM_TRY(plug_launch(&m, &k_key, &ka, c->m, NULL));
  LOOM_TRY(host->match_keys(host, c->e, d->key_old, d->num_old, d->key, c->m, d->from));
  const ndb_carry_args ca = {.from = plug_read(&m, d->from),
                             .age_old = plug_read(&m, d->age_old),
                             .brought_old = plug_read(&m, d->brought_old),
                             .force_old = plug_read(&m, d->force_old),
                             .kind = plug_read(&m, c->kind),
                             .v = plug_read(&m, c->v),
                             .obst = plug_read(&m, c->obst),
                             .friction = plug_read(&m, c->sc->body_friction),
                             .age = plug_write(&m, d->age),
                             .brought = plug_write(&m, d->brought),
                             .most = plug_write(&m, d->most),
                             .named = pair_friction_open(&m, c->sc),
                             .self_friction = (lk_real)d->set.self_friction,
                             .keep_age = d->filters >= 0 || d->set.carry};
  return plug_launch(&m, &k_carry, &ca, c->m, NULL);
}

static loom_status resize_ndb_contacts(ndb *d)
{
  candidates *const c = &d->c;
  const loom_host *const host = c->host;
  const struct {
    loom_buf *b;
    int64_t width;
  } all[] = {{d->slip_obst, 1}, {d->w, 4},      {d->normal, 3}, {d->most, 1}, {d->off, 1},
             {d->share, 2},     {d->weight, 1}, {d->key, 1},    {d->age, 1},  {d->brought, 1},
             {d->leave, 1},     {d->force, 1},  {d->from, 1},   {d->lack, 1}, {d->live, 1}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    LOOM_TRY(host->buf_resize(host, all[i].b, all[i].width * c->m));
  LOOM_TRY(host->buf_resize(host, d->point, 3 * c->touch.num));
  LOOM_TRY(host->buf_resize(host, d->then, 3 * c->touch.num));
  return host->buf_resize(host, d->now, c->moving ? 3 * c->touch.num : 0);
}

/* Closest points and normals at x_feas.  Where contact is frozen for a step, covered contacts have
 * no push: it would be a wall. */
static loom_status freeze_ndb_contacts(ndb *d, const loom_step *s)
{
  candidates *const c = &d->c;
  if (c->m == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_freeze_args a = {.s = cand_open(c, &m, s, s->x_feas, s->progress),
                             .mass = plug_read(&m, c->sc->mass),
                             .slip_obst = plug_write(&m, d->slip_obst),
                             .w = plug_write(&m, d->w),
                             .normal = plug_write(&m, d->normal),
                             .point = plug_write(&m, d->point),
                             .off = plug_write(&m, d->off),
                             .share = plug_write(&m, d->share),
                             .targets = d->set.targets,
                             .mollify = d->set.mollify,
                             .thin = s->problem->contact == LOOM_CONTACT_FROZEN,
                             .count = c->m};
  LOOM_TRY(plug_launch(&m, &k_freeze, &a, c->m, NULL));
  d->frozen = s->progress;
  return ndb_carry_points(d, 0.0, d->then);
}

/* A bound keeps apart only pairs that are apart at x_feas, so all contacts must have a gap there.
 */
static loom_status check_feasible(ndb *d, const loom_step *s)
{
  candidates *const c = &d->c;
  LOOM_TRY(cand_measure_room(c, s, s->x_feas, s->progress));
  if (c->act.least_room > 0.0) return LOOM_OK;
  if (s->iter < 0) { /* the gap to tell is that of the start, not of the guess */
    LOOM_TRY(cand_measure_room(c, s, s->x_start, 0.0));
    if (c->act.least_room > 0.0) LOOM_TRY(cand_measure_room(c, s, s->x_feas, s->progress));
  }
  return cand_overlap_error(c, s,
                            s->iter < 0 ? "it starts with an overlap"
                                        : "the positions without intersections could not be kept",
                            "move them apart, set [run] start = untangle, or lower the thickness, "
                            "below the heights of the triangles where neighbours overlap");
}

/* Gives the memory of a buffer back. */
static loom_status empty_buffer(const ndb *d, const char *name, int type, loom_buf **b)
{
  d->c.host->buf_free(d->c.host, *b);
  return d->c.host->buf_new(d->c.host, name, type, 0, b);
}

/* After carry_over(): the data of old contacts have gone over to new ones. */
static loom_status drop_old_contacts(ndb *d)
{
  LOOM_TRY(empty_buffer(d, "last names", LOOM_U64, &d->key_old));
  LOOM_TRY(empty_buffer(d, "last ages", LOOM_I32, &d->age_old));
  LOOM_TRY(empty_buffer(d, "last first ages", LOOM_I32, &d->brought_old));
  LOOM_TRY(empty_buffer(d, "last forces", LOOM_REAL, &d->force_old));
  return empty_buffer(d, "old places", LOOM_I32, &d->from);
}

/* Makes the pairs that detection found at x_feas the contacts. */
static loom_status take_contacts(ndb *d, const loom_step *s, const loom_pairs *pairs)
{
  ndb_forget(d);
  swap_buffers(&d->key, &d->key_old);
  if (d->filters < 0) { /* of the last step */
    swap_buffers(&d->leave, &d->age_old);
    LOOM_TRY(d->c.host->buf_resize(d->c.host, d->brought_old,
                                   d->c.host->buf_count(d->c.host, d->age_old)));
    LOOM_TRY(d->c.host->buf_copy(d->c.host, d->c.e, d->brought_old, d->age_old));
  } else {
    swap_buffers(&d->age, &d->age_old);
    swap_buffers(&d->brought, &d->brought_old);
  }
  swap_buffers(&d->force, &d->force_old);
  if (d->filters >= 0) d->num_old = d->c.m; /* else the contacts of the last step, if any */
  LOOM_TRY(cand_take_pairs(&d->c, s, s->x_feas, s->progress, pairs));
  LOOM_TRY(check_feasible(d, s));
  LOOM_TRY(resize_ndb_contacts(d));
  LOOM_TRY(carry_over(d, pairs));
  LOOM_TRY(drop_old_contacts(d));
  LOOM_TRY(freeze_ndb_contacts(d, s));
  return ndb_refresh_weights(d, s, 0);
}

/* ---- phases of a step ---- */

static loom_status ndb_begin_step(void *self, const loom_step *s)
{
  ndb *const d = self;
  LOOM_TRY(cand_bodies(&d->c));
  d->friction = d->set.self_friction > 0.0 || d->c.rough;
  d->num_old = d->c.m;
  ndb_forget(d);
  d->c.m = d->c.corner.count = d->c.touch.num = d->c.touch.elements = d->c.shares.num = 0;
  d->filters = -1;
  d->since = d->continuous = 0;
  d->c.asked = 0;
  if (d->set.weight > 0.0) d->scale = d->set.weight;
  if (d->set.weight > 0.0 || s->problem->inertia == d->inertia_scale) return LOOM_OK;
  LOOM_TRY(ndb_find_scale(d, s));
  d->inertia_scale = s->problem->inertia;
  return LOOM_OK;
}

/* Contacts are made anew after a detection from the pairs and from ages and forces by name.
 * Detection is where a step needs most memory, so that all else goes before it. */
static loom_status drop_frozen_contacts(ndb *d)
{
  const struct {
    const char *name;
    loom_buf **b;
  } all[] = {{"weights of corners", &d->w},   {"normals", &d->normal},
             {"shares", &d->share},           {"offsets", &d->off},
             {"weights", &d->weight},         {"lacks", &d->lack},
             {"limits of friction", &d->most}};
  ndb_forget(d);
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(empty_buffer(d, all[i].name, LOOM_REAL, all[i].b));
  if (!d->c.corner.compact) return LOOM_OK;
  return empty_buffer(d, "corner forces", LOOM_REAL, &d->c.corner.force);
}

/* Within a step the search for close pairs reaches farther than d_hat + slack, by this share of the
 * longest way of a vertex from x_feas to x.  A filter leaves the pair that stopped x_feas a tenth
 * of its gap, and that gap was at most twice the way of a vertex, so the search finds the pair.
 * Continuous detection then runs once per outer loop, in the filter, not twice.  The addition is at
 * most `slack`: where x is far ahead, more would keep the whole neighbourhood ready.  A pair that
 * is missed for that reason is found when x_feas has come nearer to it. */
static const double within = 0.25;

static loom_status ndb_plan(void *self, const loom_step *s, loom_query *q)
{
  ndb *const d = self;
  double ahead;
  d->c.kinds = q->kinds & CAND_KINDS;
  d->c.asked =
      s->iter < 0 || d->filters != s->filters || d->progress != s->progress || d->filters < 0;
  q->what = 0;
  if (!d->c.asked) return LOOM_OK;
  LOOM_TRY(drop_frozen_contacts(d));
  LOOM_TRY(cand_way(&d->c, s->x_feas, s->x, &ahead));
  q->what = LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)(d->set.d_hat + d->c.slack);
  if (s->iter < 0 && !(ahead <= 0.0)) q->what |= LOOM_DETECT_CCD;
  if (s->iter >= 0) q->margin += (loom_real)fmin(within * ahead, d->c.slack);
  q->x0 = s->x_feas;
  q->x1 = s->x;
  d->continuous += (q->what & LOOM_DETECT_CCD) != 0;
  return LOOM_OK;
}

static loom_status ndb_after_detect(ndb *d, const loom_step *s, const loom_pairs *pairs,
                                    uint32_t *changed)
{
  if (!d->c.asked) return LOOM_OK;
  d->c.asked = 0;
  LOOM_TRY(take_contacts(d, s, pairs));
  d->filters = s->filters;
  d->progress = s->progress;
  d->since = 0;
  *changed |= LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES;
  return LOOM_OK;
}

/* Iterations between two filters.  With as many as a step may take, the contacts of the beginning
 * of a step would stay until its end. */
static int64_t inner_of(const ndb *d, const loom_step *s)
{
  const int64_t most = s->max_iters;
  if (d->set.inner > 0) return d->set.inner;
  return most <= 0 || most >= 60 ? 20 : (most + 2) / 3;
}

static loom_status ndb_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                              uint32_t *changed)
{
  ndb *const d = self;
  *changed = LOOM_CHANGED_NONE;
  LOOM_TRY(ahead_take(&d->ahead, s));
  if (when == LOOM_AFTER_DETECT) return ndb_after_detect(d, s, pairs, changed);
  LOOM_TRY(ndb_refresh_weights(d, s, 1));
  if (d->c.m > 0) *changed |= LOOM_CHANGED_VALUES;
  d->since = d->filters == s->filters ? d->since + 1 : 0;
  if (d->since + 1 >= inner_of(d, s)) *changed |= LOOM_ASK_FILTER;
  return LOOM_OK;
}

enum { NDB_MOST_AGE = 1 << 20 }; /* w_max is reached long before */

/* Index of the first contact of a checkpoint with an impossible age or force, d->c.m: none. */
static loom_status find_bad_contact(ndb *d, int64_t *bad)
{
  const loom_host *const host = d->c.host;
  void *p, *q;
  LOOM_TRY(host->map(host, NULL, d->leave, LOOM_READ, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, NULL, d->force, LOOM_READ, LOOM_AT_HOST, &q));
  const int32_t *const age = p;
  const loom_real *const force = q;
  for (*bad = 0; *bad < d->c.m; ++*bad)
    if (age[*bad] < 0 || age[*bad] > NDB_MOST_AGE || !isfinite(force[*bad])) break;
  LOOM_TRY(host->unmap(host, d->force));
  return host->unmap(host, d->leave);
}

/* Names, ages and forces go over to the next step; everything else is found again. */
static loom_status ndb_checkpoint(void *self, const loom_step *s, int restore)
{
  ndb *const d = self;
  const loom_host *const host = d->c.host;
  loom_buf *const all[] = {d->key, d->leave, d->force};
  static const char *const names[] = {"names", "ages", "forces"};
  (void)s;
  for (int i = 0; i < 3; ++i) {
    if (!restore) LOOM_TRY(host->buf_resize(host, all[i], d->c.m));
    LOOM_TRY(host->state_io(host, restore, names[i], all[i]));
  }
  if (!restore) return LOOM_OK;
  const int64_t m = host->buf_count(host, d->key), ages = host->buf_count(host, d->leave);
  const int64_t forces = host->buf_count(host, d->force);
  int64_t bad;
  LOOM_CHECK(host, ages == m && forces == m && m <= INT32_MAX, LOOM_E_IO,
             "checkpoint: %lld names, %lld ages and %lld forces of contacts; start the run again",
             (long long)m, (long long)ages, (long long)forces);
  d->c.m = m;
  LOOM_TRY(find_bad_contact(d, &bad));
  LOOM_CHECK(host, bad == m, LOOM_E_IO,
             "checkpoint: age or force of contact %lld cannot be; start the run again",
             (long long)bad);
  return LOOM_OK;
}

/* Targets shared by mass follow no energy. */
static uint32_t ndb_lacks(const void *settings)
{
  const ndb_settings *const set = settings;
  return set->targets == NDB_MASS ? LOOM_CONT_ENERGY : 0;
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD |
                LOOM_CONT_QUAD_ISO | LOOM_CONT_FRICTION | LOOM_CONT_FRICTION_BODY |
                LOOM_CONT_FRICTION_CLOTH | LOOM_CONT_STATEFUL | LOOM_CONT_UNFILTERED |
                LOOM_CONT_RESOLVE | LOOM_CONT_MOVES_FOLLOWERS,
    .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_STEP_GLOBAL,
    .pair_kinds = CAND_KINDS,
    .create = ndb_create,
    .destroy = plug_free,
    .reset = ndb_reset,
    .begin_step = ndb_begin_step,
    .plan = ndb_plan,
    .update = ndb_update,
    .eval = ndb_eval,
    .hessian = ndb_hessian,
    .quad = ndb_quad,
    .resolve = ndb_resolve,
    .metrics = ndb_metrics,
    .checkpoint = ndb_checkpoint,
    .lacks = ndb_lacks};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "ndb",
    .version = "0.1.0",
    .summary =
        "non-distance barrier: weights that grow with the iterations a contact needs\n"
        "frozen at the start of a step, as pd_bfgs does: cloth that slides on moving cloth has 0.4 "
        "to 0.6 of its acceleration\n"
        "with weights that grow a step has several solutions: converged solvers end 0.4 to 0.5 mm "
        "apart after 0.6 s (d_hat 1 mm), and an object far away chooses under projective solvers",
    .reference = "L. Lan et al., Efficient GPU cloth simulation with non-distance barriers and "
                 "subspace reuse, ACM TOG 43(6), 2024; friction: M. Li et al., Incremental "
                 "potential contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392425",
    .license = "MIT",
    LOOM_SETTINGS(ndb_settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
