/* ndb_rule.kern.h - weights of the non-distance barrier, w = w0 K^a.
 *
 * L. Lan et al., "Efficient GPU cloth simulation with non-distance barriers and subspace reuse",
 * ACM TOG 43(6), 2024, eq. 7: a is the number of consecutive local-global iterations in which
 * the contact was active.  Three readings of "active":
 *
 * - NDB_GROW_GAP (the default): a grows while the gap is below half of d_hat.  Where the same
 *   force with one power of K less would leave more than half of d_hat, a falls by one per
 *   iteration, down to the age A that the contact brought from the last step.  A changes between
 *   steps alone: as the first iterates of a step overlap, a contact at rest would else end every
 *   step with another weight, and therefore with another gap.
 *
 * - NDB_GROW_LITERAL: a grows as long as the pair is closer than d_hat or its sample points collide
 *   (ccd_partial.kern.h), else it is 0.  A contact at rest is always close: its weight grows
 *   without end and freezes the cloth.
 *
 * - NDB_GROW_PARTIAL: a grows when sample points collide, else it is 0.
 */
#ifndef NDB_RULE_KERN_H
#define NDB_RULE_KERN_H

#include "loom/kernel.h"

enum { NDB_GROW_GAP = 0, NDB_GROW_LITERAL = 1, NDB_GROW_PARTIAL = 2 };

/* Would the same force leave more than half of d_hat with a weight smaller by this factor? */
LK_FN int ndb_can_fall(lk_real gap, lk_real d_hat, lk_real factor)
{
  return (d_hat - gap) * factor < LK_R(0.5) * d_hat;
}

/* The age after one more iteration; brought: A; hit: sample points collide; cap: largest age. */
LK_FN int32_t ndb_next_age(int rule, int32_t age, int32_t brought, lk_real gap, lk_real d_hat,
                           lk_real base, int hit, int32_t cap)
{
  int32_t next = age;
  if (rule == NDB_GROW_GAP) {
    if (gap < LK_R(0.5) * d_hat)
      next = age + 1;
    else if (age > brought && ndb_can_fall(gap, d_hat, base))
      next = age - 1;
  } else {
    const int active = hit || (rule == NDB_GROW_LITERAL && gap < d_hat);
    next = active ? age + 1 : 0;
  }
  return next < cap ? next : cap;
}

/* The age that a contact brings to the next step when it ends with this age and gap.  It may fall
 * where K^2 in place of K would leave half of d_hat, so that it does not grow again at once. */
LK_FN int32_t ndb_brought_age(int rule, int32_t age, lk_real gap, lk_real d_hat, lk_real base)
{
  if (rule != NDB_GROW_GAP || age == 0) return age;
  return ndb_can_fall(gap, d_hat, base * base) ? age - 1 : age;
}

/* min(w0 K^age, most), N/m */
LK_FN lk_real ndb_weight(lk_real w0, lk_real base, int32_t age, lk_real most)
{
  lk_real w = w0, power = base;
  for (uint32_t a = (uint32_t)age; a != 0 && w < most; a >>= 1) {
    if (a & 1u) w *= power;
    power *= power;
  }
  return w < most ? w : most;
}

#endif
