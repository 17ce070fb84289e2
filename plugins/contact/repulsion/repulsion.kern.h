/* repulsion.kern.h - declares the kernels that kit/pair_energy makes from the linear law. */
#ifndef REPULSION_KERN_H
#define REPULSION_KERN_H

#include "kit/pair_energy.kern.h"

enum { REPULSION_STIFFNESS = 0, REPULSION_REACH = 1 }; /* indices into number[], N/m and m */
PAIR_DECLARE(repulsion)
PAIR_DECLARE_MOLLIFIED(repulsion)

#endif
