/* run_state.h - everything one run owns; private to this folder, the contract tests and the
 * benchmarks. */
#ifndef LOOM_RUN_STATE_H
#define LOOM_RUN_STATE_H

#include "bodies/bodies.h"
#include "core/fit.h"
#include "linalg/linalg.h"
#include "log/h5checkpoint.h"
#include "run/base/balls.h"
#include "run/base/clock.h"
#include "run/base/message.h"
#include "run/base/results.h"
#include "run/base/settings.h"
#include "run/base/work.h"
#include "run/objective/error.h"
#include "run/objective/forward.h"
#include "run/objective/measure.h"
#include "run/objective/problem.h"
#include "run/objects/following.h"
#include "run/objects/islands.h"
#include "run/objects/objects.h"
#include "run/plugins/call.h"
#include "run/plugins/columns.h"
#include "run/plugins/detect.h"
#include "run/plugins/instances.h"
#include "run/plugins/sections.h"
#include "run/record/output.h"
#include "run/record/record.h"
#include "run/record/trajectory.h"
#include "run/record/vertex_fields.h"
#include "run/replay/foreign.h"
#include "run/replay/replay.h"
#include "run/step/blocked_motion.h"
#include "run/step/filter.h"
#include "run/step/state.h"
#include "scene/base/scene_data.h"

enum { RUN_MAX_OBSTACLES = 256 };

/* Plan of a step, or of a part of it; made in PREDICT. */
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
  body_set *bodies;       /* of the scene */
  loom_exec exec;         /* where the core runs */
  loom_exec exec_host;    /* the CPU, for plugins without CUDA; == exec on the CPU */
  char why[LOOM_WHY_LEN]; /* loom_exec.why of both */
  int blas_taken;         /* see blas_reserve() */
  int threads_before;     /* the calling thread's before this run; 0: not changed */

  instance solver;
  instance collision[RUN_MAX_INSTANCES];
  int num_collision;
  contact_inst contact[RUN_MAX_INSTANCES];
  int num_contact;
  loom_step st;
  state_buffers buf;
  balls_kept balls;
  run_problem problem;
  elements_data elements;
  damping_data damping;
  contact_data contacts;
  following follow;
  detection detect;
  filter *filter;
  motion motion;
  measurements measured;
  run_objects objects;
  run_islands islands;
  run_error error;
  run_fields fields;
  run_results results;
  trajectory way;
  run_columns columns;
  run_sections sections;
  forwarding fw;
  step_plan plan;
  int64_t k_base; /* iterations of the step before this part */
  run_work work;
  double load_work; /* J, of wind and pressure in the committed parts of this step */
  phase_clock clock;
  run_calls calls;
  run_messages messages;
  run_output out;
  run_record record;
  h5checkpoint *check; /* open while a checkpoint is written or read */
  replay rep;
  foreign_frames played; /* only with opt->foreign */
  run_summary sum;
  const run_options *opt;
  int64_t first_step; /* of this run: 0, [run] replay_first, or the one behind start_frame */
};

#endif
