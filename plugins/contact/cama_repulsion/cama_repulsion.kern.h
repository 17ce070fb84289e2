/* cama_repulsion.kern.h - the law of one pair, for the kernels of kit/pair_energy and friction. */
#ifndef CAMA_REPULSION_KERN_H
#define CAMA_REPULSION_KERN_H

#include "kit/friction.kern.h"

enum { CAMA_LINEAR = 0, CAMA_QUADRATIC = 1 };
/* Numbers: N/m; m, the reach, thickness + range; CAMA_LINEAR ..; N/m; m. */
enum { CAMA_STIFFNESS = 0, CAMA_REACH = 1, CAMA_LAW = 2, CAMA_ADHESION = 3, CAMA_RANGE = 4 };

/* Adhesion of a pair with a gap of thickness + u, 0 <= u < r: the force grows with the stiffness a
 * up to half of the range and then falls with -a, so that it has no jump and ends at r.  *stiffness
 * is 0 in the second half, in place of the negative value. */
LK_FN void cama_adhesion(lk_real a, lk_real r, lk_real u, lk_real *energy, lk_real *force,
                         lk_real *stiffness)
{
  const int first = u < LK_R(0.5) * r;
  const lk_real left = r - u;
  *energy = first ? LK_R(0.5) * a * u * u - LK_R(0.25) * a * r * r : LK_R(-0.5) * a * left * left;
  *force = -a * (first ? u : left);
  *stiffness = first ? a : LK_R(0.0);
}

/* With the signed distance d and V = reach + xi - d >= 0: energy, J, force along the normal,
 * N, and stiffness, N/m. */
LK_FN void cama_force_law(const lk_real *number, lk_real V, lk_real *energy, lk_real *force,
                          lk_real *stiffness)
{
  const lk_real k = number[CAMA_STIFFNESS], a = number[CAMA_ADHESION], r = number[CAMA_RANGE];
  const lk_real t = number[CAMA_REACH] - r;
  if (r > LK_R(0.0)) {
    if (V < r) {
      cama_adhesion(a, r, r - V, energy, force, stiffness);
      return;
    }
    V -= r;
  }
  if (number[CAMA_LAW] == (lk_real)CAMA_LINEAR) { /* equation 2 of the paper */
    *energy = LK_R(0.5) * k * V * V;
    *force = k * V;
    *stiffness = k;
  } else { /* ArcSim */
    *energy = k * V * V * V / (LK_R(6.0) * t);
    *force = LK_R(0.5) * k * V * V / t;
    *stiffness = k * V / t;
  }
  if (r > LK_R(0.0)) *energy -= LK_R(0.25) * a * r * r;
}

/* The same as a function of D = d |d|, as kit/pair_energy wants it: b, db/dD, d2b/dD2.  With dD = 2
 * |d| dd these are -F / (2 |d|) and (K |d| + sign(d) F) / (4 |d|^3). */
LK_FN void cama_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  const lk_real R = number[CAMA_REACH] + xi;
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
