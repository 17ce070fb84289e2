/* ogc_law.kern.h - the energy of one contact as a function of its gap g, m, with the radius r of
 * the offset, m, and the stiffness k, N/m:
 *
 *   E(g) = k/2 (r - g)^2                          tau <= g <= r,   tau = r/2
 *   E(g) = k/2 (r - tau)^2 - k' ln(g / tau)       0 < g < tau,     k' = k tau (r - tau) = k r^2/4
 *
 *      E |.                   E' = -k (r - g) and -k'/g agree at tau for this k', and
 *        | .                  E'' = k and k'/g^2 for tau = r/2 alone.
 *        |  '.
 *        |     '-.___
 *        +-----+------+---- g
 *             tau     r
 *
 * A. H. Chen et al., Offset Geometric Contact, ACM TOG 44(4), 2025, doi 10.1145/3731205. */
#ifndef OGC_LAW_KERN_H
#define OGC_LAW_KERN_H

#include "loom/kernel.h"

/* E, J; dE/dg, N; d2E/dg2, N/m; at 0 < g.  A g above r counts as r. */
LK_FN void ogc_of_gap(lk_real k, lk_real r, lk_real g, lk_real *e)
{
  const lk_real tau = LK_R(0.5) * r, lack = g < r ? r - g : LK_R(0.0);
  e[0] = LK_R(0.5) * k * lack * lack;
  e[1] = -k * lack;
  e[2] = k;
  if (!(g < tau)) return;
  const lk_real log_k = k * tau * tau;
  e[0] = LK_R(0.5) * log_k - log_k * LK_LOG(g / tau);
  e[1] = -log_k / g;
  e[2] = log_k / (g * g);
}

#endif
