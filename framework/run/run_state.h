/* run_state.h - everything one run owns; private to this folder, the contract tests and the
 * benchmarks. */
#ifndef LOOM_RUN_STATE_H
#define LOOM_RUN_STATE_H

#include "core/fit.h"
#include "linalg/linalg.h"
#include "log/h5log.h"
#include "run/clock.h"
#include "run/columns.h"
#include "run/detect.h"
#include "run/filter.h"
#include "run/forward.h"
#include "run/instances.h"
#include "run/measure.h"
#include "run/motion.h"
#include "run/problem.h"
#include "run/replay.h"
#include "run/sections.h"
#include "run/settings.h"
#include "run/state.h"
#include "scene/scene_data.h"

enum { RUN_MAX_OBSTACLES = 256 };

/* What a step, or a part of it, is going to do; made in PREDICT. */
typedef struct step_plan {
  int64_t max_iters; /* outer iterations at most, also in loom_step */
  int measured;      /* residuals and energies are measured and recorded */
  int tests_guess;   /* a guess that has converged ends the step before its first iteration */
} step_plan;

struct run {
  loom_err *err;
  mem *m;
  cfg *c;
  settings set;
  registry *reg;
  scene_data *scene;
  loom_exec exec;         /* where the core runs */
  loom_exec exec_host;    /* the CPU, for plugins without CUDA; == exec on the CPU */
  char why[LOOM_WHY_LEN]; /* loom_exec.why of both */
  int threads_before;     /* the calling thread's before this run; 0: not changed */
  int64_t launches;

  instance solver;
  instance collision[RUN_MAX_INSTANCES];
  int num_collision;
  contact_inst contact[RUN_MAX_INSTANCES];
  int num_contact;
  loom_step st;
  state_buffers buf;
  run_problem problem;
  elements_data elements;
  contact_data contacts;
  detection detect;
  filter *filter;
  motion motion;
  measurements measured;
  run_columns columns;
  run_sections sections;
  forwarding fw;
  step_plan plan;
  int uses_gradient; /* gradients are charged to the solver */
  int64_t k_base;    /* iterations of the step before those of this part */

  int64_t counters[LOOM_NUM_COUNTERS]; /* of this step; see host_charge */
  int measuring;                       /* work is nobody's */
  phase_clock clock;
  h5log *log;
  h5log_message_row *messages; /* [num_messages], of this step, on their way into the log */
  int64_t num_messages, max_messages;
  h5check *check; /* open while plugins save or restore their state */
  replay rep;
  double f_next_norm; /* N, of the force carried into this step */
  int64_t inner_j;
  double commit_seconds; /* s, of the last h5log_commit */
  int stepping;          /* a step has begun: st.index and st.iter mean something */
  int misused;           /* a service without a status was misused: its message is in err */
  const char *resolving; /* name of the contact instance inside resolve(), or NULL */
  run_summary sum;
  const run_options *opt;
  int64_t first_step; /* of this run: 0, or [run] replay_first */
  char out_path[1024];
  int resume;    /* the log at out_path is continued */
  int overwrite; /* H5LOG_*: what a new log may replace */
};

loom_status step_once(run *r, int64_t index); /* step.c */
/* record.c: to whoever runs this; warnings and errors go into the log, too.  From any thread. */
void run_message(run *r, int level, const char *text);
loom_status audit_now(run *r, int64_t *found);
/* Drops the keys of a plugin that was replaced from outside the file that sets them (swap.c). */
loom_status swap_keys(run *r, const cfg_section *s, int kind);

/* Buffers keep their own message: hand it on where nobody said more.  Returns s. */
loom_status run_failed(run *r, loom_status s);

#endif
