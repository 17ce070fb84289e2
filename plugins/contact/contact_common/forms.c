/* forms.c - energy, gradient and Hessian at any point, and what the log asks for. */
#include <math.h>

#include "ipc.h"

static const lk_entry k_energy = LK_ENTRY(ipc_energy), k_force = LK_ENTRY(ipc_force);
static const lk_entry k_gather = LK_ENTRY(ipc_gather), k_hessian = LK_ENTRY(ipc_hessian);
static const lk_entry k_strongest = LK_ENTRY(ipc_strongest), k_count = LK_ENTRY(ipc_count_corners);

/* Sum or maximum over the active pairs at x. */
static loom_status reduce(ipc *p, const loom_step *s, loom_buf *x, const lk_entry *k, double *out)
{
  plug_map m[IPC_MAPS];
  ipc_eval_args a;
  void *q[2];
  const plug_map o[2] = {{p->list, LOOM_READ}, {p->result, LOOM_WRITE}};
  LOOM_TRY(ipc_open(p, s, x, s->progress, m, &a.s));
  LOOM_TRY(plug_map_all(p->h, p->e, 2, o, q));
  a.list = q[0];
  LOOM_TRY(plug_run(p->h, p->e, k, &a, p->num_active, q[1]));
  LOOM_TRY(plug_unmap_all(p->h, 2, o));
  LOOM_TRY(ipc_close(p, m));
  return plug_fetch(p->h, p->e, p->result, 1, out);
}

loom_status ipc_gather_forces(ipc *p, corner_set *c, loom_buf *place, loom_buf *grad)
{
  const plug_map g[6] = {{c->vertex, LOOM_READ}, {c->place, LOOM_READ}, {c->owner, LOOM_READ},
                         {place, LOOM_READ},     {c->force, LOOM_READ}, {grad, LOOM_RDWR}};
  void *q[6];
  if (c->count == 0) return LOOM_OK;
  LOOM_TRY(plug_map_all(p->h, p->e, 6, g, q));
  const ipc_gather_args a = {q[0], q[1], q[2], q[3], q[4], q[5], c->count};
  LOOM_TRY(plug_run(p->h, p->e, &k_gather, &a, c->count, NULL));
  return plug_unmap_all(p->h, 6, g);
}

static loom_status add_gradient(ipc *p, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  plug_map m[IPC_MAPS];
  ipc_force_args a;
  void *q[3];
  const plug_map f[3] = {
      {p->list, LOOM_READ}, {p->corner.at, LOOM_READ}, {p->corner.force, LOOM_RDWR}};
  if (p->num_active == 0) return LOOM_OK;
  LOOM_TRY(ipc_open(p, s, x, s->progress, m, &a.s));
  LOOM_TRY(plug_map_all(p->h, p->e, 3, f, q));
  a.list = q[0];
  a.at = q[1];
  a.force = q[2];
  LOOM_TRY(plug_run(p->h, p->e, &k_force, &a, p->num_active, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 3, f));
  LOOM_TRY(ipc_close(p, m));
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
  const plug_map m[3] = {{p->list, LOOM_READ}, {p->corner.num, LOOM_READ}, {p->blocks, LOOM_WRITE}};
  void *q[3];
  *total = 0;
  if (p->num_active == 0) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, p->blocks, p->num_active));
  LOOM_TRY(h->buf_resize(h, p->at_block, p->num_active + 1));
  LOOM_TRY(plug_map_all(h, p->e, 3, m, q));
  const ipc_count_args a = {q[0], q[1], q[2], square};
  LOOM_TRY(plug_run(h, p->e, &k_count, &a, p->num_active, NULL));
  LOOM_TRY(plug_unmap_all(h, 3, m));
  LOOM_TRY(h->scan_i64(h, p->e, p->blocks, p->at_block));
  return ipc_last_of(p, p->at_block, p->num_active, total);
}

static loom_status add_hessian(ipc *p, const loom_step *s, loom_buf *x, int how, int64_t first,
                               loom_blocks3 *out)
{
  plug_map m[IPC_MAPS];
  ipc_hessian_args a;
  void *q[5];
  const plug_map b[5] = {{p->list, LOOM_READ},
                         {p->at_block, LOOM_READ},
                         {out->row, LOOM_RDWR},
                         {out->col, LOOM_RDWR},
                         {out->val, LOOM_RDWR}};
  if (p->num_active == 0) return LOOM_OK;
  LOOM_TRY(ipc_open(p, s, x, s->progress, m, &a.s));
  LOOM_TRY(plug_map_all(p->h, p->e, 5, b, q));
  a.list = q[0];
  a.at_block = q[1];
  a.first = first;
  a.how = how;
  a.row = q[2];
  a.col = q[3];
  a.val = q[4];
  LOOM_TRY(plug_run(p->h, p->e, &k_hessian, &a, p->num_active, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 5, b));
  return ipc_close(p, m);
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
