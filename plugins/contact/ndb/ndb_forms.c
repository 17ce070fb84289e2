/* ndb_forms.c - energy, gradient, terms and Hessian of the contacts, and what the log asks for. */
#include <math.h>
#include <string.h>

#include "ndb.h"

static const lk_entry k_energy = LK_ENTRY(ndb_energy), k_loss = LK_ENTRY(ndb_loss);
static const lk_entry k_work = LK_ENTRY(ndb_work), k_active = LK_ENTRY(ndb_active);
static const lk_entry k_strongest = LK_ENTRY(ndb_strongest), k_gap = LK_ENTRY(ndb_least_gap);
static const lk_entry k_force = LK_ENTRY(ndb_force), k_count = LK_ENTRY(ndb_count);
static const lk_entry k_grown = LK_ENTRY(ndb_grown), k_oldest = LK_ENTRY(ndb_oldest);
static const lk_entry k_quad = LK_ENTRY(ndb_quad), k_hessian = LK_ENTRY(ndb_hessian);

loom_status ndb_open(ndb *d, const loom_step *s, loom_buf *x, int bare, plug_map m[NDB_MAPS],
                     ndb_state *out)
{
  ipc *const p = &d->base;
  void *q[NDB_MAPS];
  const obst_view *view;
  const int bodies = LOOM_HAS(s, body1) && p->sc->num_body_verts > 0;
  const plug_map all[NDB_MAPS] = {{x, LOOM_READ},
                                  {s->x_start, LOOM_READ},
                                  {bodies ? s->body0 : NULL, LOOM_READ},
                                  {bodies ? s->body1 : NULL, LOOM_READ},
                                  {p->sc->fixed, LOOM_READ},
                                  {p->kind, LOOM_READ},
                                  {p->v, LOOM_READ},
                                  {p->fobst, LOOM_READ},
                                  {p->fw, LOOM_READ},
                                  {p->fnormal, LOOM_READ},
                                  {p->fpoint, LOOM_READ},
                                  {d->off, LOOM_READ},
                                  {d->share, LOOM_READ},
                                  {bare ? NULL : d->weight, LOOM_READ},
                                  {p->fmost, LOOM_READ},
                                  {NULL, LOOM_READ}};
  memcpy(m, all, sizeof all);
  LOOM_TRY(plug_map_all(p->h, p->e, NDB_MAPS, m, q));
  LOOM_TRY(ipc_views_open(p, &view));
  const ndb_state state = {.f = {.x = q[0],
                                 .x_start = q[1],
                                 .body0 = q[2],
                                 .body1 = q[3],
                                 .fixed = q[4],
                                 .view = view,
                                 .v = q[6],
                                 .obst = q[7],
                                 .w = q[8],
                                 .normal = q[9],
                                 .point = q[10],
                                 .most = q[14],
                                 .progress = (lk_real)s->progress,
                                 .eps = (lk_real)(p->set.epsilon_v * s->h),
                                 .n = p->sc->num_verts},
                           .kind = q[5],
                           .off = q[11],
                           .share = q[12],
                           .weight = q[13],
                           .d_hat = (lk_real)p->set.d_hat,
                           .scale = (lk_real)d->scale,
                           .targets = d->set.targets};
  *out = state;
  return LOOM_OK;
}

loom_status ndb_close(ndb *d, const plug_map m[NDB_MAPS])
{
  LOOM_TRY(ipc_views_close(&d->base));
  return plug_unmap_all(d->base.h, NDB_MAPS, m);
}

loom_status ndb_reduce(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k, double *out)
{
  ipc *const p = &d->base;
  plug_map m[NDB_MAPS];
  ndb_sum_args a;
  void *result;
  LOOM_TRY(ndb_open(d, s, x, 0, m, &a.s));
  LOOM_TRY(p->h->map(p->h, p->e, p->result, LOOM_WRITE, LOOM_AT_EXEC, &result));
  LOOM_TRY(plug_run(p->h, p->e, k, &a, p->m, result));
  LOOM_TRY(p->h->unmap(p->h, p->result));
  LOOM_TRY(ndb_close(d, m));
  return plug_fetch(p->h, p->e, p->result, 1, out);
}

static loom_status add_gradient(ndb *d, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  ipc *const p = &d->base;
  plug_map m[NDB_MAPS];
  ndb_force_args a;
  void *q[2];
  const plug_map f[2] = {{p->corner.at, LOOM_READ}, {p->corner.force, LOOM_WRITE}};
  if (p->corner.count == 0) return LOOM_OK;
  LOOM_TRY(ndb_open(d, s, x, 0, m, &a.s));
  LOOM_TRY(plug_map_all(p->h, p->e, 2, f, q));
  a.at = q[0];
  a.force = q[1];
  LOOM_TRY(plug_run(p->h, p->e, &k_force, &a, p->m, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 2, f));
  LOOM_TRY(ndb_close(d, m));
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
  plug_map m[NDB_MAPS];
  ndb_count_args a;
  void *q[2];
  const plug_map o[2] = {{p->corner.num, LOOM_READ}, {p->blocks, LOOM_WRITE}};
  *total = 0;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, p->blocks, p->m));
  LOOM_TRY(h->buf_resize(h, p->at_block, p->m + 1));
  LOOM_TRY(ndb_open(d, s, x, 0, m, &a.s));
  LOOM_TRY(plug_map_all(h, p->e, 2, o, q));
  a.num = q[0];
  a.count = q[1];
  a.square = square;
  LOOM_TRY(plug_run(h, p->e, &k_count, &a, p->m, NULL));
  LOOM_TRY(plug_unmap_all(h, 2, o));
  LOOM_TRY(ndb_close(d, m));
  LOOM_TRY(h->scan_i64(h, p->e, p->blocks, p->at_block));
  return ipc_last_of(p, p->at_block, p->m, total);
}

loom_status ndb_form(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  ndb *const d = self;
  ipc *const p = &d->base;
  const int64_t first = out->count;
  int64_t num = 0;
  plug_map m[NDB_MAPS];
  ndb_quad_args a;
  void *q[6];
  LOOM_TRY(count(d, s, x, 0, &num));
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  if (num == 0) return LOOM_OK;
  const plug_map o[6] = {{p->at_block, LOOM_READ}, {out->v, LOOM_RDWR}, {out->w, LOOM_RDWR},
                         {out->k, LOOM_RDWR},      {out->p, LOOM_RDWR}, {out->dir, LOOM_RDWR}};
  LOOM_TRY(ndb_open(d, s, x, 0, m, &a.s));
  LOOM_TRY(plug_map_all(p->h, p->e, 6, o, q));
  a.at = q[0];
  a.first = first;
  a.v = q[1];
  a.w = q[2];
  a.k = q[3];
  a.p = q[4];
  a.dir = q[5];
  LOOM_TRY(plug_run(p->h, p->e, &k_quad, &a, p->m, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 6, o));
  return ndb_close(d, m);
}

loom_status ndb_hess(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out)
{
  ndb *const d = self;
  ipc *const p = &d->base;
  const int64_t first = out->count;
  int64_t num = 0;
  plug_map m[NDB_MAPS];
  ndb_hessian_args a;
  void *q[4];
  (void)how; /* exact and never indefinite */
  LOOM_TRY(count(d, s, x, 1, &num));
  out->count = first + num;
  if (out->count > out->capacity) return LOOM_GROW;
  if (num == 0) return LOOM_OK;
  const plug_map o[4] = {{p->at_block, LOOM_READ},
                         {out->row, LOOM_RDWR},
                         {out->col, LOOM_RDWR},
                         {out->val, LOOM_RDWR}};
  LOOM_TRY(ndb_open(d, s, x, 0, m, &a.s));
  LOOM_TRY(plug_map_all(p->h, p->e, 4, o, q));
  a.at = q[0];
  a.first = first;
  a.row = q[1];
  a.col = q[2];
  a.val = q[3];
  LOOM_TRY(plug_run(p->h, p->e, &k_hessian, &a, p->m, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 4, o));
  return ndb_close(d, m);
}

/* Smallest distance minus thickness of the contacts at x, m. */
static loom_status least_gap(ndb *d, const loom_step *s, loom_buf *x, double *out)
{
  ipc *const p = &d->base;
  plug_map m[IPC_MAPS];
  ndb_gap_args a;
  void *result;
  LOOM_TRY(ipc_open(p, s, x, s->progress, m, &a.s));
  LOOM_TRY(p->h->map(p->h, p->e, p->result, LOOM_WRITE, LOOM_AT_EXEC, &result));
  LOOM_TRY(plug_run(p->h, p->e, &k_gap, &a, p->m, result));
  LOOM_TRY(p->h->unmap(p->h, p->result));
  LOOM_TRY(ipc_close(p, m));
  LOOM_TRY(plug_fetch(p->h, p->e, p->result, 1, out));
  *out = -*out;
  return LOOM_OK;
}

static loom_status reduce_ages(ndb *d, const lk_entry *k, double *out)
{
  ipc *const p = &d->base;
  void *q[2];
  const plug_map o[2] = {{d->age, LOOM_READ}, {p->result, LOOM_WRITE}};
  *out = 0.0;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(plug_map_all(p->h, p->e, 2, o, q));
  const ndb_ages_args a = {q[0]};
  LOOM_TRY(plug_run(p->h, p->e, k, &a, p->m, q[1]));
  LOOM_TRY(plug_unmap_all(p->h, 2, o));
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
