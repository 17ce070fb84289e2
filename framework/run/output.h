/* output.h - the file that a run writes and the plugin folders that it may load from. */
#ifndef LOOM_OUTPUT_H
#define LOOM_OUTPUT_H

#include "core/err.h"
#include "run/run.h"

typedef struct run_output {
  char path[1024];
  int resume;    /* the log there is continued */
  int anew;      /* ... it could not be: a new one begins at the checkpoint */
  int overwrite; /* H5LOG_*: files that a new log may replace */
} run_output;

loom_status output_choose(run *r,
                          const run_options *o); /* refuses a file that may not be replaced */
loom_status output_folders(run *r);              /* makes missing folders */
/* plugin_dirs.c: [exec] plugin_path as absolute or current paths, if it may be used */
loom_status plugin_dirs(run *r, const run_options *o, char *dirs, size_t len);

#endif
