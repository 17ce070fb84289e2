/* foreign.h - steps of another program, measured in the place of steps that a solver makes
 * (run_options.foreign): every step begins with the program's frame and ends with its next one. */
#ifndef LOOM_FOREIGN_H
#define LOOM_FOREIGN_H

#include "core/err.h"
#include "log/h5read.h"
#include "run/run.h"

typedef struct foreign_frames {
  double *x0, *v0;      /* [n][3], m and m/s, at the start of the step */
  double *x1, *v1;      /* at its end */
  double t_cpu, t_wall; /* s, that the program took for the step; NaN: not known */
  loom_buf *x_end;      /* real [n][3], m, x1 */
  h5read *ref;          /* log for e_ref, NULL: none */
  int told_pins;        /* the first pinned vertex off its place was told */
  int told_contact;     /* and the first step in which contact is not defined */
  int left_contact;     /* number of contact models that are left out of the present step */
  const struct filter_policy *left_policy; /* and the policy of FILTER */
} foreign_frames;

/* Steps begin with frames that are there already: of a log, or foreign ones. */
int foreign_or_replay(const run *r);
/* After replay_open().  Refuses frames that do not fit the scene, with file, data set and remedy.
 */
loom_status foreign_open(run *r);
/* Of step `index`: st.x, st.v_start, x_end, and x_ref where there is a reference. */
loom_status foreign_load(run *r, int64_t index);
/* The times of the program's step, in place of those of measuring it; the guess, k = -1, is free.
 */
void foreign_times(const run *r, h5log_step_row *row);
void foreign_iter_times(const run *r, h5log_iter_row *row);
/* After COMMIT: the program's velocity is that of the end. */
loom_status foreign_velocity(run *r);
/* Warns of the first pinned vertex of x_end that is not where the scene holds it (st.y). */
loom_status foreign_check_pins(run *r);
void foreign_close(run *r);

#endif
