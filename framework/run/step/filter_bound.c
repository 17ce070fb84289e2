/* filter_bound.c - step bounds: how far x or x_feas may go. */
#include <math.h>

#include "run/base/filter_policy.h"
#include "run/step/filter_bound.h"
#include "run/step/step.kern.h"

static const lk_entry k_blend = LK_ENTRY_MOVES(run_blend, 11, 1);

loom_status filter_blend(run *r, loom_buf *a, loom_buf *b, double t, loom_buf *t_vertex,
                         loom_buf *out)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const blend_args args = {.a = buf_maps_add(&q, a, LOOM_READ),
                           .b = buf_maps_add(&q, b, LOOM_READ),
                           .t = buf_maps_add(&q, t_vertex, LOOM_READ),
                           .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                           .out = buf_maps_add(&q, out, LOOM_WRITE),
                           .t_all = (lk_real)t};
  LOOM_TRY(buf_maps_launch(&q, &k_blend, &args, r->scene->pub.num_verts, NULL));
  return follow_rows(r, out);
}

/* 1: every collision plugin with a bound per vertex has one for all, too. */
static int may_go_together(const run *r)
{
  for (int i = 0; i < r->num_collision; ++i) {
    const uint32_t provides = r->collision[i].plugin->ops.collision->provides;
    if ((provides & LOOM_COLL_STEP_VERTEX) && !(provides & LOOM_COLL_STEP_GLOBAL)) return 0;
  }
  return 1;
}

static loom_status ask_bound_of(run *r, loom_buf *x0, loom_buf *x1, double to, int vertex,
                                double *toi)
{
  loom_bound b = {.struct_size = sizeof b,
                  .per_vertex = vertex,
                  .t_vertex = vertex ? r->buf.t_vertex : NULL,
                  .min_gap = r->set.filter.min_gap,
                  .progress0 = r->st.progress,
                  .progress1 = to,
                  .blocker = -1};
  LOOM_TRY(detect_max_step(r, x0, x1, &b));
  if (vertex) LOOM_TRY(follow_share(r, r->buf.t_vertex));
  *toi = b.t_global;
  if (to > r->st.progress) r->motion.blocker = b.blocker;
  if (!vertex || !may_go_together(r)) r->filter->step_toi = fmin(r->filter->step_toi, b.t_global);
  if (r->filter->policy->repair != NULL && b.touching) /* x may be ahead */
    return err_set(
        r->err, LOOM_E_NUMERIC,
        "step %lld: a pair touches within rounding at the last positions without "
        "intersections, so no bound can keep it apart; let a gap remain ([filter] min_gap "
        "= a twentieth of d_hat), lower dt, or raise [stop] max_iters",
        (long long)r->st.index);
  return LOOM_OK;
}

loom_status filter_ask_bound(run *r, loom_buf *x0, loom_buf *x1, double to, double *toi)
{
  const int vertex = r->filter->bound == FILTER_BOUND_VERTEX && to == r->st.progress;
  return ask_bound_of(r, x0, x1, to, vertex, toi);
}

/* All vertices together as far as the bound for all allows, so that cloth in fast motion is not
 * held back by its own folds, then each by itself.  t_vertex: shares of the whole way; *toi: the
 * share of fixed vertices. */
static loom_status ask_together_first(run *r, loom_buf *x0, loom_buf *x1, double *toi)
{
  double rest;
  LOOM_TRY(ask_bound_of(r, x0, x1, r->st.progress, 0, toi));
  if (*toi >= 1.0) return la_fill(r->m, &r->exec, r->buf.t_vertex, 1.0);
  LOOM_TRY(filter_blend(r, x0, x1, *toi, NULL, r->buf.rejected));
  LOOM_TRY(ask_bound_of(r, r->buf.rejected, x1, r->st.progress, 1, &rest));
  LOOM_TRY(la_fill(r->m, &r->exec, r->buf.ones, 1.0));
  LOOM_TRY(la_axpby(r->m, &r->exec, *toi, r->buf.ones, 1.0 - *toi, r->buf.t_vertex));
  return la_fill(r->m, &r->exec, r->buf.rejected, 0.0);
}

/* Each island by itself, with all others at x0; st.rejected is room for that. */
loom_status filter_ask_islands(run *r, loom_buf *x0, loom_buf *x1, double *toi)
{
  LOOM_TRY(islands_grow(r, x0));
  LOOM_TRY(islands_grow(r, x1));
  if (r->filter->bound == FILTER_BOUND_VERTEX && may_go_together(r))
    LOOM_TRY(ask_together_first(r, x0, x1, toi));
  else
    LOOM_TRY(filter_ask_bound(r, x0, x1, r->st.progress, toi));
  islands_share(r, -1, *toi);
  if (*toi >= 1.0) return LOOM_OK;
  if (r->islands.num == 1 || r->filter->bound == FILTER_BOUND_VERTEX) return LOOM_OK;
  for (int32_t k = 0; k < r->islands.num; ++k) {
    double t;
    LOOM_TRY(islands_blend(r, x0, x1, islands_only(r, k, 1.0), r->buf.rejected));
    LOOM_TRY(filter_ask_bound(r, x0, r->buf.rejected, r->st.progress, &t));
    islands_share(r, k, t);
  }
  islands_take(r, 0);
  return la_fill(r->m, &r->exec, r->buf.rejected, 0.0);
}

loom_status filter_blend_islands(run *r, loom_buf *a, loom_buf *b, double toi, loom_buf *out)
{
  if (r->islands.num > 1 && r->filter->bound != FILTER_BOUND_VERTEX)
    return islands_blend(r, a, b, r->islands.share, out);
  return filter_blend(r, a, b, toi, r->buf.t_vertex, out);
}

loom_status filter_apply_bound(run *r, double *toi)
{
  LOOM_TRY(filter_ask_islands(r, r->st.x_feas, r->st.x, toi));
  islands_take(r, 1);
  r->filter->left = *toi;
  if (*toi >= 1.0 && r->filter->bound != FILTER_BOUND_VERTEX)
    return la_fill(r->m, &r->exec, r->buf.rejected, 0.0);
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.wanted, r->st.x));
  LOOM_TRY(filter_blend_islands(r, r->st.x_feas, r->buf.wanted, *toi, r->st.x));
  return la_waxpby(r->m, &r->exec, 1.0, r->buf.wanted, -1.0, r->st.x, r->buf.rejected);
}

loom_status filter_lead_feasible(run *r, double *toi)
{
  LOOM_TRY(filter_ask_islands(r, r->st.x_feas, r->st.x, toi));
  LOOM_TRY(la_fill(r->m, &r->exec, r->buf.rejected, 0.0));
  r->filter->certified = *toi >= 1.0;
  if (r->filter->certified) return buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x);
  LOOM_TRY(filter_blend_islands(r, r->st.x_feas, r->st.x, *toi, r->buf.wanted));
  return buf_copy(r->m, &r->exec, r->st.x_feas, r->buf.wanted);
}
