/* friction.c - lagged friction: what is frozen, when, and the forms of its potential. */
#include <string.h>

#include "ipc.h"

static const lk_entry k_lag = LK_ENTRY(ipc_lag), k_differ = LK_ENTRY(ipc_differ);
static const lk_entry k_loss = LK_ENTRY(ipc_dissipation), k_work = LK_ENTRY(ipc_work);
static const lk_entry k_drag = LK_ENTRY(ipc_drag), k_hessian = LK_ENTRY(ipc_drag_hessian);

static loom_status resize(ipc *p, int64_t m)
{
  const loom_host *const h = p->h;
  LOOM_TRY(h->buf_resize(h, p->fv, 4 * m));
  LOOM_TRY(h->buf_resize(h, p->fobst, m));
  LOOM_TRY(h->buf_resize(h, p->fw, 4 * m));
  LOOM_TRY(h->buf_resize(h, p->fnormal, 3 * m));
  LOOM_TRY(h->buf_resize(h, p->fpoint, 3 * m));
  LOOM_TRY(h->buf_resize(h, p->fmost, m));
  LOOM_TRY(h->buf_resize(h, p->fblocks, m));
  LOOM_TRY(h->buf_resize(h, p->fat_block, m + 1));
  LOOM_TRY(h->buf_resize(h, p->fcorner.num, m));
  return h->buf_resize(h, p->fcorner.at, m + 1);
}

/* Freeze the active pairs of x. */
static loom_status freeze(ipc *p, const loom_step *s, loom_buf *x, double progress)
{
  plug_map m[IPC_MAPS];
  ipc_lag_args a;
  void *q[9];
  const plug_map o[9] = {
      {p->list, LOOM_READ},   {p->fv, LOOM_WRITE},          {p->fobst, LOOM_WRITE},
      {p->fw, LOOM_WRITE},    {p->fnormal, LOOM_WRITE},     {p->fpoint, LOOM_WRITE},
      {p->fmost, LOOM_WRITE}, {p->fcorner.num, LOOM_WRITE}, {p->fblocks, LOOM_WRITE}};
  LOOM_TRY(ipc_open(p, s, x, progress, m, &a.s));
  LOOM_TRY(plug_map_all(p->h, p->e, 9, o, q));
  a.list = q[0];
  a.v = q[1];
  a.obst = q[2];
  a.w = q[3];
  a.normal = q[4];
  a.point = q[5];
  a.most = q[6];
  a.num = q[7];
  a.blocks = q[8];
  a.self_friction = (lk_real)p->set.self_friction;
  LOOM_TRY(plug_run(p->h, p->e, &k_lag, &a, p->nf, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 9, o));
  return ipc_close(p, m);
}

/* Are the vertices of the lagged pairs those of last time? */
static loom_status same_pairs(ipc *p, int64_t before, int *same)
{
  void *q[3];
  double differ = 0.0;
  *same = before == p->nf;
  if (!*same || p->nf == 0) return LOOM_OK;
  const plug_map m[3] = {{p->fv, LOOM_READ}, {p->fv_old, LOOM_READ}, {p->result, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(p->h, p->e, 3, m, q));
  const ipc_differ_args a = {q[0], q[1]};
  LOOM_TRY(plug_run(p->h, p->e, &k_differ, &a, 4 * p->nf, q[2]));
  LOOM_TRY(plug_unmap_all(p->h, 3, m));
  LOOM_TRY(plug_fetch(p->h, p->e, p->result, 1, &differ));
  *same = differ == 0.0;
  return LOOM_OK;
}

loom_status ipc_lag_at(ipc *p, const loom_step *s, loom_buf *x, double progress, uint32_t *changed)
{
  const loom_host *const h = p->h;
  const int64_t before = p->nf;
  int same;
  *changed = LOOM_CHANGED_NONE;
  if (!p->friction) return LOOM_OK;
  LOOM_TRY(ipc_activate(p, s, x, progress));
  LOOM_TRY(h->buf_resize(h, p->fv_old, 4 * before));
  LOOM_TRY(h->buf_copy(h, p->e, p->fv_old, p->fv));
  p->nf = p->num_active;
  p->num_fblocks = 0;
  p->fcorner.count = 0;
  ++p->rounds;
  if (p->nf > 0) {
    LOOM_TRY(resize(p, p->nf));
    LOOM_TRY(freeze(p, s, x, progress));
    LOOM_TRY(h->scan_i64(h, p->e, p->fblocks, p->fat_block));
    LOOM_TRY(ipc_last_of(p, p->fat_block, p->nf, &p->num_fblocks));
    LOOM_TRY(ipc_sort_corners(p, &p->fcorner, p->fv, p->nf));
  }
  LOOM_TRY(same_pairs(p, before, &same));
  if (!same) *changed |= LOOM_CHANGED_PATTERN;
  if (!same || p->nf > 0) *changed |= LOOM_CHANGED_VALUES;
  return LOOM_OK;
}

loom_status ipc_open_lagged(ipc *p, const loom_step *s, loom_buf *x, plug_map m[IPC_LAG_MAPS],
                            ipc_lagged *out)
{
  void *q[IPC_LAG_MAPS];
  const obst_view *view;
  const int bodies = LOOM_HAS(s, body1) && p->sc->num_body_verts > 0;
  const plug_map all[IPC_LAG_MAPS] = {{x, LOOM_READ},
                                      {s->x_start, LOOM_READ},
                                      {bodies ? s->body0 : NULL, LOOM_READ},
                                      {bodies ? s->body1 : NULL, LOOM_READ},
                                      {p->sc->fixed, LOOM_READ},
                                      {p->fv, LOOM_READ},
                                      {p->fobst, LOOM_READ},
                                      {p->fw, LOOM_READ},
                                      {p->fnormal, LOOM_READ},
                                      {p->fpoint, LOOM_READ},
                                      {p->fmost, LOOM_READ}};
  memcpy(m, all, sizeof all);
  LOOM_TRY(plug_map_all(p->h, p->e, IPC_LAG_MAPS, m, q));
  LOOM_TRY(ipc_views_open(p, &view));
  const ipc_lagged f = {.x = q[0],
                        .x_start = q[1],
                        .body0 = q[2],
                        .body1 = q[3],
                        .fixed = q[4],
                        .view = view,
                        .v = q[5],
                        .obst = q[6],
                        .w = q[7],
                        .normal = q[8],
                        .point = q[9],
                        .most = q[10],
                        .progress = (lk_real)s->progress,
                        .eps = (lk_real)(p->set.epsilon_v * s->h),
                        .n = p->sc->num_verts};
  *out = f;
  return LOOM_OK;
}

loom_status ipc_close_lagged(ipc *p, const plug_map m[IPC_LAG_MAPS])
{
  LOOM_TRY(ipc_views_close(p));
  return plug_unmap_all(p->h, IPC_LAG_MAPS, m);
}

static loom_status sum(ipc *p, const loom_step *s, loom_buf *x, const lk_entry *k, double *out)
{
  plug_map m[IPC_LAG_MAPS];
  ipc_slip_args a;
  void *result;
  LOOM_TRY(ipc_open_lagged(p, s, x, m, &a.f));
  LOOM_TRY(p->h->map(p->h, p->e, p->result, LOOM_WRITE, LOOM_AT_EXEC, &result));
  LOOM_TRY(plug_run(p->h, p->e, k, &a, p->nf, result));
  LOOM_TRY(p->h->unmap(p->h, p->result));
  LOOM_TRY(ipc_close_lagged(p, m));
  return plug_fetch(p->h, p->e, p->result, 1, out);
}

loom_status ipc_friction_sums(ipc *p, const loom_step *s, loom_buf *x, double *potential,
                              double *work)
{
  if (potential != NULL) *potential = 0.0;
  if (work != NULL) *work = 0.0;
  if (p->nf == 0) return LOOM_OK;
  if (potential != NULL) LOOM_TRY(sum(p, s, x, &k_loss, potential));
  return work != NULL ? sum(p, s, x, &k_work, work) : LOOM_OK;
}

loom_status ipc_friction_gradient(ipc *p, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  plug_map m[IPC_LAG_MAPS];
  ipc_drag_args a;
  void *q[2];
  const plug_map o[2] = {{p->fcorner.at, LOOM_READ}, {p->fcorner.force, LOOM_WRITE}};
  if (p->nf == 0) return LOOM_OK;
  LOOM_TRY(ipc_open_lagged(p, s, x, m, &a.f));
  LOOM_TRY(plug_map_all(p->h, p->e, 2, o, q));
  a.at = q[0];
  a.force = q[1];
  LOOM_TRY(plug_run(p->h, p->e, &k_drag, &a, p->nf, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 2, o));
  LOOM_TRY(ipc_close_lagged(p, m));
  return ipc_gather_forces(p, &p->fcorner, NULL, grad);
}

loom_status ipc_friction_hessian(ipc *p, const loom_step *s, loom_buf *x, int64_t first,
                                 loom_blocks3 *out)
{
  plug_map m[IPC_LAG_MAPS];
  ipc_drag_hessian_args a;
  void *q[4];
  const plug_map b[4] = {{p->fat_block, LOOM_READ},
                         {out->row, LOOM_RDWR},
                         {out->col, LOOM_RDWR},
                         {out->val, LOOM_RDWR}};
  if (p->num_fblocks == 0) return LOOM_OK;
  LOOM_TRY(ipc_open_lagged(p, s, x, m, &a.f));
  LOOM_TRY(plug_map_all(p->h, p->e, 4, b, q));
  a.at_block = q[0];
  a.first = first;
  a.row = q[1];
  a.col = q[2];
  a.val = q[3];
  LOOM_TRY(plug_run(p->h, p->e, &k_hessian, &a, p->nf, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 4, b));
  return ipc_close_lagged(p, m);
}
