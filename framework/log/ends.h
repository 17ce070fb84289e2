/* ends.h - how well the steps of a run converged, summed up over rows of /steps. */
#ifndef LOOM_LOG_ENDS_H
#define LOOM_LOG_ENDS_H

#include "log/h5log_schema.h"

typedef struct log_ends {
  int64_t steps;
  int64_t unconverged; /* steps that ended above their tolerance; 0 for one-shot methods */
  double worst_ratio;  /* largest ratio of residual and tolerance of these steps, 0: not known */
  int64_t worst_step;
  int64_t idle;  /* steps without an iteration: the first guess met the tolerance */
  int64_t timed; /* steps that ended by a budget of time */
  int64_t blind; /* replayed steps whose reference did not converge */
  double defect; /* largest momentum defect, of force or torque; 0: not known */
  int64_t defect_step;
} log_ends;

/* Whether the step ended above its tolerance; of another program's step, whether loom's residual of
 * it is. */
int log_unconverged(const h5log_step_row *s);
void log_ends_add(log_ends *e, const h5log_step_row *s);

#endif
