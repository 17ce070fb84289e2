/* drag.h - friction as a drag that is linear within the step (drag.kern.h), on the lagged pairs of
 * kit/friction. */
#ifndef CAMA_DRAG_H
#define CAMA_DRAG_H

#include "drag.kern.h"
#include "kit/friction.h"

typedef struct drag {
  friction f;    /* pairs, normals, mu f_n; its own potential is not used */
  loom_buf *k;   /* real [f.num], N/m */
  loom_buf *end; /* real [f.num][3], m, points of bodies at the end of the step */
} drag;

loom_status drag_new(drag *d, candidates *c, double self_friction, double epsilon_v);
/* At the start of a step, with the active pairs of s->x_start: they are lagged. */
loom_status drag_begin_step(drag *d, const pair_energy *p, const lk_entry *lag, const loom_step *s);
/* Adds the work of the step, J, to *work when the core has read it; D is half of it: share = 0.5.
 */
loom_status drag_sum(drag *d, const loom_step *s, loom_buf *x, double share, double *work);
loom_status drag_gradient(drag *d, const loom_step *s, loom_buf *x, loom_buf *grad);
/* d->f.num_blocks blocks from out's place `first` on. */
loom_status drag_hessian(drag *d, const loom_step *s, loom_buf *x, int64_t first,
                         loom_blocks3 *out);

#endif
