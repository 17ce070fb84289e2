/* newton_damping.h - stops cycles of Newton's method on a problem that changes in each iteration.
 *
 * With friction from the normal forces of the last iterate, or with planes of contact that are
 * renewed, the iterations form a fixed-point map.  Where this map reverses its last step,
 * full steps alternate between two states for ever: each lowers the energy of its own problem, so
 * the line search accepts it.  A part of the step leads to the fixed point.  The damping does not
 * move the fixed point, which is the solution of the step.  Islands of the scene, which cannot
 * touch, are damped each by itself.
 */
#ifndef NEWTON_DAMPING_H
#define NEWTON_DAMPING_H

#include <math.h>

#include "loom/plugin.h"

typedef struct newton_damping {
  const loom_host *host;
  const loom_exec *e;
  loom_buf *last; /* real [n][3], m: the direction of the iteration before */
  int32_t num;    /* islands (loom_islands) that the next two belong to; 0: a step begins */
  double norm2[LOOM_ISLANDS_MOST]; /* m^2, squared length of `last`; 0: no direction yet */
  double share[LOOM_ISLANDS_MOST]; /* share of the direction that the line search gets */
  double least;                    /* least of these shares */
  int32_t epoch;                   /* loom_step.epoch of the problem of `last` */
} newton_damping;

static inline loom_status newton_damping_open(newton_damping *d, const loom_host *host,
                                              const loom_exec *e, int32_t n)
{
  d->host = host;
  d->e = e;
  d->least = 1.0;
  return host->buf_new(host, "last direction", LOOM_REAL, 3 * (int64_t)n, &d->last);
}

static inline void newton_damping_begin(newton_damping *d) { d->num = 0; }

/* Islands that have merged begin anew. */
static inline void newton_damping_for(newton_damping *d, int32_t num)
{
  if (d->num == num) return;
  d->num = num;
  for (int32_t k = 0; k < num; ++k) {
    d->norm2[k] = 0.0;
    d->share[k] = 1.0;
  }
}

/* Shorten step->trial, a full Newton direction, in islands where the way turns back on a changed
 * problem. */
static inline loom_status newton_damping_apply(newton_damping *d, const loom_step *s)
{
  static const double turned = -0.5, least = 1.0 / 64.0; /* cosine of 120 degrees */
  const loom_host *const host = d->host;
  double norm2[LOOM_ISLANDS_MOST], product[LOOM_ISLANDS_MOST] = {0.0};
  loom_islands at;
  int turns = 0; /* 1: some island has a direction before this one */
  LOOM_TRY(host->islands(host, &at));
  newton_damping_for(d, at.num);
  for (int32_t k = 0; k < at.num; ++k) turns |= d->norm2[k] > 0.0;
  LOOM_TRY(host->dot_islands(host, d->e, s->trial, s->trial, norm2));
  if (turns) LOOM_TRY(host->dot_islands(host, d->e, s->trial, d->last, product));
  d->least = 1.0;
  for (int32_t k = 0; k < at.num; ++k) {
    const double limit = sqrt(norm2[k] * d->norm2[k]);
    if (s->epoch != d->epoch && product[k] < turned * limit)
      d->share[k] = fmax(0.5 * d->share[k], least);
    else if (product[k] > 0.0)
      d->share[k] = fmin(2.0 * d->share[k], 1.0);
    d->norm2[k] = norm2[k];
    d->least = fmin(d->least, d->share[k]);
  }
  d->epoch = s->epoch;
  LOOM_TRY(host->buf_copy(host, d->e, d->last, s->trial));
  if (d->least < 1.0) LOOM_TRY(host->axpby_islands(host, d->e, d->share, d->last, 0.0, s->trial));
  return LOOM_OK;
}

#endif
