/* ndb_ahead.kern.h - bounds of normal forces of contacts that are frozen for a whole step. */
#ifndef NDB_AHEAD_KERN_H
#define NDB_AHEAD_KERN_H

#include "ndb.kern.h"

/* N, the largest force that holds one side of a contact against outer forces in any direction. */
LK_FN lk_real outer_force(const ndb_temper_args *a, lk_int c)
{
  const fric_state *const f = &a->s.f;
  lk_real most = LK_R(0.0);
  for (int side = 0; side < 2; ++side) {
    lk_real inverse = LK_R(0.0), d[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
    for (int b = 0; b < 4; ++b) {
      const int32_t i = f->v[4 * c + b];
      const lk_real w = f->w[4 * c + b];
      if (!cand_is_free(i, f->n, f->fixed) || (w < LK_R(0.0)) != side) continue;
      inverse += w * w / a->t.mass[i];
      for (int k = 0; k < 3; ++k)
        d[k] += w * (a->t.y[3 * i + k] - f->x_start[3 * i + k] - a->t.h * a->t.v[3 * i + k]);
    }
    if (inverse > LK_R(0.0)) most = LK_FMAX(most, lk_norm3(d) / (a->t.h2 * inverse));
  }
  return most;
}

#endif
