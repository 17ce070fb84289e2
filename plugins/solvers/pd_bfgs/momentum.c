/* momentum.c - acceleration over outer iterations.
 *
 * x_k+1 = y_k + u(y_k), y_k+1 = x_k+1 + beta_k (x_k+1 - x_k) (Y. Nesterov, A Method of Solving a
 * Convex Programming Problem with Convergence Rate O(1/k^2), 1983), restarted when grad(y_k).(x_k+1
 * - x_k) > 0 (B. O'Donoghue, E. Candes, Adaptive Restart for Accelerated Gradient Schemes, Found.
 * Comput. Math. 15, 2015, gradient scheme).  DEVIATION: the paper has none; the core's iterate is
 * y. */
#include "momentum.kern.h"
#include "pd_bfgs.h"

static const lk_entry k_uphill = LK_ENTRY_MOVES(pd_bfgs_uphill, 12, 0),
                      k_weight = LK_ENTRY_MOVES(pd_bfgs_weight, 4, 0);
static const lk_entry k_extrapolate = LK_ENTRY_MOVES(pd_bfgs_extrapolate, 15, 0);
static const lk_entry k_longest = LK_ENTRY_MOVES(pd_bfgs_longest, 3, 0);

loom_status pd_bfgs_momentum_new(pd_bfgs *s)
{
  const int64_t n3 = s->set.momentum == MOMENTUM_NONE ? 0 : 3 * (int64_t)s->n;
  const plug_buf all[] = {{"momentum, before", LOOM_REAL, n3, &s->before},
                          {"momentum, scalars", LOOM_REAL, MOMENTUM_LEN, &s->record}};
  return plug_bufs_new(s->host, all, LOOM_COUNT(all));
}

loom_status pd_bfgs_advance(pd_bfgs *s, const loom_step *st, loom_buf *u)
{
  if (s->set.momentum == MOMENTUM_NONE) {
    LOOM_TRY(s->host->buf_copy(s->host, s->e, st->trial, st->x));
    return s->host->axpby(s->host, s->e, 1.0, u, 1.0, st->trial);
  }
  plug_maps m = plug_maps_on(s->host, s->e);
  const pd_bfgs_momentum_args a = {.x = plug_read(&m, st->x),
                                   .u = plug_read(&m, u),
                                   .grad = plug_read(&m, st->grad),
                                   .before = plug_rdwr(&m, s->before),
                                   .trial = plug_write(&m, st->trial),
                                   .record = plug_rdwr(&m, s->record),
                                   .first = s->restart};
  LOOM_TRY(m.status);
  LOOM_TRY(plug_run_on(&m, &k_uphill, &a, s->n, a.record + MOMENTUM_UPHILL));
  LOOM_TRY(plug_run_on(&m, &k_weight, &a, 1, NULL));
  s->restart = 0;
  return plug_launch(&m, &k_extrapolate, &a, s->n, NULL);
}

loom_status pd_bfgs_tell(pd_bfgs *s, loom_buf *u, loom_iterate *it)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const pd_bfgs_momentum_args a = {.u = plug_read(&m, u), .record = plug_rdwr(&m, s->record)};
  LOOM_TRY(m.status);
  LOOM_TRY(plug_launch(&m, &k_longest, &a, s->n, a.record + MOMENTUM_LONGEST));
  return s->host->fetch_later(s->host, s->e, s->record, 1, &it->own_res, NULL, NULL);
}
