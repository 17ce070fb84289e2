/* step.c - one time step, in six phases:
 *
 *   PREDICT   sets the target y, moves the bodies and guesses the positions x
 *   DETECT    finds the pairs that may touch
 *   ITERATE   the solver does one outer iteration: it proposes a point, the trial
 *   FILTER    line search, step bound and corrections by contact models turn the trial into x
 *   MEASURE   computes the residual r(x), which decides whether the step goes on
 *   COMMIT    computes the velocities v; the end becomes the start of the next step
 *
 * DETECT to MEASURE repeat, DETECT only in iterations where it is due.  The core owns this loop: a
 * solver does one outer iteration per call and never decides when to stop. */
#include "run/step/step.h"

#include <string.h>

#include "run/record/record.h"
#include "run/run_state.h"

static loom_status make_iteration(run *r, iteration *i)
{
  LOOM_TRY(solver_iterate(r, i));   /* trial: a direction d, or a point x + d */
  LOOM_TRY(filter_accept(r, i));    /* x <- x + alpha d; dx = alpha d */
  LOOM_TRY(measure_solved(r, i));   /* r(x) of the problem that the solver worked on */
  LOOM_TRY(contact_refresh(r, i));  /* pairs and B at x; bodies and pins move on */
  LOOM_TRY(measure_next(r, i));     /* r(x) of the problem as it is now */
  LOOM_TRY(solver_accepted(r, i));  /* tells the solver the new x and alpha */
  return settle_iteration(r, i, 0); /* reads all numbers: a device's only wait */
}

/* The step, or a part of it, of length h (s), from x_start to x (m):
 *
 *   PREDICT   y = x_start + h v + h^2 (g + (f_next + F) / m)
 *   ITERATE   find x with r(x) = M (x - y) / h^2 + grad Psi(x) + grad B(x) + grad D(x) = 0
 *   COMMIT    v = (x - x_start) / h
 *
 * M is the mass, m that of one vertex, and g gravity.  f_next is a force (N) that the step before
 * leaves for this one, 0 in most runs.  F is the force of wind and pressure (N).  Psi is the
 * elastic energy, B the energy of contact and D the dissipation of damping and friction.  /iters is
 * the table of iterations in the log. */
static loom_status advance_step_span(run *r, const step_span *t, step_outcome *out)
{
  double first = 0.0; /* m, residual at the guess */
  if (r->opt->foreign != NULL) return foreign_step(r, t, out);
  out->repairs = 0;
  LOOM_TRY(step_predict(r, t)); /* y; poses of bodies; the guess x, cut at the step bound */
  LOOM_TRY(measure_start(r));   /* r(x) and its reference r_ref; row -1 of /iters */
  out->reason = stop_at_start(r, &first);
  for (out->iters = 0; out->reason < 0; ++out->iters) {
    iteration i = {.k = out->iters};
    LOOM_TRY(make_iteration(r, &i));
    LOOM_TRY(measure_distance(r, &i, 0)); /* sqrt(r.H^-1 r), where [log] error asks for it */
    out->reason = stop_reason(r, i.k + 1, i.stalled, first);    /* h^2 M^-1 r against tolerances */
    if (out->reason >= 0) LOOM_TRY(measure_distance(r, &i, 1)); /* if it was not due before */
    if (out->reason < 0) settle_islands(r, &i);          /* notes objects that are solved already */
    LOOM_TRY(record_iteration(r, &i, out->reason >= 0)); /* a row of /iters */
  }
  out->blocked = r->st.progress < 1.0; /* bodies and pins did only this share of their motion */
  if (out->blocked) return LOOM_OK;
  LOOM_TRY(filter_finish(r, out)); /* the last cut: x becomes feasible */
  out->blocked = r->st.progress < 1.0 || filter_refused(r);
  if (out->blocked) return LOOM_OK;
  if (record_frame_due(r)) LOOM_TRY(vertex_fields_record(r)); /* [log] fields, at this x */
  return step_commit(r, out->reason == H5LOG_diverged);       /* v, f_next; x_start <- x */
}

/* ---- a step in parts ----
 *
 * A step is blocked if bodies or pins cannot finish their motion, or if a contact model finds no
 * point without intersections.  The step then begins again, in shorter parts. */

/* Length of the step in units of its shortest part. */
enum { STEP_UNITS = 1 << FILTER_MAX_HALVINGS };
/* After this many parts of one length in a row the next part is twice as long. */
enum { PARTS_TO_GROW = 4 };
/* A step is halved up to 4 times as a whole: it begins again at its start, in 2, 4, 8 and 16 equal
 * parts.  If only the blocked part were halved, long parts would come first.  Where contact is
 * linearised once per part, a long part can use up the gap to a body before the next linearisation
 * takes the body into account. */
enum { EQUAL_HALVINGS = 4 };

/* Advances one part: it begins at `at` (STEP_UNITS) and is 2^-halvings of the step long.  Adds its
 * iterations to *out. */
static loom_status advance_part(run *r, int64_t index, int32_t at, int halvings, step_outcome *out)
{
  const int32_t end = at + (STEP_UNITS >> halvings);
  const double dt = r->set.run.dt / (double)r->set.run.substeps;
  const step_span t = {.t0 = ((double)index + (double)at / STEP_UNITS) * dt,
                       .t1 = ((double)index + (double)end / STEP_UNITS) * dt,
                       .h = dt / (double)(INT64_C(1) << halvings)};
  step_outcome part = {0};
  LOOM_TRY(advance_step_span(r, &t, &part));
  out->iters += part.iters;
  out->repairs += part.repairs;
  out->reason = part.reason;
  out->blocked = part.blocked;
  /* rows of /iters: the iterations, the guess and the end, and a row for each repair */
  r->k_base += part.iters + 2 + part.repairs;
  return LOOM_OK;
}

static loom_status refuse_step(run *r)
{
  return filter_refused(r) ? filter_refusal_error(r) : blocked_motion_error(r);
}

/* Makes the step as a whole; where it is blocked, in 2, 4, 8 or 16 equal parts from its start.
 * Where one of the 16 parts is blocked, that part alone begins again at half its length, from the
 * end of the part before it. */
static loom_status make_step_in_parts(run *r, int64_t index, step_outcome *out)
{
  const int most = (int)r->set.filter.max_halvings;
  double f_norm = r->fw.f_next_norm;
  int halvings = 0, least = 0, in_a_row = 0;
  if (filter_may_retry(r)) LOOM_TRY(state_keep(r)); /* x, v and f_next, for another try */
  for (int32_t at = 0; at < STEP_UNITS;) {
    LOOM_TRY(advance_part(r, index, at, halvings, out));
    if (out->blocked) {
      if (halvings >= most) return refuse_step(r);
      LOOM_TRY(state_go_back(r));
      LOOM_TRY(instances_reset(r)); /* plugins drop their data of the blocked part */
      r->fw.f_next_norm = f_norm;
      in_a_row = 0;
      if (++halvings > EQUAL_HALVINGS) continue;
      least = halvings;
      at = 0;
      continue;
    }
    at += STEP_UNITS >> halvings;
    if (least == EQUAL_HALVINGS && filter_may_retry(r)) LOOM_TRY(state_keep(r));
    f_norm = least == EQUAL_HALVINGS ? r->fw.f_next_norm : f_norm;
    if (++in_a_row < PARTS_TO_GROW || halvings == least) continue;
    if (at % (STEP_UNITS >> (halvings - 1)) != 0) continue;
    --halvings;
    in_a_row = 0;
  }
  return LOOM_OK;
}

static void reset_step_counts(run *r)
{
  clock_reset(&r->clock);
  work_reset(r);
  r->load_work = 0.0;
  filter_begin_step(r);
  sections_begin_step(r);
  error_begin_step(r);
  r->k_base = 0;
}

static loom_status make_whole_step(run *r, int64_t index)
{
  step_outcome out = {.reason = -1};
  reset_step_counts(r);
  if (foreign_or_replay(r)) LOOM_TRY(replay_load(r, index));
  LOOM_TRY(trajectory_begin(r, (double)index * r->set.run.dt / (double)r->set.run.substeps));
  LOOM_TRY(make_step_in_parts(r, index, &out));
  state_show_end(r);
  LOOM_TRY(record_step(r, out.iters, out.repairs, out.reason));
  foreign_end_step(r);
  state_hide_end(r);
  problem_end_step(r);
  return LOOM_OK;
}

/* What a solver cannot do for the terms of a problem it may say in its first iteration. */
static loom_status try_first_iteration(run *r, int64_t index)
{
  iteration i = {.k = 0};
  double first = 0.0;
  const double dt = r->set.run.dt / (double)r->set.run.substeps;
  const step_span t = {.t0 = (double)index * dt, .t1 = (double)(index + 1) * dt, .h = dt};
  reset_step_counts(r);
  LOOM_TRY(step_predict(r, &t));
  LOOM_TRY(measure_start(r));
  return stop_at_start(r, &first) >= 0 ? LOOM_OK : make_iteration(r, &i);
}

static loom_status call_step(run *r, int64_t index, loom_status (*make)(run *r, int64_t index))
{
  r->calls.stepping = 1;
  r->st.index = index;
  r->st.iter = -1;
  const loom_status s = make(r, index);
  /* Other messages get the step in front.  Errors of files and settings do not belong to a step;
   * errors of numbers name their step already. */
  if (s >= LOOM_OK || s == LOOM_E_IO || s == LOOM_E_CONFIG || s == LOOM_E_NUMERIC)
    return run_failed(r, s);
  run_failed(r, s);
  if (strncmp(r->err->text, "step ", 5) != 0) err_prefix(r->err, "step %lld", (long long)index);
  return s;
}

loom_status step_once(run *r, int64_t index)
{
  r->calls.stepping = 0; /* create() and destroy() belong to no step */
  LOOM_TRY(run_failed(r, switch_pins_step(r, index)));
  return call_step(r, index, make_whole_step);
}

loom_status step_try_start(run *r, int64_t index)
{
  return call_step(r, index, try_first_iteration);
}
