/* sim.h - run a config given as text and look at its log; for physics and regress tests. */
#ifndef TEST_SIM_H
#define TEST_SIM_H

#include "log/h5log_schema.h"
#include "run/run.h"

typedef struct sim {
  loom_err err;
  loom_status status; /* of opening and executing */
  run_summary sum;
  int complaints; /* about destroy() */
  char dir[64];   /* temporary folder, removed by sim_free */
  char log[128];  /* path of the log */
  int64_t n, nt, frames, steps, iters;
  double *x, *v; /* [n][3] m and m/s, last frame */
  double *rest;  /* [n][3] m */
  int32_t *tris; /* [nt][3] */
  double time;   /* s, of the last frame */
} sim;

/* Run `text` (an INI file) with overrides (NULL-terminated list, or NULL); fails the test
 * with the message if the run fails, unless `may_fail`. */
void sim_run(sim *s, const char *text, const char *const *sets, int may_fail);
void sim_free(sim *s);
/* One frame of the log: x and v may be NULL. */
void sim_frame(sim *s, int64_t t, double *x, double *v, double *time);
h5log_step_row *sim_steps(sim *s); /* [s->steps], caller frees */
h5log_iter_row *sim_iters(sim *s); /* [s->iters], caller frees */

#endif
