/* yarn_twist.kern.h - twist of a yarn; see rod.kern.h. */
#ifndef LOOM_ELEM_YARN_TWIST_KERN_H
#define LOOM_ELEM_YARN_TWIST_KERN_H

#include "elements/rod.kern.h"

LK_DECLARE(yarn_twist_energy, elem_args)
LK_DECLARE(yarn_twist_gradient, elem_args)

#endif
