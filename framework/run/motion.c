/* motion.c - see motion.h. */
#include "run/filter_policy.h"

/* Share of the possible way that bodies and pins go per filter: all of it would leave gaps so
 * small that the solver needs many iterations to open them again. */
static const double ADVANCE = 0.5;

void motion_open(run *r)
{
  r->motion.bounded =
      filter_bounded(r) && (scene_pins_move(r->scene) || scene_bodies_move(r->scene));
  r->motion.blocker = -1;
}

loom_status motion_advance(run *r, int *moved)
{
  double toi = 1.0;
  *moved = r->st.progress < 1.0;
  if (!*moved) return LOOM_OK;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.target, r->st.x));
  LOOM_TRY(problem_restore_fixed(r, r->buf.target));
  LOOM_TRY(filter_ask_bound(r, r->st.x, r->buf.target, 1.0, &toi));
  if (toi < 1.0) toi *= ADVANCE;
  LOOM_TRY(filter_blend(r, r->st.x_feas, r->buf.target, toi, NULL, r->st.x));
  r->st.progress = toi >= 1.0 ? 1.0 : r->st.progress + toi * (1.0 - r->st.progress);
  ++r->st.filters;
  return buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x);
}

loom_status motion_error(run *r)
{
  const int32_t b = r->motion.blocker;
  const char *const name = b >= 0 ? r->scene->obstacles[b].name : NULL;
  return err_set(r->err, LOOM_E_NUMERIC,
                 "%s%s%s cannot follow its motion, something is in its way: step %lld, %.3g of the "
                 "motion were left after %lld halvings of the step; move it more slowly, lower dt, "
                 "or raise [stop] max_iters or [filter] max_halvings",
                 name != NULL ? "[body." : "a pin", name != NULL ? name : "",
                 name != NULL ? "]" : "", (long long)r->st.index, 1.0 - r->st.progress,
                 (long long)r->set.filter.max_halvings);
}
