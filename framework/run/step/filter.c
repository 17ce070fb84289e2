/* filter.c - the policies of FILTER, and the functions that a step calls.
 *
 * Order: where a bound is in force and the line search starts at the last feasible point,
 * the bound comes first and the line search only goes back from it, so that barriers are
 * never evaluated behind a surface; otherwise the bound is applied to the whole way from
 * the last feasible point to the new one.
 *
 * With `lead` (contact that is defined at points that intersect) no step has converged until x
 * itself has passed the bound; the last filter cuts x like any other.  As long as bodies or pins
 * are on their way (blocked_motion.c), x is cut in every filter all the same. */
#include "run/base/filter_policy.h"
#include "run/plugins/call.h"
#include "run/run_state.h"
#include "run/step/filter_bound.h"
#include "run/step/line_search.h"

static loom_status apply_resolvers(run *r, const resolvers *list, loom_buf *from, int *resolved)
{
  for (int i = 0; i < list->num; ++i) {
    LOOM_TRY(call_resolve(list->model[i], from, r->st.x));
    *resolved = 1;
  }
  return LOOM_OK;
}

/* Post-only models, at the end of the step.  One that refuses has the step made again in parts. */
static loom_status resolve_at_end(run *r, int *resolved)
{
  filter *const f = r->filter;
  for (int i = 0; i < f->at_end.num && f->refused == NULL; ++i) {
    const loom_status s = call_resolve(f->at_end.model[i], r->st.x_start, r->st.x);
    if (s == LOOM_REJECTED)
      f->refused = f->at_end.model[i];
    else
      LOOM_TRY(s);
    *resolved = 1;
  }
  return LOOM_OK;
}

static loom_status search_filter_step(run *r, filter_result *out)
{
  if (r->filter->line_search) LOOM_TRY(line_search(r, &out->alpha));
  out->stalled = out->alpha == 0.0;
  return LOOM_OK;
}

/* Whether this trial is filtered; a request is fulfilled then. */
static int take_due(run *r)
{
  filter *const f = r->filter;
  const int due = f->when == LOOM_FILTER_EVERY || r->st.progress < 1.0 ||
                  (f->when == LOOM_FILTER_ADVICE && f->asked);
  if (due) f->asked = 0;
  return due;
}

/* The last point of a step, `due`: a filter has not seen it yet.  Positions that post-only models
 * correct are not seen by any later filter, so these models run in any case. */
static loom_status last_point(run *r, int due, filter_result *out)
{
  filter *const f = r->filter;
  const int bounded = f->bound != FILTER_BOUND_NONE;
  if (!(due && bounded) && f->at_end.num == 0) return LOOM_OK;
  out->filtered = 1;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  if (bounded) {
    LOOM_TRY(filter_apply_bound(r, &out->toi));
    out->alpha = out->toi;
  }
  LOOM_TRY(resolve_at_end(r, &out->resolved));
  LOOM_TRY(problem_restore_fixed(r, r->st.x));
  if (bounded) LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

/* ---- free: no bound ---- */

static loom_status free_guess(run *r) { return buf_copy(r->m, &r->exec, r->st.x, r->st.trial); }

static loom_status free_accept(run *r, filter_result *out)
{
  out->filtered = take_due(r);
  return search_filter_step(r, out);
}

static loom_status cut_finish(run *r, filter_result *out)
{
  return last_point(r, r->filter->when != LOOM_FILTER_EVERY, out);
}

const filter_policy filter_free = {
    .note = "", .guess = free_guess, .accept = free_accept, .finish = cut_finish};

/* ---- cut: x goes as far as the bound allows ---- */

/* As far as the bound lets the guess go, bodies and pins with it; *toi: that share. */
static loom_status guess_within(run *r, double *toi)
{
  r->st.filters = 1;
  if (r->motion.bounded) {
    LOOM_TRY(filter_ask_bound(r, r->st.x_start, r->st.trial, 1.0, toi));
    LOOM_TRY(filter_blend(r, r->st.x_start, r->st.trial, *toi, NULL, r->st.x));
    r->st.progress = *toi;
  } else {
    LOOM_TRY(filter_ask_islands(r, r->st.x_start, r->st.trial, toi));
    LOOM_TRY(filter_blend_islands(r, r->st.x_start, r->st.trial, *toi, r->st.x));
  }
  return buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x);
}

static loom_status cut_guess(run *r)
{
  double toi = 1.0;
  return guess_within(r, &toi);
}

static loom_status cut_accept(run *r, filter_result *out)
{
  filter *const f = r->filter;
  const int bound_first =
      f->line_search && f->when == LOOM_FILTER_EVERY && f->bound == FILTER_BOUND_GLOBAL;
  out->filtered = take_due(r);
  if (bound_first) {
    LOOM_TRY(filter_ask_islands(r, r->buf.x_before, r->st.x, &out->toi));
    out->alpha = out->toi;
  }
  LOOM_TRY(search_filter_step(r, out));
  if (!out->filtered) return LOOM_OK;
  if (!bound_first) {
    LOOM_TRY(filter_apply_bound(r, &out->toi));
    out->alpha *= out->toi;
  }
  ++r->st.filters;
  return buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x);
}

const filter_policy filter_cut = {
    .note = "", .guess = cut_guess, .accept = cut_accept, .finish = cut_finish};

/* ---- lead: x goes on, x_feas follows ---- */

static loom_status lead_guess(run *r)
{
  double toi = 1.0;
  LOOM_TRY(guess_within(r, &toi));
  r->filter->certified = toi >= 1.0 || r->motion.bounded;
  return r->filter->certified ? LOOM_OK : buf_copy(r->m, &r->exec, r->st.x, r->st.trial);
}

static loom_status lead_accept(run *r, filter_result *out)
{
  filter *const f = r->filter;
  f->certified = r->st.progress < 1.0;
  if (f->certified) return cut_accept(r, out);
  /* the filter at the end of the step is enough for the last iteration */
  if (r->st.iter + 1 < r->st.max_iters) out->filtered = take_due(r);
  LOOM_TRY(search_filter_step(r, out));
  if (!out->filtered) return LOOM_OK;
  ++r->st.filters;
  return filter_lead_feasible(r, &out->toi);
}

static loom_status lead_repair(run *r, filter_result *out)
{
  uint32_t changed;
  LOOM_TRY(filter_lead_feasible(r, &out->toi));
  ++r->st.filters;
  if (r->filter->certified) return LOOM_OK;
  LOOM_TRY(detect_all(r, &changed));
  LOOM_TRY(detect_announce(r, changed));
  LOOM_TRY(apply_resolvers(r, &r->filter->before_last_cut, r->st.x_feas, &out->resolved));
  return problem_restore_fixed(r, r->st.x);
}

static loom_status lead_finish(run *r, filter_result *out)
{
  return last_point(r, !r->filter->certified, out);
}

const filter_policy filter_lead = {.note = " (iterates go on beyond)",
                                   .leads = 1,
                                   .guess = lead_guess,
                                   .accept = lead_accept,
                                   .repair = lead_repair,
                                   .finish = lead_finish};

/* ---- split: contact is frozen, x is free; at the end contact has its say ---- */

/* Contact is found and frozen at the start of the step, with bodies and pins where they were. */
static loom_status split_guess(run *r)
{
  r->st.filters = 1;
  return LOOM_OK;
}

static loom_status split_begin(run *r)
{
  r->st.progress = 1.0;
  return buf_copy(r->m, &r->exec, r->st.x, r->st.trial);
}

static loom_status split_accept(run *r, filter_result *out) { return search_filter_step(r, out); }

/* From x_start, which is x_feas still, towards `wanted`; bodies and pins move on as far as they
 * can, then contact makes room for them, until they have arrived.  Otherwise st.progress stays
 * below 1.
 */
static loom_status split_correct(run *r, loom_buf *wanted, filter_result *out)
{
  int moved;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x, r->st.x_start));
  r->st.progress = r->motion.bounded ? 0.0 : 1.0;
  for (int64_t rounds = 0, done = 0; !done; ++rounds) {
    LOOM_TRY(blocked_motion_advance(r, &moved));
    done = r->st.progress >= 1.0 || rounds >= r->plan.max_iters;
    LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x, wanted));
    LOOM_TRY(apply_resolvers(r, &r->filter->in_place, r->st.x_feas, &out->resolved));
    LOOM_TRY(problem_copy_fixed(r, r->st.x, r->st.x_feas));
    LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
    ++r->st.filters;
  }
  return LOOM_OK;
}

/* MEASURE takes the whole problem from here on. */
static loom_status split_finish(run *r, filter_result *out)
{
  out->filtered = 1;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  r->problem.own.contact = LOOM_CONTACT_LIVE;
  LOOM_TRY(split_correct(r, r->buf.x_before, out));
  if (r->st.progress < 1.0) return LOOM_OK;
  LOOM_TRY(resolve_at_end(r, &out->resolved));
  LOOM_TRY(problem_restore_fixed(r, r->st.x));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

const filter_policy filter_split = {.note = ", contact split off",
                                    .splits = 1,
                                    .guess = split_guess,
                                    .begin = split_begin,
                                    .accept = split_accept,
                                    .finish = split_finish};

/* ---- called by the step ---- */

loom_status filter_guess(run *r)
{
  LOOM_TRY(problem_restore_fixed(r, r->st.trial));
  r->filter->asked = r->detect.asks_filter = 0;
  r->filter->refused = NULL;
  return r->filter->policy->guess(r);
}

loom_status filter_begin(run *r)
{
  return r->filter->policy->begin != NULL ? r->filter->policy->begin(r) : LOOM_OK;
}

loom_status filter_trial(run *r, const loom_iterate *it, filter_result *out)
{
  filter *const f = r->filter;
  *out = (filter_result){.alpha = 1.0, .toi = 1.0};
  f->asked |= it->filter != 0 || r->detect.asks_filter;
  f->left = 1.0;
  r->detect.asks_filter = 0;
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  if (r->solver.plugin->ops.solver->trial == LOOM_TRIAL_POINT) /* dx is the trial, see state.h */
    LOOM_TRY(la_axpby(r->m, &r->exec, -1.0, r->buf.x_before, 1.0, r->buf.dx));
  LOOM_TRY(problem_zero_fixed(r, r->buf.dx)); /* followers of x follow its nodes below */
  LOOM_TRY(islands_hold_back(r, r->buf.dx, r->st.x));
  LOOM_TRY(la_waxpby(r->m, &r->exec, 1.0, r->buf.x_before, 1.0, r->buf.dx, r->st.x));
  LOOM_TRY(follow_rows(r, r->st.x));
  islands_begin_trial(r);
  LOOM_TRY(f->policy->accept(r, out));
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

int filter_repair_due(const run *r, int64_t done)
{
  const filter *const f = r->filter;
  return f->policy->repair != NULL && f->before_last_cut.num > 0 && !f->certified &&
         done < r->set.filter.repairs;
}

loom_status filter_repair(run *r, filter_result *out)
{
  *out = (filter_result){.alpha = 1.0, .toi = 1.0, .filtered = 1};
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  LOOM_TRY(r->filter->policy->repair(r, out));
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

loom_status filter_final(run *r, filter_result *out)
{
  *out = (filter_result){.alpha = 1.0, .toi = 1.0};
  return r->filter->policy->finish(r, out);
}
