/* ndb_forms.c - energy, gradient, terms and Hessian of the contacts, and the columns of the log. */
#include <math.h>
#include <string.h>

#include "kit/iso_terms.h"
#include "kit/pair_friction.h"
#include "ndb.h"

static const lk_entry k_energy = LK_ENTRY_MOVES(ndb_energy, 3, 0),
                      k_loss = LK_ENTRY_MOVES(ndb_loss, 29, 9);
static const lk_entry k_work = LK_ENTRY_MOVES(ndb_work, 28, 8),
                      k_active = LK_ENTRY_MOVES(ndb_active, 1, 0);
static const lk_entry k_strongest = LK_ENTRY_MOVES(ndb_strongest, 3, 0),
                      k_gap = LK_ENTRY_MOVES(ndb_least_gap, 19, 5);
static const lk_entry k_force = LK_ENTRY_MOVES(ndb_force, 48, 14);
static const lk_entry k_grown = LK_ENTRY_MOVES(ndb_grown, 0, 1),
                      k_oldest = LK_ENTRY_MOVES(ndb_oldest, 0, 1);
static const lk_entry k_quad = LK_ENTRY_MOVES(ndb_quad, 63, 25),
                      k_hessian = LK_ENTRY_MOVES(ndb_hessian, 42, 18);
static const lk_entry k_hold = LK_ENTRY_MOVES(fric_hold, 20, 8),
                      k_push = LK_ENTRY_MOVES(ndb_push, 40, 10);
static const lk_entry k_clear = LK_ENTRY_MOVES(ndb_quad_clear, 7, 4),
                      k_measure = LK_ENTRY_MOVES(ndb_measure, 36, 5),
                      k_temper = LK_ENTRY_MOVES(ndb_temper, 78, 12);

/* Share of the bodies' motion to which slips are: an expansion serves the step. */
static double slips_to(const loom_step *s)
{
  return s->expansion == LOOM_EXPAND_STEP ? 1.0 : s->progress;
}

/* expands: 1: with places for the secants of friction, in an expansion */
static ndb_state map_ndb_state(ndb *d, plug_maps *m, const loom_step *s, loom_buf *x, int bare,
                               int expands)
{
  candidates *const c = &d->c;
  const int bodies = c->sc->num_body_verts > 0;
  return (ndb_state){.f = {.x = plug_read(m, x),
                           .x_start = plug_read(m, s->x_start),
                           .body0 = plug_read(m, bodies ? s->body0 : NULL),
                           .body1 = plug_read(m, bodies ? s->body1 : NULL),
                           .fixed = plug_read(m, c->sc->fixed),
                           .v = plug_read(m, c->v),
                           .obst = plug_read(m, d->slip_obst),
                           .w = plug_read(m, d->w),
                           .normal = plug_read(m, d->normal),
                           .row = plug_read(m, c->touch.row),
                           .then = plug_read(m, d->then),
                           .now = plug_read(m, c->moving ? d->now : d->then),
                           .most = plug_read(m, d->most),
                           .progress = (lk_real)slips_to(s),
                           .eps = (lk_real)(d->set.epsilon_v * s->h),
                           .n = c->sc->num_verts},
                     .ahead = expands ? ahead_open(&d->ahead, m, s) : (ahead_ways){.coast = NULL},
                     .progress = (lk_real)s->progress,
                     .kind = plug_read(m, c->kind),
                     .off = plug_read(m, d->off),
                     .share = plug_read(m, d->share),
                     .weight = plug_read(m, bare ? NULL : d->weight),
                     .lack = plug_read(m, bare ? NULL : d->lack),
                     .d_hat = (lk_real)d->set.d_hat,
                     .scale = (lk_real)d->scale,
                     .object = plug_read(m, d->part != NULL ? c->sc->object : NULL),
                     .part = plug_read(m, d->part),
                     .targets = d->set.targets};
}

static loom_status add_ndb_holds(ndb *d, const loom_step *s)
{
  candidates *const c = &d->c;
  LOOM_TRY(ndb_place_forces(d));
  plug_maps m = plug_maps_on(c->host, c->e);
  const fric_hold_args a = {.f = map_ndb_state(d, &m, s, s->x_start, 1, 0).f,
                            .at = plug_read(&m, ndb_places(d)),
                            .force = plug_rdwr(&m, c->corner.force)};
  LOOM_TRY(plug_launch(&m, &k_hold, &a, c->m, NULL));
  return ndb_gather(d, d->ahead.hold);
}

/* d->start, or d->size. */
static loom_status sum_start_forces(ndb *d, const loom_step *s, int size)
{
  candidates *const c = &d->c;
  const loom_host *const host = c->host;
  loom_buf *const out = size ? d->size : d->start;
  LOOM_TRY(host->buf_resize(host, out, 3 * (int64_t)c->sc->num_verts));
  LOOM_TRY(host->fill(host, c->e, out, 0.0));
  if (c->corner.count == 0) return LOOM_OK;
  LOOM_TRY(ndb_place_forces(d));
  plug_maps m = plug_maps_on(host, c->e);
  ndb_push_args a = {.s = map_ndb_state(d, &m, s, s->x_start, 1, 0),
                     .at = plug_read(&m, ndb_places(d)),
                     .force = plug_rdwr(&m, c->corner.force),
                     .size = size};
  a.s.weight = plug_read(&m, d->weight);
  LOOM_TRY(plug_launch(&m, &k_push, &a, c->m, NULL));
  return ndb_gather(d, out);
}

static loom_status temper_friction_limits(ndb *d, const loom_step *s)
{
  candidates *const c = &d->c;
  for (int size = 0; size < 2; ++size) LOOM_TRY(sum_start_forces(d, s, size));
  LOOM_TRY(c->host->buf_resize(c->host, d->limit, c->m));
  plug_maps m = plug_maps_on(c->host, c->e);
  ndb_temper_args a = {.s = map_ndb_state(d, &m, s, s->x_start, 1, 0),
                       .obst = plug_read(&m, c->obst),
                       .friction = plug_read(&m, c->sc->body_friction),
                       .limit = plug_write(&m, d->limit),
                       .named = pair_friction_open(&m, c->sc),
                       .self_friction = (lk_real)d->set.self_friction,
                       .t = {.y = plug_read(&m, s->y),
                             .pull = plug_read(&m, ahead_pull(&d->ahead, s)),
                             .push = plug_read(&m, d->start),
                             .size = plug_read(&m, d->size),
                             .v = plug_read(&m, s->v_start),
                             .mass = plug_read(&m, c->sc->mass),
                             .h = (lk_real)s->h,
                             .h2 = (lk_real)loom_problem_h2(s->problem)}};
  a.s.weight = plug_read(&m, d->weight);
  LOOM_TRY(plug_launch(&m, &k_temper, &a, c->m, NULL));
  return c->host->buf_copy(c->host, c->e, d->most, d->limit);
}

/* An expansion at zero slip would have the Hessian of sticking contacts and hold sliding ones, so
 * its friction takes secants at the slip that vertices have where they go (kit/friction.h). */
static loom_status find_ndb_ahead(ndb *d, const loom_step *s)
{
  if (ahead_pull(&d->ahead, s) != NULL) LOOM_TRY(temper_friction_limits(d, s));
  LOOM_TRY(ahead_begin(&d->ahead));
  if (d->c.corner.count > 0) LOOM_TRY(add_ndb_holds(d, s));
  return ahead_find(&d->ahead, s);
}

ndb_state ndb_open(ndb *d, plug_maps *m, const loom_step *s, loom_buf *x, int bare)
{
  candidates *const c = &d->c;
  const int expands = d->friction && !bare && s->expansion == LOOM_EXPAND_STEP;
  if (m->status == LOOM_OK && c->moving) m->status = ndb_carry_points(d, slips_to(s), d->now);
  if (m->status == LOOM_OK && expands) m->status = find_ndb_ahead(d, s);
  return map_ndb_state(d, m, s, x, bare, expands);
}

loom_status ndb_carry_points(ndb *d, double progress, loom_buf *out)
{
  candidates *const c = &d->c;
  if (c->touch.num == 0) return LOOM_OK;
  return fric_carry(c, c->touch.body, d->point, c->touch.num, d->frozen, progress, out);
}

loom_status ndb_measure_at(ndb *d, const loom_step *s, loom_buf *x)
{
  candidates *const c = &d->c;
  int known = 0;
  LOOM_TRY(ndb_is_measured(d, s, x, &known));
  if (known) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_measure_args a = {.s = ndb_open(d, &m, s, x, 1),
                              .lack = plug_write(&m, d->lack),
                              .live = plug_write(&m, d->live)};
  LOOM_TRY(plug_launch(&m, &k_measure, &a, c->m, NULL));
  return ndb_remember(d, s, x);
}

/* Into c.result[slot]; other slots keep their numbers. */
static loom_status reduce_to(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k, int slot)
{
  candidates *const c = &d->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_sum_args a = {.s = ndb_open(d, &m, s, x, 0)};
  lk_real *const result = plug_rdwr(&m, c->result);
  return plug_launch(&m, k, &a, c->m, result != NULL ? result + slot : NULL);
}

loom_status ndb_reduce(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k, double *out)
{
  LOOM_TRY(reduce_to(d, s, x, k, 0));
  return plug_fetch(d->c.host, d->c.e, d->c.result, 1, out);
}

static loom_status add_ndb_gradient(ndb *d, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  candidates *const c = &d->c;
  if (c->corner.count == 0) return LOOM_OK;
  LOOM_TRY(ndb_place_forces(d));
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_force_args a = {.s = ndb_open(d, &m, s, x, 0),
                            .at = plug_read(&m, ndb_places(d)),
                            .live = plug_read(&m, d->live),
                            .force = plug_rdwr(&m, c->corner.force)};
  LOOM_TRY(plug_launch(&m, &k_force, &a, c->m, NULL));
  return ndb_gather(d, grad);
}

static void add_value(void *user)
{
  const ndb_value *const value = user;
  if (value->energy != NULL) *value->energy += value->v[0];
  if (value->dissipation != NULL) *value->dissipation += value->v[1];
}

/* Energy and dissipation, J; not waited for. */
static loom_status add_values(ndb *d, const loom_step *s, loom_buf *x, double *energy,
                              double *dissipation)
{
  candidates *const c = &d->c;
  ndb_value *const value = &d->values[d->num_values++ % NDB_VALUES];
  *value = (ndb_value){.energy = energy, .dissipation = dissipation};
  if (energy == NULL && dissipation == NULL) return LOOM_OK;
  if (energy != NULL) LOOM_TRY(reduce_to(d, s, x, &k_energy, 0));
  if (dissipation != NULL) LOOM_TRY(reduce_to(d, s, x, &k_loss, 1));
  return c->host->fetch_later(c->host, c->e, c->result, 2, value->v, add_value, value);
}

loom_status ndb_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad)
{
  ndb *const d = self;
  const int defined = d->set.targets != NDB_MASS; /* else no energy has its forces */
  if (d->c.m == 0) return LOOM_OK;
  if (energy != NULL && !defined) *energy = NAN;
  LOOM_TRY(ndb_measure_at(d, s, x));
  LOOM_TRY(add_values(d, s, x, defined ? energy : NULL, d->friction ? dissipation : NULL));
  return grad != NULL ? add_ndb_gradient(d, s, x, grad) : LOOM_OK;
}

loom_status ndb_quad(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  ndb *const d = self;
  candidates *const c = &d->c;
  const int64_t first = out->count;
  /* On a device the host would have to wait for the number of live corners.  There are as many
   * terms as corners then, and those behind the live ones are of no vertex. */
  const int all = c->e->backend == LOOM_CUDA;
  if (c->m > 0) LOOM_TRY(ndb_measure_at(d, s, x));
  LOOM_TRY(ndb_place_live(d));
  const int64_t num = d->measured.corners;
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  if (num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_quad_args a = {.s = ndb_open(d, &m, s, x, 0),
                           .at = plug_read(&m, c->act.place),
                           .t = iso_open(&m, first, out)};
  if (all) LOOM_TRY(plug_run_on(&m, &k_clear, &a, num, NULL));
  return plug_launch(&m, &k_quad, &a, c->m, NULL);
}

loom_status ndb_hessian(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out)
{
  ndb *const d = self;
  candidates *const c = &d->c;
  const int64_t first = out->count;
  int64_t num = 0;
  (void)how; /* exact and never indefinite */
  if (c->m > 0) LOOM_TRY(ndb_measure_at(d, s, x));
  LOOM_TRY(ndb_count_squares(d, &num));
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  if (num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_hessian_args a = {.s = ndb_open(d, &m, s, x, 0),
                              .at = plug_read(&m, c->act.at),
                              .first = first,
                              .row = plug_rdwr(&m, out->row),
                              .col = plug_rdwr(&m, out->col),
                              .val = plug_rdwr(&m, out->val)};
  return plug_launch(&m, &k_hessian, &a, c->m, NULL);
}

/* Minus the smallest distance less thickness of the contacts at x, m. */
static loom_status compute_least_gap(ndb *d, const loom_step *s, loom_buf *x)
{
  candidates *const c = &d->c;
  LOOM_TRY(cand_ask(c, x, s->progress));
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_gap_args a = {.s = cand_open(c, &m, s, x, s->progress)};
  lk_real *const result = plug_rdwr(&m, c->result);
  return plug_launch(&m, &k_gap, &a, c->m, result != NULL ? result + NDB_LEAST_GAP : NULL);
}

static loom_status reduce_ages(ndb *d)
{
  candidates *const c = &d->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_ages_args a = {.age = plug_read(&m, d->age)};
  lk_real *const result = plug_rdwr(&m, c->result);
  LOOM_TRY(m.status);
  LOOM_TRY(plug_run_on(&m, &k_grown, &a, c->m, result + NDB_GROWN));
  return plug_launch(&m, &k_oldest, &a, c->m, result + NDB_OLDEST);
}

/* Columns held, grown, ratio, age, continuous. */
static void fill_columns(const ndb *d, double *out)
{
  const ndb_settings *const set = &d->set;
  out[0] = (double)d->c.m;
  out[1] = d->metrics.v[NDB_GROWN];
  out[2] = fmin(pow(set->growth_base, d->metrics.v[NDB_OLDEST]), set->w_max / set->w0);
  out[3] = d->metrics.v[NDB_OLDEST];
  out[4] = (double)d->continuous;
}

static void fill_metrics(void *user)
{
  const ndb *const d = user;
  loom_contact_metrics *const out = d->metrics.out;
  fill_columns(d, out->extra);
  out->min_gap = -d->metrics.v[NDB_LEAST_GAP];
  out->active = (int64_t)d->metrics.v[NDB_ACTIVE];
  out->max_force = d->metrics.v[NDB_STRONGEST];
  if (d->friction) out->dissipated = d->metrics.v[NDB_WORK];
}

loom_status ndb_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  ndb *const d = self;
  candidates *const c = &d->c;
  memset(&d->metrics, 0, sizeof d->metrics);
  fill_columns(d, out->extra);
  if (c->m == 0) return LOOM_OK;
  d->metrics.out = out;
  LOOM_TRY(reduce_ages(d));
  LOOM_TRY(compute_least_gap(d, s, s->x));
  LOOM_TRY(ndb_measure_at(d, s, s->x));
  LOOM_TRY(reduce_to(d, s, s->x, &k_active, NDB_ACTIVE));
  LOOM_TRY(reduce_to(d, s, s->x, &k_strongest, NDB_STRONGEST));
  if (d->friction) LOOM_TRY(reduce_to(d, s, s->x, &k_work, NDB_WORK));
  return c->host->fetch_later(c->host, c->e, c->result, NDB_SUMS, d->metrics.v, fill_metrics, d);
}
