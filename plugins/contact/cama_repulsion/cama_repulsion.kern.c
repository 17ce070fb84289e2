/* cama_repulsion.kern.c - kernels of the law: energy, forces, Gauss-Newton blocks, lagging. */
#include "cama_repulsion.kern.h"

#define PAIR(name) cama_##name
#define PAIR_LAW   cama_law
#include "kit/friction_lag_body.kern.h"
