/* balls.h - bodies with a mass. */
#ifndef LOOM_BALLS_H
#define LOOM_BALLS_H

#include "core/err.h"
#include "run/run.h"

typedef struct balls_kept { /* at the start of a step that may have to begin again */
  uint64_t *bits;           /* [count], see rigid_save() */
  int64_t count, room;
} balls_kept;

const char *balls_name(const run *r); /* of the first one, NULL: none */
loom_status balls_open(run *r);       /* refuses a step bound and a replay */
loom_status balls_begin(run *r);      /* PREDICT: their poses of this step */
loom_status balls_commit(run *r);     /* COMMIT: applies the impulses of contact */
/* For a step that may have to begin again: the balls at its start, and back to them. */
loom_status balls_keep(run *r);
loom_status balls_go_back(run *r);
void balls_free(run *r);
loom_status balls_checkpoint(run *r, int restore);

#endif
