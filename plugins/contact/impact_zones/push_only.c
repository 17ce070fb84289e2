/* push_only.c - multipliers that only push: min 1/2 lambda' S lambda - b' lambda, lambda >= 0.
 *
 * A projected gradient method with the momentum of A. Beck, M. Teboulle, A Fast Iterative
 * Shrinkage-Thresholding Algorithm for Linear Inverse Problems, SIAM J. Imaging Sciences 2(1),
 * 2009, doi 10.1137/080716542, in the metric D, the diagonal of S times the number of impacts at
 * the most crowded vertex of each: D - S is positive semidefinite (Cauchy-Schwarz, vertex by
 * vertex), so steps of D^-1 always converge, and no scalar is needed on the host.
 */
#include "response.h"

static const lk_entry k_push = LK_ENTRY_MOVES(impact_push, 98, 47),
                      k_slack = LK_ENTRY_MOVES(impact_slack, 89, 43);

enum { LOOK_EVERY = 20 };

static impact_push_args bind_push_args(response *p, const impacts *all, plug_maps *m, int from)
{
  return (impact_push_args){.row = plug_read(m, p->S.row),
                            .col = plug_read(m, p->S.col),
                            .diag = plug_read(m, p->S.diag),
                            .val = plug_read(m, p->S.val),
                            .crowd = plug_read(m, p->crowd),
                            .v = plug_read(m, all->v),
                            .b = plug_read(m, p->b),
                            .y = plug_read(m, p->ahead[from]),
                            .lambda = plug_rdwr(m, p->lambda),
                            .ahead = plug_rdwr(m, p->ahead[1 - from])};
}

static loom_status iterate_push(response *p, const impacts *all, int64_t k)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  impact_push_args a = bind_push_args(p, all, &m, (int)(k & 1));
  a.momentum = (lk_real)k / (lk_real)(k + 3);
  return plug_launch(&m, &k_push, &a, all->m, NULL);
}

/* *out, m: largest lack of a gap to its target at the next point, over gaps that are short or
 * pushed. */
static loom_status measure_push_slack(response *p, const impacts *all, int64_t k, double *out)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const impact_push_args a = bind_push_args(p, all, &m, (int)(k & 1));
  return plug_reduce(&m, &k_slack, &a, all->m, p->result, out);
}

loom_status response_push(response *p, const impacts *all, double tolerance, int64_t max_iters,
                          response_report *out)
{
  const loom_host *const host = p->host;
  double most = 0.0, left = 0.0;
  LOOM_TRY(response_count_crowds(p, all));
  for (int k = 0; k < 2; ++k) {
    LOOM_TRY(host->buf_resize(host, p->ahead[k], all->m));
    LOOM_TRY(host->buf_copy(host, p->e, p->ahead[k], p->lambda));
  }
  LOOM_TRY(measure_push_slack(p, all, 0,
                              &most)); /* the tolerance is relative to the lack at the start */
  for (int64_t k = 0; k < max_iters; ++k, ++out->iters) {
    if (k > 0 && k % LOOK_EVERY == 0) LOOM_TRY(measure_push_slack(p, all, k, &left));
    if (k > 0 && k % LOOK_EVERY == 0 && left <= tolerance * most) break;
    LOOM_TRY(iterate_push(p, all, k));
  }
  return response_tell(p, all->m, out);
}
