/* memory_estimate.h - memory that a run will take, against the free memory. */
#ifndef LOOM_ROOM_H
#define LOOM_ROOM_H

#include "core/err.h"
#include "run/run.h"

int memory_estimate_check_start(const run *r);            /* SCENE_* of [run] start */
loom_status memory_estimate_build(run *r, int look_only); /* the scene, unless it is too large */
void memory_estimate_describe(const run *r, void *file);

#endif
