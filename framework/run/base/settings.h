/* settings.h - the core's own sections: [run] [exec] [stop] [detect] [filter] [log]. */
#ifndef LOOM_SETTINGS_H
#define LOOM_SETTINGS_H

#include "config/config.h"

enum { RUN_GUESS_INERTIAL = 0, RUN_GUESS_VELOCITY = 1, RUN_GUESS_LAST = 2 };
enum {
  RUN_FORWARD_OFF = 0,
  RUN_FORWARD_PAPER = 1,
  RUN_FORWARD_CORRECTED = 2,
  RUN_FORWARD_ITERATE = 3
};
enum { RUN_START_REFUSE = 0, RUN_START_EXCLUDE = 1, RUN_START_UNTANGLE = 2 };
enum { RUN_REPLAY_REFERENCE = 0, RUN_REPLAY_FRESH = 1 };
enum { EXEC_AUTO = 0, EXEC_CPU = 1, EXEC_CUDA = 2 };
enum { STOP_AUTO = 0, STOP_NEXT = 1, STOP_SOLVED = 2, STOP_ENERGY = 3 };
enum { FILTER_WHEN_AUTO = 0, FILTER_WHEN_EVERY = 1, FILTER_WHEN_ADVICE = 2, FILTER_WHEN_END = 3 };
enum {
  FILTER_BOUND_AUTO = 0,
  FILTER_BOUND_NONE = 1,
  FILTER_BOUND_GLOBAL = 2,
  FILTER_BOUND_VERTEX = 3
};
enum { FILTER_GO_AUTO = 0, FILTER_GO_FEASIBLE = 1, FILTER_GO_TRIAL = 2 };
enum { LINE_AUTO = 0, LINE_ON = 1, LINE_OFF = 2 };
enum { CONTACT_SELF = 0, CONTACT_OBSTACLE = 1, CONTACT_ALL = 2 };
enum { LOG_STATE_AUTO = 0, LOG_STATE_OFF = 1, LOG_STATE_ALL = 2, LOG_STATE_FRAMES = 3 };
enum { ERROR_OFF = 0, ERROR_NEWTON = 1, ERROR_PROJECTIVE = 2 };
enum { ERROR_BY_AUTO = 0, ERROR_BY_FACTOR = 1, ERROR_BY_CG = 2 };
enum { AUDIT_OFF = 0, AUDIT_END = 1, AUDIT_EVERY = 2, AUDIT_TRAJECTORY = 3 };

typedef struct run_settings {
  int64_t steps;
  double dt; /* s */
  int64_t substeps;
  int64_t seed;
  int32_t start;      /* RUN_START_* */
  int32_t guess;      /* RUN_GUESS_* */
  int32_t forwarding; /* RUN_FORWARD_* */
  int64_t forwarding_iters;
  double forwarding_below; /* share of a way, 1: after each step */
  const char *replay;      /* path of the reference log, "" for none */
  int64_t replay_first;
  int32_t replay_state;  /* RUN_REPLAY_* */
  const char *start_log; /* path, "" for none */
  int64_t start_frame;   /* -1: the last one */
} run_settings;

typedef struct exec_settings {
  int32_t backend;   /* EXEC_* */
  int64_t threads;   /* 0: threads_default */
  int64_t cuda_from; /* vertices */
  int32_t deterministic, fallback, debug;
  int32_t memory_check;
  const char *plugin_path; /* colon-separated directories */
} exec_settings;

typedef struct stop_settings {
  int32_t on;        /* STOP_* */
  double tol_acc;    /* m/s^2, 0: none */
  double tol_abs;    /* m; negative: not given, tol_acc holds */
  double tol_rel;    /* of r_ref */
  double tol_energy; /* sqrt(J), 0: not given */
  int64_t max_iters;
  double time_budget_ms; /* 0: none, as the following */
  double cpu_budget_ms;
  int64_t byte_budget; /* B */
  double diverged;     /* factor over the residual of k = -1 and r_ref */
} stop_settings;

typedef struct plugin_settings { /* [solver], [collision.NAME], [contact.NAME] */
  const char *plugin;            /* name */
} plugin_settings;

typedef struct contact_settings { /* [contact.NAME], beside the plugin and its keys */
  int32_t pairs;                  /* CONTACT_* */
  const char *collision;          /* names of [collision.NAME], "" for all */
} contact_settings;

typedef struct detect_settings {
  const char *every; /* "step", "iteration" or a number */
  int64_t period;    /* iterations between detections, 0: once a step (derived) */
} detect_settings;

enum { FILTER_MAX_HALVINGS = 20 }; /* a part of a step is not shorter than 2^-20 of it */
typedef struct filter_settings {
  int32_t when, bound, line_search;
  int32_t go_on;  /* FILTER_GO_* */
  double min_gap; /* m */
  int64_t max_backtracks, max_halvings, repairs;
} filter_settings;

typedef struct log_settings {
  const char *file;
  int64_t frames_every, residual_every, checkpoint_every, compression;
  int32_t frames;      /* 0 f64, 1 f32 */
  int32_t audit;       /* AUDIT_* */
  int32_t state;       /* LOG_STATE_* */
  const char *fields;  /* names, separated by spaces */
  uint32_t field_bits; /* of them (derived) */
  int32_t error;       /* ERROR_* */
  int32_t error_by;    /* ERROR_BY_* */
  int64_t error_every; /* iterations */
  int32_t kernels;
} log_settings;

typedef struct settings {
  run_settings run;
  exec_settings exec;
  stop_settings stop;
  detect_settings detect;
  filter_settings filter;
  log_settings log;
} settings;

/* The table of one of the sections above, NULL if it is none of them. */
const loom_param *settings_params(const char *section, uint32_t *count);

/* Removes `scheme = backward_euler` of [run], which configs of older versions have, so that
 * settings_bind() accepts them; another value stays and is refused there.  *note: a sentence for
 * the user, "" where the key is absent or stays. */
void settings_drop_scheme(cfg *c, char *note, size_t len);
/* Bind all six sections (absent ones with their defaults) and check rules that involve
 * several keys. */
loom_status settings_bind(loom_err *err, cfg *c, settings *out);

#endif
