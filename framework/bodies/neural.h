/* neural.h - the field of a body that bends: networks of a file, folded for each step.
 *
 * What is not guaranteed: a network is off by some millimetres where it was trained, more in
 * creases, so that what touches it does not touch the skin exactly.  Impacts are found as if its
 * gradient were nowhere longer than at 1.25 times the longest of many points, and as if within a
 * step no point moved farther than the skin's vertices do from its start to its end. */
#ifndef LOOM_BODIES_NEURAL_H
#define LOOM_BODIES_NEURAL_H

#include "loom/scene.h"
#include "mem/mem.h"
#include "rig/rig.h"

typedef struct neural neural;

typedef struct neural_options {
  const char *file;
  int flags;         /* 1: the rule of eq. 1; 0: the least of all regions */
  double difference; /* above 0: gradients by forward differences of this share of a half side */
  double layer;      /* m, the surface is moved outwards by it */
} neural_options;

/* `body` must live longer.  LOOM_E_CONFIG with the file as ssdf_net_read(), or for a body with too
 * many joints. */
loom_status neural_open(loom_err *err, mem *m, const neural_options *o, const rig *body,
                        neural **out);
void neural_close(neural *n); /* NULL is fine */
/* field, lipschitz and sweep of a body, whose buffer belongs to it; after every neural_step(). */
void neural_show(const neural *n, loom_obstacle *o);
/* A dof beyond the range of the training at angles (rad), or -1.  [any] */
int32_t neural_outside(const neural *n, const double *angles);
/* Fills the buffer for a step from angles [num_dofs] (rad) and root [12] at its start to those at
 * its end; angles beyond the range of the training have the weights of its end.  Does nothing if
 * the step is the one that it has. */
loom_status neural_step(neural *n, const double *angles0, const double root0[12],
                        const double *angles1, const double root1[12]);

#endif
