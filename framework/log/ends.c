/* ends.c - see ends.h. */
#include "log/ends.h"

#include <math.h>

int log_unconverged(const h5log_step_row *s)
{
  if (s->reason == H5LOG_foreign) return !(s->tol_ratio <= 1.0);
  if (s->reason == H5LOG_converged_abs || s->reason == H5LOG_converged_rel) return 0;
  /* for a one-shot method the ratio is NaN; logs of older versions lack it, which reads as 0 */
  return s->reason != H5LOG_max_iters || s->iters > 1 || s->tol_ratio > 0.0;
}

void log_ends_add(log_ends *e, const h5log_step_row *s)
{
  const double defect = fmax(s->defect_force, s->defect_torque); /* fmax skips NaN */
  ++e->steps;
  e->idle += s->iters == 0;
  e->timed += s->reason == H5LOG_time_budget;
  e->blind += s->ref_unconverged != 0;
  if (defect > e->defect) e->defect = defect, e->defect_step = s->step;
  if (!log_unconverged(s)) return;
  ++e->unconverged;
  if (s->tol_ratio > e->worst_ratio) e->worst_ratio = s->tol_ratio, e->worst_step = s->step;
}
