/* ipc_barrier.kern.c - b of the squared distance (geom/barrier.kern.h) with kappa and d_hat. */
#include "ipc_barrier.kern.h"

LK_FN void ipc_barrier_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  barrier_law law;
  barrier_law_of(number[0], number[1], xi, &law);
  b[0] = barrier_value(&law, D);
  b[1] = barrier_slope(&law, D);
  b[2] = barrier_curvature(&law, D);
}

#define PAIR(name) ipc_barrier_##name
#define PAIR_LAW   ipc_barrier_law
#include "kit/friction_lag_body.kern.h"
#include "kit/pair_mollified_body.kern.h"
