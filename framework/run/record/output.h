/* output.h - the file that a run writes. */
#ifndef LOOM_OUTPUT_H
#define LOOM_OUTPUT_H

#include "core/err.h"
#include "run/run.h"

typedef struct run_output {
  char path[1024];
  int resume; /* the log there is continued */
  int anew;   /* ... it could not be: a new one begins at the checkpoint */
  /* config_hash of the log that is continued, where an older version wrote it and its config means
   * the same; "": the config's own */
  char older_hash[17];
  int overwrite; /* H5LOG_*: files that a new log may replace */
} run_output;

loom_status output_choose(run *r,
                          const run_options *o); /* refuses a file that may not be replaced */
loom_status output_folders(run *r);              /* makes missing folders */

#endif
