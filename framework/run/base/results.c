/* results.c - see results.h. */
#include "run/base/results.h"

#include <string.h>

#include "run/run_state.h"

static loom_status append_result(run *r, const double *v, const results_use *u)
{
  run_results *const q = &r->results;
  if (q->num == RESULTS_MAX) return err_set(r->err, LOOM_E_INTERNAL, "too many results wait");
  q->all[q->num].use = *u;
  q->all[q->num++].v = v;
  return LOOM_OK;
}

static int any_wait(const run_results *q) { return q->num > q->first; }

loom_status results_later(run *r, const loom_exec *e, const loom_real *src, int n,
                          const results_use *u)
{
  run_results *const q = &r->results;
  double now[LOOM_NUM_RESULTS], *v = now;
  if (e->backend == LOOM_CPU) { /* of a plugin that runs there, or everything does */
    if (any_wait(q)) LOOM_TRY(results_cells(r, n, &v));
    for (int i = 0; i < n; ++i) v[i] = (double)src[i];
    return results_after(r, v, u);
  }
  if (q->used + n > RESULTS_CELLS || q->num == RESULTS_MAX) LOOM_TRY(results_settle(r));
  if (q->used + n > RESULTS_CELLS) return err_set(r->err, LOOM_E_INTERNAL, "too many results wait");
  v = q->block + q->used;
  LOOM_TRY(exec_keep_results(r->err, e, q->used, src, n));
  q->used += n;
  LOOM_TRY(append_result(r, v, u));
  return e->debug ? results_settle(r) : LOOM_OK;
}

loom_status results_after(run *r, const double *v, const results_use *u)
{
  return any_wait(&r->results) ? append_result(r, v, u) : u->then(r, v, u);
}

loom_status results_cells(run *r, int n, double **out)
{
  run_results *const q = &r->results;
  if (q->num == RESULTS_MAX) LOOM_TRY(results_settle(r));
  if (q->num == 0) q->num_cells = 0;
  if (q->num_cells + n > RESULTS_MAX * RESULTS_EACH)
    return err_set(r->err, LOOM_E_INTERNAL, "too many results wait");
  *out = q->cell + q->num_cells;
  q->num_cells += n;
  memset(*out, 0, (size_t)n * sizeof **out);
  return LOOM_OK;
}

loom_status results_settle(run *r)
{
  run_results *const q = &r->results;
  const int first = q->first, num = q->num;
  loom_status s = LOOM_OK;
  if (any_wait(q) && q->used > 0) s = exec_kept_results(r->err, &r->exec, q->used, q->block);
  q->first = num;
  for (int i = first; i < num && s == LOOM_OK; ++i)
    s = q->all[i].use.then(r, q->all[i].v, &q->all[i].use);
  q->num = q->first = first;
  if (first == 0) q->used = q->num_cells = 0;
  return s;
}

loom_status results_settle_unless_held(run *r)
{
  return r->results.held > 0 ? LOOM_OK : results_settle(r);
}

loom_status results_copy(run *r, const double *v, const results_use *u)
{
  (void)r;
  if (u->out != NULL) memcpy(u->out, v, (size_t)u->end * sizeof *v);
  if (u->call != NULL) u->call(u->user);
  return LOOM_OK;
}
