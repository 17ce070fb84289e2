/* start_log.h - a run that begins at a frame of another run's log ([run] start_log). */
#ifndef LOOM_START_LOG_H
#define LOOM_START_LOG_H

#include "core/err.h"
#include "run/run.h"

/* Opens the log and finds the frame; the run's first step is the one behind it. */
loom_status start_log_open(run *r);
/* Is it still to be taken? */
int start_log_waits(const run *r);
/* Its state becomes the run's. */
loom_status start_log_take(run *r);
/* The log is not of use any more: its state was taken, or a checkpoint's. */
void start_log_close(run *r);

#endif
