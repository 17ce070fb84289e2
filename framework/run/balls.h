/* balls.h - bodies with a mass. */
#ifndef LOOM_BALLS_H
#define LOOM_BALLS_H

#include "core/err.h"
#include "run/run.h"

const char *balls_name(const run *r); /* of the first one, NULL: none */
loom_status balls_open(run *r);       /* refuses a step bound and a replay */
loom_status balls_begin(run *r);      /* PREDICT: their poses of this step */
loom_status balls_commit(run *r);     /* COMMIT: applies the impulses of contact */
loom_status balls_checkpoint(run *r, int restore);

#endif
