/* each_model.kern.h - a contact law for test_pair_energy.c: b = k/2 (reach^2 - D)^2. */
#ifndef TEST_EACH_MODEL_KERN_H
#define TEST_EACH_MODEL_KERN_H

#include "kit/pair_energy.h"

PAIR_DECLARE(each_model)
PAIR_DECLARE_MOLLIFIED(each_model)

#endif
