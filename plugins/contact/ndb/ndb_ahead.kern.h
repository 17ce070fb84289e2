/* ndb_ahead.kern.h - friction of contacts that are frozen for a whole step: the slip in the step to
 * come, and the bounds of normal forces. */
#ifndef NDB_AHEAD_KERN_H
#define NDB_AHEAD_KERN_H

#include "ndb.kern.h"

/* Adds to u what one side of contact c, its corners with weights above or below 0, gains over going
 * on with its velocity: the way to `to` along the plane less what friction of all its contacts
 * holds. */
LK_FN void add_side_gain(const ndb_state *s, lk_int c, const lk_real *to, int negative, lk_real *u)
{
  lk_real n[3], d[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, hold = LK_R(0.0);
  LK_LOAD3(n, s->f.normal, c);
  for (int b = 0; b < 4; ++b) {
    const int32_t i = s->f.v[4 * c + b];
    const lk_real w = s->f.w[4 * c + b];
    if (i < 0 || i >= s->f.n || (w < LK_R(0.0)) != negative) continue;
    hold += LK_FABS(w) * s->ahead.hold[3 * i];
    for (int k = 0; k < 3; ++k) d[k] += w * (to[3 * i + k] - s->ahead.coast[3 * i + k]);
  }
  const lk_real dn = lk_dot3(n, d);
  for (int k = 0; k < 3; ++k) d[k] -= dn * n[k];
  const lk_real way = lk_norm3(d);
  if (!(way > hold)) return;
  for (int k = 0; k < 3; ++k) u[k] += (LK_R(1.0) - hold / way) * d[k];
}

/* The slip of contact c in the step to come.  Of cloth on cloth either side may be held by others,
 * which ahead_slip() does not know: it falls as the other side does, and does not slip. */
LK_FN lk_real find_slip_ahead(const ndb_state *s, lk_int c)
{
  const ahead_ways *const a = &s->ahead;
  lk_real u[3], slip[2];
  const lk_real coast = fric_slip_at(&s->f, a->coast, c, u);
  if (a->outer == NULL || ahead_is_with_body(s->f.v + 4 * c, s->f.w + 4 * c, s->f.n))
    return fric_slip_ahead(&s->f, a, c);
  for (int k = 0; k < 2; ++k) {
    lk_real sum[3] = {u[0], u[1], u[2]};
    add_side_gain(s, c, k == 0 ? a->outer : a->all, 0, sum);
    add_side_gain(s, c, k == 0 ? a->outer : a->all, 1, sum);
    slip[k] = lk_norm3(sum);
  }
  return LK_FMAX(coast, LK_FMIN(slip[0], slip[1]));
}

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
