/* run.h - one simulation from a config to a log. */
#ifndef LOOM_RUN_H
#define LOOM_RUN_H

#include "config/config.h"
#include "log/ends.h"
#include "log/h5log_schema.h"
#include "scene/base/scene_data.h"

typedef struct run run;

/* Frames of another program, which a run measures instead of making its own. */
typedef struct run_foreign {
  const struct frame_source *source; /* NULL: they are those of the log that [run] replay names */
  int64_t num_frames;                /* of them, at least two */
  const char *reference;             /* log for e_ref, NULL: none */
  const h5log_peer *peer;            /* the program */
} run_foreign;

enum { RUN_RESUME_NO, RUN_RESUME, RUN_RESUME_AUTO };

typedef struct run_summary {
  int64_t steps_done, steps_planned, iters; /* each of the `substeps` parts of a step is a step */
  int64_t substeps;
  int64_t reasons[H5LOG_NUM_REASONS];
  log_ends ends;          /* how well they were solved */
  int64_t intersections;  /* found by the audit, -1: it was off */
  int64_t shape_entries;  /* of them, edges and triangles inside bodies of closed form */
  double shape_depth;     /* m, of the deepest of these */
  const char *shape_body; /* the name of its body */
  int num_shapes;         /* bodies of closed form, -1: the audit was off */
  int64_t audited;        /* steps of this process after which it looked */
  int64_t passes;         /* pairs that pass through each other within a step, -1: not looked for */
  int64_t ways;           /* steps of this process with an audited way */
  int64_t start_intersections; /* of the start that are still there, see [run] start */
  int64_t last_step;           /* number of the last finished step, -1: none */
  int64_t steps_before;        /* steps that the log had before it was continued */
  int64_t
      checkpoint_step;  /* number of the step after which the last checkpoint was written, or -1 */
  int stopped;          /* by its progress callback, before the last step */
  double seconds[8];    /* s, by CLOCK_* section, summed over steps */
  double wall;          /* s */
  double min_gap;       /* m, NaN without contact */
  double time;          /* s, simulated */
  double last_residual; /* m */
  int64_t last_iters, last_contacts;
  int64_t num_verts;
  int64_t host_bytes, device_bytes; /* in the core's buffers, most after any step */
} run_summary;

typedef struct run_options {
  const char *out;     /* log path; NULL: [log] file or its default */
  const char *command; /* command line, for the log */
  int64_t steps;       /* < 0: as configured */
  int resume;          /* RUN_RESUME_*: continue an existing log; AUTO: if it has a checkpoint */
  int64_t resume_step; /* < 0: the newest checkpoint */
  int overwrite;       /* replace an existing log that holds steps */
  int no_log;          /* run without any output file (tests) */
  int look_only;       /* it will not be executed: work for that may be left out */
  int scene_only;   /* look_only, and whether the plugins fit is not asked: for run_print_fit() */
  int trust_config; /* [exec] plugin_path of a file is honoured, too */
  int mem_check;    /* buffers in check mode */
  const run_foreign *foreign; /* NULL: a simulation */
  /* A scene made by the caller instead of the one the config describes (programs that
   * embed loom, tests); NULL: scene_build.  The run frees it with scene_free. */
  loom_status (*make_scene)(void *user, loom_err *err, mem *m, scene_data **out);
  /* the log is open, the steps begin; may be NULL */
  void (*opened)(void *user);
  /* called after every step; nonzero return stops the run ("stopped") */
  int (*progress)(void *user, const run *r, const run_summary *s);
  /* the reason why progress() stopped it, "SIGTERM"; may be NULL */
  const char *(*stopper)(void *user);
  void *user;
  void (*message)(void *user, int level, const char *text); /* plugins' log(), may be NULL */
} run_options;

/* Load, check the fit, build the scene and all instances; no file is written yet.  The
 * cfg stays the caller's and must outlive the run. */
loom_status run_open(loom_err *err, cfg *c, const run_options *o, run **out);
/* For `loom check`, after run_open(): makes the first iteration of the first step and leaves it, so
 * that the errors of the first detection, of contact at the start and of the solver appear.  A run
 * that starts from a log or replays one, and with look_only one with large distance grids, which
 * are not computed then, is left alone.  The run cannot be executed afterwards. */
loom_status run_try_start(run *r);
/* Create or reopen the log and simulate to the end. */
loom_status run_execute(run *r, const run_options *o);
/* Destroys all instances; *complaints (may be NULL) gets the number of destroy() callbacks that
 * broke a rule, each of which is told as a warning. */
void run_close(run *r, int *complaints);

const run_summary *run_get_summary(const run *r);
const char *run_out_path(const run *r);
/* Text for `loom check`: plugins with paths, backend, sizes, schedule. */
void run_describe(const run *r, void *file);
/* `loom list --fit`: which solvers and contact models, and which collision plugins, would go
 * together in the place of the run's own, with the reason where they do not. */
loom_status run_print_fit(run *r, loom_err *err, int json, void *file);
/* The gap that a contact model keeps, of its pairs in the last step (contact_gaps.c): the median,
 * over vertices in any pair, of the least gap (distance less both half thicknesses). */
typedef struct run_gap {
  const char *name, *plugin;
  double median; /* m, NaN without pairs */
  int64_t verts;
} run_gap;
int run_num_contacts(const run *r);
loom_status run_contact_gap(const run *r, int i, run_gap *out);
/* tic/toc sections of plugins, summed over the run */
/* Lines with the physical limits of solver and contact models of the run; file: a FILE. */
void run_print_limits(const run *r, void *file);
/* Plugins of the run, the solver first, one for each instance; NULL past the last.  *path: of its
 * file. */
const loom_plugin *run_plugin(run *r, int i, const char **path);
int run_num_sections(const run *r);
void run_section(const run *r, int i, const char **name, double *seconds, int64_t *calls);

#endif
