/* drag.c - see drag.h. */
#include "drag.h"

static const lk_entry k_limit = LK_ENTRY_MOVES(cama_drag_limit, 21, 5),
                      k_work = LK_ENTRY_MOVES(cama_drag_work, 32, 5);
static const lk_entry k_force = LK_ENTRY_MOVES(cama_drag_force, 66, 13),
                      k_blocks = LK_ENTRY_MOVES(cama_drag_blocks, 123, 65);

loom_status drag_new(drag *d, candidates *c, double self_friction, double epsilon_v)
{
  const plug_buf all[] = {{"drag", LOOM_REAL, 0, &d->k},
                          {"points at the end", LOOM_REAL, 0, &d->end}};
  LOOM_TRY(plug_bufs_new(c->host, all, LOOM_COUNT(all)));
  d->f.rule = FRIC_END;
  return fric_new(&d->f, c, self_friction, epsilon_v);
}

loom_status drag_begin_step(drag *d, const pair_energy *p, const lk_entry *lag, const loom_step *s)
{
  friction *const f = &d->f;
  const candidates *const c = f->c;
  uint32_t changed; /* every step has its own */
  fric_reset(f);
  LOOM_TRY(fric_lag_active(f, p, lag, s, s->x_start, 0.0, &changed));
  if (f->num == 0) return LOOM_OK;
  LOOM_TRY(c->host->buf_resize(c->host, d->k, f->num));
  LOOM_TRY(c->host->buf_resize(c->host, d->end, 3 * f->num));
  LOOM_TRY(fric_carry(c, f->obst, f->point, f->num, f->progress, 1.0, d->end));
  LOOM_TRY(fric_find_ahead(f, s));
  plug_maps m = plug_maps_on(c->host, c->e);
  const drag_limit_args a = {.f = fric_open(f, &m, s, s->x_start),
                             .ahead = ahead_open(&f->ahead, &m, s),
                             .end = plug_read(&m, d->end),
                             .k = plug_write(&m, d->k)};
  return plug_launch(&m, &k_limit, &a, f->num, NULL);
}

static drag_args drag_open(drag *d, plug_maps *m, const loom_step *s, loom_buf *x)
{
  return (drag_args){.f = fric_open(&d->f, m, s, x), .k = plug_read(m, d->k)};
}

loom_status drag_sum(drag *d, const loom_step *s, loom_buf *x, double share, double *work)
{
  candidates *const c = d->f.c;
  if (d->f.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const drag_args a = drag_open(d, &m, s, x);
  return plug_reduce_later(&m, &k_work, &a, d->f.num, c->result, &c->later, share, work);
}

loom_status drag_gradient(drag *d, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  const candidates *const c = d->f.c;
  if (d->f.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  drag_args a = drag_open(d, &m, s, x);
  a.at = plug_read(&m, d->f.corner.at);
  a.force = plug_write(&m, d->f.corner.force);
  LOOM_TRY(plug_launch(&m, &k_force, &a, d->f.num, NULL));
  return gather_add(&d->f.corner, NULL, NULL, grad);
}

loom_status drag_hessian(drag *d, const loom_step *s, loom_buf *x, int64_t first, loom_blocks3 *out)
{
  const candidates *const c = d->f.c;
  if (d->f.num_blocks == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  drag_args a = drag_open(d, &m, s, x);
  a.at_block = plug_read(&m, d->f.at_block);
  a.first = first;
  a.row = plug_rdwr(&m, out->row);
  a.col = plug_rdwr(&m, out->col);
  a.val = plug_rdwr(&m, out->val);
  return plug_launch(&m, &k_blocks, &a, d->f.num, NULL);
}
