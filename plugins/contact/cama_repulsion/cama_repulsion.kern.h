/* cama_repulsion.kern.h - the law of one pair, for the kernels of kit/pair_energy and friction. */
#ifndef CAMA_REPULSION_KERN_H
#define CAMA_REPULSION_KERN_H

#include "kit/friction.kern.h"

enum { CAMA_LINEAR = 0, CAMA_QUADRATIC = 1 };
enum { CAMA_STIFFNESS = 0, CAMA_THICKNESS = 1, CAMA_LAW = 2 }; /* numbers, N/m, m, CAMA_LINEAR .. */

/* With the signed distance d and V = thickness + xi - d >= 0: energy, J, force along the normal,
 * N, and stiffness, N/m. */
LK_FN void cama_force_law(const lk_real *number, lk_real V, lk_real *energy, lk_real *force,
                          lk_real *stiffness)
{
  const lk_real k = number[CAMA_STIFFNESS], t = number[CAMA_THICKNESS];
  if (number[CAMA_LAW] == (lk_real)CAMA_LINEAR) { /* equation 2 of the paper */
    *energy = LK_R(0.5) * k * V * V;
    *force = k * V;
    *stiffness = k;
  } else { /* ArcSim */
    *energy = k * V * V * V / (LK_R(6.0) * t);
    *force = LK_R(0.5) * k * V * V / t;
    *stiffness = k * V / t;
  }
}

/* The same as a function of D = d |d|, as kit/pair_energy wants it: b, db/dD, d2b/dD2.  With dD = 2
 * |d| dd these are -F / (2 |d|) and (K |d| + sign(d) F) / (4 |d|^3). */
LK_FN void cama_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  const lk_real R = number[CAMA_THICKNESS] + xi;
  const lk_real side = D < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  const lk_real length = LK_SQRT(LK_FABS(D));
  /* where both sides are in one point there is no direction, and no force */
  const lk_real most = LK_FMAX(length, LK_R(1e-6) * R);
  lk_real force, stiffness;
  cama_force_law(number, LK_FMAX(R - side * length, LK_R(0.0)), b, &force, &stiffness);
  b[1] = LK_R(-0.5) * force / most;
  b[2] = LK_R(0.25) * (stiffness * most + side * force) / (most * most * most);
}

PAIR_DECLARE(cama)
FRIC_DECLARE(cama)

#endif
