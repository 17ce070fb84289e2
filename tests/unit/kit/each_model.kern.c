/* each_model.kern.c - see each_model.kern.h. */
#include "unit/kit/each_model.kern.h"

/* number: k (N/m^3), reach^2 (m^2) */
LK_FN void each_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  const lk_real d = number[1] - D;
  (void)xi;
  b[0] = d > LK_R(0.0) ? LK_R(0.5) * number[0] * d * d : LK_R(0.0);
  b[1] = d > LK_R(0.0) ? -number[0] * d : LK_R(0.0);
  b[2] = d > LK_R(0.0) ? number[0] : LK_R(0.0);
}
#define PAIR(name) each_model_##name
#define PAIR_LAW   each_law
#include "kit/pair_energy_body.kern.h"
#include "kit/pair_mollified_body.kern.h"
