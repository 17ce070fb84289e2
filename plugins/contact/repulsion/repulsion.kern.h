/* repulsion.kern.h - the kernels of the linear law, made by kit/pair_energy. */
#ifndef REPULSION_KERN_H
#define REPULSION_KERN_H

#include "kit/pair_energy.kern.h"

enum { REPULSION_STIFFNESS = 0, REPULSION_REACH = 1 }; /* numbers of the law, N/m and m */
PAIR_DECLARE(repulsion)
PAIR_DECLARE_MOLLIFIED(repulsion)

#endif
