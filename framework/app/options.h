/* options.h - command-line options of both `run` and `check`. */
#ifndef LOOM_OPTIONS_H
#define LOOM_OPTIONS_H

#include <stdint.h>

enum { OPTIONS_RUN = 0, OPTIONS_CHECK = 1, OPTIONS_MEASURE = 2 };

typedef struct common_options {
  const char *config; /* the positional argument; of measure the second one, ... */
  const char *data;   /* ... and this the first */
  const char *out;    /* -o, or NULL */
  const char **sets;  /* [num_sets] "section.key=value", also from --device etc. */
  int num_sets;
  char **owned; /* texts allocated for --device, --threads, --plugin-path */
  int num_owned;
  int64_t steps;       /* -n, or -1 */
  int resume;          /* RUN_RESUME_* */
  int64_t resume_step; /* or -1 */
  int quiet, overwrite, trust_config;
  int fix_report;               /* check --fix-report */
  int time;                     /* check --time */
  const char *peer, *reference; /* of measure, or NULL */
  double max_time;              /* s, INFINITY: no limit */
  char *command;                /* the whole command line, quoted for a shell, for the log */
  int exit_code;                /* when options_parse returns nonzero */
} common_options;

/* 0: go on; nonzero: leave with o->exit_code (help was printed, or usage was wrong). */
int options_parse(int argc, char **argv, int command, const char *usage, common_options *o);
void options_free(common_options *o);

#endif
