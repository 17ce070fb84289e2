/* yarn_bend.kern.h - bending of a yarn; see rod.kern.h. */
#ifndef LOOM_ELEM_YARN_BEND_KERN_H
#define LOOM_ELEM_YARN_BEND_KERN_H

#include "elements/rod.kern.h"

LK_DECLARE(yarn_bend_energy, elem_args)
LK_DECLARE(yarn_bend_gradient, elem_args)

#endif
