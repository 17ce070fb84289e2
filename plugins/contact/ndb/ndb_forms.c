/* ndb_forms.c - energy, gradient, terms and Hessian of the contacts, and what the log asks for. */
#include <math.h>

#include "ndb.h"

static const lk_entry k_energy = LK_ENTRY(ndb_energy), k_loss = LK_ENTRY(ndb_loss);
static const lk_entry k_work = LK_ENTRY(ndb_work), k_active = LK_ENTRY(ndb_active);
static const lk_entry k_strongest = LK_ENTRY(ndb_strongest), k_gap = LK_ENTRY(ndb_least_gap);
static const lk_entry k_force = LK_ENTRY(ndb_force), k_count = LK_ENTRY(ndb_count);
static const lk_entry k_grown = LK_ENTRY(ndb_grown), k_oldest = LK_ENTRY(ndb_oldest);
static const lk_entry k_quad = LK_ENTRY(ndb_quad), k_hessian = LK_ENTRY(ndb_hessian);

ndb_state ndb_open(ndb *d, plug_maps *m, const loom_step *s, loom_buf *x, int bare)
{
  ipc *const p = &d->base;
  const int bodies = LOOM_HAS(s, body1) && p->sc->num_body_verts > 0;
  return (ndb_state){.f = {.x = plug_read(m, x),
                           .x_start = plug_read(m, s->x_start),
                           .body0 = plug_read(m, bodies ? s->body0 : NULL),
                           .body1 = plug_read(m, bodies ? s->body1 : NULL),
                           .fixed = plug_read(m, p->sc->fixed),
                           .view = ipc_open_views(p, m),
                           .v = plug_read(m, p->v),
                           .obst = plug_read(m, p->fobst),
                           .w = plug_read(m, p->fw),
                           .normal = plug_read(m, p->fnormal),
                           .point = plug_read(m, p->fpoint),
                           .most = plug_read(m, p->fmost),
                           .progress = (lk_real)s->progress,
                           .eps = (lk_real)(p->set.epsilon_v * s->h),
                           .n = p->sc->num_verts},
                     .kind = plug_read(m, p->kind),
                     .off = plug_read(m, d->off),
                     .share = plug_read(m, d->share),
                     .weight = plug_read(m, bare ? NULL : d->weight),
                     .d_hat = (lk_real)p->set.d_hat,
                     .scale = (lk_real)d->scale,
                     .targets = d->set.targets};
}

loom_status ndb_reduce(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k, double *out)
{
  ipc *const p = &d->base;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ndb_sum_args a = {.s = ndb_open(d, &m, s, x, 0)};
  LOOM_TRY(ipc_launch(p, &m, k, &a, p->m, plug_write(&m, p->result)));
  return plug_fetch(p->h, p->e, p->result, 1, out);
}

static loom_status add_gradient(ndb *d, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  ipc *const p = &d->base;
  if (p->corner.count == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ndb_force_args a = {.s = ndb_open(d, &m, s, x, 0),
                            .at = plug_read(&m, p->corner.at),
                            .force = plug_write(&m, p->corner.force)};
  LOOM_TRY(ipc_launch(p, &m, &k_force, &a, p->m, NULL));
  return ipc_gather_forces(p, &p->corner, NULL, grad);
}

loom_status ndb_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad)
{
  ndb *const d = self;
  double value = 0.0;
  if (d->base.m == 0) return LOOM_OK;
  if (energy != NULL && d->set.targets == NDB_MASS) *energy = NAN; /* no energy has its forces */
  if (energy != NULL && d->set.targets != NDB_MASS) {
    LOOM_TRY(ndb_reduce(d, s, x, &k_energy, &value));
    *energy += value;
  }
  if (dissipation != NULL && d->base.friction) {
    LOOM_TRY(ndb_reduce(d, s, x, &k_loss, &value));
    *dissipation += value;
  }
  return grad != NULL ? add_gradient(d, s, x, grad) : LOOM_OK;
}

/* How many corners, or squares of them, have a force at x; their places in at_block. */
static loom_status count(ndb *d, const loom_step *s, loom_buf *x, int square, int64_t *total)
{
  ipc *const p = &d->base;
  const loom_host *const h = p->h;
  *total = 0;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, p->blocks, p->m));
  LOOM_TRY(h->buf_resize(h, p->at_block, p->m + 1));
  plug_maps m = plug_maps_on(h, p->e);
  const ndb_count_args a = {.s = ndb_open(d, &m, s, x, 0),
                            .num = plug_read(&m, p->corner.num),
                            .count = plug_write(&m, p->blocks),
                            .square = square};
  LOOM_TRY(ipc_launch(p, &m, &k_count, &a, p->m, NULL));
  LOOM_TRY(h->scan_i64(h, p->e, p->blocks, p->at_block));
  return ipc_last_of(p, p->at_block, p->m, total);
}

loom_status ndb_form(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  ndb *const d = self;
  ipc *const p = &d->base;
  const int64_t first = out->count;
  int64_t num = 0;
  LOOM_TRY(count(d, s, x, 0, &num));
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  if (num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ndb_quad_args a = {.s = ndb_open(d, &m, s, x, 0),
                           .at = plug_read(&m, p->at_block),
                           .first = first,
                           .v = plug_rdwr(&m, out->v),
                           .w = plug_rdwr(&m, out->w),
                           .k = plug_rdwr(&m, out->k),
                           .p = plug_rdwr(&m, out->p),
                           .dir = plug_rdwr(&m, out->dir)};
  return ipc_launch(p, &m, &k_quad, &a, p->m, NULL);
}

loom_status ndb_hess(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out)
{
  ndb *const d = self;
  ipc *const p = &d->base;
  const int64_t first = out->count;
  int64_t num = 0;
  (void)how; /* exact and never indefinite */
  LOOM_TRY(count(d, s, x, 1, &num));
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  if (num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ndb_hessian_args a = {.s = ndb_open(d, &m, s, x, 0),
                              .at = plug_read(&m, p->at_block),
                              .first = first,
                              .row = plug_rdwr(&m, out->row),
                              .col = plug_rdwr(&m, out->col),
                              .val = plug_rdwr(&m, out->val)};
  return ipc_launch(p, &m, &k_hessian, &a, p->m, NULL);
}

/* Smallest distance minus thickness of the contacts at x, m. */
static loom_status least_gap(ndb *d, const loom_step *s, loom_buf *x, double *out)
{
  ipc *const p = &d->base;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ndb_gap_args a = {.s = ipc_open(p, &m, s, x, s->progress)};
  LOOM_TRY(ipc_launch(p, &m, &k_gap, &a, p->m, plug_write(&m, p->result)));
  LOOM_TRY(plug_fetch(p->h, p->e, p->result, 1, out));
  *out = -*out;
  return LOOM_OK;
}

static loom_status reduce_ages(ndb *d, const lk_entry *k, double *out)
{
  ipc *const p = &d->base;
  *out = 0.0;
  if (p->m == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ndb_ages_args a = {.age = plug_read(&m, d->age)};
  LOOM_TRY(plug_launch(&m, k, &a, p->m, plug_write(&m, p->result)));
  return plug_fetch(p->h, p->e, p->result, 1, out);
}

/* Columns held, grown, ratio, age, continuous. */
static loom_status fill_columns(ndb *d, double *out)
{
  const ndb_settings *const set = &d->set;
  out[0] = (double)d->base.m;
  LOOM_TRY(reduce_ages(d, &k_grown, &out[1]));
  LOOM_TRY(reduce_ages(d, &k_oldest, &out[3]));
  out[4] = (double)d->continuous;
  out[2] = fmin(pow(set->growth_base, out[3]), set->w_max / set->w0);
  return LOOM_OK;
}

loom_status ndb_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  ndb *const d = self;
  double active = 0.0;
  out->active = 0;
  out->min_gap = NAN;
  out->max_force = out->dissipated = 0.0;
  LOOM_TRY(fill_columns(d, out->extra));
  if (d->base.m == 0) return LOOM_OK;
  LOOM_TRY(least_gap(d, s, s->x, &out->min_gap));
  LOOM_TRY(ndb_reduce(d, s, s->x, &k_active, &active));
  out->active = (int64_t)active;
  LOOM_TRY(ndb_reduce(d, s, s->x, &k_strongest, &out->max_force));
  return d->base.friction ? ndb_reduce(d, s, s->x, &k_work, &out->dissipated) : LOOM_OK;
}
