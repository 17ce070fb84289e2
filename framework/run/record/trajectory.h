/* trajectory.h - pairs that pass through each other within a step ([log] audit = trajectory). */
#ifndef LOOM_TRAJECTORY_H
#define LOOM_TRAJECTORY_H

#include "core/err.h"
#include "run/run.h"

typedef struct trajectory { /* where all were when the step began, m */
  double *x;                /* [num_verts][3]; NULL: not audited */
  double *body;             /* [num_body_verts][3] */
  loom_real (*pose)[12];    /* [num_obstacles], as loom_obstacle.pose0 */
} trajectory;

/* m, as `loom verify --trajectory` */
#define TRAJECTORY_TOLERANCE 1e-9

/* Before a step that ends at time t0 + h is made: keeps positions at t0 (s). */
loom_status trajectory_begin(run *r, double t0);
/* After the step: pairs that pass through each other while all vertices, of cloth and bodies, move
 * on straight lines from the kept positions to the present ones. */
loom_status trajectory_audit(run *r, int64_t *found);
void trajectory_free(run *r);

#endif
