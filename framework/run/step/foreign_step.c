/* foreign_step.c - a step of another program, measured: its end is the point that the frame has,
 * whole, with pinned vertices where the program has them. */
#include <math.h>
#include <stdio.h>

#include "run/base/filter_policy.h"
#include "run/objects/islands.h"
#include "run/record/record.h"
#include "run/run_state.h"
#include "run/step/step.h"

/* x, and what is known of it, goes to the frame. */
static loom_status take_frame(run *r, iteration *i)
{
  i->it = columns_no_iterate(r);
  i->f = (filter_result){.alpha = 1.0, .toi = 1.0};
  r->st.iter = 0;
  r->st.progress = 1.0;
  islands_begin_trial(r);
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_before, r->st.x));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x, r->played.x_end));
  if (r->st.x_feas != r->st.x) LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x));
  return la_waxpby(r->m, &r->exec, 1.0, r->st.x, -1.0, r->buf.x_before, r->buf.dx);
}

/* The residual at x, of the problem as contact poses it there. */
static loom_status measure_frame_end(run *r, iteration *i)
{
  LOOM_TRY(take_frame(r, i));
  LOOM_TRY(measure_solved(r, i));
  LOOM_TRY(contact_refresh(r, i));
  LOOM_TRY(measure_next(r, i));
  LOOM_TRY(settle_iteration(r, i, 1));
  r->measured.error = error_unmeasured();
  return measure_distance(r, i, 1);
}

static loom_status measure_with_contact(run *r, const step_span *t, iteration *i)
{
  LOOM_TRY(step_predict(r, t));
  LOOM_TRY(measure_start(r)); /* row -1: the guess, from which a solver would begin */
  islands_unsettle(r);
  LOOM_TRY(foreign_check_pins(r));
  return measure_frame_end(r, i);
}

/* ---- where contact is not defined ---- */

static void tell_undefined(run *r, const char *why)
{
  char text[1000];
  if (r->played.told_contact) return;
  r->played.told_contact = 1;
  snprintf(text, sizeof text,
           "measure: %.600s; contact is not defined there: residuals and energies of contact of "
           "such steps are NaN, all else is measured; contact that is defined everywhere (penalty) "
           "measures them",
           why);
  run_message(r, LOOM_LOG_WARN, text);
}

static void forget_columns(column_set *s)
{
  for (int k = 0; k < s->num; ++k) s->row[k] = NAN;
}

/* Contact models and step bounds take no part in the rest of the step and in its record. */
static void leave_contact(run *r)
{
  foreign_frames *const p = &r->played;
  p->left_contact = r->num_contact;
  p->left_policy = r->filter->policy;
  r->num_contact = 0;
  r->filter->policy = &filter_free;
  forget_columns(&r->columns.iter);
  forget_columns(&r->columns.step);
}

static void set_unknown(run *r, iteration *i)
{
  r->measured.solved = r->measured.next = (residual){NAN, NAN, NAN, NAN};
  r->measured.energies.contact = r->measured.energies.total = NAN;
  r->measured.error = error_unmeasured();
  i->row.r_free_rms = i->row.r_dinv = NAN;
}

/* A barrier has no value where the frame overlaps, and its plugin reports that as an error.  The
 * step begins again without contact models, up to the end of its record. */
static loom_status measure_without_contact(run *r, const step_span *t, iteration *i)
{
  h5log *const log = r->record.log;
  tell_undefined(r, r->err->text);
  err_clear(r->err);
  err_clear(mem_err(r->m));
  mem_release_maps(r->m);
  clock_reset(&r->clock);
  LOOM_TRY(replay_load(r, r->st.index));
  leave_contact(r);
  LOOM_TRY(step_predict(r, t));
  r->record.log = NULL; /* the guess has its row, or none as its contact has no value */
  const loom_status s = measure_start(r);
  r->record.log = log;
  LOOM_TRY(s);
  islands_unsettle(r);
  LOOM_TRY(measure_frame_end(r, i));
  set_unknown(r, i);
  return la_fill(r->m, &r->exec, r->st.grad, NAN);
}

/* A model that has no value at x may refuse to end the step there, too. */
static void leave_undefined(run *r)
{
  char why[80];
  if (isfinite(r->measured.next.rms) || r->num_contact == 0) return;
  snprintf(why, sizeof why, "step %lld: the frame overlaps", (long long)r->st.index);
  tell_undefined(r, why);
  leave_contact(r);
}

loom_status foreign_step(run *r, const step_span *t, step_outcome *out)
{
  iteration i = {.k = 0, .final = 1};
  *out = (step_outcome){.iters = 1, .reason = H5LOG_foreign};
  loom_status s = measure_with_contact(r, t, &i);
  if (s == LOOM_E_NUMERIC && r->num_contact > 0) {
    i = (iteration){.k = 0, .final = 1};
    s = measure_without_contact(r, t, &i);
  }
  LOOM_TRY(s);
  LOOM_TRY(record_iteration(r, &i, 1)); /* row 0 */
  if (record_frame_due(r)) LOOM_TRY(vertex_fields_record(r));
  leave_undefined(r);
  LOOM_TRY(step_commit(r, 0));
  return foreign_velocity(r);
}

void foreign_end_step(run *r)
{
  foreign_frames *const p = &r->played;
  if (p->left_contact == 0) return;
  r->num_contact = p->left_contact;
  r->filter->policy = p->left_policy;
  p->left_contact = 0;
}
