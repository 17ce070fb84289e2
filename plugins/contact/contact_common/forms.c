/* forms.c - energy, gradient and Hessian at any point, and what the log asks for. */
#include <math.h>

#include "ipc.h"

static const lk_entry k_energy = LK_ENTRY(ipc_energy), k_force = LK_ENTRY(ipc_force);
static const lk_entry k_gather = LK_ENTRY(ipc_gather), k_hessian = LK_ENTRY(ipc_hessian);
static const lk_entry k_strongest = LK_ENTRY(ipc_strongest), k_count = LK_ENTRY(ipc_count_corners);

/* Sum or maximum over the active pairs at x. */
static loom_status reduce(ipc *p, const loom_step *s, loom_buf *x, const lk_entry *k, double *out)
{
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_eval_args a = {.s = ipc_open(p, &m, s, x, s->progress), .list = plug_read(&m, p->list)};
  LOOM_TRY(ipc_launch(p, &m, k, &a, p->num_active, plug_write(&m, p->result)));
  return plug_fetch(p->h, p->e, p->result, 1, out);
}

loom_status ipc_gather_forces(ipc *p, corner_set *c, loom_buf *place, loom_buf *grad)
{
  if (c->count == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_gather_args a = {.key = plug_read(&m, c->vertex),
                             .perm = plug_read(&m, c->place),
                             .owner = plug_read(&m, c->owner),
                             .place = plug_read(&m, place),
                             .force = plug_read(&m, c->force),
                             .grad = plug_rdwr(&m, grad),
                             .corners = c->count};
  return plug_launch(&m, &k_gather, &a, c->count, NULL);
}

static loom_status add_gradient(ipc *p, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  if (p->num_active == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_force_args a = {.s = ipc_open(p, &m, s, x, s->progress),
                            .list = plug_read(&m, p->list),
                            .at = plug_read(&m, p->corner.at),
                            .force = plug_rdwr(&m, p->corner.force)};
  LOOM_TRY(ipc_launch(p, &m, &k_force, &a, p->num_active, NULL));
  return ipc_gather_forces(p, &p->corner, p->place, grad);
}

loom_status ipc_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad)
{
  ipc *const p = self;
  double value = 0.0;
  LOOM_TRY(ipc_activate(p, s, x, s->progress));
  if (energy != NULL && p->num_active > 0) {
    LOOM_TRY(reduce(p, s, x, &k_energy, &value));
    *energy += value;
  }
  if (dissipation != NULL) {
    LOOM_TRY(ipc_friction_sums(p, s, x, &value, NULL));
    *dissipation += value;
  }
  if (grad == NULL) return LOOM_OK;
  LOOM_TRY(add_gradient(p, s, x, grad));
  return ipc_friction_gradient(p, s, x, grad);
}

/* ---- Hessian ----------------------------------------------------------------------------- */

loom_status ipc_count(ipc *p, int square, int64_t *total)
{
  const loom_host *const h = p->h;
  *total = 0;
  if (p->num_active == 0) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, p->blocks, p->num_active));
  LOOM_TRY(h->buf_resize(h, p->at_block, p->num_active + 1));
  plug_maps m = plug_maps_on(h, p->e);
  const ipc_count_args a = {.list = plug_read(&m, p->list),
                            .num = plug_read(&m, p->corner.num),
                            .count = plug_write(&m, p->blocks),
                            .square = square};
  LOOM_TRY(plug_launch(&m, &k_count, &a, p->num_active, NULL));
  LOOM_TRY(h->scan_i64(h, p->e, p->blocks, p->at_block));
  return ipc_last_of(p, p->at_block, p->num_active, total);
}

static loom_status add_hessian(ipc *p, const loom_step *s, loom_buf *x, int how, int64_t first,
                               loom_blocks3 *out)
{
  if (p->num_active == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_hessian_args a = {.s = ipc_open(p, &m, s, x, s->progress),
                              .list = plug_read(&m, p->list),
                              .at_block = plug_read(&m, p->at_block),
                              .first = first,
                              .how = how,
                              .row = plug_rdwr(&m, out->row),
                              .col = plug_rdwr(&m, out->col),
                              .val = plug_rdwr(&m, out->val)};
  return ipc_launch(p, &m, &k_hessian, &a, p->num_active, NULL);
}

loom_status ipc_hess(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out)
{
  ipc *const p = self;
  const int64_t first = out->count;
  int64_t normal = 0;
  const loom_status st = ipc_activate(p, s, x, s->progress);
  if (st == LOOM_REJECTED)
    return ipc_overlap_error(p, s, "there is no Hessian where pairs overlap",
                             "filter every iteration ([filter] when = every)");
  LOOM_TRY(st);
  LOOM_TRY(ipc_count(p, 1, &normal));
  out->count = first + normal + p->num_fblocks;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(add_hessian(p, s, x, how, first, out));
  return ipc_friction_hessian(p, s, x, first + normal, out);
}

/* ---- metrics ------------------------------------------------------------------------------- */

loom_status ipc_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  ipc *const p = self;
  out->active = 0;
  out->min_gap = NAN;
  out->max_force = out->dissipated = 0.0;
  const loom_status st = ipc_activate(p, s, s->x, s->progress);
  if (st < LOOM_OK) return st;
  LOOM_TRY(ipc_least_gap_now(p, &out->min_gap));
  if (st != LOOM_OK) { /* infeasible: an unfiltered point */
    out->max_force = out->dissipated = NAN;
    return LOOM_OK;
  }
  out->active = p->num_active;
  if (p->num_active > 0) LOOM_TRY(reduce(p, s, s->x, &k_strongest, &out->max_force));
  return ipc_friction_sums(p, s, s->x, NULL, &out->dissipated);
}

loom_status ipc_metrics_kappa(void *self, const loom_step *s, loom_contact_metrics *out)
{
  const ipc *const p = self;
  LOOM_TRY(ipc_metrics(self, s, out));
  if (LOOM_HAS(out, extra) && out->extra != NULL) out->extra[0] = p->kappa;
  return LOOM_OK;
}
