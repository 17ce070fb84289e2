/* ends.h - how well the steps of a run were solved, summed up over rows of /steps. */
#ifndef LOOM_LOG_ENDS_H
#define LOOM_LOG_ENDS_H

#include "log/h5log.h"

typedef struct log_ends {
  int64_t steps;
  int64_t unconverged; /* ended above their tolerance; none of a one-shot method, which has none */
  double worst_ratio;  /* largest residual of those over its tolerance, 0: not known */
  int64_t worst_step;
  int64_t idle;  /* without an iteration: the first guess met the tolerance */
  int64_t blind; /* replays of a reference that did not converge in that step */
  double defect; /* largest momentum defect, of force or torque; 0: not known */
  int64_t defect_step;
} log_ends;

/* Whether the step ended above its tolerance. */
int log_unconverged(const h5log_step_row *s);
void log_ends_add(log_ends *e, const h5log_step_row *s);

#endif
