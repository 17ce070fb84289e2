/* body_turns.h - affine bodies in a global step of projective dynamics: an exact solve of the 12
 * unknowns of each body.
 *
 * The operator H of projective dynamics holds the rotation of a body, and a body that contact or a
 * tie turns within the step then needs as many iterations as its stiffness over its inertia.  A
 * solver that has improved the displacements u of a global step gives each body d with
 *   (H + W + C)_bb d = (r - (H + W) u - C u)_b
 * on its control points b, with W the diagonal of contact weights and C the change of the body's
 * rotation (kit/body_turn.kern.h): the step of Newton's method where all else stands still.  No
 * body turns by more than BODY_TURN_MOST.  The cost is linear in the number of bodies. */
#ifndef KIT_BODY_TURNS_H
#define KIT_BODY_TURNS_H

#include "kit/body_turns.kern.h"
#include "kit/control_points.h"
#include "loom/plug.h"

typedef struct body_turns { /* zeroed, or without bodies: calls do nothing */
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  control_points bodies;
  loom_buf *vert, *data, *matrix; /* see body_turns_args */
} body_turns;

/* Buffers are freed by the core. */
loom_status body_turns_new(body_turns *b, const loom_host *host, const loom_scene *sc,
                           const loom_exec *e);
void body_turns_free(body_turns *b);
/* Their rest shapes and stiffnesses: once for each H. */
loom_status body_turns_make(body_turns *b);
/* on: the members ptr, col, val, w, r and total, where kernels run; rows of the control points of
 * total get their d.  x: the iterate. */
loom_status body_turns_apply(body_turns *b, const body_turns_args *on, loom_buf *x);

#endif
