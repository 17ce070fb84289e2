/* newton_damping.h - stops cycles of Newton's method on a problem that changes in each iteration.
 *
 * With friction from the normal forces of the last iterate, or with planes of contact that are
 * renewed, the iterations form a fixed-point map.  Where this map reverses its last step,
 * full steps alternate between two states for ever: each lowers the energy of its own problem, so
 * the line search accepts it.  A part of the step leads to the fixed point.  The damping does not
 * move the fixed point, which is the solution of the step.
 */
#ifndef NEWTON_DAMPING_H
#define NEWTON_DAMPING_H

#include <math.h>

#include "loom/plugin.h"

typedef struct newton_damping {
  const loom_host *h;
  const loom_exec *e;
  loom_buf *last; /* real [n][3], m: the direction of the iteration before */
  double norm2;   /* m^2, of it; 0: there is none */
  double share;   /* of the direction that is offered */
  int32_t epoch;  /* of its problem */
} newton_damping;

static inline loom_status newton_damping_open(newton_damping *d, const loom_host *h,
                                              const loom_exec *e, int32_t n)
{
  d->h = h;
  d->e = e;
  d->share = 1.0;
  return h->buf_new(h, "last direction", LOOM_REAL, 3 * (int64_t)n, &d->last);
}

static inline void newton_damping_begin(newton_damping *d)
{
  d->norm2 = 0.0;
  d->share = 1.0;
}

/* Shorten step->trial, a full Newton direction, where the way turns back on a changed problem. */
static inline loom_status newton_damping_apply(newton_damping *d, const loom_step *s)
{
  static const double turned = -0.5, least = 1.0 / 64.0; /* cosine of 120 degrees */
  const loom_host *const h = d->h;
  double norm2, product = 0.0;
  LOOM_TRY(h->dot(h, d->e, s->trial, s->trial, &norm2));
  if (d->norm2 > 0.0) LOOM_TRY(h->dot(h, d->e, s->trial, d->last, &product));
  const double limit = sqrt(norm2 * d->norm2);
  if (s->epoch != d->epoch && product < turned * limit)
    d->share = fmax(0.5 * d->share, least);
  else if (product > 0.0)
    d->share = fmin(2.0 * d->share, 1.0);
  d->norm2 = norm2;
  d->epoch = s->epoch;
  LOOM_TRY(h->buf_copy(h, d->e, d->last, s->trial));
  if (d->share < 1.0) LOOM_TRY(h->axpby(h, d->e, d->share, d->last, 0.0, s->trial));
  return LOOM_OK;
}

#endif
