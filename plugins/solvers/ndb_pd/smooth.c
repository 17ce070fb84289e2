/* smooth.c - sweeps of the smoother, in loom_real or in float. */
#include "ndb_pd.h"

static const lk_entry k_sweep = LK_ENTRY_MOVES(ndb_pd_sweep, 0, 0),
                      k_sweep_f = LK_ENTRY_MOVES(ndb_pd_sweep_f, 0, 0);
static const lk_entry k_settle = LK_ENTRY_MOVES(ndb_pd_settle, 37, 6),
                      k_settle_f = LK_ENTRY_MOVES(ndb_pd_settle_f, 6, 3);
static const lk_entry k_narrow = LK_ENTRY_MOVES(ndb_pd_narrow, 1, 1);

static loom_status settle_rows(const ndb_pd *s, const ndb_pd_view *v, const void *u, int single,
                               lk_real *r, lk_real *total, const int32_t *row, int64_t rows)
{
  if (single) {
    const ndb_pd_settle_f_args a = {v->ptr, v->col, v->val, v->w, (const float *)u, r, total, row};
    return ndb_pd_run(s, &k_settle_f, &a, rows, NULL);
  }
  const ndb_pd_settle_args a = {v->ptr, v->col, v->val, v->w, (const lk_real *)u, r, total, row};
  return ndb_pd_run(s, &k_settle, &a, rows, NULL);
}

/* The solve of affine bodies reads r at their control points alone. */
loom_status ndb_pd_settle(const ndb_pd *s, const ndb_pd_view *v, const void *u, int single,
                          int residual)
{
  const int64_t num = 4 * (int64_t)s->turns.bodies.num;
  LOOM_TRY(settle_rows(s, v, u, single, residual ? v->r : NULL, v->total, NULL, s->n));
  if (residual || num == 0) return LOOM_OK;
  return settle_rows(s, v, u, single, v->r, NULL, v->control, num);
}

typedef struct sweeper {
  ndb_pd *s;
  const ndb_pd_view *v;
  const ndb_pd_plan *p;
  int single, at; /* at: index of the iterate, -1: zero */
  int before;     /* of the one before it, -1: zero */
  double omega;
  ndb_pd_fused_call fused;
} sweeper;

static void *sweep_vector_at(const sweeper *w, int at)
{
  if (at < 0) return NULL;
  return w->single ? (void *)w->v->uf[at] : (void *)w->v->u[at];
}

static void rotate_sweep_vectors(sweeper *w, int next)
{
  w->before = w->at;
  w->at = next;
}

static loom_status run_smoother_sweep(sweeper *w)
{
  const ndb_pd_view *const v = w->v;
  const size_t number = w->single ? sizeof(float) : sizeof(lk_real);
  lk_moved(w->s->e, w->s->sweep_rows, (uint32_t)(14 * number + 2 * sizeof(int64_t)));
  lk_moved(w->s->e, w->s->sweep_nnz, (uint32_t)(4 * number + sizeof(int32_t)));
  const int next = (w->at + 1) % 3;
  const int free_one = next == w->before ? (next + 1) % 3 : next;
  loom_status st;
  if (w->single) {
    const ndb_pd_sweep_f_args a = {v->ptr,
                                   v->col,
                                   v->valf,
                                   v->wf,
                                   v->dinvf,
                                   v->rf,
                                   sweep_vector_at(w, w->at),
                                   sweep_vector_at(w, w->before),
                                   v->uf[free_one],
                                   (float)w->p->theta,
                                   (float)w->omega};
    st = ndb_pd_run(w->s, &k_sweep_f, &a, w->s->sweep_rows, NULL);
  } else {
    const ndb_pd_sweep_args a = {v->ptr,
                                 v->col,
                                 v->val,
                                 v->w,
                                 v->dinv,
                                 v->r,
                                 sweep_vector_at(w, w->at),
                                 sweep_vector_at(w, w->before),
                                 v->u[free_one],
                                 (lk_real)w->p->theta,
                                 (lk_real)w->omega};
    st = ndb_pd_run(w->s, &k_sweep, &a, w->s->sweep_rows, NULL);
  }
  rotate_sweep_vectors(w, free_one);
  return st;
}

/* One iteration of the smoother: `rank` sweeps of aggregated Jacobi, else one. */
static loom_status run_smoother_iteration(sweeper *w, ndb_pd_report *out)
{
  const ndb_pd_settings *const set = &w->s->set;
  int64_t sweeps = set->smoother == SMOOTHER_A_JACOBI ? set->rank : 1;
  out->mv += (int32_t)sweeps;
  if (set->smoother == SMOOTHER_A_JACOBI && set->fused) {
    const int next = (w->at + 1) % 3;
    LOOM_TRY(ndb_pd_fused_sweep_run(w->s, &w->fused, sweep_vector_at(w, w->at),
                                    sweep_vector_at(w, next)));
    rotate_sweep_vectors(w, next);
    sweeps -= 2;
  }
  for (; sweeps > 0; --sweeps) LOOM_TRY(run_smoother_sweep(w));
  return LOOM_OK;
}

loom_status ndb_pd_smooth(ndb_pd *s, const loom_step *st, const ndb_pd_view *v,
                          const ndb_pd_plan *p, int64_t count, int residual, ndb_pd_report *out)
{
  const int chebyshev = s->set.smoother == SMOOTHER_CHEBYSHEV;
  const int fused = s->set.smoother == SMOOTHER_A_JACOBI && s->set.fused;
  const double rho = 1.0 - p->theta * p->lo;
  sweeper w = {.s = s,
               .v = v,
               .p = p,
               .single = s->set.precision == PRECISION_MIXED,
               .at = -1,
               .before = -1,
               .omega = 1.0};
  if (count <= 0) return LOOM_OK;
  if (w.single) {
    const ndb_pd_narrow_args a = {v->r, v->rf};
    LOOM_TRY(ndb_pd_run(s, &k_narrow, &a, 3 * (int64_t)s->n, NULL));
  }
  if (fused) LOOM_TRY(ndb_pd_fused_open(s, v, p->theta, &w.fused));
  for (int64_t k = 0; k < count; ++k) {
    if (chebyshev && k == 1) w.omega = 2.0 / (2.0 - rho * rho);
    if (chebyshev && k > 1) w.omega = 4.0 / (4.0 - rho * rho * w.omega);
    LOOM_TRY(run_smoother_iteration(&w, out));
    ++out->sweeps;
    ndb_pd_monitor_tell(s, st, v, sweep_vector_at(&w, w.at), w.single, out);
  }
  if (fused) LOOM_TRY(plug_unbind(&w.fused.m));
  out->mv += residual != 0;
  return ndb_pd_settle(s, v, sweep_vector_at(&w, w.at), w.single, residual);
}
