/* ahead.h - where cloth goes in a step, for the secants of friction that is frozen at its start.
 *
 *   ahead_take(&a, s);    in begin_step(), and in update() before the first iteration
 *   ahead_begin(&a, s);   the model then adds |w| mu lambda of its pairs to the first of a.hold
 *   ahead_find(&a, s);    ahead_open() maps the result */
#ifndef KIT_AHEAD_H
#define KIT_AHEAD_H

#include "kit/ahead.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct ahead_data {
  const loom_host *host;
  const loom_exec *e;
  const loom_scene *sc;
  int64_t step;                         /* that `pull` belongs to; -1: none */
  loom_buf *pull;                       /* real [n][3], N: gradient of elasticity at x_start */
  loom_buf *coast, *outer, *all, *hold; /* real [n][3], as in ahead_ways */
} ahead_data;

loom_status ahead_create(ahead_data *a, const loom_host *host, const loom_exec *e,
                         const loom_scene *sc);
/* Keeps loom_step.grad where it is the gradient of elasticity at x_start: contact is frozen, and
 * the first iteration is to come. */
loom_status ahead_take(ahead_data *a, const loom_step *s);
/* `pull` of this step, or NULL where ahead_take() had none: places are `coast` alone. */
loom_buf *ahead_pull(const ahead_data *a, const loom_step *s);
loom_status ahead_begin(ahead_data *a);
loom_status ahead_find(ahead_data *a, const loom_step *s);
ahead_ways ahead_open(const ahead_data *a, plug_maps *m, const loom_step *s);

#endif
