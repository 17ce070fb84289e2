/* memory_estimate.h - memory that a run will take, against the free memory. */
#ifndef LOOM_ROOM_H
#define LOOM_ROOM_H

#include "core/err.h"
#include "run/run.h"

int room_start_check(const run *r);            /* SCENE_* of [run] start */
loom_status room_build(run *r, int look_only); /* the scene, unless it is too large */
void room_describe(const run *r, void *file);

#endif
