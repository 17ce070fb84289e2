/* warm.c - warm start: a few local-global iterations without contact in the large subspace (Lan
 * et al. 2024, Alg. 1, lines 4 to 6), on the core's initial guess. */
#include "ndb_pd.h"
#include "operator.kern.h"

static const lk_entry k_begin = LK_ENTRY_MOVES(ndb_pd_begin, 9, 1),
                      k_point = LK_ENTRY_MOVES(ndb_pd_point, 9, 0);

static loom_status correct_guess(ndb_pd *s, const loom_step *st)
{
  const loom_host *const host = s->host;
  const ndb_pd_plan p = {.cols = s->r1};
  loom_problem free = *st->problem;
  ndb_pd_view v;
  plug_maps all, m = plug_maps_on(host, s->e);
  free.terms &= ~(uint32_t)LOOM_TERM_CONTACT;
  LOOM_TRY(host->eval(host, &free, st->trial, LOOM_EVAL_GRADIENT, NULL, s->grad));
  LOOM_TRY(ndb_pd_open(s, s->inv1, &all, &v));
  const ndb_pd_vector_args a = {.grad = plug_read(&m, s->grad),
                                .fixed = plug_read(&m, s->sc->fixed),
                                .r = v.r,
                                .u = v.u[0],
                                .total = v.total,
                                .trial = plug_rdwr(&m, st->trial)};
  LOOM_TRY(plug_run_on(&m, &k_begin, &a, s->n, NULL));
  LOOM_TRY(ndb_pd_correct(s, &v, &p, v.r, v.u[0], 0));
  LOOM_TRY(ndb_pd_settle(s, &v, v.u[0], 0, 0));
  LOOM_TRY(plug_launch(&m, &k_point, &a, s->n, NULL));
  return plug_unbind(&all);
}

loom_status ndb_pd_warm(ndb_pd *s, const loom_step *st)
{
  if (s->space.cols == 0) return LOOM_OK;
  s->host->tic(s->host, "warm start");
  for (int64_t k = 0; k < s->set.warm; ++k) LOOM_TRY(correct_guess(s, st));
  s->host->toc(s->host, "warm start");
  return LOOM_OK;
}
