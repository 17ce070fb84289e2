/* mass_share.kern.h - how two sides that touch share a displacement by mass: the lighter one moves
 * more (L. Lan et al., Penetration-free projective dynamics on the GPU, ACM TOG 41(4), 2022). */
#ifndef KIT_MASS_SHARE_KERN_H
#define KIT_MASS_SHARE_KERN_H

#include "kit/candidates.kern.h"

/* Mass of the point, by the weights w of its corners `from` to `to`, that touches, kg;
 * LK_REAL_MAX where no corner that has a weight is free. */
LK_FN lk_real mass_of_point(const cand_state *s, const lk_real *mass, lk_int c, const lk_real *w,
                            int from, int to)
{
  lk_real sum = LK_R(0.0);
  for (int b = from; b < to; ++b) {
    const int32_t i = s->v[4 * c + b];
    if (cand_is_free(i, s->n, s->fixed)) sum += LK_FABS(w[b]) * mass[i];
  }
  return sum > LK_R(0.0) ? sum : LK_REAL_MAX;
}

/* share [2]: parts of a displacement that the first and the second side take, their sum 1; both 0
 * where neither may move.  Returns the smaller of both masses, kg; 0 where neither may move. */
LK_FN lk_real mass_share(const cand_state *s, const lk_real *mass, lk_int c, const lk_real *w,
                         lk_real *share)
{
  const int side = pair_first_side(s->kind[c], s->v + 4 * c);
  const lk_real m1 = mass_of_point(s, mass, c, w, 0, side);
  const lk_real m2 = mass_of_point(s, mass, c, w, side, 4);
  share[0] = share[1] = LK_R(0.0);
  if (m1 == LK_REAL_MAX && m2 == LK_REAL_MAX) return LK_R(0.0);
  share[0] = m1 == LK_REAL_MAX ? LK_R(0.0) : m2 == LK_REAL_MAX ? LK_R(1.0) : m2 / (m1 + m2);
  share[1] = LK_R(1.0) - share[0];
  return LK_FMIN(m1, m2);
}

#endif
