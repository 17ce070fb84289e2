/* blocked_motion.c - see blocked_motion.h. */
#include <string.h>

#include "run/base/filter_policy.h"
#include "run/step/filter_bound.h"

/* Share of the possible way that bodies and pins go per filter: all of it would leave gaps so
 * small that the solver needs many iterations to open them again. */
static const double advance_share = 0.5;

void blocked_motion_open(run *r)
{
  r->motion.bounded =
      filter_bounded(r) && (scene_pins_move(r->scene) || scene_bodies_move(r->scene));
  r->motion.blocker = -1;
}

loom_status blocked_motion_advance(run *r, int *moved)
{
  double toi = 1.0;
  *moved = r->st.progress < 1.0;
  if (!*moved) return LOOM_OK;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.target, r->st.x));
  LOOM_TRY(problem_restore_fixed(r, r->buf.target));
  LOOM_TRY(filter_ask_bound(r, r->st.x, r->buf.target, 1.0, &toi));
  if (toi < 1.0) toi *= advance_share;
  LOOM_TRY(filter_blend(r, r->st.x_feas, r->buf.target, toi, NULL, r->st.x));
  r->st.progress = toi >= 1.0 ? 1.0 : r->st.progress + toi * (1.0 - r->st.progress);
  ++r->st.filters;
  return buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x);
}

/* ---- the obstacle in the way ---- */

typedef struct blocked_pin {
  const char *name; /* NULL: none */
  int32_t body;     /* that is in its way, -1: cloth */
  double toi;       /* possible share of the rest of its motion */
} blocked_pin;

/* How far pin number g alone can go, with bodies and all other vertices where they are. */
static loom_status try_pin(run *r, int g, blocked_pin *out)
{
  void *x, *y;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.target, r->st.x_feas));
  LOOM_TRY(buf_map(r->m, NULL, r->buf.target, LOOM_RDWR, LOOM_AT_HOST, &x));
  LOOM_TRY(buf_map(r->m, NULL, r->st.y, LOOM_READ, LOOM_AT_HOST, &y));
  const char *const name = scene_pin_rows(r->scene, g, y, x);
  LOOM_TRY(buf_unmap(r->m, r->st.y));
  LOOM_TRY(buf_unmap(r->m, r->buf.target));
  if (name == NULL) return LOOM_OK;
  loom_bound b = {.struct_size = sizeof b,
                  .min_gap = r->set.filter.min_gap,
                  .progress0 = r->st.progress,
                  .progress1 = r->st.progress,
                  .blocker = -1};
  LOOM_TRY(detect_max_step(r, r->st.x_feas, r->buf.target, &b));
  if (b.t_global < out->toi) *out = (blocked_pin){name, b.blocker, b.t_global};
  return LOOM_OK;
}

static loom_status pin_error(const run *r, const blocked_pin *p)
{
  const char *const body = p->body >= 0 ? r->scene->obstacles[p->body].name : NULL;
  return err_set(r->err, LOOM_E_NUMERIC,
                 "%s cannot follow its motion, %s%s%s is in its way: step %lld, %.3g of the motion "
                 "were left after %lld halvings of the step; pinned vertices do not give way, and "
                 "no smaller dt helps where they are led into something: lead them elsewhere, or "
                 "hold them by springs (%s)",
                 p->name, body != NULL ? "[body." : "cloth", body != NULL ? body : "",
                 body != NULL ? "]" : "", (long long)r->st.index, 1.0 - r->st.progress,
                 (long long)r->set.filter.max_halvings,
                 strncmp(p->name, "[pin.", 5) == 0 ? "its key stiffness" : "pin_stiffness");
}

static loom_status body_error(const run *r)
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

loom_status blocked_motion_error(run *r)
{
  blocked_pin pin = {.body = -1, .toi = 1.0};
  for (int g = 0; g < scene_num_pins(r->scene); ++g) LOOM_TRY(try_pin(r, g, &pin));
  return pin.name != NULL ? pin_error(r, &pin) : body_error(r);
}
