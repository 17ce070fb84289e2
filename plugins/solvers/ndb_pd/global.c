/* global.c - one global step: corrections in the subspace and sweeps in turn, or conjugate
 * gradients.
 *
 * It starts from the current iterate (base = current) or, as printed in Lan et al. 2024 (eq. 16 and
 * 17), from the rest shape; in both cases with increments of x, which avoids differences of
 * absolute coordinates.  With contact the correction can be preceded by sweeps (reuse = presmooth
 * and masked): a stiff contact residual that is left to smooth modes would move the whole sheet. */
#include <math.h>

#include "ndb_pd.h"
#include "operator.kern.h"

static const lk_entry k_begin = LK_ENTRY_MOVES(ndb_pd_begin, 9, 1),
                      k_rest = LK_ENTRY_MOVES(ndb_pd_from_rest, 9, 1);

static ndb_pd_plan plan_of(const ndb_pd *s, int contact)
{
  const ndb_pd_settings *const set = &s->set;
  ndb_pd_plan p = {.cols = contact ? s->r2 : s->r1};
  if (s->space.cols == 0) p.cols = 0;
  p.masked = contact && set->reuse == REUSE_MASKED;
  p.pre = contact && set->reuse != REUSE_PLAIN ? (int32_t)set->presmooth : 0;
  p.lo = p.cols == 0 ? s->mu_lo : (contact ? s->mu2 : s->mu1);
  p.theta = set->theta > 0.0 ? set->theta : 2.0 / (p.lo + s->mu_hi);
  return p;
}

/* total = 0, r = -grad; with base = rest then total = rest - x, r accordingly */
static loom_status begin_global_solve(ndb_pd *s, const ndb_pd_view *v, loom_buf *x, loom_buf *grad,
                                      int rest, ndb_pd_report *out)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const ndb_pd_vector_args a = {.x = plug_read(&m, rest ? x : NULL),
                                .grad = plug_read(&m, grad),
                                .rest = plug_read(&m, rest ? s->sc->rest_x : NULL),
                                .fixed = plug_read(&m, s->sc->fixed),
                                .r = v->r,
                                .u = v->u[0],
                                .total = v->total};
  LOOM_TRY(plug_run_on(&m, &k_begin, &a, s->n, NULL));
  LOOM_TRY(ndb_pd_monitor_begin(s, v));
  if (rest) {
    LOOM_TRY(plug_run_on(&m, &k_rest, &a, s->n, NULL));
    LOOM_TRY(ndb_pd_settle(s, v, v->u[0], 0, 1));
    ++out->mv;
  }
  return plug_unbind(&m);
}

static loom_status run_global_cycles(ndb_pd *s, const loom_step *st, const ndb_pd_view *v,
                                     const ndb_pd_plan *p, ndb_pd_report *out)
{
  int64_t left = s->set.sweeps;
  do {
    int64_t now = s->set.cycle > 0 && s->set.cycle < left ? s->set.cycle : left;
    if (p->cols > 0) {
      const int64_t pre = p->pre < now ? p->pre : now;
      LOOM_TRY(ndb_pd_smooth(s, st, v, p, pre, 1, out));
      LOOM_TRY(ndb_pd_correct(s, v, p, v->r, v->u[0], 0));
      now -= pre;
      left -= pre;
      ++out->corrections;
      out->mv += left > 0;
      LOOM_TRY(ndb_pd_settle(s, v, v->u[0], 0, left > 0));
      ndb_pd_monitor_tell(s, st, v, NULL, 0, out);
    }
    LOOM_TRY(ndb_pd_smooth(s, st, v, p, now, left > now, out));
    left -= now;
  } while (left > 0);
  return LOOM_OK;
}

loom_status ndb_pd_solve(ndb_pd *s, const loom_step *st, loom_buf *x, loom_buf *grad,
                         int with_contact, ndb_pd_report *out, double *theta)
{
  const int contact = with_contact && s->rows > 0;
  const ndb_pd_plan p = plan_of(s, contact);
  ndb_pd_view v;
  plug_maps m;
  *out = (ndb_pd_report){.last = NAN};
  if (contact && p.cols > 0) {
    s->host->tic(s->host, "reuse");
    LOOM_TRY(ndb_pd_reuse(s));
    s->host->toc(s->host, "reuse");
  }
  loom_buf *const inv = p.cols == 0 ? NULL : (contact ? s->inv2 : s->inv1);
  LOOM_TRY(ndb_pd_open(s, inv, &m, &v));
  LOOM_TRY(begin_global_solve(s, &v, x, grad, s->set.base == BASE_REST && p.cols > 0, out));
  if (s->set.smoother == SMOOTHER_PCG)
    LOOM_TRY(ndb_pd_pcg(s, st, &v, &p, s->set.sweeps, out));
  else
    LOOM_TRY(run_global_cycles(s, st, &v, &p, out));
  if (s->set.smoother != SMOOTHER_PCG) {
    const body_turns_args on = {
        .ptr = v.ptr, .col = v.col, .val = v.val, .w = v.w, .r = v.r, .total = v.total};
    LOOM_TRY(body_turns_apply(&s->turns, &on, x));
  }
  LOOM_TRY(plug_unbind(&m));
  s->host->count(s->host, LOOM_C_SPMV, out->mv);
  *theta = s->set.smoother == SMOOTHER_PCG ? NAN : p.theta;
  return LOOM_OK;
}
