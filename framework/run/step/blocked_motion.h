/* blocked_motion.h - bodies and pins with a prescribed motion that something may be in the way of.
 *
 * They may be stopped, like the cloth.  In PREDICT they set out together with the initial guess and
 * stop with it where the bound says; from then on every filter lets them advance as far as they can
 * with the cloth at rest, and the solver makes room in between.  The step ends when they have
 * arrived (st.progress = 1); where they do not, it begins again in parts (step.c). */
#ifndef LOOM_RUN_MOTION_H
#define LOOM_RUN_MOTION_H

#include "core/err.h"
#include "run/run.h"

typedef struct motion {
  int bounded;     /* bodies or pins move and a step bound is in force: st.progress counts */
  int32_t blocker; /* the obstacle that last cut the motion short, -1: none of them */
} motion;

void blocked_motion_open(run *r); /* after filter_open() */
/* FILTER: advance bodies and pins towards the end of their motion; *moved: x or they have moved */
loom_status blocked_motion_advance(run *r, int *moved);
/* The message on a step that could not end, after so many halvings of it. */
loom_status blocked_motion_error(run *r);

#endif
