/* cycle.c - cycles of the two levels on (H + B) u = r. */
#include "pd_bfgs.h"
#include "sweep.kern.h"

static const lk_entry k_settle = LK_ENTRY_MOVES(pd_bfgs_settle, 15, 5);

/* u[0] = P y */
static loom_status solve_coarse_level(pd_bfgs *s, int64_t iters)
{
  const bfgs_system A = {
      .multiply = pd_bfgs_reduced_multiply, .solve = pd_bfgs_reduced_solve, .self = s};
  if (iters == 0) return s->host->fill(s->host, s->e, s->u[0], 0.0);
  LOOM_TRY(sparse_basis_restrict(&s->basis, s->r, s->bfgs.g));
  LOOM_TRY(bfgs_begin(&s->bfgs));
  if (s->A.B == NULL) bfgs_forget(&s->bfgs); /* the factor is exact */
  for (int64_t k = 0; k < iters; ++k) LOOM_TRY(bfgs_iterate(&s->bfgs, &A));
  return sparse_basis_prolong(&s->basis, s->bfgs.y, s->u[0], 0);
}

loom_status pd_bfgs_cycle(pd_bfgs *s, int *at, int32_t *iters)
{
  const int64_t most = s->A.B == NULL && s->set.bfgs_iters > 1 ? 1 : s->set.bfgs_iters;
  *at = 0;
  *iters += (int32_t)(most + s->set.jacobi_iters);
  s->host->tic(s->host, "splines");
  LOOM_TRY(solve_coarse_level(s, most));
  s->host->toc(s->host, "splines");
  s->host->tic(s->host, "sweeps");
  LOOM_TRY(pd_bfgs_sweeps(s, at));
  s->host->toc(s->host, "sweeps");
  return LOOM_OK;
}

/* total += u, r -= (H + B) u */
static loom_status apply_cycle_increment(pd_bfgs *s, loom_buf *u)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  pd_bfgs_sweep_args a = pd_bfgs_open_matrices(s, &m);
  a.from = plug_read(&m, u);
  a.to = plug_rdwr(&m, s->total);
  a.left = plug_rdwr(&m, s->r);
  s->host->count(s->host, LOOM_C_SPMV, 1);
  pd_bfgs_product_moved(s);
  return plug_launch(&m, &k_settle, &a, s->n, NULL);
}

loom_status pd_bfgs_solve(pd_bfgs *s, loom_buf **u, int32_t *iters)
{
  int at = 0;
  *iters = 0;
  LOOM_TRY(pd_bfgs_monitor_begin(s));
  if (s->set.cycles > 1) LOOM_TRY(s->host->fill(s->host, s->e, s->total, 0.0));
  for (int64_t k = 0; k < s->set.cycles; ++k) {
    LOOM_TRY(pd_bfgs_cycle(s, &at, iters));
    LOOM_TRY(pd_bfgs_monitor_tell(s, (int32_t)k + 1, s->u[at]));
    if (s->set.cycles > 1) LOOM_TRY(apply_cycle_increment(s, s->u[at]));
  }
  *u = s->set.cycles > 1 ? s->total : s->u[at];
  return LOOM_OK;
}
