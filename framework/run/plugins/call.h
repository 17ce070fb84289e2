/* call.h - all calls of a run into plugins.
 *
 * Each function here calls one callback of one instance.  It records the running callback
 * (crash.h), and afterwards checks the rules of loom/plugin.h: the statuses that the callback may
 * return, every map unmapped, results within their range.  A broken rule, and every error that the
 * plugin itself returns, becomes a message with a place,
 *   step 12, iteration 3: [contact.all] plugin cubic, quad(): fault; remedy
 * Callbacks that a plugin may leave out are skipped where it has none. */
#ifndef LOOM_CALL_H
#define LOOM_CALL_H

#include "run/plugins/instances.h"

typedef struct run_calls {
  int stepping;                /* a step has begun: st.index and st.iter mean something */
  int misused;                 /* a service without a status was misused: its message is in err */
  const char *resolving;       /* name of the contact instance inside resolve(), or NULL */
  instances_state_io state_io; /* of the checkpoint() that is running, or NULL */
  int restoring;               /* 1: it restores, 0: it saves */
  struct kept_states *kept;    /* of instances that are made anew (switch_pins.c), else NULL */
} run_calls;

/* ---- all kinds ---- */
loom_status call_create(instance *in);
/* Returns the number of complaints about it, which are reported as warnings. */
int call_destroy(instance *in);
loom_status call_reset(instance *in);
loom_status call_begin_step(instance *in);
loom_status call_end_step(instance *in);
int call_has_checkpoint(const instance *in);
loom_status call_checkpoint(instance *in, int restore, instances_state_io io);
loom_status call_log_step(instance *in, double *out); /* out [num_step_columns] */

/* ---- solver ---- */
loom_status call_contact_changed(run *r, uint32_t changed);
loom_status call_rest_change(run *r, double *change); /* finite, above -1 */
loom_status call_iterate(run *r, loom_iterate *it);   /* or LOOM_CONVERGED, LOOM_STALLED */
loom_status call_accepted(run *r, const loom_accept *a);

/* ---- collision ---- */
loom_status call_log_iter(instance *in, double *out);                        /* out [num_columns] */
loom_status call_detect(instance *in, const loom_query *q, loom_pairs *out); /* or LOOM_GROW */
loom_status call_max_step(instance *in, loom_buf *x0, loom_buf *x1, loom_bound *out);

/* ---- contact ---- */
loom_status call_plan(contact_inst *c, loom_query *q);
loom_status call_update(contact_inst *c, int when, uint32_t *changed);
loom_status call_eval(contact_inst *c, loom_buf *x, double *energy, double *dissipation,
                      loom_buf *grad); /* or LOOM_REJECTED */
loom_status call_hessian(contact_inst *c, loom_buf *x, int how,
                         loom_blocks3 *out);                         /* or LOOM_GROW */
loom_status call_quad(contact_inst *c, loom_buf *x, loom_quad *out); /* or LOOM_GROW */
loom_status call_resolve(contact_inst *c, loom_buf *x_start, loom_buf *x_trial);
loom_status call_metrics(contact_inst *c, loom_contact_metrics *out);
loom_status call_velocity(contact_inst *c);

/* After a callback that appends to a list returned *s.  1: the callback is called again, because *s
 * was LOOM_GROW; the list then has room for the *count items that were asked for, and *count is
 * `before` again.  0: the caller returns *s.  reserve: enlarges the list to at least `capacity`. */
int call_again(const run *r, loom_status *s, int64_t before, int64_t *count,
               loom_status (*reserve)(mem *m, void *list, int64_t capacity), void *list);

/* For results that only the caller can judge: an error of `in` as if `callback` had returned it. */
/* Puts step, instance and callback (NULL: not named) in front of the message of the run.  A nested
 * call leaves the step to the outermost one. */
void call_add_place(const instance *in, const char *callback, int nested);
loom_status call_refuse(const instance *in, const char *callback, loom_status code, const char *fmt,
                        ...) LOOM_PRINTF(4, 5);

#endif
