/* checkpoint.h - the state of a run in a file of its own, and back. */
#ifndef LOOM_CHECKPOINT_H
#define LOOM_CHECKPOINT_H

#include "run/plugins/instances.h"

loom_status checkpoint_write(run *r, int64_t step);
loom_status checkpoint_read(run *r, int64_t want, int64_t *step);

#endif
