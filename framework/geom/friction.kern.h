/* friction.kern.h - smoothed lagged Coulomb friction of incremental potential contact.
 *
 * M. Li et al., "Incremental potential contact", ACM TOG 39(4), 2020,
 * doi 10.1145/3386569.3392425, section 5: the dissipative potential mu lambda f0(|u|) of the
 * tangential displacement u over the step, with the normal force lambda lagged.  eps = epsilon_v h
 * is the displacement below which sticking is smoothed into creeping. */
#ifndef LOOM_FRICTION_KERN_H
#define LOOM_FRICTION_KERN_H

#include "loom/kernel.h"

/* f0(y), m; f0' = f1 */
LK_FN lk_real friction_f0(lk_real y, lk_real eps)
{
  if (y >= eps) return y;
  return y * y / eps - y * y * y / (LK_R(3.0) * eps * eps) + eps / LK_R(3.0);
}

/* f1(y) / y, 1/m; finite at y = 0 */
LK_FN lk_real friction_f1_over(lk_real y, lk_real eps)
{
  if (y >= eps) return LK_R(1.0) / y;
  return (LK_R(2.0) * eps - y) / (eps * eps);
}

/* f1'(y), 1/m */
LK_FN lk_real friction_f1_slope(lk_real y, lk_real eps)
{
  if (y >= eps) return LK_R(0.0);
  return LK_R(2.0) * (eps - y) / (eps * eps);
}

#endif
