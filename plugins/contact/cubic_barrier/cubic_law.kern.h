/* cubic_law.kern.h - the energy of one contact as a function of its gap g, m, with the gap r at
 * which the force begins, m, and the stiffness k, N/m:
 *
 *   E(g) = 2 k / (3 r) (r - g)^3,   E' = -2 k (r - g)^2 / r,   E'' = 4 k (r - g) / r   for g < r,
 *
 * else 0.  The energy is finite at g = 0: k itself grows without bound as the gap closes
 * (cubic_barrier.kern.h), and the step bound keeps the gap.
 *
 * R. Ando, A Cubic Barrier with Elasticity-Inclusive Dynamic Stiffness, ACM TOG 43(6), 2024,
 * doi 10.1145/3687908, eq. 1. */
#ifndef CUBIC_LAW_KERN_H
#define CUBIC_LAW_KERN_H

#include "loom/kernel.h"

/* E, J; dE/dg, N; d2E/dg2, N/m */
LK_FN void cubic_of_gap(lk_real k, lk_real r, lk_real g, lk_real *e)
{
  const lk_real lack = g < r ? r - g : LK_R(0.0), per_r = k / r;
  e[0] = LK_R(2.0) / LK_R(3.0) * per_r * lack * lack * lack;
  e[1] = LK_R(-2.0) * per_r * lack * lack;
  e[2] = LK_R(4.0) * per_r * lack;
}

#endif
