/* friction.c - lagged friction: what is frozen, when, and the forms of its potential. */
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
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_lag_args a = {.s = ipc_open(p, &m, s, x, progress),
                          .list = plug_read(&m, p->list),
                          .v = plug_write(&m, p->fv),
                          .obst = plug_write(&m, p->fobst),
                          .w = plug_write(&m, p->fw),
                          .normal = plug_write(&m, p->fnormal),
                          .point = plug_write(&m, p->fpoint),
                          .most = plug_write(&m, p->fmost),
                          .num = plug_write(&m, p->fcorner.num),
                          .blocks = plug_write(&m, p->fblocks),
                          .self_friction = (lk_real)p->set.self_friction};
  return ipc_launch(p, &m, &k_lag, &a, p->nf, NULL);
}

/* Are the vertices of the lagged pairs those of last time? */
static loom_status same_pairs(ipc *p, int64_t before, int *same)
{
  double differ = 0.0;
  *same = before == p->nf;
  if (!*same || p->nf == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_differ_args a = {.a = plug_read(&m, p->fv), .b = plug_read(&m, p->fv_old)};
  LOOM_TRY(plug_launch(&m, &k_differ, &a, 4 * p->nf, plug_write(&m, p->result)));
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

ipc_lagged ipc_open_lagged(ipc *p, plug_maps *m, const loom_step *s, loom_buf *x)
{
  const int bodies = LOOM_HAS(s, body1) && p->sc->num_body_verts > 0;
  return (ipc_lagged){.x = plug_read(m, x),
                      .x_start = plug_read(m, s->x_start),
                      .body0 = plug_read(m, bodies ? s->body0 : NULL),
                      .body1 = plug_read(m, bodies ? s->body1 : NULL),
                      .fixed = plug_read(m, p->sc->fixed),
                      .view = ipc_open_views(p, m),
                      .v = plug_read(m, p->fv),
                      .obst = plug_read(m, p->fobst),
                      .w = plug_read(m, p->fw),
                      .normal = plug_read(m, p->fnormal),
                      .point = plug_read(m, p->fpoint),
                      .most = plug_read(m, p->fmost),
                      .progress = (lk_real)s->progress,
                      .eps = (lk_real)(p->set.epsilon_v * s->h),
                      .n = p->sc->num_verts};
}

static loom_status sum(ipc *p, const loom_step *s, loom_buf *x, const lk_entry *k, double *out)
{
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_slip_args a = {.f = ipc_open_lagged(p, &m, s, x)};
  LOOM_TRY(ipc_launch(p, &m, k, &a, p->nf, plug_write(&m, p->result)));
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
  if (p->nf == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_drag_args a = {.f = ipc_open_lagged(p, &m, s, x),
                           .at = plug_read(&m, p->fcorner.at),
                           .force = plug_write(&m, p->fcorner.force)};
  LOOM_TRY(ipc_launch(p, &m, &k_drag, &a, p->nf, NULL));
  return ipc_gather_forces(p, &p->fcorner, NULL, grad);
}

loom_status ipc_friction_hessian(ipc *p, const loom_step *s, loom_buf *x, int64_t first,
                                 loom_blocks3 *out)
{
  if (p->num_fblocks == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->h, p->e);
  const ipc_drag_hessian_args a = {.f = ipc_open_lagged(p, &m, s, x),
                                   .at_block = plug_read(&m, p->fat_block),
                                   .first = first,
                                   .row = plug_rdwr(&m, out->row),
                                   .col = plug_rdwr(&m, out->col),
                                   .val = plug_rdwr(&m, out->val)};
  return ipc_launch(p, &m, &k_hessian, &a, p->nf, NULL);
}
